import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRangeResponse } from '../../../src/datastore/etcd/range-response.ts';

const require = createRequire(import.meta.url);
const library = createRequire(require.resolve('etcd3'));
const { loadSync } = library('@grpc/proto-loader') as {
  loadSync: (path: string, options: object) => Services;
};
type Codec = { responseSerialize(value: object): Buffer; responseDeserialize(bytes: Buffer): object };
type Services = Record<string, { Range: Codec }>;

/** The general decoder, as etcd3 sets it up. */
const proto = join(dirname(library.resolve('./connection-pool.js')), '..', 'proto', 'rpc.proto');
const options = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
const { responseSerialize: encode, responseDeserialize: decode } = loadSync(proto, options)[
  'etcdserverpb.KV'
]!.Range;

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const revision = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }).map(String);
const response = fc.record({
  header: fc.record({
    cluster_id: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    member_id: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    revision,
    raft_term: revision,
  }),
  kvs: fc.array(
    fc.record({
      key: bytes,
      value: bytes,
      create_revision: revision,
      mod_revision: revision,
      version: revision,
      lease: fc.integer().map(String),
    }),
    { maxLength: 5 },
  ),
  more: fc.boolean(),
  count: revision,
});

describe('decodeRangeResponse', () => {
  it('reads what the general decoder reads', () => {
    fc.assert(
      fc.property(response, (value) => {
        const wire = encode(value);
        expect(decode(wire)).toMatchObject(decodeRangeResponse(wire));
      }),
    );
  });

  it('refuses a message that is cut off, or reads the part that is whole', () => {
    const value = {
      header: { cluster_id: '1', member_id: '2', revision: '300', raft_term: '4' },
      kvs: [{ key: Buffer.from('/a'), value: Buffer.from('x'.repeat(200)), mod_revision: '7' }],
    };
    const wire = encode(value);
    for (let length = 0; length < wire.length; length += 1) {
      const read = () => decodeRangeResponse(wire.subarray(0, length)).kvs;
      let kvs: unknown[] | string;
      try {
        kvs = [...read()];
      } catch (error) {
        kvs = (error as Error).name;
      }
      expect(['RangeError', []]).toContainEqual(kvs);
    }
  });

  it('skips fields that it does not know, and refuses wire types that there are not', () => {
    // Field 15 as a number, as 8 bytes, as bytes and as 4 bytes; then `more`.
    const unknown = Buffer.from([
      0x78, 5, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 2, 1, 1, 0x7d, 1, 2, 3, 4, 0x18, 1,
    ]);
    expect(decodeRangeResponse(unknown).more).toBe(true);
    expect(() => decodeRangeResponse(Buffer.from([0x7b]))).toThrow(RangeError);
  });
});
