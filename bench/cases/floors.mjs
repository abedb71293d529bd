// What the machine cannot go below: the same bytes, by the plainest means.

import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODES_PREFIX } from '../lib/cluster.mjs';
import { cleanEnvironment, measureRun } from '../lib/processes.mjs';
import { round, summary } from '../lib/stats.mjs';

export async function floors({ options, etcd, cluster, birdBinary, sample, directory, progress }) {
  progress('floors');
  return {
    putToEventMs: await putToEvent(etcd, cluster, options.changes),
    publishMs: await publish(join(directory, 'floor'), sample.bytes, options.changes),
    birdParse: birdBinary === null ? null : await birdParse(birdBinary, sample.path, options.changes),
    nodeStartMs: await nodeStart(options.runs),
  };
}

/** From before a put until a bare watcher hears of it. */
async function putToEvent(etcd, cluster, changes) {
  const samples = [];
  let heard = () => {};
  const end = await etcd.watch(NODES_PREFIX, (at) => heard(at));
  for (let n = 0; n < changes; n += 1) {
    const event = new Promise((resolve) => {
      heard = resolve;
    });
    const [key, value] = cluster.changed(cluster.peer(n));
    const from = performance.now();
    await etcd.put(key, value);
    samples.push((await event) - from);
    await sleep(20);
  }
  end();
  return summary(samples);
}

/** write, fsync, rename of the bytes that birdfeed publishes. */
async function publish(directory, bytes, changes) {
  await mkdir(directory, { recursive: true });
  const samples = [];
  for (let n = 0; n < changes; n += 1) {
    await sleep(20);
    const from = performance.now();
    const file = await open(join(directory, 'new'), 'w');
    await file.write(bytes);
    await file.sync();
    await file.close();
    await rename(join(directory, 'new'), join(directory, 'published'));
    samples.push(performance.now() - from);
  }
  return summary(samples);
}

async function birdParse(binary, file, changes) {
  const walls = [];
  let cpu = 0;
  for (let n = 0; n < changes; n += 1) {
    const { wallMs, cpuMs } = await parseOnce(binary, file);
    walls.push(wallMs);
    cpu += cpuMs;
  }
  return { wallMs: summary(walls), cpuMs: round(cpu / changes) };
}

/** `bird -p` by itself. */
export async function parseOnce(binary, file) {
  const { wallMs, cpuMs, code, output } = await measureRun(binary, ['-p', '-c', file]);
  if (code !== 0) throw new Error(`bird -p does not accept the published file: ${output}`);
  return { wallMs, cpuMs };
}

async function nodeStart(runs) {
  const walls = [];
  for (let n = 0; n < runs; n += 1) {
    walls.push((await measureRun(process.execPath, ['-e', '0'], { env: cleanEnvironment() })).wallMs);
  }
  return summary(walls);
}
