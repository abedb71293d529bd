// How long the event loop does not turn: while the cluster is read for the first time, at each change, and in a storm.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Birdfeed } from '../lib/birdfeed.mjs';
import { round, summary } from '../lib/stats.mjs';
import { puts, shows } from './load.mjs';

const MONITOR = fileURLToPath(new URL('../lib/loop-monitor.cjs', import.meta.url));

/**
 * The longest block of each of several loads, and of each change. Times during which the thread waited for a CPU are
 * taken off: they come from the machine's other work. `start` is everything from the start of the process until etcd's
 * first answer (loading code, mostly), `load` from there to the first publication, `storm` from the first of many puts to the
 * publication of the last.
 */
export async function loop(bench) {
  const { options, cluster, etcd, program, newCache, progress } = bench;
  progress('event loop');
  const starts = [];
  const loads = [];
  const perChange = [];
  const storms = [];
  const rounds = options.quick ? 1 : Math.min(3, options.runs);
  for (let turn = 0; turn < rounds; turn += 1) {
    const file = join(bench.directory, `loop-${cluster.size}-${turn}`);
    let answeredAt = null;
    const birdfeed = await Birdfeed.start({
      program,
      nodeFlags: ['--require', MONITOR],
      env: { BIRDFEED_BENCH_LOOP: file, BIRDFEED_LOG_LEVEL: 'debug' },
      what: { nodeName: cluster.nodeName, etcd: etcd.url, cache: await newCache(), check: null },
      complete: (content) => content.includes(cluster.expected(cluster.size - 1)),
      onLine(line) {
        if (line.includes('"state":"dialing"')) answeredAt ??= Date.parse(JSON.parse(line).time);
      },
    });
    try {
      const publishedAt = epoch(birdfeed.switches.times[0]);
      await sleep(options.settleMs / 2);
      const changedAt = [];
      for (let n = 0; n < options.changes; n += 1) {
        changedAt.push(epoch(performance.now()));
        await etcd.put(...cluster.changed(cluster.peer(n * 7)));
        await sleep(options.intervalMs);
      }
      const stormAt = epoch(performance.now());
      await etcd.putMany(puts(cluster, options.storm));
      const endedAt = epoch(await shows(birdfeed, cluster));
      await sleep(options.settleMs / 4);
      const blocks = readBlocks(file);
      storms.push(longest(blocks, stormAt, endedAt));
      starts.push(longest(blocks, 0, answeredAt));
      loads.push(longest(blocks, answeredAt, publishedAt));
      for (const [n, at] of changedAt.entries())
        perChange.push(longest(blocks, at, changedAt[n + 1] ?? stormAt));
    } finally {
      await birdfeed.stop();
    }
  }
  return {
    startMs: summary(starts),
    loadMs: { ...summary(loads), each: loads.map(round) },
    changeMs: summary(perChange),
    stormMs: { ...summary(storms), each: storms.map(round) },
  };
}

function epoch(time) {
  return performance.timeOrigin + time;
}

function readBlocks(file) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean);
  return lines.map((line) => {
    const [end, length, waited] = line.split(' ').map(Number);
    return { end, ms: length - waited };
  });
}

/** Of the blocks that ended in between; those under the monitor's 3 ms count as 0. */
function longest(blocks, from, to) {
  return Math.max(0, ...blocks.filter(({ end }) => end > from && end <= to).map(({ ms }) => ms));
}
