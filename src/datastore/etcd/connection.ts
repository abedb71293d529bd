import type { Clock } from '../../core/clock.ts';
import { type FailureContext, isAuthOff, wantsNewToken } from './failures.ts';
import { Call, type CallHandlers, unary } from './grpc.ts';
import {
  decodeAuthenticateResponse,
  decodeRangeResponse,
  decodeWatchResponse,
  encodeAuthenticateRequest,
  encodeRangeRequest,
  encodeWatchCreate,
  encodeWatchProgress,
  type RangeRequest,
  type RangeResponse,
  type WatchCreateRequest,
  type WatchResponse,
} from './messages.ts';
import type { Endpoint, EtcdSettings } from './options.ts';
import { openSession, type Session, type SessionPlan } from './session.ts';

/**
 * What is used of etcd's API: linearizable reads and the watch stream of one server, with the token of a login where one is
 * configured. What this relies on is held by `test/integration/datastore/etcd-connection.test.ts`.
 */
export interface EtcdConnection {
  readonly endpoint: Endpoint;
  /** Rejects with a GrpcError or the cause with which the connection ended, also when it is closed meanwhile. */
  range(request: RangeRequest, deadlineMs: number): Promise<RangeResponse>;
  /** A new watch stream. Uses the token of the last read: read before. */
  watch(handlers: WatchHandlers): WatchStream;
  /** Ends what is under way. Idempotent. */
  close(): void;
}

export interface WatchHandlers {
  readonly onResponse: (response: WatchResponse) => void;
  /** Once, and never from within `watch`; without an error when etcd has nothing more to say. Not after `cancel`. */
  readonly onEnd: (error: Error | undefined) => void;
}

export interface WatchStream {
  create(request: WatchCreateRequest): void;
  /** Asks how far the stream has come. */
  askProgress(): void;
  /** Nothing is told after that. */
  cancel(): void;
}

export interface ConnectionPlan {
  readonly endpoint: Endpoint;
  readonly credentials: SessionPlan['credentials'];
  readonly settings: EtcdSettings;
  readonly clock: Clock;
  /** Gives up the attempt to connect. */
  readonly signal: AbortSignal;
  readonly context: FailureContext;
}

/** Connects to one endpoint; it has answered then, though not yet as etcd. Rejects with a BirdfeedError. */
export async function openConnection(plan: ConnectionPlan): Promise<EtcdConnection> {
  const { endpoint, credentials, settings, clock, signal, context } = plan;
  const session = await openSession(
    { endpoint, credentials, timings: settings.timings, clock },
    { signal, context },
  );
  return connectionOver(session, plan);
}

function connectionOver(session: Session, { endpoint, settings, clock }: ConnectionPlan): EtcdConnection {
  const { login, paging, timings } = settings;
  let token: string | undefined;

  async function range(request: RangeRequest, deadlineMs: number): Promise<RangeResponse> {
    const read = async () =>
      decodeRangeResponse(await ask('KV/Range', encodeRangeRequest(request), deadlineMs));
    if (login !== undefined) token ??= await authenticate(login);
    try {
      return await read();
    } catch (error) {
      if (login === undefined || !wantsNewToken(error)) throw error;
      token = await authenticate(login);
      return read();
    }
  }

  /** A token, or the empty text when etcd does without: then a login that is configured is not needed. */
  async function authenticate({ username, password }: NonNullable<EtcdSettings['login']>): Promise<string> {
    token = undefined;
    const request = encodeAuthenticateRequest(username, password);
    try {
      return decodeAuthenticateResponse(await ask('Auth/Authenticate', request, timings.callMs));
    } catch (error) {
      if (isAuthOff(error)) return '';
      throw error;
    }
  }

  function ask(method: string, request: Buffer, deadlineMs: number): Promise<Buffer> {
    return unary(session, callPlan(method), { request, deadlineMs, clock });
  }

  /**
   * `hasleader` demands that the server end the stream when it has lost its leader: a member cut off from the others keeps
   * a watch open and says nothing for ever.
   */
  function watch({ onResponse, onEnd }: WatchHandlers): WatchStream {
    const handlers: CallHandlers = { onMessage: (bytes) => onResponse(decodeWatchResponse(bytes)), onEnd };
    const call = new Call(session, callPlan('Watch/Watch', { hasleader: 'true' }), handlers);
    return {
      create: (request) => call.write(encodeWatchCreate(request)),
      askProgress: () => call.write(encodeWatchProgress()),
      cancel: () => call.cancel(),
    };
  }

  function callPlan(method: string, metadata: Readonly<Record<string, string>> = {}) {
    const path = `/etcdserverpb.${method}`;
    return { path, metadata: { ...metadata, ...(token && { token }) }, maxBytes: paging.maxBytes };
  }

  return { endpoint, range, watch, close: () => session.end(new Error('the connection was closed')) };
}
