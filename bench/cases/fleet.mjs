// --fleet: what many sidecars cost one etcd, straight and through etcd's own proxy.

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BareWatchers } from '../lib/bare-watchers.mjs';
import { createCluster, nodeName, watchedPrefixes } from '../lib/cluster.mjs';
import { Etcd } from '../lib/etcd.mjs';
import { GrpcProxy } from '../lib/grpc-proxy.mjs';
import { cleanedUp, memory, threadsCpuMs } from '../lib/processes.mjs';
import { Sidecars } from '../lib/sidecars.mjs';
import { round, summary } from '../lib/stats.mjs';

const FULL = {
  sidecars: [
    { nodes: 200, counts: [1, 5, 10, 20, 40], shapes: ['direct'] },
    { nodes: 200, counts: [1, 10, 40], shapes: ['proxied'] },
    { nodes: 1_000, counts: [40] },
  ],
  bare: [
    { nodes: 1_000, counts: [1_000] },
    { nodes: 10_000, counts: [20], shapes: ['direct'] },
  ],
  changes: 6,
  restMs: 5_000,
  downMs: 3_000,
  spreadMs: 10_000,
};
const QUICK = {
  sidecars: [{ nodes: 50, counts: [1, 3] }],
  bare: [{ nodes: 50, counts: [3, 20] }],
  changes: 2,
  restMs: 1_000,
  downMs: 500,
  spreadMs: 500,
};

/** What stands between the sidecars and etcd. */
const SHAPES = ['direct', 'proxied'];

export async function measureFleet(given) {
  const plan = given.options.quick ? QUICK : FULL;
  const fleet = { plan, sidecars: [], bare: [] };
  for (const kind of ['sidecars', 'bare'].filter((name) => given.options.only.has(name)))
    for (const { nodes, counts, shapes = SHAPES } of plan[kind])
      for (const shape of shapes) {
        const place = { ...given, plan, nodes, shape, kind };
        fleet[kind].push(await measured(place, counts));
      }
  return fleet;
}

/** What was measured before a failure is still worth having. */
async function measured(place, counts) {
  const { nodes, shape } = place;
  const run = { nodes, shape, idleCpuMsPerS: null, rows: [], reconnect: null };
  try {
    await cleanedUp(() => withEtcd(place, counts, run));
  } catch (error) {
    run.failed = error.message.split('\n')[0];
    console.error(`  fleet: failed: ${run.failed}`);
    process.exitCode = 1;
  }
  return run;
}

/** One etcd, and where the shape is that, one proxy; all numbers of clients one after the other. */
async function withEtcd(place, counts, run) {
  const { options, binaries, nodes, shape, plan, kind } = place;
  const directory = await mkdtemp(join(place.directory, 'fleet-'));
  const cluster = createCluster({ nodes }, options.valueBytes);
  const etcd = await Etcd.start(binaries.etcd, directory);
  const proxy = shape === 'direct' ? null : await GrpcProxy.start(binaries.etcd, etcd);
  await etcd.putAll(cluster.entries());
  const url = (proxy ?? etcd).url;
  const bench = { plan, cluster, etcd, proxy, changes: 0 };
  const clients =
    kind === 'bare' ? bareClients(url, proxy === null) : sidecarClients(url, directory, place.bundle);
  try {
    const from = await reading(bench);
    await sleep(plan.restMs / 2);
    const idle = await reading(bench);
    run.idleCpuMsPerS = round(((idle.etcdCpuMs - from.etcdCpuMs) / (idle.at - from.at)) * 1_000);
    for (const count of counts) {
      console.error(
        `  fleet: ${nodes} nodes, ${shape}, ${count} ${kind} (${Math.round(performance.now() / 1_000)} s)`,
      );
      run.rows.push({ count, ...(await measureCount(bench, clients, count)) });
    }
    run.reconnect = await clients.reconnect(bench);
  } finally {
    await clients.stop();
    await proxy?.stop();
    await etcd.close();
  }
}

/** Brings the number of clients to `count`, then looks at all of them at rest and through some changes. */
async function measureCount(bench, clients, count) {
  const { plan, etcd, proxy } = bench;
  const before = await reading(bench);
  const added = count - clients.size();
  const listedMs = await clients.add(added);
  const listed = await reading(bench);
  // What starting has left to do.
  await sleep(plan.restMs / 5);
  const from = await reading(bench);
  await sleep(plan.restMs);
  const rest = await reading(bench);
  const restMs = rest.at - from.at;
  const took = [];
  for (let n = 0; n < plan.changes; n += 1) took.push(await oneChange(bench, clients));
  const changed = await reading(bench);
  // What a change costs is what came on top of resting for as long.
  const perChange = (field) =>
    round(
      Math.max(
        0,
        changed[field] - rest[field] - ((rest[field] - from[field]) * (changed.at - rest.at)) / restMs,
      ) / plan.changes,
    );
  const each = (field) => round((listed[field] - before[field]) / added);
  const atRest = (field) => round(((rest[field] - from[field]) / restMs) * 1_000);
  return {
    watchers: rest.watchers,
    watchStreams: rest.watchStreams,
    lists: {
      n: added,
      listedMs: summary(listedMs),
      sentBytesEach: each('sentBytes'),
      etcdCpuMsEach: each('etcdCpuMs'),
      proxyCpuMsEach: each('proxyCpuMs'),
    },
    rest: {
      etcdCpuMsPerS: atRest('etcdCpuMs'),
      proxyCpuMsPerS: atRest('proxyCpuMs'),
      sentBytesPerS: atRest('sentBytes'),
      etcdMiB: round(memory(etcd.pid).rssMiB),
      etcdPeakMiB: round(memory(etcd.pid).peakMiB),
      proxyMiB: proxy === null ? null : round(memory(proxy.pid).rssMiB),
    },
    change: {
      lastMs: summary(took),
      sentBytes: perChange('sentBytes'),
      etcdCpuMs: perChange('etcdCpuMs'),
      proxyCpuMs: perChange('proxyCpuMs'),
    },
  };
}

async function oneChange(bench, clients) {
  const { cluster, etcd } = bench;
  // Of nodes from the end, for which no sidecar runs.
  const index = cluster.size - 1 - (bench.changes++ % 10);
  const [key, value] = cluster.changed(index);
  const from = performance.now();
  const last = clients.heard(cluster.expected(index));
  await etcd.put(key, value);
  return (await last) - from;
}

async function reading({ etcd, proxy }) {
  const metrics = await etcd.metrics();
  return {
    at: performance.now(),
    sentBytes: metrics.etcd_network_client_grpc_sent_bytes_total,
    watchers: metrics.etcd_debugging_mvcc_watcher_total,
    watchStreams: metrics.etcd_debugging_mvcc_watch_stream_total,
    etcdCpuMs: threadsCpuMs(etcd.pid),
    proxyCpuMs: proxy === null ? Number.NaN : threadsCpuMs(proxy.pid),
  };
}

function sidecarClients(url, directory, bundle) {
  let caches = 0;
  const sidecars = new Sidecars({
    bundle,
    url,
    nodeName,
    newCache: () => join(directory, `cache${caches++}`),
  });
  return {
    size: () => sidecars.size,
    add: (count) => sidecars.add(count),
    heard: (expected) => sidecars.published(expected),
    stop: () => sidecars.stop(),
    reconnect: (bench) => outage(bench, sidecars),
  };
}

/** Kills what the sidecars are connected to, and starts it again: how far apart they come back, and what that costs. */
async function outage(bench, sidecars) {
  const { plan, etcd, proxy } = bench;
  const server = proxy ?? { stop: () => etcd.server.stop('SIGKILL'), launch: () => etcd.launch() };
  const before = threadsCpuMs(etcd.pid);
  const downAt = Date.now();
  await server.stop();
  await sleep(plan.downMs);
  await server.launch();
  const freshAt = (await sidecars.fresh(downAt)).sort((a, b) => a - b);
  // An etcd that was killed itself begins at 0, with what its own start costs.
  const etcdCpuMs = threadsCpuMs(etcd.pid) - (proxy === null ? 0 : before);
  await oneChange(bench, { heard: (expected) => sidecars.published(expected) });
  const afterFirstMs = freshAt.map((at) => at - freshAt[0]);
  return {
    n: sidecars.size,
    downMs: plan.downMs,
    afterFirstMs: { ...summary(afterFirstMs), each: afterFirstMs },
    etcdCpuMs: round(etcdCpuMs),
  };
}

function bareClients(url, progress) {
  const watchers = new BareWatchers(url, { progress });
  const lists = (count) =>
    Array.from({ length: count }, (_, n) => watchedPrefixes(nodeName(watchers.size + n)));
  return {
    size: () => watchers.size,
    add: (count) => watchers.add(lists(count), { list: true }),
    heard: () => watchers.heard(),
    stop: () => watchers.close(),
    reconnect: (bench) => reopening(bench, watchers, lists),
  };
}

/** All watchers anew: without a list, as after a lost connection, and with one, as after a start; at once, and spread. */
async function reopening(bench, watchers, lists) {
  const count = watchers.size;
  const figures = {};
  const ways = {
    watchAtOnce: { list: false },
    listAtOnce: { list: true },
    listSpread: { list: true, spreadMs: bench.plan.spreadMs },
  };
  for (const [name, how] of Object.entries(ways)) {
    watchers.close();
    await sleep(500);
    watchers.failures = [];
    const before = await reading(bench);
    const openedMs = await watchers.add(lists(count), how);
    const after = await reading(bench);
    figures[name] = {
      spreadMs: how.spreadMs ?? 0,
      openedMs: summary(openedMs),
      failures: watchers.failures.length,
      etcdCpuMsEach: round((after.etcdCpuMs - before.etcdCpuMs) / count),
      sentBytesEach: round((after.sentBytes - before.sentBytes) / count),
      etcdPeakMiB: round(memory(bench.etcd.pid).peakMiB),
    };
  }
  return { n: count, ...figures };
}
