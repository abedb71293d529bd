import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stamp } from '../../../src/generation/types.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import type { Birdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, calicoNode, calicoPeer, fillEtcd, nodeKey } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { BIRD2, currentFiles, FLAVOURS, type Host, makeHost, startBirdfeed } from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

/** A quarter of it lies between the two, and a busy machine publishes seconds late. */
const SPLAY_MS = 20_000;
const reflector = (name: string, host: number) =>
  calicoNode(name, {
    v4: `10.0.0.${host}/24`,
    labels: { rr: '' },
    bgp: { routeReflectorClusterID: '244.0.0.1' },
  });
const client = (name: string, host: number) => calicoNode(name, { v4: `10.0.0.${host}/24` });
const peering = (maxRestartTime: string) => calicoPeer('rr', { peerSelector: 'has(rr)', maxRestartTime });

const config = (host: Host): string => readFileSync(currentFiles(host)[0] as string, 'utf8');

it('with --splay-start only a birdfeed that serves from its cache waits before it asks the datastore', async () => {
  await fillEtcd(etcd.client, calicoMesh(3));
  const host = await makeHost(BIRD2);
  const waits = 'the cache serves; asking the datastore later';
  const start = (splay: string) => startBirdfeed(host, etcd, ['--reload', 'none', '--splay-start', splay]);
  // Without a cache there would be nothing to serve meanwhile.
  const first = await start('10m');
  await first.settled();
  expect(first.logs.map(({ msg }) => msg)).not.toContain(waits);
  await first.kill9();
  const second = await start('1s');
  expect((await second.says(waits))['waitMs']).toBeLessThanOrEqual(1_000);
  await second.settled();
});

describe.each(FLAVOURS)('two reflectors of %s', (_name, flavour) => {
  it('with --splay-hard take a change that resets sessions one after the other, and others at once', async () => {
    await fillEtcd(etcd.client, [reflector('rr1', 1), reflector('rr2', 2), client('w1', 3), peering('60s')]);
    const hosts = await Promise.all(
      ['rr1', 'rr2'].map(async (nodeName) => ({ ...(await makeHost(flavour)), nodeName })),
    );
    const options = ['--reload', 'none', '--splay-hard', `${SPLAY_MS}ms`];
    const birdfeeds = await Promise.all(hosts.map((host) => startBirdfeed(host, etcd, options)));
    for (const birdfeed of birdfeeds) await birdfeed.settled();

    await etcd.client.put(...peering('90s'));
    await Promise.all(
      birdfeeds.map((birdfeed) => birdfeed.reaches('put off', ({ deferred }) => deferred !== null)),
    );
    const waiting = await Promise.all(birdfeeds.map((birdfeed) => birdfeed.status()));
    const due = waiting.map(({ deferred }) => Date.parse(deferred?.until ?? ''));
    expect(Math.abs(due[0]! - due[1]!)).toBeGreaterThan(SPLAY_MS / 5);
    expect(waiting.map(({ deferred, generation }) => [deferred?.resets, generation?.number])).toEqual([
      [2, 1],
      [2, 1],
    ]);

    // A new client is nobody's loss: it does not wait, and comes with what is new.
    await etcd.client.put(...client('w2', 4));
    await Promise.all(
      birdfeeds.map((birdfeed, i) =>
        birdfeed.reaches('the new client while the reset waits', ({ generation }) => {
          return generation?.number === 2 || config(hosts[i]!).includes('10.0.0.4');
        }),
      ),
    );
    const appliedAt = await Promise.all(birdfeeds.map((birdfeed, i) => resetDone(birdfeed, hosts[i]!)));
    expect(Math.abs(appliedAt[0]! - appliedAt[1]!)).toBeGreaterThan(SPLAY_MS / 5);
    for (const host of hosts) expect(config(host)).not.toMatch(/restart time 60/);
  });

  it('with --peer-removal-grace keep the session with a node that vanishes, for a while', async () => {
    await fillEtcd(etcd.client, calicoMesh(4));
    const host = await makeHost(flavour);
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none', '--peer-removal-grace', '4s']);
    await birdfeed.settled();
    await etcd.client.del(nodeKey('n4'));
    const kept = await birdfeed.reaches('put off', ({ deferred }) => deferred?.removals === 2);
    expect(config(host)).toContain('Mesh_10_0_0_4');
    expect(kept.headline).toBe('fresh');
    await birdfeed.reaches('gone', ({ deferred }) => {
      return deferred === null && !config(host).includes('Mesh_10_0_0_4');
    });
  });

  it('and that does not keep the guard from holding a loss of many', async () => {
    await fillEtcd(etcd.client, calicoMesh(5));
    const host = await makeHost(flavour);
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none', '--peer-removal-grace', '2s']);
    await birdfeed.settled();
    await etcd.client.txn(['n3', 'n4', 'n5'].map((name) => ({ del: nodeKey(name) })));
    const held = await birdfeed.reaches('held', ({ config: axis }) => axis.state === 'held');
    expect(held.held?.reasons).toEqual(['3 of 5 Node vanished at once']);
    await birdfeed.reaches('nothing put off any more', ({ deferred }) => deferred === null);
    expect((await birdfeed.status()).config.state).toBe('held');
    expect(config(host)).toContain('Mesh_10_0_0_5');
  });
});

/** When the change was published, milliseconds since the epoch. */
async function resetDone(birdfeed: Birdfeed, host: Host): Promise<number> {
  await birdfeed.reaches(
    'the reset',
    ({ deferred }) => deferred === null && !/restart time 60/.test(config(host)),
    { timeout: 2 * SPLAY_MS },
  );
  const stamp = readFileSync(join(host.cache, 'current', 'stamp.json'), 'utf8');
  return Date.parse((JSON.parse(stamp) as Stamp).createdAt);
}
