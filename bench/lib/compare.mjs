// This run against a stored one: figure by figure, as ratios.

/** Figures that both documents have, by path; lists and counts of samples are left out. */
export function comparison(now, then) {
  const before = new Map(then.sizes.flatMap((size) => [...figures(size, `${size.nodes}`)]));
  const lines = now.sizes
    .flatMap((size) => [...figures(size, `${size.nodes}`)])
    .flatMap(([path, value]) => {
      const old = before.get(path);
      if (old === undefined || old === 0) return [];
      return [`${path.padEnd(64)} ${text(old)} → ${text(value)}  × ${(value / old).toFixed(2)}`];
    });
  return [`compared with the run of ${then.startedAt}`, ...lines].join('\n');
}

function* figures(value, path) {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'number' && name !== 'n' && name !== 'nodes') yield [`${path}.${name}`, inner];
    else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner))
      yield* figures(inner, `${path}.${name}`);
  }
}

function text(value) {
  return String(Math.round(value * 100) / 100).padStart(10);
}
