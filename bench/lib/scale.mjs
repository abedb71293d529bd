// --scale: how the figures grow with one thing at a time, as numbers, and as a plot.

import { changes } from '../cases/change.mjs';
import { floors } from '../cases/floors.mjs';
import { memorySettled } from '../cases/load.mjs';
import { boot, onetime } from '../cases/startup.mjs';

const CASES = {
  floors,
  onetime,
  boot,
  change: (bench) => changes(bench, ['noCheck']),
  memory: memorySettled,
};

const AXES = {
  nodes: { of: (count) => ({ nodes: count }), counts: [100, 1_000, 5_000, 10_000, 20_000], quick: [50, 200] },
  peers: {
    of: (count) => ({ nodes: 100, peers: count }),
    counts: [1, 100, 1_000, 5_000],
    quick: [1, 20],
  },
  filters: {
    of: (count) => ({ nodes: 100, peers: 1_000, filters: count }),
    counts: [0, 100, 300, 1_000],
    quick: [0, 10],
  },
};

/** The name of a cluster on the command line and in the document, `NODES[:PEERS[:FILTERS]]`. */
export function nameOf({ nodes, peers, filters }) {
  return [nodes, peers, filters].filter((count) => count !== undefined).join(':');
}

/** Figures per axis and count: `{ nodes: [{ count, onetimeMs, … }], peers, filters }`. */
export async function measureScale(measureSize, quick) {
  const scale = {};
  for (const [axis, { of, counts, quick: few }] of Object.entries(AXES)) {
    scale[axis] = [];
    for (const count of quick ? few : counts)
      scale[axis].push({ count, ...curvePoint(await measureSize({ ...of(count), cases: CASES })) });
  }
  return scale;
}

function curvePoint({ onetime: once, boot: start, change, memory, floors: floor, outputBytes }) {
  return {
    outputBytes,
    onetimeMs: once?.wallMs.p50 ?? null,
    onetimeConfdMs: once?.confd?.wallMs?.p50 ?? null,
    bootMs: start?.switchedMs.p50 ?? null,
    nodeStartMs: floor?.nodeStartMs.p50 ?? null,
    changeMs: change?.noCheck.switchedMs.p50 ?? null,
    changeConfdMs: change?.confd?.switchedMs?.p50 ?? null,
    changeFloorMs: floor === undefined ? null : floor.putToEventMs.p50 + floor.publishMs.p50,
    memoryMiB: memory?.settledMiB ?? null,
  };
}

export function scaleLines(scale) {
  return Object.entries(scale).flatMap(([axis, points]) => [
    '',
    `scale, ${axis}: onetime ms (confd), boot ms (node -e 0), change ms (confd; floor), settled MiB`,
    ...points.map(
      (p) =>
        `  ${String(p.count).padStart(6)}  ${p.onetimeMs} (${p.onetimeConfdMs ?? '-'})  ${p.bootMs} (${p.nodeStartMs})  ` +
        `${p.changeMs} (${p.changeConfdMs ?? '-'}; ${Math.round(p.changeFloorMs)})  ${p.memoryMiB}`,
    ),
  ]);
}

const CURVES = {
  onetimeMs: { label: 'onetime, ms', colour: '#0b6e99' },
  onetimeConfdMs: { label: 'confd onetime, ms', colour: '#0b6e99', dashed: true },
  changeMs: { label: 'change, ms', colour: '#b8541a' },
  changeConfdMs: { label: 'confd change, ms', colour: '#b8541a', dashed: true },
  bootMs: { label: 'boot from cache, ms', colour: '#3a7d2c' },
  nodeStartMs: { label: 'node -e 0, ms', colour: '#3a7d2c', dashed: true },
  memoryMiB: { label: 'memory, MiB', colour: '#6b4a9e' },
};

const PANEL = { width: 300, height: 240, left: 44, top: 34, gap: 26 };

/** One panel per axis, logarithmic both ways; what birdfeed is compared with is dashed. */
export function scalePlot(scale) {
  const panels = Object.entries(scale);
  const figures = panels.flatMap(([, points]) =>
    points.flatMap((point) => Object.keys(CURVES).map((name) => point[name])),
  );
  const top = 10 ** Math.ceil(Math.log10(Math.max(10, ...figures.filter((value) => value !== null))));
  const step = PANEL.width + PANEL.left + PANEL.gap;
  const width = panels.length * step;
  const legendTop = PANEL.top + PANEL.height + 44;
  const body = [
    ...panels.map(([axis, points], index) => panel(axis, points, { left: index * step + PANEL.left, top })),
    ...Object.values(CURVES).map(({ label, colour, dashed }, index) => {
      const x = PANEL.left + (index % 4) * 220;
      const y = legendTop + Math.floor(index / 4) * 18;
      return `${line(
        [
          [x, y - 4],
          [x + 24, y - 4],
        ],
        colour,
        dashed,
      )}${words(x + 30, y, label)}`;
    }),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${legendTop + 30}" ` +
    `font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="#fff"/>\n${body.join('\n')}\n</svg>\n`
  );
}

function panel(axis, points, { left, top }) {
  const last = Math.max(10, ...points.map(({ count }) => count));
  // A count of 0 has no logarithm; it is drawn at 1.
  const x = (count) => left + (PANEL.width * Math.log10(Math.max(1, count))) / Math.log10(last);
  const y = (value) => PANEL.top + PANEL.height * (1 - Math.log10(Math.max(1, value)) / Math.log10(top));
  const grid = [];
  for (let value = 1; value <= top; value *= 10)
    grid.push(
      line(
        [
          [left, y(value)],
          [left + PANEL.width, y(value)],
        ],
        '#ddd',
      ),
      words(left - 6, y(value) + 4, value, 'end'),
    );
  const counts = points.map(({ count }) => words(x(count), PANEL.top + PANEL.height + 16, count, 'middle'));
  const curves = Object.entries(CURVES).map(([name, { colour, dashed }]) => {
    const known = points.filter((point) => point[name] !== null);
    return line(
      known.map((point) => [x(point.count), y(point[name])]),
      colour,
      dashed,
    );
  });
  return [words(left, PANEL.top - 12, `number of ${axis}`), ...grid, ...counts, ...curves].join('');
}

function line(points, colour, dashed = false) {
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"${dashed ? ' stroke-dasharray="4 3"' : ''}/>`;
}

function words(x, y, text, anchor = 'start') {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${text}</text>`;
}
