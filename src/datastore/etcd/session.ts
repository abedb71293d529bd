import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../core/clock.ts';
import type { Credentials } from './credentials.ts';
import { type FailureContext, failureOf, silence } from './failures.ts';
import { GRPC, GrpcError, violation } from './grpc-error.ts';
import type { Endpoint, EtcdTimings } from './options.ts';
import { isCut, openSocket } from './socket.ts';

export interface SessionPlan {
  readonly endpoint: Endpoint;
  readonly credentials: Credentials;
  readonly timings: Pick<EtcdTimings, 'keepaliveMs' | 'keepaliveTimeoutMs'>;
  readonly clock: Clock;
}

/**
 * How much may be under way before we have taken it in, per call and together: more than a page is meant to weigh, so that
 * etcd never waits for us between two parts of one. What arrives is taken in at once, so it takes no memory.
 */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;

/**
 * Opens an HTTP/2 connection. It is there when the server's SETTINGS are (RFC 9113, 3.4): until then it may be anything that
 * accepts connections. Rejects with a BirdfeedError, also after `context.afterMs` and when `signal` aborts; nothing is left
 * behind then.
 */
export async function openSession(
  plan: SessionPlan,
  { signal, context }: { signal: AbortSignal; context: FailureContext },
): Promise<Session> {
  const session = new Session(plan);
  const stop = () => session.end(new Error('stopped'));
  const cancelTimer = plan.clock.after(context.afterMs, () => session.end(silence(context)));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await session.opened;
    return session;
  } catch (error) {
    throw failureOf(error, context);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', stop);
  }
}

/**
 * One HTTP/2 connection to one server, over a socket of our own: Node's HTTP/2 client alone loses the alert with which a
 * TLS 1.3 server refuses a certificate. Whatever happens to it ends it, and the first cause is the one that counts.
 */
export class Session {
  /** Rejects when it ends before. */
  readonly opened: Promise<void>;
  readonly #plan: SessionPlan;
  readonly #socket: Socket;
  readonly #http2: ClientHttp2Session;
  #isOpen = false;
  #isSecured = false;
  #cause: Error | undefined;
  #confirm: () => void = () => {};
  #refuse: (cause: Error) => void = () => {};
  #cancelTimer: () => void = () => {};

  constructor(plan: SessionPlan) {
    this.#plan = plan;
    this.opened = new Promise((resolve, reject) => {
      this.#confirm = resolve;
      this.#refuse = reject;
    });
    this.#socket = openSocket(plan.endpoint, plan.credentials);
    this.#http2 = connect(plan.endpoint.url, {
      createConnection: () => this.#socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#listen();
  }

  /** Why it ended, if it did. */
  get cause(): Error | undefined {
    return this.#cause;
  }

  /** Begins an exchange. Throws the cause when the session has ended. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    if (this.#cause !== undefined) throw this.#cause;
    return this.#http2.request(headers);
  }

  /** Ends everything that is under way, with `cause`. Idempotent. */
  end(cause: Error): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    this.#cancelTimer();
    this.#http2.destroy(cause, constants.NGHTTP2_NO_ERROR);
    // The session would wait for a peer that takes its last words.
    this.#socket.destroy();
    this.#refuse(cause);
  }

  /** The listeners stay for good: what has ended may still report an error, which nobody else would catch. */
  #listen(): void {
    const [socket, http2] = [this.#socket, this.#http2];
    socket.once('secureConnect', () => {
      this.#isSecured = true;
    });
    socket.on('error', (error) => this.#fail(error));
    socket.once('close', () => this.end(this.#cut()));
    http2.on('error', (error) => this.#fail(error));
    http2.once('close', () => this.end(this.#cut()));
    http2.once('connect', () => {
      if (this.#cause === undefined) http2.setLocalWindowSize(SESSION_WINDOW_BYTES);
    });
    // Calls that it would still serve fail too: they are made again on another connection, and a watch has no end.
    http2.once('goaway', (code, _lastStream, data) => this.end(dismissal(code, data)));
    http2.once('remoteSettings', () => {
      if (this.#cause !== undefined) return;
      this.#isOpen = true;
      this.#pingLater();
      this.#confirm();
    });
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (isCut(error)) return this.end(this.#cut(error));
    const foreign = error.code === 'ERR_HTTP2_ERROR' && !this.#isOpen;
    this.end(foreign ? violation('its answer is not HTTP/2', { cause: error }) : error);
  }

  #cut(cause?: Error): GrpcError {
    const { secure } = this.#plan.endpoint;
    const text = cutAt(secure, this.#isSecured, this.#isOpen);
    return new GrpcError(GRPC.unavailable, text, { cause });
  }

  #pingLater(): void {
    this.#cancelTimer = this.#plan.clock.after(this.#plan.timings.keepaliveMs, () => this.#ping());
  }

  /** A peer that is gone without a word is found out by nothing else while no call is under way. */
  #ping(): void {
    if (this.#http2.destroyed) return;
    this.#awaitAnswer();
    this.#http2.ping((error) => {
      if (error !== null || this.#cause !== undefined) return;
      this.#cancelTimer();
      this.#pingLater();
    });
  }

  /** On a slow line the answer may be behind megabytes of other things: while these come, the peer is there. */
  #awaitAnswer(): void {
    const { clock, timings } = this.#plan;
    const silent = `it did not answer a ping within ${timings.keepaliveTimeoutMs / 1000} s`;
    const { bytesRead } = this.#socket;
    this.#cancelTimer = clock.after(timings.keepaliveTimeoutMs, () => {
      if (this.#socket.bytesRead > bytesRead) return this.#awaitAnswer();
      this.end(new GrpcError(GRPC.unavailable, silent));
    });
  }
}

function cutAt(secure: boolean, secured: boolean, open: boolean): string {
  if (open) return 'it ended the connection';
  if (secure && !secured) return 'it ended the connection during the TLS handshake';
  const what = 'it ended the connection before it answered';
  return secure ? what : `${what}; if it demands TLS, write https:// in --etcd-endpoints`;
}

/** A GOAWAY frame, which may say why in words. */
function dismissal(code: number, data: Uint8Array | undefined): GrpcError {
  const words = data === undefined ? '' : ` ${JSON.stringify(Buffer.from(data).toString('latin1'))}`;
  return new GrpcError(GRPC.unavailable, `it is closing the connection (GOAWAY, code ${code}${words})`);
}
