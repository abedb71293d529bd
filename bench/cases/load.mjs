// Many events: memory over a long time, and the storm.

import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bird } from '../lib/bird.mjs';
import { Birdfeed, contentMark } from '../lib/birdfeed.mjs';
import { Confd, prepareConfd } from '../lib/confd.mjs';
import { cpuMs, memory, until } from '../lib/processes.mjs';
import { round } from '../lib/stats.mjs';

/** The flags that docs/performance.md names for small machines. */
export const SMALL_HEAP = ['--max-semi-space-size=2', '--max-old-space-size=96'];

export async function memoryUse(bench) {
  return {
    default: await memoryRun(bench, [], 'memory'),
    smallHeap: { flags: SMALL_HEAP, ...(await memoryRun(bench, SMALL_HEAP, 'memory, small heap')) },
  };
}

/** Resident memory after some changes, without the storms. */
export function memorySettled(bench) {
  return memoryRun(bench, [], 'memory, settled', 0);
}

async function memoryRun(bench, nodeFlags, label, events = bench.options.events) {
  const { options, cluster, etcd, program, newCache, progress } = bench;
  progress(label);
  const birdfeed = await startBirdfeed(bench, { program, nodeFlags, cache: await newCache() });
  try {
    const loaded = memory(birdfeed.pid).rssMiB;
    for (let n = 0; n < options.changes; n += 1) {
      await etcd.put(...cluster.changed(cluster.peer(n)));
      await sleep(Math.min(options.intervalMs, 100));
    }
    await sleep(options.settleMs);
    const settled = memory(birdfeed.pid);
    const series = [];
    for (let left = events; left > 0; left -= 10_000) {
      await etcd.putMany(puts(cluster, Math.min(left, 10_000)));
      await shows(birdfeed, cluster);
      series.push(round(memory(birdfeed.pid).rssMiB));
    }
    await sleep(options.settleMs);
    const end = memory(birdfeed.pid);
    return {
      loadedMiB: round(loaded),
      settledMiB: round(settled.rssMiB),
      settledPeakMiB: round(settled.peakMiB),
      events,
      afterEventsMiB: round(end.rssMiB),
      peakMiB: round(end.peakMiB),
      seriesMiB: series,
    };
  } finally {
    await birdfeed.stop();
  }
}

/** Puts as fast as etcd takes them; how long after the last acknowledged one the final state is published. */
export async function storm(bench) {
  const { confd, birdBinary, canIsolate } = bench;
  const alone = await birdfeedStorm(bench, false);
  const withBird = birdBinary === null || !canIsolate ? 'not measured' : await birdfeedStorm(bench, true);
  return { alone, withBird, confd: confd === null ? 'not measured' : await confdStorm(bench) };
}

async function birdfeedStorm(bench, withBird) {
  const { program, newCache, progress, birdBinary, directory } = bench;
  progress(`storm${withBird ? ' with BIRD' : ''}`);
  const cache = await newCache();
  const bird = withBird ? await Bird.start(birdBinary, await bench.renderOnce(cache), directory) : null;
  const birdfeed = await startBirdfeed(bench, { program, cache, socket: bird?.socket });
  try {
    if (bird !== null)
      await until(() => birdfeed.isAcknowledged(), {
        what: "BIRD's acknowledgement",
        process: birdfeed.process,
      });
    const before = birdfeed.newest();
    const { lastPutAt, ...figures } = await stormOn(bench, birdfeed, () => currentContent(cache));
    const result = { ...figures, generations: birdfeed.newest() - before };
    if (bird === null) return result;
    await until(() => birdfeed.isAcknowledged(), {
      what: "BIRD's acknowledgement",
      process: birdfeed.process,
      timeoutMs: 120_000,
    });
    const acknowledgedMs = round(performance.now() - lastPutAt);
    if ((await bird.mark()) !== contentMark(birdfeed.content()))
      throw new Error('BIRD runs something else than was acknowledged');
    return { ...result, acknowledgedAfterLastPutMs: acknowledgedMs };
  } finally {
    await birdfeed.stop();
    await bird?.stop();
  }
}

async function confdStorm(bench) {
  const { cluster, etcd, confd: binary, progress } = bench;
  progress('storm: confd');
  const prepared = prepareConfd(await bench.newDirectory('confd'), bench.node);
  const complete = (content) => content.includes(cluster.expected(cluster.size - 1));
  const confd = await Confd.start(binary, prepared, etcd.url, complete);
  try {
    const before = confd.switches.count;
    const { lastPutAt: _, ...figures } = await stormOn(bench, confd, () => confd.content());
    return { ...figures, generations: confd.switches.count - before };
  } finally {
    await confd.stop();
  }
}

async function stormOn({ options, cluster, etcd }, program, content) {
  const cpuBefore = cpuMs(program.pid);
  const from = performance.now();
  await etcd.putMany(puts(cluster, options.storm));
  const lastPutAt = performance.now();
  const shownAt = await shows(program, cluster, content);
  return {
    puts: options.storm,
    putsTookMs: round(lastPutAt - from),
    // The last put may be published before its acknowledgement has come back to this process.
    publishedAfterLastPutMs: round(Math.max(0, shownAt - lastPutAt)),
    cpuMs: round(cpuMs(program.pid) - cpuBefore),
    lastPutAt,
  };
}

/** That many entries for etcd, each a change of a node. */
export function puts(cluster, count) {
  return Array.from({ length: count }, (_, n) => cluster.changed(cluster.peer(n)));
}

/** The first switch after which every peer is as it was put last. */
export async function shows(program, cluster, content = () => program.content()) {
  const wanted = new Set(Array.from({ length: cluster.size - 1 }, (_, n) => cluster.expected(n + 1)));
  const isFinal = () => {
    const found =
      content()
        .toString('latin1')
        .match(/neighbor 10\.\S+ as \d+;/g) ?? [];
    return found.length === wanted.size && found.every((line) => wanted.has(line));
  };
  if (!isFinal()) {
    const ended = program.process.exited.then(() => {
      throw new Error(`it ended: ${program.process.output.slice(-500)}`);
    });
    return Promise.race([program.switches.next(performance.now(), isFinal, 120_000), ended]);
  }
  // The notice of a switch may still be under way; none follows the one that is final.
  await sleep(50);
  return program.switches.times.at(-1);
}

function currentContent(cache) {
  return readFileSync(join(cache, readlinkSync(join(cache, 'current')), 'bird.conf'));
}

function startBirdfeed({ cluster, etcd }, { program, nodeFlags, cache, socket = null }) {
  return Birdfeed.start({
    program,
    nodeFlags,
    what: { nodeName: cluster.nodeName, etcd: etcd.url, cache, check: null, socket },
    complete: (content) => content.includes(cluster.expected(cluster.size - 1)),
  });
}
