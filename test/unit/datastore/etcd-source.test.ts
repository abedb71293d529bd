import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { BirdfeedError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { GRPC, GrpcError } from '../../../src/datastore/etcd/grpc-error.ts';
import type { EtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { watchIdOf } from '../../../src/datastore/etcd/responses.ts';
import { createEtcdSource } from '../../../src/datastore/etcd/source.ts';
import type { Source, SourceEvent } from '../../../src/datastore/types.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeEtcd, keyValue } from './etcd-fake.ts';

const MINUTE = 60_000;

let etcd: FakeEtcd;
let clock: FakeClock;
let events: SourceEvent[];
let source: Source;
let abort: AbortController;
let running: Promise<void>;
/** By how much monotonic time has jumped past the timers. */
let standstill: number;

beforeEach(() => {
  etcd = new FakeEtcd();
  clock = new FakeClock();
  events = [];
  standstill = 0;
  abort = new AbortController();
});
afterEach(async () => {
  abort.abort();
  await running;
  expect(clock.pending).toBe(0);
});

async function start(options: Partial<EtcdOptions> = {}): Promise<void> {
  const jumping: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + standstill,
    after: (ms, fn) => clock.after(ms, fn),
  };
  source = createEtcdSource(
    { endpoints: ['http://one:2379'], shuffleEndpoints: false, ...options },
    { clock: jumping, log: silentLogger, random: () => 0, dialler: etcd.dialler },
  );
  running = source.run([{ prefix: '/a', required: true }], (event) => events.push(event), abort.signal);
  await clock.advance(0);
}

const told = (from = 0) =>
  events.slice(from).map((event) => {
    if (event.type === 'snapshot') return `snapshot ${event.reason} @${event.position.revision}`;
    if (event.type === 'lost') return `lost ${event.error.code}`;
    if (event.type === 'connected' || event.type === 'changes')
      return `${event.type} @${event.position.revision}`;
    return event.type;
  });

describe('etcd source', () => {
  it('watches from the revision after its list', async () => {
    etcd.kvs = [keyValue('/a/1', 'one', 4)];
    await start();
    expect(told()).toEqual(['page', 'snapshot initial @10']);
    expect(etcd.stream.creates).toMatchObject([
      {
        watchId: watchIdOf(0),
        key: Buffer.from('/a'),
        startRevision: 11,
        progressNotify: true,
        fragment: true,
      },
      { watchId: watchIdOf(1), key: Buffer.from('/a/'), rangeEnd: Buffer.from('/a0'), startRevision: 11 },
    ]);
  });

  it('goes on after the last event, however far the head is, and only for that range', async () => {
    await start();
    etcd.revision = 5_000;
    etcd.stream.put(1, keyValue('/a/1', 'v', 12), keyValue('/a/2', 'v', 40));
    etcd.stream.end();
    await clock.advance(100);
    expect(told(1)).toEqual(['changes @40', 'lost BF_DATASTORE_UNREACHABLE', 'connected @40']);
    expect(etcd.stream.creates.map(({ startRevision }) => startRevision)).toEqual([11, 41]);
  });

  it('goes on after a timed notice, never after the answer to a request for progress', async () => {
    await start();
    etcd.revision = 100;
    etcd.stream.respond({ watchId: -1 });
    etcd.stream.respond({ watchId: watchIdOf(1) });
    etcd.stream.end();
    await clock.advance(100);
    expect(etcd.stream.creates.map(({ startRevision }) => startRevision)).toEqual([11, 101]);
  });

  it('asks for progress every 5 s and gives up after 12 s of silence', async () => {
    await start();
    const [first] = etcd.streams;
    await clock.advance(20_000);
    expect(first?.pings).toBe(4);
    etcd.answersPings = false;
    await clock.advance(11_000);
    expect(told(1)).toEqual([]);
    await clock.advance(2_000);
    expect(told(1)).toEqual(['lost BF_DATASTORE_UNREACHABLE', 'connected @10']);
    expect(first?.canceled).toBe(true);
  });

  it('lists when a watch goes silent twice without having delivered anything', async () => {
    await start();
    etcd.answersPings = false;
    await clock.advance(26_000);
    expect(told(1)).toEqual([
      'lost BF_DATASTORE_UNREACHABLE',
      'connected @10',
      'lost BF_DATASTORE_UNREACHABLE',
      'snapshot reconnect @10',
    ]);
  });

  it('does not take its own standstill for a dead stream', async () => {
    await start();
    etcd.answersPings = false;
    const { stream } = etcd;
    // The process was stopped for an hour: the timer fires late, and the answers are still in the socket.
    standstill = 3_600_000;
    await clock.advance(5_000);
    expect(stream.pings).toBe(1);
    await clock.advance(4_000);
    stream.respond({});
    await clock.advance(4_000);
    expect(told(1)).toEqual([]);
  });

  it('gives up when the watch is not confirmed in time', async () => {
    etcd.confirms = false;
    await start();
    await clock.advance(1_900);
    expect(told()).toEqual(['snapshot initial @10']);
    await clock.advance(200);
    expect(told()).toEqual(['snapshot initial @10', 'lost BF_DATASTORE_UNREACHABLE']);
  });

  it('lists again within 24 to 30 minutes', async () => {
    await start({ timings: { verifyMs: 60 * MINUTE } });
    await clock.advance(29 * MINUTE);
    expect(told()).toEqual(['snapshot initial @10']);
    await clock.advance(MINUTE);
    expect(told()).toEqual(['snapshot initial @10', 'snapshot periodic @10']);
  });

  it('lists after a loss that outlasted the time for that', async () => {
    await start();
    etcd.dialError = new Error('connect ECONNREFUSED');
    etcd.stream.end();
    await clock.advance(31 * MINUTE);
    etcd.dialError = undefined;
    await clock.advance(3_000);
    expect(told()).toEqual([
      'snapshot initial @10',
      'lost BF_DATASTORE_UNREACHABLE',
      'lost BF_DATASTORE_UNREACHABLE',
      'snapshot reconnect @10',
    ]);
  });

  it.each([
    ['a lower revision', { revision: 9 }],
    ['another cluster', { clusterId: '78' }],
    ['a lower term', { term: 1 }],
    ['another history of a key that it knows', { kvs: [keyValue('/a/1', 'one', 5)] }],
    ['no trace of a key that it knows', { kvs: [] }],
  ])('notices %s while it is connected', async (_what, change) => {
    etcd.kvs = [keyValue('/a/1', 'one', 4)];
    await start();
    Object.assign(etcd, change);
    await clock.advance(31_000);
    expect(told(2)).toContain(`snapshot regressed @${etcd.revision}`);
    const { length } = events;
    await clock.advance(31_000);
    expect(told(length)).toEqual([]);
  });

  it('takes the header of a response that is behind for a reason to look, and asks the cluster', async () => {
    await start();
    etcd.revision = 9;
    etcd.stream.respond({});
    etcd.revision = 10;
    await clock.advance(100);
    expect(told(1)).toEqual(['lost BF_DATASTORE_REGRESSED', 'connected @10']);
  });

  it('asks a proxy for no progress, and follows it although it makes up the header of a watcher that joins others', async () => {
    etcd.confirms = false;
    await start();
    const header = { clusterId: '0', revision: 11, raftTerm: 0 };
    etcd.stream.respond({ watchId: 1, created: true, header });
    etcd.stream.respond({ watchId: 0, created: true, header });
    const kv = keyValue('/a/1', 'v', 12);
    etcd.revision = 12;
    etcd.stream.respond({ watchId: 1, events: [{ type: 'put', kv }] });
    await clock.advance(29_000);
    expect([told(1), etcd.stream.pings]).toEqual([['changes @12'], 0]);
    etcd.readError = new GrpcError(GRPC.deadlineExceeded, 'no answer within 12000 ms');
    await clock.advance(1_000);
    expect(told(2)).toEqual(['lost BF_DATASTORE_UNREACHABLE']);
  });

  it('draws no conclusion from a witness that was compacted away', async () => {
    etcd.kvs = [keyValue('/a/1', 'one', 4)];
    await start();
    etcd.revision = 50;
    etcd.compactedBelow = 50;
    etcd.kvs = [];
    await clock.advance(31_000);
    expect(told(2)).toEqual([]);
  });

  it('lists when a watcher is cancelled by a compaction', async () => {
    await start();
    etcd.stream.respond({
      watchId: watchIdOf(1),
      canceled: true,
      compactRevision: 90,
      header: { ...etcd.header, revision: 0 },
    });
    await clock.advance(0);
    expect(told(1)).toEqual(['snapshot compacted @10']);
  });

  it('reports why etcd refuses a watcher', async () => {
    await start();
    const cancelReason = 'rpc error: code = PermissionDenied desc = etcdserver: permission denied';
    etcd.stream.respond({ watchId: -1, created: true, canceled: true, cancelReason });
    expect(told(1)).toEqual([]);
    await clock.advance(0);
    expect(told(1)).toEqual(['lost BF_DATASTORE_AUTH']);
  });

  it('gets a new token when its own ran out just before the watch, and says so only when that does not help', async () => {
    await start();
    const refuse = () =>
      etcd.stream.respond({
        watchId: -1,
        created: true,
        canceled: true,
        cancelReason: 'etcdserver: invalid auth token',
      });
    etcd.confirms = false;
    source.relist();
    await clock.advance(0);
    const before = events.length;
    refuse();
    await clock.advance(0);
    expect([told(before), etcd.streams.length]).toEqual([[], 3]);
    refuse();
    await clock.advance(0);
    expect(told(before)).toEqual(['lost BF_DATASTORE_AUTH']);
  });

  it('goes on from where it was after a response that cannot be read', async () => {
    await start();
    etcd.revision = 11;
    etcd.stream.end(new BirdfeedError('BF_DATASTORE_PROTOCOL', 'etcd sent an event of the unknown type 2'));
    await clock.advance(100);
    expect(told(1)).toEqual(['lost BF_DATASTORE_PROTOCOL', 'connected @10']);
    expect(etcd.stream.creates.map(({ startRevision }) => startRevision)).toEqual([11, 11]);
  });

  it('moves on when a member does not get an answer from the others', async () => {
    await start({ endpoints: ['http://one:2379', 'http://two:2379'] });
    await clock.advance(29_000);
    etcd.readError = new GrpcError(GRPC.deadlineExceeded, 'no answer within 12000 ms');
    await clock.advance(1_000);
    expect(told(1)).toEqual(['lost BF_DATASTORE_UNREACHABLE']);
    etcd.readError = undefined;
    await clock.advance(100);
    expect(told(1)).toEqual(['lost BF_DATASTORE_UNREACHABLE', 'connected @10']);
    expect(etcd.dialled).toEqual(['http://one:2379', 'http://two:2379']);
  });

  it('tells a cause once per endpoint, and again when it changes', async () => {
    etcd.dialError = new Error('connect ECONNREFUSED');
    await start({ endpoints: ['http://one:2379', 'http://two:2379'] });
    await clock.advance(10_000);
    expect(events.map((event) => (event.type === 'lost' ? event.error.message : event.type))).toEqual([
      'cannot use etcd at http://one:2379: connect ECONNREFUSED',
      'cannot use etcd at http://two:2379: connect ECONNREFUSED',
    ]);
    etcd.dialError = new Error('connect EHOSTUNREACH');
    await clock.advance(10_000);
    expect(events).toHaveLength(4);
    expect(new Set(etcd.dialled)).toEqual(new Set(['http://one:2379', 'http://two:2379']));
  });

  it('tries again after 100 ms at first and every 2 s at last', async () => {
    etcd.dialError = new Error('connect ECONNREFUSED');
    await start();
    await clock.advance(60_000);
    // With the lowest jitter: 50, 100, 200, 400, 800, 1,000, 1,000, ...
    expect(etcd.dialled.length).toBe(1 + 5 + 58);
  });

  it('tries a refused login less often', async () => {
    etcd.readError = new GrpcError(3, 'etcdserver: authentication failed, invalid user ID or password');
    await start({ username: 'u', password: 'secret' });
    await clock.advance(60_000);
    expect(told()).toEqual(['lost BF_DATASTORE_AUTH']);
    expect(etcd.dialled.length).toBeLessThan(20);
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  it('lists again for whoever asks while a list is being read', async () => {
    await start();
    const before = events.length;
    const { range } = etcd;
    let asked = false;
    etcd.range = async function (request) {
      if (Number(request.revision) > 0 && !asked) {
        asked = true;
        source.relist();
      }
      return range.call(this, request);
    };
    source.relist();
    await clock.advance(0);
    await clock.advance(0);
    expect(told(before)).toEqual(['snapshot periodic @10', 'snapshot periodic @10']);
  });

  it('can be run a second time beside the first', async () => {
    await start();
    const more: string[] = [];
    const second = new AbortController();
    const both = source.run(
      [{ prefix: '/b', required: false }],
      (event) => more.push(event.type),
      second.signal,
    );
    await clock.advance(0);
    source.relist();
    await clock.advance(0);
    await clock.advance(0);
    expect(more).toEqual(['snapshot', 'snapshot']);
    second.abort();
    await both;
    source.relist();
    await clock.advance(0);
    expect([told(), more]).toEqual([
      ['snapshot initial @10', 'snapshot periodic @10', 'snapshot periodic @10'],
      ['snapshot', 'snapshot'],
    ]);
  });

  it('says nothing more once it was told to end', async () => {
    await start();
    const before = events.length;
    const { stream } = etcd;
    abort.abort();
    stream.put(1, keyValue('/a/1', 'v', 11));
    await running;
    source.relist();
    await clock.advance(MINUTE);
    expect(events).toHaveLength(before);
    expect(stream.canceled).toBe(true);
  });

  it('describes itself without secrets', async () => {
    await start({ endpoints: ['https://user:pw@one:2379/'], username: 'u', password: 'secret' });
    expect([source.kind, source.description]).toEqual(['etcd', 'https://one:2379']);
  });
});
