import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { EtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { until } from '../../support/wait.ts';
import { Follower } from './etcd-follower.ts';

const binary = requireBinary(binaries.etcd34, 'etcd34');
let etcd: EtcdServer;
let proxy: FaultProxy;

beforeEach(async () => {
  etcd = await EtcdServer.start(binary, { args: ['--experimental-watch-progress-notify-interval', '100ms'] });
  proxy = await FaultProxy.start(etcd.port);
});
afterEach(async () => {
  await proxy.close();
  await etcd.close();
});

/** A follower behind the proxy that has seen /a/1 = one and some revisions more. */
async function following(options: Partial<EtcdOptions> = {}): Promise<Follower> {
  for (let turn = 0; turn < 20; turn += 1) await etcd.client.put('/a/1', 'one');
  const follower = new Follower({ endpoints: [`http://127.0.0.1:${proxy.port}`], ...options }, ['/a', '/b']);
  await until(() => follower.all('snapshot').length === 2);
  await etcd.client.put('/a/2', 'two');
  await follower.reads('/a/2', 'two');
  return follower;
}

describe('a compaction', () => {
  it('of what happened while it was away makes it list again', async () => {
    const follower = await following();
    await proxy.setMode('refuse');
    await follower.next('lost');
    await etcd.client.del('/a/2');
    await etcd.client.put('/b/1', 'new');
    await etcd.client.compact();
    const before = follower.events.length;
    await proxy.setMode('pass');
    await until(() => follower.all('snapshot', before).length === 2);
    expect(
      follower.all('snapshot', before).map(({ reason, entries }) => [reason, entries.map(({ key }) => key)]),
    ).toEqual([
      ['compacted', ['/a/1']],
      ['compacted', ['/b/1']],
    ]);
    await etcd.client.put('/a/1', 'goes on');
    await follower.reads('/a/1', 'goes on');
    expect(follower.all('snapshot')).toHaveLength(4);
  });

  it('while it is connected changes nothing', async () => {
    const follower = await following();
    await etcd.client.compact();
    await etcd.client.put('/a/1', 'goes on');
    await follower.reads('/a/1', 'goes on');
    expect([follower.all('snapshot').length, follower.all('lost').length]).toEqual([2, 0]);
  });

  it('up to where a quiet mount was told that it is complete does not make it list', async () => {
    const follower = await following();
    // Nothing happens under the mounts; only the timed notices move their resume points.
    for (let turn = 0; turn < 10; turn += 1) await etcd.client.put('/elsewhere', `${turn}`);
    const head = await etcd.client.revision();
    const notified = performance.now();
    await until(() => performance.now() - notified > 700, { timeout: 2_000 });
    await proxy.setMode('refuse');
    await follower.next('lost');
    await etcd.client.compact(head);
    await proxy.setMode('pass');
    await follower.next('connected');
    expect(follower.all('snapshot')).toHaveLength(2);
  });

  it('between two pages makes it start over, in one snapshot', async () => {
    const keys = Array.from({ length: 400 }, (_, index) => `/a/${1_000 + index}`);
    await etcd.client.putAll(keys.map((key) => [key, 'old'] as const));
    const paging = { firstKeys: 10, maxKeys: 10 };
    const follower = new Follower({ endpoints: [etcd.url], paging }, ['/a']);
    let compacted: Promise<unknown> | undefined;
    follower.onEvent = ({ type }) => {
      if (type !== 'page' || compacted !== undefined) return;
      compacted = (async () => {
        await etcd.client.putAll(keys.map((key) => [key, 'new'] as const));
        await etcd.client.compact();
      })();
    };
    // Slow enough for the compaction to come between.
    await until(() => compacted !== undefined);
    const { entries, reason } = await follower.next('snapshot');
    await compacted;
    expect(reason).toBe('initial');
    expect(new Set(entries.map(({ value }) => value)).size).toBe(1);
    expect(entries).toHaveLength(400);
    await until(() => keys.every((key) => follower.get(key) === 'new'));
  });
});

describe('a store that went back', () => {
  it('to nothing is listed again, with the reason', async () => {
    const follower = await following();
    const before = follower.events.length;
    await etcd.restart({ wipe: true });
    await until(() => follower.all('snapshot', before).length === 2);
    expect(follower.all('snapshot', before).map(({ reason, entries }) => [reason, entries])).toEqual([
      ['regressed', []],
      ['regressed', []],
    ]);
    await etcd.client.put('/a/1', 'again');
    await follower.reads('/a/1', 'again');
  });

  it('and has overtaken us since is still told apart', async () => {
    const follower = await following();
    const before = follower.events.length;
    await proxy.setMode('refuse');
    await follower.next('lost');
    await etcd.restart({ wipe: true });
    for (let turn = 0; turn < 60; turn += 1) await etcd.client.put('/a/9', `${turn}`);
    await proxy.setMode('pass');
    await until(() => follower.all('snapshot', before).length === 2);
    expect(follower.all('snapshot', before)[0]?.reason).toBe('regressed');
    expect(follower.contents).toEqual({ '/a/9': '59' });
  });

  it('and has come to the very revision where it was, its newest key too, is still told apart', async () => {
    const follower = await following();
    const before = follower.events.length;
    const revision = await etcd.client.revision();
    await proxy.setMode('refuse');
    await follower.next('lost');
    await etcd.restart({ wipe: true });
    while ((await etcd.client.put('/a/2', 'two')) < revision);
    await proxy.setMode('pass');
    await until(() => follower.all('snapshot', before).length === 2);
    expect(follower.all('snapshot', before)[0]?.reason).toBe('regressed');
    expect(follower.contents).toEqual({ '/a/2': 'two' });
  });

  it('and is another cluster is told apart', async () => {
    const follower = await following();
    const before = follower.events.length;
    await etcd.restart({ wipe: true, clusterToken: 'another' });
    const { reason, position } = await follower.next('snapshot', before);
    expect([reason, position.datastoreId]).toEqual(['regressed', await etcd.client.clusterId()]);
  });

  it('behind an address that now leads elsewhere is told apart', async () => {
    const other = await EtcdServer.start(binary);
    onTestFinished(() => other.close());
    await other.client.put('/a/other', 'x');
    const follower = await following();
    const before = follower.events.length;
    proxy.target = other.port;
    proxy.cut();
    expect((await follower.next('snapshot', before)).reason).toBe('regressed');
    expect(follower.contents).toEqual({ '/a/other': 'x' });
  });
});

describe('where an earlier process stood', () => {
  it.each([
    ['initial', 'the same place', 0],
    ['initial', 'an older place', -1],
    ['regressed', 'a newer place', 1],
  ] as const)('gives the first snapshot the reason %s when that is %s', async (reason, _what, offset) => {
    const revision = await etcd.client.put('/a/1', 'one');
    const datastoreId = await etcd.client.clusterId();
    const lastPositions = { '/a': { datastoreId, revision: revision + offset } };
    const follower = new Follower({ endpoints: [etcd.url], lastPositions }, ['/a', '/b']);
    await until(() => follower.all('snapshot').length === 2);
    expect(follower.all('snapshot').map((event) => event.reason)).toEqual([reason, 'initial']);
  });

  it('gives the first snapshot the reason regressed when that was another cluster', async () => {
    const lastPositions = { '/a': { datastoreId: '123', revision: 0 } };
    const follower = new Follower({ endpoints: [etcd.url], lastPositions }, ['/a']);
    expect((await follower.next('snapshot')).reason).toBe('regressed');
  });
});
