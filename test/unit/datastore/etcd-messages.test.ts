import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BirdfeedError } from '../../../src/core/errors.ts';
import {
  decodeAuthenticateResponse,
  decodeRangeResponse,
  decodeWatchResponse,
  encodeAuthenticateRequest,
  encodeRangeRequest,
  encodeWatchCreate,
  encodeWatchProgress,
} from '../../../src/datastore/etcd/messages.ts';

const require = createRequire(import.meta.url);
const library = createRequire(require.resolve('etcd3'));
const { loadSync } = library('@grpc/proto-loader') as {
  loadSync: (path: string, options: object) => Record<string, Record<string, Codec>>;
};
interface Codec {
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(value: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

/** The codec of another client, made from etcd's own .proto files. */
const proto = join(dirname(library.resolve('./connection-pool.js')), '..', 'proto', 'rpc.proto');
const services = loadSync(proto, { longs: String, enums: String, defaults: true, oneofs: true });
const range = services['etcdserverpb.KV']!['Range']!;
const watch = services['etcdserverpb.Watch']!['Watch']!;
const authenticate = services['etcdserverpb.Auth']!['Authenticate']!;

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const key = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((array) => Buffer.from(array));
const revision = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const header = fc.record({
  clusterId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  revision,
  raftTerm: revision,
});
const keyValue = fc.record({
  key,
  value: bytes,
  createRevision: revision,
  modRevision: revision,
  version: revision,
});
const rangeResponse = fc.record({ header, kvs: fc.array(keyValue, { maxLength: 5 }), more: fc.boolean() });
const event = fc.record({ type: fc.constantFrom('put', 'delete'), kv: keyValue });
const watchResponse = fc.record({
  header,
  watchId: fc.integer({ min: -1, max: 1_000_000 }),
  created: fc.boolean(),
  canceled: fc.boolean(),
  compactRevision: revision,
  cancelReason: fc.string({ unit: 'grapheme' }),
  fragment: fc.boolean(),
  events: fc.array(event, { maxLength: 5 }),
});

/** In the words of the other client, with what it has besides. */
const foreign = (event: { type: string; kv: object }) => ({
  type: event.type === 'put' ? 'Put' : 'Delete',
  kv: { ...event.kv, lease: 7 },
  prevKv: { ...event.kv, version: 99 },
});

const DECODERS = [decodeRangeResponse, decodeWatchResponse, decodeAuthenticateResponse] as const;

describe('answers of etcd', () => {
  it('to reads are read as the other client wrote them', () => {
    fc.assert(
      fc.property(rangeResponse, (value) => {
        const wire = range.responseSerialize({
          ...value,
          header: { ...value.header, memberId: '5' },
          kvs: value.kvs.map((kv) => ({ ...kv, lease: 7 })),
          count: 12,
        });
        expect(decodeRangeResponse(wire)).toEqual(value);
      }),
    );
  });

  it('on the watch stream are read as the other client wrote them', () => {
    fc.assert(
      fc.property(watchResponse, (value) => {
        const wire = watch.responseSerialize({ ...value, events: value.events.map(foreign) });
        expect(decodeWatchResponse(wire)).toEqual(value);
      }),
    );
  });

  it('to a login hold the token', () => {
    expect(decodeAuthenticateResponse(authenticate.responseSerialize({ token: 'abc.7' }))).toBe('abc.7');
  });

  it('that are empty are full of zeros', () => {
    const none = { clusterId: '0', revision: 0, raftTerm: 0 };
    expect(decodeRangeResponse(Buffer.alloc(0))).toEqual({ header: none, kvs: [], more: false });
    expect(decodeWatchResponse(Buffer.alloc(0))).toMatchObject({ header: none, watchId: 0, events: [] });
    expect(decodeAuthenticateResponse(Buffer.alloc(0))).toBe('');
  });

  it('that are cut off are refused, or read up to where they are whole', () => {
    const header = { clusterId: '18446744073709551615', revision: 300, raftTerm: 4 };
    const kv = { key: Buffer.from('/a'), value: Buffer.from('x'.repeat(200)), modRevision: 7 };
    const wires = [
      range.responseSerialize({ header, kvs: [kv, kv], more: true }),
      watch.responseSerialize({ header, watchId: -1, events: [{ type: 'Delete', kv }], cancelReason: 'no' }),
      authenticate.responseSerialize({ header, token: 't'.repeat(200) }),
    ];
    for (const [index, wire] of wires.entries()) {
      const read = DECODERS[index]!;
      for (let length = 0; length < wire.length; length += 1) {
        const cut = outcomeOf(() => read(wire.subarray(0, length)));
        if (typeof cut === 'object' && 'kvs' in cut)
          expect(cut.kvs.every(({ value }) => value.length === 200)).toBe(true);
      }
    }
  });

  it('of random bytes end in a value or in our error, and soon', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...DECODERS), (array, read) => {
        outcomeOf(() => read(Buffer.from(array)));
      }),
      { numRuns: 3_000 },
    );
  });

  it('with one byte changed end in a value or in our error', () => {
    const place = fc.record({ at: fc.nat(), to: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(watchResponse, place, (value, { at, to }) => {
        const wire = watch.responseSerialize({ ...value, events: value.events.map(foreign) });
        if (wire.length > 0) wire[at % wire.length] = to;
        outcomeOf(() => decodeWatchResponse(wire));
      }),
    );
  });

  it('may have fields that are not known, or known ones of another wire type', () => {
    // Field 15 as a number, as 8 bytes, as bytes and as 4 bytes; `kvs` as a number; then `more`.
    const unknown = Buffer.from([
      0x78, 5, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 2, 1, 1, 0x7d, 1, 2, 3, 4, 0x10, 1, 0x18, 1,
    ]);
    expect(decodeRangeResponse(unknown)).toMatchObject({ kvs: [], more: true });
  });

  it.each([
    ['a field of the unknown wire type 3', [0x7b]],
    ['a message that ends in the middle', [0x18]],
    ['a message that ends in the middle', [0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['a message that ends in the middle', [0x18, ...Array.from({ length: 10 }, () => 0x80), 0]],
    ['18446744073709551615 for a revision', [0x0a, 11, 0x18, ...Array.from({ length: 9 }, () => 0xff), 1]],
    ['9007199254740992 for a revision', [0x0a, 9, 0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
  ])('with %s are refused', (what, wire) => {
    expect(outcomeOf(() => decodeRangeResponse(Buffer.from(wire)))).toBe(`etcd sent ${what}`);
  });

  it.each([
    ['an event of the unknown type 2', { type: 2, kv: { key: Buffer.from('/a') } }],
    ['an event of the unknown type -1', { type: -1, kv: { key: Buffer.from('/a') } }],
    ['an event without a key', { type: 'Put', kv: { value: Buffer.from('/a') } }],
    ['an event without a key', { type: 'Delete' }],
  ])('with %s are refused', (what, event) => {
    const wire = watch.responseSerialize({ watchId: 1, events: [event] });
    expect(outcomeOf(() => decodeWatchResponse(wire))).toBe(`etcd sent ${what}`);
  });
});

describe('requests', () => {
  it('for keys are read by the other client as they were meant', () => {
    const request = fc.record(
      { key, rangeEnd: key, limit: revision, revision, keysOnly: fc.boolean() },
      { requiredKeys: ['key'] },
    );
    fc.assert(
      fc.property(request, (value) => {
        expect(range.requestDeserialize(encodeRangeRequest(value))).toMatchObject({
          key: value.key,
          rangeEnd: value.rangeEnd ?? Buffer.alloc(0),
          limit: `${value.limit ?? 0}`,
          revision: `${value.revision ?? 0}`,
          keysOnly: value.keysOnly ?? false,
          // Anything else would make reads stale, or partial.
          serializable: false,
          countOnly: false,
          minModRevision: '0',
          maxModRevision: '0',
        });
      }),
    );
  });

  it('on the watch stream are read by the other client as they were meant', () => {
    const request = fc.record(
      {
        watchId: revision,
        key,
        rangeEnd: key,
        startRevision: revision,
        progressNotify: fc.boolean(),
        fragment: fc.boolean(),
      },
      { requiredKeys: ['key', 'watchId'] },
    );
    fc.assert(
      fc.property(request, (value) => {
        const read = watch.requestDeserialize(encodeWatchCreate(value));
        expect(read).toMatchObject({
          requestUnion: 'createRequest',
          createRequest: {
            key: value.key,
            rangeEnd: value.rangeEnd ?? Buffer.alloc(0),
            watchId: `${value.watchId}`,
            startRevision: `${value.startRevision ?? 0}`,
            progressNotify: value.progressNotify ?? false,
            fragment: value.fragment ?? false,
            filters: [],
            prevKv: false,
          },
        });
      }),
    );
    expect(watch.requestDeserialize(encodeWatchProgress())).toMatchObject({
      requestUnion: 'progressRequest',
    });
  });

  it('to log in are read by the other client as they were meant', () => {
    const read = authenticate.requestDeserialize(encodeAuthenticateRequest('jürgen', 'pass word'));
    expect(read).toEqual({ name: 'jürgen', password: 'pass word' });
  });
});

/** What `read` returns, or the message of our error; any other error fails the test. */
function outcomeOf<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof BirdfeedError && error.code === 'BF_DATASTORE_PROTOCOL') return error.message;
    throw error;
  }
}
