// From the start of a process: --onetime from etcd, and a boot from the cache while there is no datastore.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { birdfeedArguments, NO_ETCD } from '../lib/birdfeed.mjs';
import { confdArguments, prepareConfd } from '../lib/confd.mjs';
import { Background, measureRun, until } from '../lib/processes.mjs';
import { ratio, summary } from '../lib/stats.mjs';
import { Switches } from '../lib/switches.mjs';

/** In turns with confd, so that both meet the same machine. */
export async function onetime(bench) {
  const { options, cluster, etcd, program, confd, newCache, progress } = bench;
  progress('onetime');
  const prepared = confd === null ? null : prepareConfd(await bench.newDirectory('confd'), bench.node);
  const own = [];
  const peer = [];
  for (let n = 0; n < options.runs; n += 1) {
    const what = { nodeName: cluster.nodeName, etcd: etcd.url, cache: await newCache(), check: null };
    own.push(await measureRun(process.execPath, [...program, '--onetime', ...birdfeedArguments(what)]));
    if (prepared !== null) peer.push(await measureRun(confd, confdArguments(prepared, etcd.url, '-onetime')));
  }
  const failed = [...own, ...peer].find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(`a run ended with ${failed.code}: ${failed.output}`);
  const birdfeed = figures(own);
  if (prepared === null) return { ...birdfeed, confd: 'not measured' };
  const other = figures(peer);
  return {
    ...birdfeed,
    confd: other,
    toConfd: ratio(birdfeed.wallMs.p50, other.wallMs.p50),
    cpuToConfd: ratio(birdfeed.cpuMs.p50, other.cpuMs.p50),
    memoryToConfd: ratio(birdfeed.peakMiB.p50, other.peakMiB.p50),
  };
}

function figures(runs) {
  return {
    wallMs: summary(runs.map((run) => run.wallMs)),
    cpuMs: summary(runs.map((run) => run.cpuMs)),
    peakMiB: summary(runs.map((run) => run.peakMiB)),
  };
}

/**
 * `switchedMs`: the cache holds a whole generation that `current` does not name, so that verifying it ends with a rename
 * that can be seen from outside. `reportedMs`: `current` is right, as it nearly always is, and birdfeed says so on its
 * log; that line comes after the logger has been loaded. In turns with an empty Node.
 */
export async function boot(bench) {
  const { options, newCache, progress } = bench;
  progress('boot from cache');
  const cache = await newCache();
  await bench.renderOnce(cache);
  const floor = [];
  const switched = [];
  const reported = [];
  for (let n = 0; n < options.runs; n += 1) {
    floor.push((await measureRun(process.execPath, ['-e', '0'])).wallMs);
    switched.push(await bootUntilSwitched(bench, cache));
    floor.push((await measureRun(process.execPath, ['-e', '0'])).wallMs);
    reported.push(await bootUntilReported(bench, cache));
  }
  const nodeStartMs = summary(floor);
  const switchedMs = summary(switched);
  const reportedMs = summary(reported);
  return {
    bytes: bench.sample.bytes.length,
    nodeStartMs,
    switchedMs,
    reportedMs,
    toNodeStart: ratio(switchedMs.p50, nodeStartMs.p50),
    reportedToNodeStart: ratio(reportedMs.p50, nodeStartMs.p50),
  };
}

async function bootUntilSwitched(bench, cache) {
  await rm(join(cache, 'current'));
  const switches = new Switches(cache, 'current');
  const from = performance.now();
  const daemon = start(bench, cache);
  try {
    return (await switches.next(from)) - from;
  } catch (error) {
    throw new Error(`${error.message}\n${daemon.output}`);
  } finally {
    switches.close();
    await daemon.stop();
  }
}

async function bootUntilReported(bench, cache) {
  let reportedAt = null;
  const daemon = start(bench, cache, (line, at) => {
    if (line.includes('generation in place')) reportedAt ??= at;
  });
  try {
    await until(() => reportedAt !== null, { what: 'the boot from the cache', process: daemon });
    return reportedAt - daemon.startedAt;
  } finally {
    await daemon.stop();
  }
}

function start({ cluster, program }, cache, onLine) {
  const what = { nodeName: cluster.nodeName, etcd: NO_ETCD, cache, check: null };
  return new Background(process.execPath, [...program, ...birdfeedArguments(what), '--listen', 'none'], {
    onLine,
  });
}
