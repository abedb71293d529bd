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
