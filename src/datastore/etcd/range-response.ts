import type { IKeyValue, IRangeResponse } from 'etcd3';

/** What is used of etcd's answer to a read; the numbers in decimal text, as etcd3 gives 64-bit ones. */
export interface RangePage {
  readonly header: Pick<IRangeResponse['header'], 'cluster_id' | 'revision' | 'raft_term'>;
  readonly kvs: readonly PageEntry[];
  readonly more: boolean;
}

/** Slices of the response: nothing may keep them. */
export type PageEntry = Omit<IKeyValue, 'lease'>;

/** Of etcd's rpc.proto and kv.proto. */
const RESPONSE = { header: 1, kvs: 2, more: 3 } as const;
const HEADER = { clusterId: 1, revision: 3, raftTerm: 4 } as const;
const KEY_VALUE = { key: 1, createRevision: 2, modRevision: 3, version: 4, value: 5 } as const;

/** Wire types of protocol buffers. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const EMPTY = Buffer.alloc(0);

/**
 * Reads a RangeResponse (etcd api/etcdserverpb/rpc.proto). The general decoder makes an object of four 64-bit numbers per
 * key, and a second one with those as text; of ten thousand keys that is a good part of a first read, and most of its garbage.
 * @throws RangeError for bytes that are no such message
 */
export function decodeRangeResponse(bytes: Buffer): RangePage {
  const header = { cluster_id: '0', revision: '0', raft_term: '0' };
  const kvs: PageEntry[] = [];
  let more = false;
  const reader = new Reader(bytes, 0, bytes.length);
  while (reader.next()) {
    if (reader.field === RESPONSE.kvs) kvs.push(readEntry(bytes, reader.start, reader.end));
    else if (reader.field === RESPONSE.header) readHeader(bytes, reader, header);
    else if (reader.field === RESPONSE.more) more = reader.value !== 0;
  }
  return { header, kvs, more };
}

function readHeader(
  bytes: Buffer,
  { start, end }: Reader,
  header: Record<keyof RangePage['header'], string>,
): void {
  const reader = new Reader(bytes, start, end);
  while (reader.next()) {
    if (reader.field === HEADER.clusterId) header.cluster_id = String(bigVarint(bytes, reader.start));
    else if (reader.field === HEADER.revision) header.revision = String(reader.value);
    else if (reader.field === HEADER.raftTerm) header.raft_term = String(reader.value);
  }
}

function readEntry(bytes: Buffer, start: number, end: number): PageEntry {
  let key: Buffer = EMPTY;
  let value: Buffer = EMPTY;
  let created = 0;
  let modified = 0;
  let version = 0;
  const reader = new Reader(bytes, start, end);
  while (reader.next()) {
    if (reader.field === KEY_VALUE.key) key = bytes.subarray(reader.start, reader.end);
    else if (reader.field === KEY_VALUE.value) value = bytes.subarray(reader.start, reader.end);
    else if (reader.field === KEY_VALUE.modRevision) modified = reader.value;
    else if (reader.field === KEY_VALUE.createRevision) created = reader.value;
    else if (reader.field === KEY_VALUE.version) version = reader.value;
  }
  return {
    key,
    value,
    create_revision: String(created),
    mod_revision: String(modified),
    version: String(version),
  };
}

/** Goes from field to field. Of a number: its value, and where it begins; of a length-delimited field: where its bytes are. */
class Reader {
  field = 0;
  value = 0;
  start = 0;
  end: number;
  readonly #bytes: Buffer;
  readonly #limit: number;
  #at: number;

  constructor(bytes: Buffer, start: number, limit: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.end = start;
    this.#limit = limit;
  }

  next(): boolean {
    if (this.#at >= this.#limit) return false;
    const tag = this.#varint();
    this.field = tag >>> 3;
    this.start = this.#at;
    switch (tag & 7) {
      case VARINT:
        this.value = this.#varint();
        break;
      case BYTES:
        this.value = this.#varint();
        this.start = this.#at;
        this.#at += this.value;
        break;
      case FIXED64:
        this.#at += 8;
        break;
      case FIXED32:
        this.#at += 4;
        break;
      default:
        throw new RangeError(`etcd sent a field of the unknown wire type ${tag & 7}`);
    }
    if (this.#at > this.#limit) throw new RangeError('etcd sent a message that ends in the middle');
    this.end = this.#at;
    return true;
  }

  /** Exact up to 2^53, which no revision reaches. */
  #varint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError('etcd sent a message that ends in the middle');
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }
}

function bigVarint(bytes: Buffer, start: number): bigint {
  let value = 0n;
  for (let at = start, shift = 0n; ; at += 1, shift += 7n) {
    const byte = bytes[at]!;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}
