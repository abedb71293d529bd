import type { IWatchResponse } from 'etcd3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createConnection, type EtcdConnection, loadEtcd3 } from '../../../src/datastore/etcd/connection.ts';
import { readCredentials } from '../../../src/datastore/etcd/credentials.ts';
import {
  failureOf,
  isCompacted,
  isFutureRevision,
  isTooLarge,
} from '../../../src/datastore/etcd/failures.ts';
import { type EtcdOptions, resolveEtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { until } from '../../support/wait.ts';

/**
 * What the source takes for granted about etcd3, gRPC and etcd. When an update breaks one of these, it has to be seen here
 * and not as routes that vanish.
 */
describe.each([
  ['etcd34', binaries.etcd34],
  ['etcd35', binaries.etcd35],
] as const)('etcd3 against %s', (name, binary) => {
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
    const made = createConnection(await loadEtcd3(), { endpoint, credentials, settings, clock: systemClock });
    onTestFinished(() => made.close());
    return made;
  }

  async function watching(made: EtcdConnection, requests: readonly object[]) {
    const stream = await made.watch();
    const responses: IWatchResponse[] = [];
    stream.on('data', (response) => responses.push(response));
    for (const create_request of requests) stream.write({ create_request });
    return { stream, responses };
  }

  const children = { key: Buffer.from('/a/'), range_end: Buffer.from('/a0') };

  it('reads keys and values as bytes and 64-bit numbers as text', async () => {
    const revision = await etcd.client.put('/a/1ü', 'straße');
    await etcd.client.put('/a/2', '');
    const { kvs, header, more } = await (await connection()).range({ ...children, limit: 1 }, 5_000);
    expect(more).toBe(true);
    expect(kvs).toHaveLength(1);
    expect([kvs[0]?.key, kvs[0]?.value]).toEqual([Buffer.from('/a/1ü'), Buffer.from('straße')]);
    expect(kvs[0]?.mod_revision).toBe(`${revision}`);
    expect(header).toMatchObject({
      cluster_id: expect.stringMatching(/^\d+$/),
      revision: `${revision + 1}`,
      raft_term: expect.stringMatching(/^\d+$/),
    });
  });

  it('reads a revision of the past, and tells one that is gone from one that is to come', async () => {
    const made = await connection();
    const first = await etcd.client.put('/a/1', 'one');
    const second = await etcd.client.put('/a/1', 'two');
    const then = await made.range({ key: Buffer.from('/a/1'), revision: first }, 5_000);
    expect([String(then.kvs[0]?.value), then.header.revision]).toEqual(['one', `${second}`]);
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
    const { responses, stream } = await watching(await connection(), [
      { watch_id: 1, key: Buffer.from('/a'), start_revision: start },
      { watch_id: 2, ...children, start_revision: start },
    ]);
    await until(() => responses.filter(({ created }) => created).length === 2);
    await etcd.client.put('/a/1', 'one');
    await etcd.client.put('/a/1', 'two');
    await etcd.client.del('/a/1');
    await until(() => responses.flatMap(({ events }) => events).length === 4);
    expect(responses.filter(({ created }) => created).map(({ watch_id }) => watch_id)).toEqual(['1', '2']);
    expect(
      responses.flatMap(({ watch_id, events }) =>
        events.map(({ type, kv }) => [watch_id, type, String(kv.key), kv.mod_revision]),
      ),
    ).toEqual([
      ['1', 'Put', '/a', `${start}`],
      ['2', 'Put', '/a/1', `${start + 1}`],
      ['2', 'Put', '/a/1', `${start + 2}`],
      ['2', 'Delete', '/a/1', `${start + 3}`],
    ]);
    stream.cancel();
  });

  it('answers progress requests for no watcher, and gives notice for each by itself', async () => {
    const { responses, stream } = await watching(await connection(), [
      { watch_id: 1, ...children, progress_notify: true },
    ]);
    await until(() => responses.length > 0);
    stream.write({ progress_request: {} });
    const reply = await until(() => responses.find(({ watch_id }) => watch_id === '-1'));
    expect([reply.created, reply.canceled, reply.events.length]).toEqual([false, false, 0]);
    const revision = await etcd.client.put('/elsewhere', 'x');
    const notice = await until(() =>
      responses.find(
        ({ watch_id, created, header }) => watch_id === '1' && !created && header.revision === `${revision}`,
      ),
    );
    expect([notice.canceled, notice.events.length]).toEqual([false, 0]);
    stream.cancel();
  });

  it('cancels a watcher that starts before the compaction, with the revision', async () => {
    const first = await etcd.client.put('/a/1', 'one');
    const second = await etcd.client.put('/a/1', 'two');
    await etcd.client.compact(second);
    const { responses, stream } = await watching(await connection(), [
      { watch_id: 1, ...children, start_revision: first },
    ]);
    const canceled = await until(() => responses.find((response) => response.canceled));
    expect([canceled.compact_revision, canceled.header.revision, canceled.watch_id]).toEqual([
      `${second}`,
      '0',
      '1',
    ]);
    stream.cancel();
  });

  it('marks the parts of a large response', async () => {
    const made = await connection();
    const name = 'n'.repeat(2_000);
    const puts = (from: number) =>
      Array.from({ length: 500 }, (_, index) => ({ put: [`/a/${name}${from + index}`, ''] as const }));
    for (let from = 0; from < 2_000; from += 500) await etcd.client.txn(puts(from));
    const { responses, stream } = await watching(made, [{ watch_id: 1, ...children, fragment: true }]);
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
    const made = await connection();
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
    const again = await connection();
    const pending = again.range(children, 30_000).catch((cause) => cause);
    const started = performance.now();
    again.close();
    expect(await pending).toBeInstanceOf(Error);
    expect(performance.now() - started).toBeLessThan(500);
    expect(await again.range(children, 5_000).catch((cause) => cause)).toBeInstanceOf(Error);
  });
});
