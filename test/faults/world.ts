import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  BIRD2,
  currentFiles,
  type Endpoint,
  type Flavour,
  type Host,
  makeHost,
  onetime,
  reconfigurations,
  startBirdfeed,
  startBirds,
} from '../integration/app/support.ts';
import type { EtcdBinary } from '../support/binaries.ts';
import type { BirdDaemon } from '../support/bird-daemon.ts';
import type { Birdfeed } from '../support/birdfeed.ts';
import { calicoMesh, calicoPeer, fillEtcd, peerKey, type Stored } from '../support/calico.ts';
import { type EtcdOptions, EtcdServer } from '../support/etcd-server.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { type SocketTap, tapSocket } from '../support/socket-tap.ts';
import { until } from '../support/wait.ts';
import { between, type Random } from './runs.ts';

/** A real etcd behind a proxy, a birdfeed that watches through it, and the real BIRD that it feeds. */
export interface World {
  readonly etcd: EtcdServer;
  readonly proxy: FaultProxy;
  readonly host: Host;
  readonly birds: BirdDaemon[];
  /** What stands between birdfeed and each BIRD, unless the world was made without. */
  readonly taps: readonly SocketTap[];
  birdfeed: Birdfeed;
  readonly pid: number;
  /** Arguments to reach etcd directly, for the oracle. */
  readonly direct: readonly string[];
  /** BGPPeers that `changePeers` has made. */
  readonly peers: Set<string>;
  /** Changes made since the world began: more generations than these there must not be. */
  changes: number;
}

export interface WorldOptions {
  readonly etcd?: EtcdOptions;
  readonly flavour?: Flavour;
  /** More arguments for every birdfeed, such as credentials. */
  readonly args?: readonly string[];
  /** More arguments for the one that watches. */
  readonly watchArgs?: readonly string[];
  /** Whether taps stand before the BIRDs (default true): a dead BIRD then looks like one that hangs up. */
  readonly tapped?: boolean;
  /** What etcd holds at the start. */
  readonly data?: readonly Stored[];
  /** Before birdfeed starts: such as turning on authentication. */
  readonly prepare?: (etcd: EtcdServer) => Promise<void>;
}

export async function makeWorld(binary: EtcdBinary, options: WorldOptions = {}): Promise<World> {
  const etcd = await EtcdServer.start(binary, options.etcd);
  onTestFinished(() => etcd.close());
  await fillEtcd(etcd.client, options.data ?? calicoMesh(3));
  await options.prepare?.(etcd);
  const proxy = await FaultProxy.start(etcd.port);
  onTestFinished(() => proxy.close());
  const through = { url: etcd.url.replace(`:${etcd.port}`, `:${proxy.port}`) };
  const fed = await feedBirds(through, options);
  const world = { etcd, proxy, ...fed, direct: options.args ?? [], peers: new Set<string>(), changes: 0 };
  return Object.defineProperty(world, 'pid', { get: () => world.birdfeed.pid });
}

/** A host with running BIRDs and a birdfeed that has fed them. */
export async function feedBirds(etcd: Endpoint, options: WorldOptions = {}) {
  const bare = await makeHost(options.flavour ?? BIRD2);
  const birds = await startBirds(bare);
  const taps =
    options.tapped === false
      ? []
      : await Promise.all(bare.sockets.map((socket, at) => tapSocket(`${bare.directory}/tap-${at}`, socket)));
  const host = taps.length === 0 ? bare : { ...bare, sockets: taps.map(({ path }) => path) };
  const args = [...(options.args ?? []), ...(options.watchArgs ?? [])];
  const birdfeed = await startBirdfeed(host, etcd, args);
  await birdfeed.settled({ timeout: 30_000 });
  return { host, birds, taps, birdfeed, pid: birdfeed.pid };
}

/** How to bring a fault about. Resolves to what ends it. */
export type Strike = (world: World, random: Random, index: number) => Promise<() => Promise<void>>;

let probes = 0;

/**
 * One round: the fault, with changes before and during it as the strike pleases, its end, and then one more change, the
 * probe. Resolves to the time from the end of the fault until BIRD runs the probe. Then what is published has to be what a
 * fresh `--onetime` renders, and BIRD must have been told no more often than there was something new.
 */
export async function strikeOnce(
  world: World,
  random: Random,
  index: number,
  strike: Strike,
): Promise<number> {
  const { birdfeed, birds } = world;
  const before = await birdfeed.settled();
  const loaded = birds.map(reconfigurations);
  const changes = world.changes;
  const end = await strike(world, random, index);
  await end();
  const started = performance.now();
  await runsProbe(world, await putProbe(world));
  const elapsed = performance.now() - started;
  await isWhatOnetimeRenders(world);
  const { counters } = await birdfeed.status();
  const published = counters.published - before.counters.published;
  expect(published, 'generations').toBeGreaterThanOrEqual(1);
  expect(published, 'generations, no more than changes').toBeLessThanOrEqual(world.changes - changes);
  for (const [at, bird] of birds.entries()) {
    expect(reconfigurations(bird) - loaded[at]!, 'reloads').toBeLessThanOrEqual(published);
  }
  expectHarmless(world);
  return elapsed;
}

/** BIRD is only ever asked for these: never to go down, nor to restart anything. */
export function expectHarmless({ taps }: World): void {
  const commands = taps.flatMap((tap) => tap.commands);
  expect(commands.filter((command) => !/^(configure |eval |show )/.test(command))).toEqual([]);
}

/** One BGPPeer that is different every time. Resolves to its AS number. */
export async function putProbe(world: World): Promise<number> {
  probes += 1;
  world.changes += 1;
  const asNumber = 4_200_000_000 + probes;
  await world.etcd.client.put(...calicoPeer('probe', { peerIP: '172.31.0.1', asNumber }));
  return asNumber;
}

/** Waits until BIRD runs the generation that has the probe, and birdfeed says that all is well. */
export async function runsProbe({ host, birdfeed }: World, asNumber: number): Promise<void> {
  const files = currentFiles(host);
  const published = () => files.some((file) => readFileSync(file, 'utf8').includes(`${asNumber}`));
  await until(published, { timeout: 60_000, every: 5, what: 'the probe to be published' }).catch(
    async (error: Error) => {
      throw new Error(`${error.message}; status ${JSON.stringify(await birdfeed.status())}`);
    },
  );
  await birdfeed.settled({ timeout: 30_000, every: 10 });
}

/** The published bytes are those that a fresh `--onetime` renders from what etcd holds. */
export async function isWhatOnetimeRenders({ host, etcd, direct }: World): Promise<void> {
  const oracle = await makeHost(host.flavour);
  const result = await onetime(oracle, etcd, ['--reload', 'none', '--require-fresh', ...direct]);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const [published, rendered] = [host, oracle].map((of) =>
    currentFiles(of).map((file) => readFileSync(file, 'utf8')),
  );
  expect(published === rendered || JSON.stringify(published) === JSON.stringify(rendered)).toBe(true);
  rmSync(oracle.directory, { recursive: true, force: true });
}

/** As above, for an `--onetime` that starts from a copy of the cache: it has the same last good generation. */
export async function isWhatOnetimeServes({ host, etcd, direct }: World): Promise<void> {
  const oracle = await makeHost(host.flavour);
  cpSync(host.cache, oracle.cache, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('admin.sock') && !path.endsWith('/lock'),
  });
  const result = await onetime(oracle, etcd, ['--reload', 'none', ...direct]);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const [published, served] = [host, oracle].map((of) =>
    currentFiles(of).map((file) => readFileSync(file, 'utf8')),
  );
  expect(JSON.stringify(published) === JSON.stringify(served)).toBe(true);
  expect(existsSync(join(host.cache, 'current'))).toBe(true);
  rmSync(oracle.directory, { recursive: true, force: true });
}

/** Puts, changes or deletes one BGPPeer, `times` times. */
export async function changePeers(world: World, random: Random, times = 1): Promise<void> {
  for (let more = times; more > 0; more -= 1) {
    world.changes += 1;
    await changePeer(world, random);
  }
}

async function changePeer({ etcd, peers }: World, random: Random): Promise<void> {
  const known = [...peers];
  const kind = known.length >= 8 ? 2 : known.length <= 3 ? 0 : between(random, 0, 2);
  if (kind === 2) {
    const victim = known[between(random, 0, known.length - 1)]!;
    await etcd.client.del(peerKey(victim));
    peers.delete(victim);
    return;
  }
  const name = kind === 1 ? known[between(random, 0, known.length - 1)]! : `peer-${between(random, 1, 250)}`;
  await etcd.client.put(
    ...calicoPeer(name, {
      peerIP: `172.16.0.${name.slice(5)}`,
      asNumber: 64_512 + between(random, 1, 1_000),
    }),
  );
  peers.add(name);
}
