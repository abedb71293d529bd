import { EventEmitter } from 'node:events';
import type {
  IKeyValue,
  IRangeRequest,
  IRangeResponse,
  IWatchCreateRequest,
  IWatchRequest,
  IWatchResponse,
} from 'etcd3';
import type { EtcdConnection, WatchStream } from '../../../src/datastore/etcd/connection.ts';
import type { Dialler } from '../../../src/datastore/etcd/dialler.ts';
import type { Endpoint } from '../../../src/datastore/etcd/options.ts';
import { watchIdOf } from '../../../src/datastore/etcd/responses.ts';

export function keyValue(key: string, value: string, revision: number): IKeyValue {
  return {
    key: Buffer.from(key),
    value: Buffer.from(value),
    mod_revision: `${revision}`,
    create_revision: `${revision}`,
    version: '1',
    lease: '0',
  };
}

/** A watch stream whose other end is the test. */
export class FakeStream extends EventEmitter {
  readonly written: IWatchRequest[] = [];
  canceled = false;
  readonly #etcd: FakeEtcd;

  constructor(etcd: FakeEtcd) {
    super();
    this.#etcd = etcd;
  }

  write(request: IWatchRequest): void {
    this.written.push(request);
    if (request.create_request && this.#etcd.confirms) {
      queueMicrotask(() =>
        this.respond({ watch_id: String(request.create_request?.watch_id), created: true }),
      );
    }
    if (request.progress_request && this.#etcd.answersPings) queueMicrotask(() => this.respond({}));
  }

  end(): void {}

  cancel(): void {
    if (this.canceled) return;
    this.canceled = true;
    this.emit('error', Object.assign(new Error('1 CANCELLED: Cancelled on client'), { code: 1 }));
  }

  /** What was asked to be watched. */
  get creates(): IWatchCreateRequest[] {
    return this.written.flatMap(({ create_request }) => (create_request ? [create_request] : []));
  }

  get pings(): number {
    return this.written.filter(({ progress_request }) => progress_request).length;
  }

  respond(response: Partial<IWatchResponse>): void {
    this.emit('data', {
      header: this.#etcd.header,
      watch_id: '-1',
      created: false,
      canceled: false,
      compact_revision: '0',
      cancel_reason: '',
      fragment: false,
      events: [],
      ...response,
    } satisfies IWatchResponse);
  }

  /** Puts, as etcd stores them and sends them to the watcher of one range. */
  put(range: number, ...kvs: readonly IKeyValue[]): void {
    this.#etcd.kvs.push(...kvs);
    const events = kvs.map((kv) => ({ type: 'Put' as const, kv, prev_kv: kv }));
    this.respond({ watch_id: String(watchIdOf(range)), events });
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
  kvs: IKeyValue[] = [];
  confirms = true;
  answersPings = true;
  /** Set to make every read fail with it. */
  readError: Error | undefined;
  dialError: Error | undefined;
  readonly streams: FakeStream[] = [];
  readonly reads: IRangeRequest[] = [];
  readonly dialled: string[] = [];

  get header(): IRangeResponse['header'] {
    return {
      cluster_id: this.clusterId,
      member_id: '1',
      revision: `${this.revision}`,
      raft_term: `${this.term}`,
    };
  }

  get stream(): FakeStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error('no stream was opened');
    return last;
  }

  async range(request: IRangeRequest): Promise<IRangeResponse> {
    this.reads.push(request);
    if (this.readError) throw this.readError;
    const asked = Number(request.revision ?? 0);
    if (asked > 0 && asked < this.compactedBelow) {
      throw new Error('11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted');
    }
    if (asked > this.revision)
      throw new Error('11 OUT_OF_RANGE: etcdserver: mvcc: required revision is a future revision');
    const found = this.kvs.filter(({ key }) => within(key, request));
    const limit = Number(request.limit ?? 0) || found.length;
    return {
      header: this.header,
      kvs: found.slice(0, limit),
      more: found.length > limit,
      count: `${found.length}`,
    };
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
      watch: async () => {
        const stream = new FakeStream(this);
        this.streams.push(stream);
        return stream as unknown as WatchStream;
      },
      close: () => {},
    };
  }
}

function within(key: Buffer, { key: start, range_end }: IRangeRequest): boolean {
  if (start === undefined) return false;
  if (range_end === undefined) return key.equals(start);
  return (
    Buffer.compare(key, start) >= 0 &&
    (range_end.equals(Buffer.from([0])) || Buffer.compare(key, range_end) < 0)
  );
}
