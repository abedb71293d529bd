import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { type EtcdConnection, openConnection } from '../../../src/datastore/etcd/connection.ts';
import { readCredentials } from '../../../src/datastore/etcd/credentials.ts';
import {
  failureOf,
  isCompacted,
  isFutureRevision,
  isTooLarge,
} from '../../../src/datastore/etcd/failures.ts';
import type { WatchCreateRequest, WatchResponse } from '../../../src/datastore/etcd/messages.ts';
import { type EtcdOptions, resolveEtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { until } from '../../support/wait.ts';

/**
 * What the source takes for granted about our client and etcd. When something breaks one of these, it has to be seen here
 * and not as routes that vanish.
 */
const NEVER = new AbortController().signal;

describe.each([
  ['etcd34', binaries.etcd34],
  ['etcd35', binaries.etcd35],
] as const)('our client against %s', (name, binary) => {
  const etcdBinary = requireBinary(binary, name);
  let etcd: EtcdServer;

  beforeAll(async () => {
    etcd = await EtcdServer.start(etcdBinary, {
      args: ['--experimental-watch-progress-notify-interval', '200ms', '--max-txn-ops', '2000'],
    });
  });
  afterAll(() => etcd.close());
  beforeEach(async () => void (await etcd.client.delPrefix('')));

  async function connection(options: Partial<EtcdOptions> = {}): Promise<EtcdConnection> {
    const settings = resolveEtcdOptions({ endpoints: [etcd.url], ...options }, () => 0);
    const [endpoint] = settings.endpoints;
    const credentials = await readCredentials({});
    const context = { endpoint: etcd.url, tls: {}, username: undefined, afterMs: 2_000 };
    const plan = { endpoint, credentials, settings, clock: systemClock, signal: NEVER, context };
    const made = await openConnection(plan);
    onTestFinished(() => made.close());
    return made;
  }

  function watching(made: EtcdConnection, requests: readonly WatchCreateRequest[]) {
    const responses: WatchResponse[] = [];
    const ends: unknown[] = [];
    const stream = made.watch({
      onResponse: (response) => responses.push(response),
      onEnd: (error) => ends.push(error),
    });
    for (const request of requests) stream.create(request);
    return { stream, responses, ends };
  }

  const children = { key: Buffer.from('/a/'), rangeEnd: Buffer.from('/a0') };

  it('reads keys and values as bytes, revisions as numbers and the cluster id as text', async () => {
    const revision = await etcd.client.put('/a/1ü', 'straße');
    await etcd.client.put('/a/2', '');
    const { kvs, header, more } = await (await connection()).range({ ...children, limit: 1 }, 5_000);
    expect(more).toBe(true);
    expect(kvs).toHaveLength(1);
    expect([kvs[0]?.key, kvs[0]?.value]).toEqual([Buffer.from('/a/1ü'), Buffer.from('straße')]);
    expect(kvs[0]?.modRevision).toBe(revision);
    expect(header).toMatchObject({
      clusterId: expect.stringMatching(/^\d+$/),
      revision: revision + 1,
      raftTerm: expect.any(Number),
    });
  });

  it('reads a revision of the past, and tells one that is gone from one that is to come', async () => {
    const made = await connection();
    const first = await etcd.client.put('/a/1', 'one');
    const second = await etcd.client.put('/a/1', 'two');
    const then = await made.range({ key: Buffer.from('/a/1'), revision: first }, 5_000);
    expect([String(then.kvs[0]?.value), then.header.revision]).toEqual(['one', second]);
    await etcd.client.compact(second);
    const gone = await made
      .range({ key: Buffer.from('/a/1'), revision: first }, 5_000)
      .catch((error) => error);
    const future = await made
      .range({ key: Buffer.from('/a/1'), revision: second + 100 }, 5_000)
      .catch((error) => error);
    expect([
      isCompacted(gone),
      isFutureRevision(gone),
      isCompacted(future),
      isFutureRevision(future),
    ]).toEqual([true, false, false, true]);
  });

  it('tells an answer that is too large', async () => {
    const made = await connection({ paging: { maxBytes: 10_000 } });
    await etcd.client.put('/a/1', 'x'.repeat(20_000));
    const error = await made.range(children, 5_000).catch((cause) => cause);
    expect([isTooLarge(error), isTooLarge(new Error('another'))]).toEqual([true, false]);
  });

  it('watches several ranges over one stream, with the ids that we choose', async () => {
    const start = await etcd.client.put('/a', 'self');
    const { responses, stream } = watching(await connection(), [
      { watchId: 1, key: Buffer.from('/a'), startRevision: start },
      { watchId: 2, ...children, startRevision: start },
    ]);
    await until(() => responses.filter(({ created }) => created).length === 2);
    await etcd.client.put('/a/1', 'one');
    await etcd.client.put('/a/1', 'two');
    await etcd.client.del('/a/1');
    await until(() => responses.flatMap(({ events }) => events).length === 4);
    expect(responses.filter(({ created }) => created).map(({ watchId }) => watchId)).toEqual([1, 2]);
    // Which of two watchers that catch up is served first is left open.
    const heard = responses.toSorted((one, other) => one.watchId - other.watchId);
    expect(
      heard.flatMap(({ watchId, events }) =>
        events.map(({ type, kv }) => [watchId, type, String(kv.key), kv.modRevision]),
      ),
    ).toEqual([
      [1, 'put', '/a', start],
      [2, 'put', '/a/1', start + 1],
      [2, 'put', '/a/1', start + 2],
      [2, 'delete', '/a/1', start + 3],
    ]);
    stream.cancel();
  });

  it('answers progress requests for no watcher, and gives notice for each by itself', async () => {
    const { responses, stream } = watching(await connection(), [
      { watchId: 1, ...children, progressNotify: true },
    ]);
    await until(() => responses.length > 0);
    stream.askProgress();
    const reply = await until(() => responses.find(({ watchId }) => watchId === -1));
    expect([reply.created, reply.canceled, reply.events.length]).toEqual([false, false, 0]);
    const revision = await etcd.client.put('/elsewhere', 'x');
    const notice = await until(() =>
      responses.find(
        ({ watchId, created, header }) => watchId === 1 && !created && header.revision === revision,
      ),
    );
    expect([notice.canceled, notice.events.length]).toEqual([false, 0]);
    stream.cancel();
  });

  it('cancels a watcher that starts before the compaction, with the revision', async () => {
    const first = await etcd.client.put('/a/1', 'one');
    const second = await etcd.client.put('/a/1', 'two');
    await etcd.client.compact(second);
    const { responses, stream } = watching(await connection(), [
      { watchId: 1, ...children, startRevision: first },
    ]);
    const canceled = await until(() => responses.find((response) => response.canceled));
    expect([canceled.compactRevision, canceled.header.revision, canceled.watchId]).toEqual([second, 0, 1]);
    stream.cancel();
  });

  it('marks the parts of a large response', async () => {
    const made = await connection();
    const name = 'n'.repeat(2_000);
    const puts = (from: number) =>
      Array.from({ length: 500 }, (_, index) => ({ put: [`/a/${name}${from + index}`, ''] as const }));
    for (let from = 0; from < 2_000; from += 500) await etcd.client.txn(puts(from));
    const { responses, stream } = watching(made, [{ watchId: 1, ...children, fragment: true }]);
    await until(() => responses.length === 1);
    await etcd.client.delPrefix('/a/');
    await until(() => responses.slice(1).flatMap(({ events }) => events).length === 2_000, {
      timeout: 20_000,
    });
    const parts = responses.slice(1).map(({ fragment }) => fragment);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts).toEqual([...parts.slice(1).map(() => true), false]);
    stream.cancel();
  });

  it('ends a read at its deadline, and all reads when it is closed', async () => {
    const [made, again] = [await connection(), await connection()];
    await made.range(children, 5_000);
    etcd.pause();
    onTestFinished(() => etcd.resume());
    // It takes a moment until all threads of etcd stand still.
    const read = () =>
      made.range(children, 300).then(
        () => undefined,
        (cause: unknown) => cause,
      );
    const error = await until(read);
    const context = { endpoint: etcd.url, tls: {}, username: undefined, afterMs: 300 };
    expect(failureOf(error, context).message).toBe(`etcd at ${etcd.url} did not answer within 0.3 s`);
    const pending = again.range(children, 30_000).catch((cause) => cause);
    const started = performance.now();
    again.close();
    expect(String(await pending)).toBe('Error: the connection was closed');
    expect(performance.now() - started).toBeLessThan(500);
    expect(String(await again.range(children, 5_000).catch((cause) => cause))).toBe(
      'Error: the connection was closed',
    );
  });

  it('tells the watch that the connection was closed, and nothing of what was cancelled', async () => {
    const made = await connection();
    const [closed, cancelled] = [1, 2].map(() => watching(made, [{ watchId: 1, ...children }]));
    await until(() => [closed, cancelled].every((watch) => watch?.responses.length === 1));
    cancelled?.stream.cancel();
    made.close();
    await until(() => closed?.ends.length === 1);
    expect([String(closed?.ends[0]), cancelled?.ends]).toEqual(['Error: the connection was closed', []]);
  });

  it('reads a page of many megabytes', async () => {
    const value = 'v'.repeat(1_000_000);
    for (let at = 0; at < 20; at += 1) await etcd.client.put(`/a/${at}`, value);
    const { kvs } = await (await connection()).range(children, 5_000);
    expect(kvs.map((kv) => String(kv.value) === value)).toEqual(Array.from({ length: 20 }, () => true));
  });

  it('reads and hears what another client writes, as that one does', async () => {
    const other = new Etcd3({ hosts: etcd.url });
    onTestFinished(() => other.close());
    const made = await connection();
    const start = Number((await other.put('/a/0').value('x')).header.revision) + 1;
    const { responses, stream } = watching(made, [{ watchId: 1, ...children, startRevision: start }]);
    const values = [
      Buffer.alloc(0),
      Buffer.from([0, 255, 10, 128]),
      Buffer.from('ü'),
      Buffer.alloc(70_000, 7),
    ];
    for (const [at, value] of values.entries()) await other.put(`/a/${at}`).value(value);
    await other.delete().key('/a/1');
    const lease = other.lease(60);
    await lease.put('/a/leased').value('y');
    await lease.revoke();
    const events = await until(() => {
      const heard = responses.flatMap((response) => response.events);
      return heard.length === values.length + 3 && heard;
    });
    const puts = values.map((value, at) => ['put', `/a/${at}`, value]);
    expect(events.slice(0, 4).map(({ type, kv }) => [type, String(kv.key), kv.value])).toEqual(puts);
    expect(events.slice(4).map(({ type, kv }) => `${type} ${kv.key}`)).toEqual([
      'delete /a/1',
      'put /a/leased',
      'delete /a/leased',
    ]);
    const theirs = await other.getAll().prefix('/a/').exec();
    const ours = await made.range(children, 5_000);
    expect(ours.header).toEqual({
      clusterId: theirs.header.cluster_id,
      revision: Number(theirs.header.revision),
      raftTerm: Number(theirs.header.raft_term),
    });
    expect(
      ours.kvs.map((kv) => [kv.key, kv.value, `${kv.createRevision}`, `${kv.modRevision}`, `${kv.version}`]),
    ).toEqual(theirs.kvs.map((kv) => [kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version]));
    stream.cancel();
  });
});
