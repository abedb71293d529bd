import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../../core/clock.ts';
import { unreachable } from './failures.ts';
import type { Credentials } from './kubeconfig.ts';
import type { KubernetesTimings } from './options.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Ends with an error when the connection does. To be read to its end or destroyed. */
  readonly body: Readable;
}

/** A way to one API server. Over TLS one connection carries everything (HTTP/2), unless something on the way cannot. */
export interface Transport {
  readonly server: URL;
  /** Resolves when the head of the answer is there. `path` begins below the server's own path. */
  get(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Reply>;
  /** New requests need another one. */
  readonly isOver: boolean;
  /** For new requests: what is under way may go on to its end. */
  retire(): void;
  /** Ends what is under way, too. */
  close(): void;
}

export interface TransportDeps {
  readonly clock: Clock;
  readonly timings: KubernetesTimings;
}

/** Opens a connection, or makes ready for HTTP/1.1. Rejects with the error of Node or OpenSSL. */
export async function openTransport(
  server: URL,
  credentials: Credentials,
  deps: TransportDeps,
  signal: AbortSignal,
): Promise<Transport> {
  if (server.protocol === 'http:' || credentials.proxy !== undefined)
    return http1Transport(server, credentials);
  const socket = await openTls(server, credentials, signal);
  if (socket.alpnProtocol === 'h2') return http2Transport(server, socket, deps);
  socket.destroy();
  return http1Transport(server, credentials);
}

function openTls(server: URL, { tls }: Credentials, signal: AbortSignal): Promise<TLSSocket> {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host,
      port: Number(server.port || 443),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ['h2', 'http/1.1'],
      ...tls,
    });
    const abort = (): void => void socket.destroy(new Error('no TLS connection in time'));
    signal.addEventListener('abort', abort, { once: true });
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', reject);
      resolve(socket);
    });
    if (signal.aborted) abort();
  });
}

/** Room for a page of a list without waiting for a window update; Node's default is 64 KiB. */
const WINDOW = 4 * 1024 * 1024;

function http2Transport(server: URL, socket: TLSSocket, deps: TransportDeps): Transport {
  const session = connectHttp2(server.origin, {
    createConnection: () => socket,
    settings: { initialWindowSize: WINDOW, enablePush: false },
  });
  session.on('error', () => {});
  session.once('connect', () => session.setLocalWindowSize(2 * WINDOW));
  const stopPinging = keepPinging(session, server, deps);
  session.once('close', stopPinging);
  return {
    server,
    get isOver() {
      return session.closed || session.destroyed;
    },
    get: (path, headers, signal) => http2Get(session, { ...headers, ':path': pathOn(server, path) }, signal),
    retire: () => session.close(),
    close: () => session.destroy(),
  };
}

/** A peer that has died, or a way that swallows packets, shows itself only to those who ask. */
function keepPinging(
  session: ClientHttp2Session,
  server: URL,
  { clock, timings }: TransportDeps,
): () => void {
  let cancel = (): void => {};
  const ping = (): void => {
    if (session.destroyed) return;
    const seconds = (timings.pingMs + timings.deadMs) / 1000;
    cancel = clock.after(timings.deadMs, () =>
      session.destroy(unreachable(server.origin, `it has been silent for ${seconds} s`)),
    );
    session.ping((error) => {
      cancel();
      if (error === null) cancel = clock.after(timings.pingMs, ping);
    });
  };
  cancel = clock.after(timings.pingMs, ping);
  return () => cancel();
}

function http2Get(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...headers, ':method': 'GET' }, { endStream: true });
    const abort = (): void => void stream.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    stream.once('response', (head) => {
      const { ':status': status = 0, ...rest } = head;
      resolve({ status, headers: rest as Reply['headers'], body: stream });
    });
    stream.on('error', reject);
    stream.once('close', () => {
      signal.removeEventListener('abort', abort);
      reject(new Error('the connection ended before the answer'));
    });
    if (signal.aborted) abort();
  });
}

function http1Transport(server: URL, { tls, proxy }: Credentials): Transport {
  const secure = server.protocol === 'https:';
  const own = { keepAlive: true };
  const agent = proxy ?? (secure ? new HttpsAgent({ ...own, ...tls }) : new HttpAgent(own));
  const open = new Set<IncomingMessage>();
  let isOver = false;
  return {
    server,
    get isOver() {
      return isOver;
    },
    get: (path, headers, signal) =>
      new Promise((resolve, reject) => {
        const request = secure ? httpsRequest : httpRequest;
        const call = request(new URL(pathOn(server, path), server.origin), { agent, headers, signal });
        call.on('error', reject);
        call.once('response', (response) => {
          open.add(response);
          response.once('close', () => open.delete(response));
          const plain = response.headers as Reply['headers'];
          resolve({ status: response.statusCode ?? 0, headers: plain, body: response });
        });
        call.end();
      }),
    retire() {
      isOver = true;
    },
    close() {
      isOver = true;
      for (const response of open) response.destroy();
      agent.destroy();
    },
  };
}

function pathOn(server: URL, path: string): string {
  return server.pathname.replace(/\/$/, '') + path;
}
