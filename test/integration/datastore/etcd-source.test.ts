import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { until } from '../../support/wait.ts';
import { Follower } from './etcd-follower.ts';

describe.each([
  ['etcd34', binaries.etcd34],
  ['etcd35', binaries.etcd35],
] as const)('etcd source on %s', (name, binary) => {
  const etcdBinary = requireBinary(binary, name);
  let etcd: EtcdServer;

  beforeAll(async () => {
    const args = [
      '--experimental-watch-progress-notify-interval',
      '200ms',
      '--max-request-bytes',
      '20000000',
    ];
    etcd = await EtcdServer.start(etcdBinary, { args: [...args, '--max-txn-ops', '2000'] });
  });
  afterAll(() => etcd.close());
  beforeEach(async () => void (await etcd.client.delPrefix('')));

  const follow = (...prefixes: string[]) => new Follower({ endpoints: [etcd.url] }, prefixes);

  it('delivers one snapshot per mount, all at one revision, then changes', async () => {
    await etcd.client.put('/a/1', 'one');
    await etcd.client.put('/a', 'the key itself');
    const revision = await etcd.client.put('/b/1', '');
    const follower = follow('/a', '/b', '/empty');
    await until(() => follower.all('snapshot').length === 3);
    expect(
      follower
        .all('snapshot')
        .map(({ mount, entries, reason, position }) => [mount.prefix, entries, reason, position.revision]),
    ).toEqual([
      [
        '/a',
        [
          { key: '/a', value: 'the key itself', revision: revision - 1 },
          { key: '/a/1', value: 'one', revision: revision - 2 },
        ],
        'initial',
        revision,
      ],
      ['/b', [{ key: '/b/1', value: '', revision }], 'initial', revision],
      ['/empty', [], 'initial', revision],
    ]);
    expect(follower.all('snapshot')[0]?.position.datastoreId).toBe(await etcd.client.clusterId());
    const put = await etcd.client.put('/b/2', 'two');
    await follower.reads('/b/2', 'two');
    expect(follower.all('changes').at(-1)?.position.revision).toBe(put);
  });

  it('takes an update for an update, and only a delete for a delete', async () => {
    await etcd.client.put('/a/1', 'one');
    const follower = follow('/a');
    await follower.next('snapshot');
    await etcd.client.put('/a/1', 'two');
    await follower.reads('/a/1', 'two');
    await etcd.client.put('/a/1', '');
    await follower.reads('/a/1', '');
    await etcd.client.del('/a/1');
    await follower.reads('/a/1', undefined);
    expect(follower.all('changes').flatMap(({ changes }) => changes.map(({ type }) => type))).toEqual([
      'put',
      'put',
      'delete',
    ]);
  });

  it('is not woken by siblings of a mount', async () => {
    const follower = follow('/sc/n', 'stolon/x');
    await follower.next('snapshot');
    const siblings = ['/sc/nnn/x', '/sc/n-1', '/sc/n.x', '/sc/n0', '/sc', 'stolon/xy', '/stolon/x'];
    await etcd.client.putAll(siblings.map((key) => [key, 'sibling']));
    await etcd.client.put('/sc/n/x', 'ours');
    await follower.reads('/sc/n/x', 'ours');
    await etcd.client.put('stolon/x', 'without a slash in front');
    await follower.reads('stolon/x', 'without a slash in front');
    expect(follower.all('changes')).toHaveLength(2);
    expect(follower.contents).toEqual({ '/sc/n/x': 'ours', 'stolon/x': 'without a slash in front' });
  });

  it('covers the whole store with the empty prefix', async () => {
    await etcd.client.putAll([
      ['no-slash', '1'],
      ['/a/b', '2'],
    ]);
    const follower = follow('');
    await follower.next('snapshot');
    await etcd.client.put('~last', '3');
    await follower.reads('~last', '3');
    expect(follower.contents).toEqual({ 'no-slash': '1', '/a/b': '2', '~last': '3' });
  });

  it('groups what happened in one transaction, in order', async () => {
    const follower = follow('/a');
    await follower.next('snapshot');
    const revision = await etcd.client.txn([
      { put: ['/a/1', 'x'] },
      { put: ['/a/2', 'y'] },
      { put: ['/other', 'z'] },
    ]);
    await etcd.client.txn([{ del: '/a/1' }, { put: ['/a/3', 'z'] }]);
    await follower.reads('/a/3', 'z');
    expect(follower.all('changes').map(({ changes }) => changes)).toEqual([
      [
        { type: 'put', entry: { key: '/a/1', value: 'x', revision } },
        { type: 'put', entry: { key: '/a/2', value: 'y', revision } },
      ],
      [
        { type: 'delete', key: '/a/1' },
        { type: 'put', entry: { key: '/a/3', value: 'z', revision: revision + 1 } },
      ],
    ]);
  });

  it('lists at one revision while keys are being written', async () => {
    // Each transaction writes one number under both mounts: a list that mixes revisions shows two numbers.
    const keys = Array.from({ length: 400 }, (_, index) => String(index).padStart(4, '0'));
    const write = (turn: number) =>
      etcd.client.txn(
        keys.flatMap(
          (key) => [{ put: [`/x/${key}`, `${turn}`] }, { put: [`/y/${key}`, `${turn}`] }] as const,
        ),
      );
    await write(0);
    let stop = false;
    const writing = (async () => {
      for (let turn = 1; !stop; turn += 1) await write(turn);
    })();
    const follower = new Follower({ endpoints: [etcd.url], paging: { firstKeys: 20, maxKeys: 20 } }, [
      '/x',
      '/y',
    ]);
    await until(() => follower.all('snapshot').length === 2);
    const written = new Set(
      follower.all('snapshot').flatMap(({ entries }) => entries.map(({ value }) => value)),
    );
    expect(written.size).toBe(1);
    expect(follower.all('page').length).toBeGreaterThanOrEqual(40);
    stop = true;
    await writing;
    const last = await etcd.client.list('/x/');
    await until(
      () =>
        follower.get('/x/0399') === last.get('/x/0399') && follower.get('/y/0399') === last.get('/x/0399'),
    );
    expect(new Set(Object.values(follower.contents)).size).toBe(1);
  });

  it('announces the entries of a snapshot page by page before it', async () => {
    await etcd.client.putAll(
      Array.from({ length: 1_200 }, (_, index) => [`/a/${10_000 + index}`, 'v'] as const),
    );
    const follower = follow('/a');
    const { entries } = await follower.next('snapshot');
    expect(entries).toHaveLength(1_200);
    const pages = follower.all('page');
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flatMap((page) => page.entries)).toEqual(entries);
    expect(follower.events.at(-1)?.type).toBe('snapshot');
  });

  it('lists what exceeds one gRPC message by far', async () => {
    const large = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 8; index += 1) await etcd.client.put(`/large/${index}`, large);
    await etcd.client.putAll(
      Array.from({ length: 6_000 }, (_, index) => [`/many/${index}`, 'v'.repeat(500)] as const),
    );
    const follower = new Follower({ endpoints: [etcd.url], paging: { maxBytes: 4 * 1024 * 1024 } }, [
      '/large',
      '/many',
    ]);
    await until(() => follower.all('snapshot').length === 2, { timeout: 20_000 });
    expect(follower.all('lost')).toEqual([]);
    expect(follower.tree.get('/large')?.size).toBe(8);
    expect([...(follower.tree.get('/large')?.values() ?? [])].every((value) => value === large)).toBe(true);
    expect(follower.tree.get('/many')?.size).toBe(6_000);
  });

  it('takes in a revision of 12 MB as one batch', async () => {
    const follower = follow('/a');
    await follower.next('snapshot');
    const value = 'x'.repeat(100_000);
    await etcd.client.txn(
      Array.from({ length: 120 }, (_, index) => ({ put: [`/a/${index}`, value] as const })),
    );
    // On a busy machine the short time-outs of these tests may end a stream meanwhile; the batch stays one.
    expect((await follower.next('changes')).changes).toHaveLength(120);
  });

  it('lists when the events of a revision are more than it takes at a time', async () => {
    const follower = new Follower({ endpoints: [etcd.url], paging: { maxBytes: 4 * 1024 * 1024 } }, ['/a']);
    await follower.next('snapshot');
    const value = 'x'.repeat(100_000);
    await etcd.client.txn(
      Array.from({ length: 120 }, (_, index) => ({ put: [`/a/${index}`, value] as const })),
    );
    const { reason, entries } = await follower.next('snapshot', 1);
    expect([reason, entries.length]).toEqual(['reconnect', 120]);
    await etcd.client.put('/a/0', 'small');
    await follower.reads('/a/0', 'small');
  });

  it('lists again when asked to, at any time', async () => {
    await etcd.client.put('/a/1', 'one');
    const follower = follow('/a', '/b');
    follower.source.relist();
    await until(() => follower.all('snapshot').length === 2);
    expect(new Set(follower.all('snapshot').map(({ reason }) => reason))).toEqual(new Set(['initial']));
    const before = follower.events.length;
    follower.source.relist();
    await until(() => follower.all('snapshot', before).length === 2);
    expect(follower.all('snapshot', before).map(({ reason, entries }) => [reason, entries.length])).toEqual([
      ['periodic', 1],
      ['periodic', 0],
    ]);
    await etcd.client.put('/a/1', 'two');
    await follower.reads('/a/1', 'two');
    expect(follower.all('lost')).toEqual([]);
  });

  it('lists again every now and then', async () => {
    const follower = new Follower({ endpoints: [etcd.url], timings: { relistMs: 300 } }, ['/a']);
    await until(() => follower.all('snapshot').length >= 3);
    expect(
      follower
        .all('snapshot')
        .map(({ reason }) => reason)
        .slice(0, 3),
    ).toEqual(['initial', 'periodic', 'periodic']);
    expect(follower.all('lost')).toEqual([]);
  });

  it('loses nothing while it lists again and again under writes', async () => {
    const follower = new Follower({ endpoints: [etcd.url], timings: { relistMs: 100 } }, ['/a']);
    await follower.next('snapshot');
    for (let index = 0; index < 500; index += 1) await etcd.client.put(`/a/${index % 50}`, `${index}`);
    const expected = Object.fromEntries(await etcd.client.list('/a/'));
    await until(() => Object.keys(expected).every((key) => follower.get(key) === expected[key]));
    expect(follower.contents).toEqual(expected);
    expect(follower.all('snapshot').length).toBeGreaterThan(3);
  });

  it('delivers again what a failing consumer did not take', async () => {
    const follower = follow('/a');
    await follower.next('snapshot');
    follower.onEvent = (event) => {
      if (event.type !== 'changes') return;
      follower.onEvent = () => {};
      throw new Error('the consumer failed');
    };
    await etcd.client.put('/a/1', 'one');
    await follower.reads('/a/1', 'one');
    expect(follower.all('lost').map(({ error }) => [error.code, error.message])).toEqual([
      ['BF_INTERNAL', 'internal error: the consumer failed'],
    ]);
    await follower.next('connected');
  });

  it('does nothing for no mounts, and ends when told', async () => {
    const follower = follow();
    expect(await follower.stop()).toBeLessThan(1_000);
    expect(follower.events).toEqual([]);
  });
});
