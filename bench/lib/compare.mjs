// This run against a stored one: figure by figure, as ratios.

/** Figures that do not depend on the machine, so that a stored run is a bar for the next. */
const GUARDED = /(?:ToConfd|toConfd|toFloor|ToNodeStart|toNodeStart|settledMiB|peakMiB)$/;
/** How much worse one of them may be: runs differ, on a busy machine by a lot. */
const TOLERANCE = 1.5;

/** Figures that both documents have, by path; lists and counts of samples are left out. `worse`: paths of the guarded. */
export function comparison(now, then) {
  const before = new Map(then.sizes.flatMap((size) => [...figures(size, size.name ?? `${size.nodes}`)]));
  const worse = [];
  const lines = now.sizes
    .flatMap((size) => [...figures(size, size.name)])
    .flatMap(([path, value]) => {
      const old = before.get(path);
      if (old === undefined || old === 0) return [];
      const isWorse = GUARDED.test(path) && value / old > TOLERANCE;
      if (isWorse) worse.push(path);
      const mark = isWorse ? '  WORSE' : '';
      return [`${path.padEnd(64)} ${text(old)} → ${text(value)}  × ${(value / old).toFixed(2)}${mark}`];
    });
  const verdict =
    worse.length === 0 ? 'no guarded figure is worse by half' : `worse by half: ${worse.join(', ')}`;
  return { lines: [`compared with the run of ${then.startedAt}`, ...lines, verdict], worse };
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
