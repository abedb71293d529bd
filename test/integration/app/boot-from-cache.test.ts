import { readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, requireNamespaces } from '../../support/binaries.ts';
import type { BirdDaemon } from '../../support/bird-daemon.ts';
import { Birdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, calicoNode, calicoPool, fillEtcd, meshNode } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { createNetwork } from '../../support/netns.ts';
import { freePort } from '../../support/ports.ts';
import { until } from '../../support/wait.ts';
import {
  BIRD2,
  bgpSessions,
  currentFiles,
  etcdArgs,
  FLAVOURS,
  type Flavour,
  type Host,
  hostArgs,
  makeHost,
  onetime,
  reconfigurations,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

describe.each(FLAVOURS)('with etcd gone and birdfeed gone, a fresh %s', (_name, flavour) => {
  requireNamespaces();

  it('comes up from the cache with all sessions, and nothing is reloaded when etcd is back', async () => {
    const began = Date.now();
    const cluster = await startCluster(flavour);
    const first = await startBirdfeed(cluster.host, etcd);
    const published = await first.settled();
    let birds = cluster.birds;
    await allEstablished(birds);
    await Promise.all([etcd.kill9(), first.kill9(), ...birds.map((bird) => bird.kill9())]);

    birds = await startBirds(cluster.host, { from: currentFiles(cluster.host), netns: cluster.netns });
    const second = await startBirdfeed(cluster.host, etcd);
    const cached = await second.reaches('cached and applied', ({ data, bird }) => {
      return data.state === 'cached' && data.reason !== null && bird.state === 'applied';
    });
    await allEstablished(birds);
    expect(cached.headline).toBe('cached');
    expect(cached.data.reason).toContain(etcd.url);
    expect(cached.generation).toEqual(published.generation);
    expect(cached.confirmedAt).toBe(null);
    expect(Date.parse(cached.rememberedAt ?? '')).toBeGreaterThanOrEqual(began);
    const { code, body } = await second.get('/readyz');
    expect(code).toBe(503);
    expect(body).toMatchObject({ ready: false, data: 'cached', generation: published.generation?.number });
    expect(body['ageSeconds']).toBeGreaterThanOrEqual(0);
    expect(body['reason']).toContain('not yet fresh and applied: cached');
    // BIRD started from this very generation: there was nothing to load.
    expect(birds.map(reconfigurations)).toEqual(birds.map(() => 0));

    await etcd.restart();
    const fresh = await second.settled({ timeout: 60_000 });
    expect((await second.get('/readyz')).code).toBe(200);
    expect(fresh.generation).toEqual(published.generation);
    expect(fresh.counters.published).toBe(0);
    expect(birds.map(reconfigurations)).toEqual(birds.map(() => 0));
    await allEstablished(birds);
  });

  /** Nodes a, b and c in a mesh of both families; BIRD of a runs nothing yet. */
  async function startCluster(of: Flavour) {
    const names = ['a', 'b', 'c'] as const;
    const network = await createNetwork(names);
    onTestFinished(() => network.close());
    await fillEtcd(etcd.client, [
      ...names.map((name) => {
        const { ipv4, ipv6 } = network.nodes[name];
        return calicoNode(name, { v4: `${ipv4}/24`, v6: `${ipv6}/64` });
      }),
      calicoPool('pool4', '192.168.0.0/16'),
    ]);
    for (const name of ['b', 'c'] as const) {
      const other = { ...(await makeHost(of)), nodeName: name };
      expect(await onetime(other, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
      await startBirds(other, { from: currentFiles(other), netns: network.nodes[name].netns });
    }
    const host = { ...(await makeHost(of)), nodeName: 'a' };
    const { netns } = network.nodes.a;
    return { host, netns, birds: await startBirds(host, { netns }) };
  }

  async function allEstablished(birds: readonly BirdDaemon[]): Promise<void> {
    const names = ['Mesh_10_99_0_2', 'Mesh_10_99_0_3', 'Mesh_fd99__2', 'Mesh_fd99__3'];
    await until(
      async () => {
        const sessions = await bgpSessions(birds);
        expect([...sessions.keys()].sort()).toEqual(names);
        for (const row of sessions.values()) expect(row).toMatch(/ Established\b/);
        return true;
      },
      { timeout: 40_000, every: 100, what: 'all sessions Established' },
    );
  }
});

describe('booting from the cache', () => {
  beforeEach(async () => {
    if (!etcd.isRunning) await etcd.restart();
    await fillEtcd(etcd.client, calicoMesh(3));
  });

  it('gives the cached generation to a BIRD that runs something else', async () => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    const [bird] = await startBirds(host);
    const birdfeed = await startBirdfeed(host, await gone());
    const status = await birdfeed.reaches('applied', ({ bird: { state } }) => state === 'applied');
    expect(status).toMatchObject({ headline: 'cached', generation: { number: 1 } });
    expect([...(await bgpSessions([bird!])).keys()]).toContain('Mesh_10_0_0_2');
  });

  it('publishes what changed meanwhile once etcd is back', async () => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    await etcd.client.put(...meshNode(4));
    await etcd.kill9();
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
    await birdfeed.reaches('cached', ({ data }) => data.state === 'cached');
    await etcd.restart();
    const status = await birdfeed.settled({ timeout: 60_000 });
    expect(status.generation).toMatchObject({ number: 2, sessions: 6 });
  });

  it.each([
    {
      how: 'torn',
      reason: 'torn',
      damage: (file: string) => truncateSync(file, 100),
      says: /bird\.conf has 100 of \d+ bytes/,
    },
    {
      how: 'edited',
      reason: 'edited',
      damage: (file: string) =>
        writeFileSync(file, readFileSync(file, 'utf8').replace('10.0.0.2', '10.0.0.9')),
      says: /has other contents than were sealed/,
    },
  ])('refuses a generation that was $how, says why, and takes the one before', async (kind) => {
    const host = await makeHost(BIRD2);
    await publish(host, 2);
    kind.damage(join(host.cache, 'current/bird.conf'));
    const birdfeed = await startBirdfeed(host, await gone(), ['--reload', 'none']);
    const refusal = await birdfeed.says('cached generation refused');
    expect(refusal).toMatchObject({ level: 'warn', reason: kind.reason });
    expect(refusal['finding']).toMatch(kind.says);
    const { generation, rememberedAt } = await birdfeed.reaches(
      'cached',
      ({ data }) => data.state === 'cached',
    );
    expect([generation?.number, rememberedAt]).toEqual([1, null]);
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
  });

  it('refuses generations of another node and takes the newest of its own', async () => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    const other = { ...host, nodeName: 'n2' };
    expect(await onetime(other, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000002');
    const birdfeed = await startBirdfeed(host, await gone(), ['--reload', 'none']);
    expect(await birdfeed.says('cached generation refused')).toMatchObject({
      reason: 'foreign-node',
      finding: 'generation 2 was made for the node n2, this is n1',
    });
    await birdfeed.reaches('generation 1', ({ generation }) => generation?.number === 1);
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
  });

  it('refuses generations of another dialect', async () => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    const args = [...hostArgs(host), '--bird', 'bird1', '--reload', 'none'];
    const birdfeed = await Birdfeed.start([...args, ...etcdArgs(await gone())], { cache: host.cache });
    expect(await birdfeed.says('cached generation refused')).toMatchObject({
      reason: 'foreign-dialect',
      finding: 'generation 1 is in the dialect bird2, needed is bird1',
    });
    const status = await birdfeed.reaches('a reason', ({ data }) => data.reason !== null);
    expect(status).toMatchObject({ headline: 'starting', generation: null });
    // Taking a running node's configuration away would be worse than leaving it.
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
  });

  it.each([
    ['0', [], 0],
    ['75 with --require-fresh', ['--require-fresh'], 75],
    ['what --cached-exit-code says', ['--cached-exit-code', '3'], 3],
  ] as const)('ends --onetime from the cache with %s', async (_what, more, code) => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    const result = await onetime(host, await gone(), ['--reload', 'none', '--wait', '1s', ...more]);
    expect(result).toMatchObject({ code });
    expect(result.logs.map(({ msg }) => msg)).toContain(
      code === 75 ? 'not fresh' : 'serving the cached generation',
    );
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
  });

  it('has --onetime tell BIRD what is cached', async () => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    const birds = await startBirds(host);
    expect(await onetime(host, await gone(), ['--wait', '5s'])).toMatchObject({ code: 0 });
    expect([...(await bgpSessions(birds)).keys()]).toContain('Mesh_10_0_0_2');
  });

  it('ends --onetime with 75 when nothing in the cache can be used', async () => {
    const host = await makeHost(BIRD2);
    await publish(host, 1);
    truncateSync(join(host.cache, 'current/bird.conf'), 0);
    const endpoint = await gone();
    const result = await onetime(host, endpoint, ['--reload', 'none', '--wait', '5s']);
    expect(result.code).toBe(75);
    const last = result.logs.at(-1);
    expect(last).toMatchObject({ level: 'error', msg: 'nothing to serve' });
    expect(last?.['reason']).toContain(endpoint.url);
  });
});

/** Makes generations 1 to `count`, each with one node more. */
async function publish(host: Host, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    if (number > 1) await etcd.client.put(...meshNode(10 + number));
    expect(await onetime(host, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
  }
}

/** An etcd that is not there. */
async function gone(): Promise<{ url: string }> {
  return { url: `http://127.0.0.1:${await freePort()}` };
}
