import { setTimeout as lasts } from 'node:timers/promises';
import { describe, onTestFinished } from 'vitest';
import { binaries, requireBinary, skipSuite } from '../support/binaries.ts';
import { calicoMesh, fillEtcd } from '../support/calico.ts';
import { canMakeCertificates, createCa } from '../support/certs.ts';
import { EtcdServer, leaderOf } from '../support/etcd-server.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { testDir } from '../support/tmp.ts';
import { until } from '../support/wait.ts';
import { between, fault } from './runs.ts';
import { changePeers, feedBirds, makeWorld, strikeOnce, type World } from './world.ts';

const etcd34 = requireBinary(binaries.etcd34, 'etcd34');
const etcd35 = requireBinary(binaries.etcd35, 'etcd35');

describe('authentication', () => {
  for (const [version, binary, kind] of [
    ['etcd 3.4', etcd34, 'simple'],
    ['etcd 3.5', etcd35, 'jwt'],
  ] as const) {
    fault(
      `${version} whose ${kind} token has run out`,
      { runs: 5, short: kind === 'jwt' ? 1 : 0, bound: 6_000 },
      () =>
        makeWorld(binary, {
          etcd: { token: { kind, ttlSeconds: 2 } },
          args: ['--etcd-username', 'birdfeed', '--etcd-password', 'hush-hush'],
          prepare: async ({ client }) => {
            await client.enableAuth('root-secret');
            await client.addReader('birdfeed', 'hush-hush', '/calico/');
          },
        }),
      (world, random, index) =>
        strikeOnce(world, random, index, async ({ proxy }) => {
          await lasts(2_500);
          if (index % 2 === 0) proxy.cut();
          await changePeers(world, random, between(random, 0, 2));
          return async () => {};
        }),
    );
  }
});

describe('TLS', () => {
  if (!canMakeCertificates()) skipSuite('openssl is missing');

  fault(
    'etcd 3.5 with all certificates replaced',
    { runs: 4, bound: 6_000 },
    async () => {
      const authority = await createCa(await testDir());
      const [server, client] = [await authority.issue('server'), await authority.issue('client')];
      const { ca } = authority;
      const world = await makeWorld(etcd35, {
        etcd: { tls: { ca, server, clientAuth: true } },
        args: ['--etcd-ca-file', ca, '--etcd-cert-file', client.cert, '--etcd-key-file', client.key],
      });
      return Object.assign(world, { authority });
    },
    (world, random, index) =>
      strikeOnce(world, random, index, async ({ etcd, proxy }) => {
        await world.authority.issue('server');
        await world.authority.issue('client');
        await changePeers(world, random, between(random, 0, 2));
        if (index % 2 === 0) proxy.cut();
        else await etcd.kill9();
        return () => (etcd.isRunning ? Promise.resolve() : etcd.restart());
      }),
  );
});

/** Three members, of which birdfeed knows all. `etcd` is one that runs. */
async function makeCluster(): Promise<World & { members: readonly EtcdServer[] }> {
  const members = await EtcdServer.startCluster(etcd35, 3);
  onTestFinished(async () => void (await Promise.all(members.map((member) => member.close()))));
  await fillEtcd(members[0]!.client, calicoMesh(3));
  const fed = await feedBirds({ url: members.map(({ url }) => url).join(',') });
  // Nobody's way leads through it here.
  const proxy = await FaultProxy.start(members[0]!.port);
  onTestFinished(() => proxy.close());
  return {
    members,
    get etcd() {
      return members.find(({ isRunning }) => isRunning)!;
    },
    ...fed,
    ...{ proxy, direct: [], peers: new Set<string>(), changes: 0 },
  };
}

async function kill(world: World & { members: readonly EtcdServer[] }, victim: EtcdServer) {
  await victim.kill9();
  // Measured from when the cluster takes writes again: until then there is nothing to converge to.
  await until(() => world.etcd.client.put('/elsewhere', 'x'), { timeout: 30_000 });
  return async () => {};
}

async function revive({ members }: { members: readonly EtcdServer[] }): Promise<void> {
  for (const member of members) if (!member.isRunning) await member.restart();
}

describe('a cluster of three', () => {
  fault(
    'etcd 3.5, leader of three, killed with -9',
    { runs: 5, bound: 8_000 },
    makeCluster,
    async (world, random, index) => {
      await revive(world);
      return strikeOnce(world, random, index, async () => {
        await changePeers(world, random, between(random, 0, 2));
        return kill(world, await leaderOf(world.members));
      });
    },
  );

  fault(
    'etcd 3.5, any of three, killed with -9',
    { runs: 5, short: 0, bound: 8_000 },
    makeCluster,
    async (world, random, index) => {
      await revive(world);
      return strikeOnce(world, random, index, async () => {
        await changePeers(world, random, between(random, 0, 2));
        return kill(world, world.members[index % 3]!);
      });
    },
  );
});
