import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as lasts } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { BIRD2, bgpSessions, makeHost, startBirdfeed, startBirds } from '../integration/app/support.ts';
import {
  canMount,
  litter,
  mine,
  mount,
  openTestStore,
  preparedStore,
  publish,
  recordingFs,
  smallDisk,
  sound,
} from '../integration/generation/support.ts';
import { binaries, requireBinary, skipSuite } from '../support/binaries.ts';
import { calicoMesh, fillEtcd } from '../support/calico.ts';
import { EtcdServer } from '../support/etcd-server.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { between, fault, type Random } from './runs.ts';
import { changePeers, isWhatOnetimeRenders, putProbe, runsProbe, type World } from './world.ts';

const etcd35 = requireBinary(binaries.etcd35, 'etcd35');

describe('a disk', () => {
  if (!canMount()) skipSuite('file systems cannot be mounted here (needs root)');

  /** A world whose cache is on a file system of its own of half a megabyte. */
  async function worldOnDisk(): Promise<World & { disk: string }> {
    const etcd = await EtcdServer.start(etcd35);
    onTestFinished(() => etcd.close());
    await fillEtcd(etcd.client, calicoMesh(3));
    const proxy = await FaultProxy.start(etcd.port);
    onTestFinished(() => proxy.close());
    const disk = await smallDisk(512);
    const host = { ...(await makeHost(BIRD2)), cache: join(disk, 'cache') };
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    await birdfeed.settled();
    const pid = birdfeed.pid;
    return {
      etcd,
      proxy,
      host,
      birds,
      taps: [],
      birdfeed,
      pid,
      direct: [],
      peers: new Set(),
      changes: 0,
      disk,
    };
  }

  /** While the disk is broken nothing changes for BIRD, and the state says why; then it goes on by itself. */
  async function suffers(
    world: World,
    random: Random,
    reason: RegExp,
    breakIt: () => Promise<() => Promise<void>>,
  ): Promise<number> {
    const { birdfeed, birds } = world;
    const before = await birdfeed.settled();
    const sessions = await bgpSessions(birds);
    const mend = await breakIt();
    await changePeers(world, random, between(random, 1, 3));
    const probe = await putProbe(world);
    const status = await birdfeed.reaches('degraded', ({ config }) => config.state === 'degraded');
    expect(status.config.reason).toMatch(reason);
    expect(status.generation).toEqual(before.generation);
    expect([...(await bgpSessions(birds)).keys()]).toEqual([...sessions.keys()]);
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    await lasts(between(random, 0, 1_500));
    await mend();
    const started = performance.now();
    await runsProbe(world, probe);
    const elapsed = performance.now() - started;
    await isWhatOnetimeRenders(world);
    expect(await litter(openTestStore(world.host.cache))).toEqual([]);
    return elapsed;
  }

  fault('the disk full', { runs: 8, bound: 8_000 }, worldOnDisk, (world, random) =>
    suffers(world, random, /ENOSPC; the file system is full/, async () => {
      const { bavail, bsize } = statfsSync(world.disk);
      const ballast = join(world.disk, 'ballast');
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail - between(random, 0, 1)) * bsize));
      return async () => rmSync(ballast);
    }),
  );

  fault(
    'the cache mounted read-only under a running birdfeed',
    { runs: 8, bound: 8_000 },
    worldOnDisk,
    (world, random) =>
      suffers(world, random, /EROFS; .*read-only/, async () => {
        const { cache } = world.host;
        // A mount of its own above it: a file system with an open lock file cannot be remounted.
        await mount(cache, '--bind', cache);
        await mount(cache, '-o', 'remount,ro,bind');
        return async () => void execFileSync('umount', [cache]);
      }),
  );
});

const ERRNOS = ['EIO', 'ENOSPC', 'EROFS', 'EDQUOT', 'EMFILE'] as const;

function failure(errno: string, call: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${errno}: injected into ${call}`), { code: errno });
}

/** How many calls one publication makes. */
async function callsOfPublishing(): Promise<number> {
  const cache = (await preparedStore()).layout.cacheDir;
  const calls: string[] = [];
  await publish(
    openTestStore(cache, { fs: recordingFs(cache, [], (call) => void calls.push(call)) }),
    'counted',
  );
  return calls.length;
}

fault(
  'each call of publishing failing once, with each of five errors',
  { runs: 1, short: 1, bound: null, patience: 120_000 },
  async () => {
    const calls = await callsOfPublishing();
    return { calls, places: calls * ERRNOS.length };
  },
  async ({ calls }, _random, index) => {
    const first = await preparedStore();
    await publish(first, 'old');
    const cache = first.layout.cacheDir;
    let call = 0;
    const fs = recordingFs(cache, [], (name) => {
      call += 1;
      if (call === (index % calls) + 1) throw failure(ERRNOS[Math.floor(index / calls)]!, name);
    });
    const store = openTestStore(cache, { fs });
    store.bootCurrent(mine);
    await publish(store, 'new').catch((error: unknown) => {
      expect(error).toMatchObject({ code: expect.stringMatching(/^BF_CACHE_/) });
    });
    // The last good one or the new one, never less; and the same process goes on with the next.
    const boot = openTestStore(cache).bootCurrent(mine);
    expect(boot).toMatchObject({ inPlace: true, refusals: [] });
    const next = await publish(store, 'next');
    expect(sound(openTestStore(cache).bootCurrent(mine).generation).number).toBe(next.number);
    await store.prepare();
    expect(await litter(store)).toEqual([]);
    return 0;
  },
);
