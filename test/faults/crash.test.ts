import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as lasts } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { BIRD2, etcdArgs, type Host, hostArgs, makeHost, startBirds } from '../integration/app/support.ts';
import { litter, openTestStore } from '../integration/generation/support.ts';
import { binaries, requireBinary } from '../support/binaries.ts';
import type { BirdDaemon } from '../support/bird-daemon.ts';
import { Birdfeed } from '../support/birdfeed.ts';
import { calicoMesh, calicoPeer, fillEtcd } from '../support/calico.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import { until } from '../support/wait.ts';
import { between, fault, type Random } from './runs.ts';

const etcd35 = requireBinary(binaries.etcd35, 'etcd35');
const MINE = { set: 'default', nodeName: 'n1', dialect: 'bird2' };

interface Victim {
  readonly host: Host;
  readonly etcd: EtcdServer;
  readonly bird: BirdDaemon;
  /** Number of the newest generation that was current. */
  newest: number;
  /** Runs after which something was found half done. */
  interrupted: number;
}

async function makeVictim(): Promise<Victim> {
  const etcd = await EtcdServer.start(etcd35);
  onTestFinished(() => etcd.close());
  await fillEtcd(etcd.client, calicoMesh(3));
  const host = await makeHost(BIRD2);
  const [bird] = (await startBirds(host)) as [BirdDaemon];
  return { host, etcd, bird, newest: 0, interrupted: 0 };
}

function start({ host, etcd }: Victim): Promise<Birdfeed> {
  return Birdfeed.start([...hostArgs(host), ...etcdArgs(etcd), '--quiet', '0s', '--keep', '3'], {
    cache: host.cache,
  });
}

/** A birdfeed that is starting, or publishing one generation after the other, is killed at a random moment. */
async function killOnce(victim: Victim, random: Random): Promise<void> {
  const link = join(victim.host.cache, 'current');
  const target = () => (existsSync(link) ? readlinkSync(link) : '');
  const before = target();
  const birdfeed = await start(victim);
  if (random() < 0.3) await lasts(between(random, 0, 500));
  else {
    await birdfeed.says('datastore listed', { every: 5 });
    const putting = new AbortController();
    const puts = keepPutting(victim, random, putting.signal);
    await until(() => target() !== before, { timeout: 30_000, every: 1, what: 'a first publication' });
    await lasts(random() * 60);
    birdfeed.signal('SIGKILL');
    putting.abort();
    await puts;
  }
  await birdfeed.kill9();
}

async function keepPutting({ etcd }: Victim, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const asNumber = between(random, 1, 4_000_000_000);
    await etcd.client.put(...calicoPeer('busy', { peerIP: '172.16.0.1', asNumber }));
  }
}

/** What the dead left is whole, and never older than before. */
async function isWhole(victim: Victim): Promise<void> {
  const store = openTestStore(victim.host.cache);
  expect(store.stateProblem).toBeNull();
  const boot = store.bootCurrent(MINE);
  expect(boot.refusals).toEqual([]);
  if (boot.generation === null) return expect(victim.newest).toBe(0);
  expect(boot.inPlace).toBe(true);
  expect(boot.generation.number).toBeGreaterThanOrEqual(victim.newest);
  victim.newest = boot.generation.number;
  for (const { number } of store.list()) expect(store.verify(number, MINE)).toMatchObject({ number });
  if ((await litter(store)).length > 0) victim.interrupted += 1;
}

/** The next one starts from what is there, leaves nothing lying about, and BIRD runs `current`. */
async function goesOn(victim: Victim): Promise<void> {
  const birdfeed = await start(victim);
  await birdfeed.settled();
  const store = openTestStore(victim.host.cache);
  // Old generations are removed after the new one is in use.
  await until(async () => (await litter(store)).length === 0, { what: 'nothing to lie about' });
  const { generation } = store.bootCurrent(MINE);
  const mark = (await victim.bird.cmd('eval birdfeed_mark')).text.trim();
  expect(generation?.stamp.contentDigest.startsWith(mark), `BIRD runs ${mark}`).toBe(true);
  // Three are kept, and what is current, its parent and what BIRD has acknowledged.
  await until(() => store.list().length <= 6, { what: 'old generations to go' });
  await birdfeed.kill9();
}

const KILLS = { runs: 1_000, short: 12 };

fault(
  'birdfeed killed with -9 at a random moment',
  { ...KILLS, bound: null, patience: 4_000 },
  makeVictim,
  async (victim, random, index) => {
    await killOnce(victim, random);
    await isWhole(victim);
    if (index % 25 === 11) {
      await goesOn(victim);
      // Otherwise the kills miss what they are meant to hit.
      expect(victim.interrupted).toBeGreaterThan(index / 100);
    }
    return 0;
  },
);
