import type { Etcd3, IOptions, IRangeRequest } from 'etcd3';
import type { Clock } from '../../core/clock.ts';
import type { Credentials } from './credentials.ts';
import { isAuthOff, wantsNewToken } from './failures.ts';
import type { Endpoint, EtcdSettings } from './options.ts';
import { decodeRangeResponse, type RangePage } from './range-response.ts';

/**
 * All that is taken from etcd3: unary reads and the raw watch stream of one server. Its own watcher is not used, since it
 * moves its resume point before events are delivered and so loses them with the connection; its retries and circuit
 * breaker are off, since they delay recovery and hide causes; its login is not used, since it opens a channel for every
 * token that nothing closes. What this file relies on is held by `test/integration/datastore/etcd-connection.test.ts`.
 */
export interface EtcdConnection {
  readonly endpoint: Endpoint;
  /** A linearizable read. Rejects with gRPC's error, also when the connection is closed meanwhile. */
  range(request: IRangeRequest, deadlineMs: number): Promise<RangePage>;
  /** A new watch stream. Uses the token of the last read: read before. */
  watch(): Promise<WatchStream>;
  /** Ends what is under way. Idempotent. */
  close(): void;
}

export type WatchStream = Awaited<ReturnType<Etcd3['watchClient']['watch']>>;

export interface ConnectionPlan {
  readonly endpoint: Endpoint;
  readonly credentials: Credentials;
  readonly settings: EtcdSettings;
  readonly clock: Clock;
}

type CallOptions = NonNullable<Parameters<Etcd3['kv']['range']>[1]>;
type Interceptor = NonNullable<CallOptions['interceptors']>[number];
/** gRPC's type asks for its class where its code takes, and hands out, anything of this shape. */
type Call = ReturnType<Interceptor>;

/** Status with which our own calls are cancelled: CANCELLED. */
const CANCELLED = 1;

/** A policy that does nothing; it must be asynchronous, since etcd3 expects rejections where the call throws. */
const NO_POLICY = {
  execute: async <T>(call: (context: { signal: AbortSignal }) => PromiseLike<T> | T): Promise<T> =>
    call({ signal: new AbortController().signal }),
  onSuccess: () => ({ dispose() {} }),
  onFailure: () => ({ dispose() {} }),
  _altReturn: undefined as never,
};

/** The library, loaded when it is first needed: that takes about 185 ms. */
export async function loadEtcd3(): Promise<typeof import('etcd3')> {
  // The default export is what `require` gives, in the bundle too.
  return (await import('etcd3')).default;
}

/** A client for one endpoint. Nothing is dialled yet. */
export function createConnection(library: typeof import('etcd3'), plan: ConnectionPlan): EtcdConnection {
  const { endpoint, credentials, settings, clock } = plan;
  const client = new library.Etcd3(clientOptions(endpoint, credentials, settings));
  const calls = new Set<Call>();
  let token: string | undefined;
  let closed = false;

  async function range(request: IRangeRequest, deadlineMs: number): Promise<RangePage> {
    const read = () =>
      unary<RangePage>(deadlineMs, (options) => client.kv.range(request, options), decodeRangeResponse);
    if (settings.login !== undefined) token ??= await authenticate();
    try {
      return await read();
    } catch (error) {
      if (settings.login === undefined || !wantsNewToken(error)) throw error;
      token = await authenticate();
      return read();
    }
  }

  /** A token, or the empty text when etcd does without: then a login that is configured is not needed. */
  async function authenticate(): Promise<string> {
    token = undefined;
    const { username: name, password } = settings.login ?? { username: '', password: '' };
    try {
      return (
        await unary(settings.timings.callMs, (options) =>
          client.auth.authenticate({ name, password }, options),
        )
      ).token;
    } catch (error) {
      if (isAuthOff(error)) return '';
      throw error;
    }
  }

  /** `decode`: in place of the general decoder. */
  async function unary<T>(
    deadlineMs: number,
    run: (options: CallOptions) => Promise<T>,
    decode?: (bytes: Buffer) => T,
  ): Promise<T> {
    const mine: Call[] = [];
    const intercept: Interceptor = (options, next) => {
      // gRPC makes a definition for every call, and asks it for the decoder when the answer is there.
      if (decode !== undefined) options.method_definition.responseDeserialize = decode;
      if (closed) throw new Error('the connection was closed');
      // etcd3 repeats a call with an expired token without end, counting on a login of its own.
      if (mine.length > 0) throw new Error('etcdserver: invalid auth token');
      const call = withMetadata(next(options) as Call, token);
      mine.push(call);
      calls.add(call);
      return call;
    };
    try {
      return await run({ deadline: clock.now() + deadlineMs, interceptors: [intercept] });
    } finally {
      for (const call of mine) calls.delete(call);
    }
  }

  async function watch(): Promise<WatchStream> {
    const intercept: Interceptor = (options, next) => withMetadata(next(options) as Call, token, true);
    const stream = await client.watchClient.watch({ interceptors: [intercept] });
    // The stream's owner attaches a listener of its own; this one is there for an error before or after that.
    stream.on('error', () => {});
    if (closed) stream.cancel();
    return stream;
  }

  function close(): void {
    if (closed) return;
    closed = true;
    for (const call of calls) call.cancelWithStatus(CANCELLED, 'the connection was closed');
    client.close();
  }

  return { endpoint, range, watch, close };
}

/**
 * Adds the token, and for streams the demand that the server end them when it has lost its leader: a member cut off from
 * the others keeps a watch open and says nothing for ever.
 */
function withMetadata(call: Call, token: string | undefined, requireLeader = false): Call {
  const start = call.start.bind(call);
  call.start = (metadata, listener) => {
    if (token) metadata.set('token', token);
    if (requireLeader) metadata.set('hasleader', 'true');
    start(metadata, listener);
  };
  return call;
}

function clientOptions(endpoint: Endpoint, credentials: Credentials, settings: EtcdSettings): IOptions {
  const { timings, paging } = settings;
  return {
    hosts: endpoint.url,
    faultHandling: { host: () => NO_POLICY, global: NO_POLICY },
    ...(endpoint.secure ? { credentials: sslCredentials(credentials) } : {}),
    grpcOptions: {
      'grpc.keepalive_time_ms': timings.keepaliveMs,
      'grpc.keepalive_timeout_ms': timings.keepaliveTimeoutMs,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.max_receive_message_length': paging.maxBytes,
      // Ours is the only back-off.
      'grpc.initial_reconnect_backoff_ms': timings.backoff.initialMs,
      'grpc.max_reconnect_backoff_ms': timings.backoff.maxMs,
      'grpc.enable_retries': 0,
      // The probe does not go through a proxy either, and a datastore is not on the web.
      'grpc.enable_http_proxy': 0,
    },
  };
}

/** Without a CA file gRPC uses the roots that Node trusts; etcd3's type demands one although its code does not. */
function sslCredentials({ ca, cert, key }: Credentials): NonNullable<IOptions['credentials']> {
  return {
    rootCertificate: ca as Buffer,
    ...(cert === undefined || key === undefined ? {} : { certChain: cert, privateKey: key }),
  };
}
