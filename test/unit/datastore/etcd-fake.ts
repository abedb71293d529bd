import type { EtcdConnection, WatchHandlers, WatchStream } from '../../../src/datastore/etcd/connection.ts';
import type { Dialler } from '../../../src/datastore/etcd/dialler.ts';
import { GRPC, GrpcError } from '../../../src/datastore/etcd/grpc-error.ts';
import type {
  Header,
  KeyValue,
  RangeRequest,
  RangeResponse,
  WatchCreateRequest,
  WatchResponse,
} from '../../../src/datastore/etcd/messages.ts';
import type { Endpoint } from '../../../src/datastore/etcd/options.ts';
import { watchIdOf } from '../../../src/datastore/etcd/responses.ts';

export function keyValue(key: string, value: string, revision: number): KeyValue {
  return {
    key: Buffer.from(key),
    value: Buffer.from(value),
    modRevision: revision,
    createRevision: revision,
    version: 1,
  };
}

/** A watch stream whose other end is the test. */
export class FakeStream implements WatchStream {
  /** What was asked to be watched. */
  readonly creates: WatchCreateRequest[] = [];
  pings = 0;
  canceled = false;
  readonly #etcd: FakeEtcd;
  readonly #handlers: WatchHandlers;

  constructor(etcd: FakeEtcd, handlers: WatchHandlers) {
    this.#etcd = etcd;
    this.#handlers = handlers;
  }

  create(request: WatchCreateRequest): void {
    this.creates.push(request);
    if (this.#etcd.confirms) queueMicrotask(() => this.respond({ watchId: request.watchId, created: true }));
  }

  askProgress(): void {
    this.pings += 1;
    if (this.#etcd.answersPings) queueMicrotask(() => this.respond({}));
  }

  cancel(): void {
    this.canceled = true;
  }

  /** Ends it from the other side. */
  end(error?: Error): void {
    if (!this.canceled) this.#handlers.onEnd(error);
  }

  respond(response: Partial<WatchResponse>): void {
    this.#handlers.onResponse({
      header: this.#etcd.header,
      watchId: -1,
      created: false,
      canceled: false,
      compactRevision: 0,
      cancelReason: '',
      fragment: false,
      events: [],
      ...response,
    });
  }

  /** Puts, as etcd stores them and sends them to the watcher of one range. */
  put(range: number, ...kvs: readonly KeyValue[]): void {
    this.#etcd.kvs.push(...kvs);
    this.respond({ watchId: watchIdOf(range), events: kvs.map((kv) => ({ type: 'put', kv })) });
  }
}

/**
 * As much of etcd as the source sees: what tests need to bring about that a real one would do only by chance. Reads see the
 * newest state, whatever revision they ask for, unless it was compacted.
 */
export class FakeEtcd {
  clusterId = '77';
  revision = 10;
  term = 2;
  compactedBelow = 0;
  kvs: KeyValue[] = [];
  confirms = true;
  answersPings = true;
  /** Set to make every read fail with it. */
  readError: Error | undefined;
  dialError: Error | undefined;
  readonly streams: FakeStream[] = [];
  readonly reads: RangeRequest[] = [];
  readonly dialled: string[] = [];

  get header(): Header {
    return { clusterId: this.clusterId, revision: this.revision, raftTerm: this.term };
  }

  get stream(): FakeStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error('no stream was opened');
    return last;
  }

  async range(request: RangeRequest): Promise<RangeResponse> {
    this.reads.push(request);
    if (this.readError) throw this.readError;
    const asked = Number(request.revision ?? 0);
    if (asked > 0 && asked < this.compactedBelow) {
      throw COMPACTED;
    }
    if (asked > this.revision) throw FUTURE;
    const found = this.kvs.filter(({ key }) => within(key, request));
    const limit = Number(request.limit ?? 0) || found.length;
    return { header: this.header, kvs: found.slice(0, limit), more: found.length > limit };
  }

  readonly dialler: Dialler = {
    connect: async (endpoint) => {
      this.dialled.push(endpoint.url);
      if (this.dialError) throw this.dialError;
      return this.#connection(endpoint);
    },
    drop: () => {},
  };

  #connection(endpoint: Endpoint): EtcdConnection {
    return {
      endpoint,
      range: (request) => this.range(request),
      watch: (handlers) => {
        const stream = new FakeStream(this, handlers);
        this.streams.push(stream);
        return stream;
      },
      close: () => {},
    };
  }
}

function within(key: Buffer, { key: start, rangeEnd }: RangeRequest): boolean {
  if (rangeEnd === undefined) return key.equals(start);
  return (
    Buffer.compare(key, start) >= 0 &&
    (rangeEnd.equals(Buffer.from([0])) || Buffer.compare(key, rangeEnd) < 0)
  );
}

const OUT_OF_RANGE = 11;

/** What etcd says of a revision that it has forgotten, of one to come, and our own client of an answer over its limit. */
export const COMPACTED = new GrpcError(
  OUT_OF_RANGE,
  'etcdserver: mvcc: required revision has been compacted',
);
const FUTURE = new GrpcError(OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision');
export const TOO_LARGE = new GrpcError(GRPC.resourceExhausted, 'Received message larger than max (9 vs 8)');
