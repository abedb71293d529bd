// Changes that must cost next to nothing: of a key that no resource reads, and of a node in a way that shows nowhere.

import { setTimeout as sleep } from 'node:timers/promises';
import { Birdfeed } from '../lib/birdfeed.mjs';
import { UNREAD_PREFIX } from '../lib/cluster.mjs';
import { bytesWritten, cpuMs } from '../lib/processes.mjs';
import { round } from '../lib/stats.mjs';

export async function irrelevant(bench) {
  const { options, cluster, etcd, program, newCache, progress } = bench;
  progress('irrelevant changes');
  const birdfeed = await Birdfeed.start({
    program,
    what: { nodeName: cluster.nodeName, etcd: etcd.url, cache: await newCache(), check: null },
    complete: (content) => content.includes(cluster.expected(cluster.size - 1)),
  });
  try {
    await etcd.put(...cluster.relabelled(1, 'warm-up'));
    await sleep(options.settleMs / 2);
    return {
      unreadKey: await phase(bench, birdfeed, (n) => [`${UNREAD_PREFIX}pod-${n}`, '{"spec":{}}']),
      invisible: await phase(bench, birdfeed, (n) => cluster.relabelled(cluster.peer(n), `zone-${n}`)),
      idle: await phase(bench, birdfeed, null),
    };
  } finally {
    await etcd.deletePrefix(UNREAD_PREFIX);
    await birdfeed.stop();
  }
}

/** `entry` null: nothing is put, for the same time. */
async function phase({ options, etcd }, birdfeed, entry) {
  const before = await reading(birdfeed);
  for (let n = 0; n < options.changes; n += 1) {
    if (entry !== null) await etcd.put(...entry(n));
    await sleep(options.intervalMs);
  }
  const after = await reading(birdfeed);
  return {
    n: options.changes,
    runs: after.runs - before.runs,
    published: after.published - before.published,
    switches: after.switches - before.switches,
    bytesWritten: after.bytes - before.bytes,
    cpuMsPerChange: round((after.cpu - before.cpu) / options.changes),
  };
}

async function reading(birdfeed) {
  const { counters } = await birdfeed.status();
  return {
    runs: counters.runs,
    published: counters.published,
    switches: birdfeed.switches.count,
    bytes: bytesWritten(birdfeed.pid),
    cpu: cpuMs(birdfeed.pid),
  };
}
