// One change at a time: a put of one Node with another AS number, until `current` shows it, and until BIRD runs it.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bird } from '../lib/bird.mjs';
import { Birdfeed, contentMark } from '../lib/birdfeed.mjs';
import { Confd, prepareConfd } from '../lib/confd.mjs';
import { cpuMs, until } from '../lib/processes.mjs';
import { ratio, round, summary } from '../lib/stats.mjs';
import { Switches } from '../lib/switches.mjs';
import { parseOnce } from './floors.mjs';

/** @param {readonly string[]} [only] names of cells */
export async function changes(bench, only = Object.keys(CELLS)) {
  const cells = {};
  for (const name of only) {
    const how = CELLS[name];
    const isPossible = bench.birdBinary !== null && (!how.bird || bench.canIsolate);
    if (isPossible || !(how.check || how.bird)) cells[name] = await birdfeedCell(bench, how);
  }
  const confd = bench.confd === null ? 'not measured' : await confdCell(bench);
  return { ...withRatios(cells, confd, bench.floors), confd };
}

/** What the changes of one cell may take; the default number of them takes a quarter of it, unless BIRD is slow. */
const CELL_MS = 60_000;
const WARM_UP_MS = 10_000;
const FEWEST = 3;
/** From here on BIRD is not asked more often than it takes to know. */
const SLOW_MS = 2_000;

const CELLS = {
  noCheck: { check: false, bird: false },
  check: { check: true, bird: false },
  acknowledged: { check: false, bird: true },
  checkAcknowledged: { check: true, bird: true },
};

/** Every cell with its floor and its peer. */
function withRatios(cells, confd, floors) {
  const peer = typeof confd === 'string' ? null : confd;
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => [
      name,
      {
        ...cell,
        toConfd: ratio(cell.switchedMs.p50, peer?.switchedMs.p50),
        cpuToConfd: ratio(cell.cpuMsPerChange, peer?.cpuMsPerChange),
        toFloor: ratio(cell.switchedMs.p50, floorOf(cell, floors)),
      },
    ]),
  );
}

/** The event must arrive, the bytes must get to the disk, and where there is a check, that must be waited for. */
function floorOf({ birdParseMs }, floors) {
  if (floors === undefined) return null;
  return floors.putToEventMs.p50 + floors.publishMs.p50 + (birdParseMs?.p50 ?? 0);
}

async function birdfeedCell(bench, { check, bird: withBird }) {
  const { cluster, etcd, birdBinary, program, newCache, progress } = bench;
  progress(`changes: ${check ? 'with bird -p' : 'without check'}${withBird ? ', acknowledged by BIRD' : ''}`);
  const cache = await newCache();
  const what = { nodeName: cluster.nodeName, etcd: etcd.url, cache, check: check ? birdBinary : null };
  let bird = null;
  if (withBird) bird = await Bird.start(birdBinary, await bench.renderOnce(cache), bench.directory);
  const birdfeed = await Birdfeed.start({
    program,
    what: { ...what, socket: bird?.socket ?? null },
    complete: (content) => content.includes(cluster.expected(cluster.size - 1)),
  });
  const acknowledged = withBird ? new Acknowledgements(birdfeed) : null;
  try {
    if (withBird)
      await until(() => birdfeed.isAcknowledged(), {
        what: "BIRD's acknowledgement",
        process: birdfeed.process,
      });
    // Between the changes, so that both are measured on the same machine at the same time.
    const parse = check ? () => parseOnce(birdBinary, birdfeed.publishedFile()) : null;
    const content = () => birdfeed.content();
    const measured = await measureChanges(bench, birdfeed, content, acknowledged, parse);
    if (!withBird) return measured;
    if ((await bird.mark()) !== contentMark(birdfeed.content()))
      throw new Error('BIRD runs something else than was acknowledged');
    await birdfeed.stop();
    return { ...measured, configureMs: await birdAlone(bench, bird, birdfeed.publishedFile()) };
  } finally {
    acknowledged?.close();
    await birdfeed.stop();
    await bird?.stop();
  }
}

/**
 * How long BIRD takes to load this file by itself, asked on its socket, with one session changed each time. It is asked after
 * the changes, when it does what it did then: a BIRD that has just started is not yet trying to open its sessions.
 */
async function birdAlone({ cluster, directory }, bird, file) {
  const text = await readFile(file, 'latin1');
  const session = cluster.expected(cluster.peer(0));
  const other = join(directory, 'configure.conf');
  await writeFile(other, text.replace(session, session.replace(/as \d+;/, 'as 64999;')), 'latin1');
  const samples = [];
  for (const path of [other, file, other, file]) {
    samples.push(await bird.configure(path));
    if (samples.length === 2 && samples[1] > SLOW_MS) break;
  }
  return summary(samples);
}

async function confdCell(bench) {
  const { cluster, etcd, confd: binary, progress } = bench;
  progress('changes: confd');
  const prepared = prepareConfd(await bench.newDirectory('confd'), bench.node);
  const confd = await Confd.start(binary, prepared, etcd.url, (content) =>
    content.includes(cluster.expected(cluster.size - 1)),
  );
  try {
    const measured = await measureChanges(bench, confd, () => confd.content(), null);
    return { ...measured, sameSessions: await bench.hasSessionsOf(confd.content()) };
  } finally {
    await confd.stop();
  }
}

/** Warms up with a few changes, since a watcher at work is what is asked about, and measures the rest. */
async function measureChanges(bench, program, content, acknowledged, parse = null) {
  const { changes: wanted } = bench.options;
  let n = 0;
  const warmUntil = performance.now() + WARM_UP_MS;
  while (n < Math.min(5, wanted) && performance.now() < warmUntil)
    await oneChange(bench, program, content, acknowledged, n++);
  const switched = [];
  const acked = [];
  const parsed = [];
  const cpuBefore = cpuMs(program.pid);
  // Fewer where each keeps BIRD busy for seconds, so that one cell does not take half an hour.
  const endAt = performance.now() + CELL_MS;
  while (switched.length < wanted && (switched.length < FEWEST || performance.now() < endAt)) {
    const times = await oneChange(bench, program, content, acknowledged, n++);
    switched.push(times.switchedMs);
    if (times.acknowledgedMs !== null) acked.push(times.acknowledgedMs);
    if (parse !== null) parsed.push((await parse()).wallMs);
  }
  return {
    switchedMs: summary(switched),
    ...(acknowledged === null ? {} : { acknowledgedMs: summary(acked) }),
    ...(parse === null ? {} : { birdParseMs: summary(parsed) }),
    cpuMsPerChange: round((cpuMs(program.pid) - cpuBefore) / switched.length),
  };
}

async function oneChange({ etcd, cluster, options }, program, content, acknowledged, n) {
  const index = cluster.peer(n * 7);
  const [key, value] = cluster.changed(index);
  const expected = cluster.expected(index);
  const from = performance.now();
  const shown = program.switches.next(from, () => content().includes(expected));
  await etcd.put(key, value);
  const switchedMs = (await shown) - from;
  const acknowledgedMs = acknowledged === null ? null : (await acknowledged.next(from)) - from;
  await sleep(Math.max(0, from + options.intervalMs - performance.now()));
  return { switchedMs, acknowledgedMs };
}

/** The times at which birdfeed had written down that BIRD runs what `current` holds. */
class Acknowledgements {
  constructor(birdfeed) {
    this.birdfeed = birdfeed;
    this.switches = new Switches(birdfeed.cache, 'state.json');
  }

  next(from) {
    // BIRD takes its time with thousands of sessions that it also tries to open.
    return this.switches.next(from, () => this.birdfeed.isAcknowledged(), 120_000);
  }

  close() {
    this.switches.close();
  }
}
