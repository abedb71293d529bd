import { broken, bytesField, encode, numberField, Reader } from './protobuf.ts';

/**
 * The messages of etcd v3 that are used, and of them the fields that are. Numbers of fields are those of etcd's
 * `api/etcdserverpb/rpc.proto` and `api/mvccpb/kv.proto` (https://github.com/etcd-io/etcd, the same in 3.4, 3.5 and 3.6).
 * Every `decode…` throws BF_DATASTORE_PROTOCOL for bytes that are no such message; fields that are not there are 0, false
 * or empty, and those that are not known are passed over.
 */

export interface Header {
  /** 64 bits, in decimal text. */
  readonly clusterId: string;
  readonly revision: number;
  readonly raftTerm: number;
}

/** The buffers are slices of the message: nothing may keep them. */
export interface KeyValue {
  readonly key: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer | undefined;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
}

export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  /** Whether the limit left keys out. */
  readonly more: boolean;
}

export interface WatchCreateRequest {
  readonly watchId: number;
  readonly key: Buffer;
  readonly rangeEnd?: Buffer | undefined;
  readonly startRevision?: number;
  /** Tell by yourself now and then that the watcher is up to date. */
  readonly progressNotify?: boolean;
  /** Split what is large. */
  readonly fragment?: boolean;
}

export interface WatchEvent {
  readonly type: 'put' | 'delete';
  readonly kv: KeyValue;
}

export interface WatchResponse {
  readonly header: Header;
  /** -1 for what concerns no watcher. */
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** Whether more of the same batch follows. */
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const HEADER = { clusterId: numberField(1), revision: numberField(3), raftTerm: numberField(4) } as const;
const RANGE_RESPONSE = { header: bytesField(1), kvs: bytesField(2), more: numberField(3) } as const;
const KEY_VALUE = {
  key: bytesField(1),
  createRevision: numberField(2),
  modRevision: numberField(3),
  version: numberField(4),
  value: bytesField(5),
} as const;
const WATCH_RESPONSE = {
  header: bytesField(1),
  watchId: numberField(2),
  created: numberField(3),
  canceled: numberField(4),
  compactRevision: numberField(5),
  cancelReason: bytesField(6),
  fragment: numberField(7),
  events: bytesField(11),
} as const;
const EVENT = { type: numberField(1), kv: bytesField(2) } as const;
const EVENT_TYPES = ['put', 'delete'] as const;
const TOKEN = bytesField(2);

const EMPTY = Buffer.alloc(0);

export function encodeRangeRequest(request: RangeRequest): Buffer {
  return encode(
    [bytesField(1), request.key],
    [bytesField(2), request.rangeEnd],
    [numberField(3), request.limit],
    [numberField(4), request.revision],
    [numberField(8), request.keysOnly],
  );
}

/** A WatchRequest that asks for a watcher. */
export function encodeWatchCreate(request: WatchCreateRequest): Buffer {
  const create = encode(
    [bytesField(1), request.key],
    [bytesField(2), request.rangeEnd],
    [numberField(3), request.startRevision],
    [numberField(4), request.progressNotify],
    [numberField(7), request.watchId],
    [numberField(8), request.fragment],
  );
  return encode([bytesField(1), create]);
}

/** A WatchRequest that asks how far the stream has come. */
export function encodeWatchProgress(): Buffer {
  return encode([bytesField(3), EMPTY]);
}

export function encodeAuthenticateRequest(name: string, password: string): Buffer {
  return encode([bytesField(1), name], [bytesField(2), password]);
}

/** The token. */
export function decodeAuthenticateResponse(bytes: Buffer): string {
  let token = '';
  for (const reader = new Reader(bytes); reader.next(); ) {
    if (reader.tag === TOKEN) token = reader.text;
  }
  return token;
}

export function decodeRangeResponse(bytes: Buffer): RangeResponse {
  let header = NO_HEADER;
  const kvs: KeyValue[] = [];
  let more = false;
  for (const reader = new Reader(bytes); reader.next(); ) {
    if (reader.tag === RANGE_RESPONSE.kvs) kvs.push(readKeyValue(bytes, reader));
    else if (reader.tag === RANGE_RESPONSE.header) header = readHeader(bytes, reader);
    else if (reader.tag === RANGE_RESPONSE.more) more = reader.bool;
  }
  return { header, kvs, more };
}

export function decodeWatchResponse(bytes: Buffer): WatchResponse {
  const events: WatchEvent[] = [];
  const response: Writable<WatchResponse> = {
    header: NO_HEADER,
    watchId: 0,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events,
  };
  for (const reader = new Reader(bytes); reader.next(); ) {
    if (reader.tag === WATCH_RESPONSE.events) events.push(readEvent(bytes, reader));
    else if (reader.tag === WATCH_RESPONSE.header) response.header = readHeader(bytes, reader);
    else if (reader.tag === WATCH_RESPONSE.watchId) response.watchId = reader.int64;
    else if (reader.tag === WATCH_RESPONSE.created) response.created = reader.bool;
    else if (reader.tag === WATCH_RESPONSE.canceled) response.canceled = reader.bool;
    else if (reader.tag === WATCH_RESPONSE.compactRevision) response.compactRevision = reader.count;
    else if (reader.tag === WATCH_RESPONSE.cancelReason) response.cancelReason = reader.text;
    else if (reader.tag === WATCH_RESPONSE.fragment) response.fragment = reader.bool;
  }
  return response;
}

const NO_HEADER: Header = { clusterId: '0', revision: 0, raftTerm: 0 };

/** `at`: the field that holds it; so in the functions below. */
function readHeader(bytes: Buffer, at: Reader): Header {
  const header = { ...NO_HEADER };
  for (const reader = new Reader(bytes, at.start, at.end); reader.next(); ) {
    if (reader.tag === HEADER.clusterId) header.clusterId = reader.uint64;
    else if (reader.tag === HEADER.revision) header.revision = reader.count;
    else if (reader.tag === HEADER.raftTerm) header.raftTerm = reader.count;
  }
  return header;
}

/**
 * Anything but a put or a removal must not pass for either of them: an update taken for a removal takes BGP sessions down.
 */
function readEvent(bytes: Buffer, at: Reader): WatchEvent {
  let number = 0;
  let kv = NO_KEY_VALUE;
  for (const reader = new Reader(bytes, at.start, at.end); reader.next(); ) {
    if (reader.tag === EVENT.type) number = reader.int64;
    else if (reader.tag === EVENT.kv) kv = readKeyValue(bytes, reader);
  }
  const type = EVENT_TYPES[number];
  if (type === undefined) throw broken(`an event of the unknown type ${number}`);
  if (kv.key.length === 0) throw broken('an event without a key');
  return { type, kv };
}

function readKeyValue(bytes: Buffer, at: Reader): KeyValue {
  let { key, createRevision, modRevision, version, value } = NO_KEY_VALUE;
  for (const reader = new Reader(bytes, at.start, at.end); reader.next(); ) {
    if (reader.tag === KEY_VALUE.key) key = reader.bytes;
    else if (reader.tag === KEY_VALUE.value) value = reader.bytes;
    else if (reader.tag === KEY_VALUE.modRevision) modRevision = reader.count;
    else if (reader.tag === KEY_VALUE.createRevision) createRevision = reader.count;
    else if (reader.tag === KEY_VALUE.version) version = reader.count;
  }
  return { key, createRevision, modRevision, version, value };
}

const NO_KEY_VALUE: KeyValue = { key: EMPTY, createRevision: 0, modRevision: 0, version: 0, value: EMPTY };
