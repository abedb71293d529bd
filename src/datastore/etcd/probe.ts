import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { Clock } from '../../core/clock.ts';
import type { Credentials } from './credentials.ts';
import { type FailureContext, failureOf, silence } from './failures.ts';
import type { Endpoint } from './options.ts';

/** Client preface and an empty SETTINGS frame (RFC 9113, 3.4): a server has to answer with a SETTINGS frame of its own. */
const HELLO = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const FRAME_HEADER_BYTES = 9;
const FRAME_TYPE_AT = 3;
const SETTINGS = 4;

/**
 * Finds out with a connection of its own whether an HTTP/2 server answers at the endpoint and takes our certificate.
 * gRPC is let near an endpoint only after that, for three reasons: it cannot be made to give up a connection attempt
 * (one that is dropped on the way keeps the process alive for two minutes), it goes on waiting on the first attempt when
 * later ones would succeed, and it hides the cause. Node's own HTTP/2 client will not do: it loses the alert with which a
 * TLS 1.3 server refuses a certificate. Rejects with a BirdfeedError, also when `signal` aborts.
 */
export function probe(
  endpoint: Endpoint,
  credentials: Credentials,
  { clock, signal, context }: { clock: Clock; signal: AbortSignal; context: FailureContext },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = open(endpoint, credentials);
    let heard = Buffer.alloc(0);
    const finish = (settle: () => void) => {
      cancelTimer();
      signal.removeEventListener('abort', abort);
      socket.destroy();
      settle();
    };
    const fail = (error: unknown) => finish(() => reject(failureOf(error, context)));
    const abort = () => fail(new Error('stopped'));
    const cancelTimer = clock.after(context.afterMs, () => finish(() => reject(silence(context))));
    signal.addEventListener('abort', abort, { once: true });
    let secured = false;
    socket.once('secureConnect', () => {
      secured = true;
    });
    const failClosed = (cause?: unknown) => fail(new Error(closedEarly(endpoint, secured), { cause }));
    // Stays for good: a destroyed socket may still report an error, which nobody else would catch.
    socket.on('error', (error) => (isCut(error) ? failClosed(error) : fail(error)));
    socket.once('close', () => failClosed());
    socket.on('data', (chunk) => {
      heard = Buffer.concat([heard, chunk]);
      if (heard.length < FRAME_HEADER_BYTES) return;
      if (heard[FRAME_TYPE_AT] === SETTINGS) finish(resolve);
      else fail(new Error('protocol error: its answer is not HTTP/2'));
    });
    socket.write(HELLO);
    if (signal.aborted) abort();
  });
}

function open({ url, secure }: Endpoint, { ca, cert, key }: Credentials): Socket {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const address = { host, port: Number(port || (secure ? 443 : 80)) };
  if (!secure) return tcpConnect(address);
  const names = isIP(host) ? {} : { servername: host };
  const pem = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return tlsConnect({ ...address, ...names, ...pem, ALPNProtocols: ['h2'] });
}

/** Whether a server closes or resets a connection that it does not like is a matter of chance: one cause, one text. */
function isCut(error: NodeJS.ErrnoException): boolean {
  return (
    error.code === 'ECONNRESET' ||
    error.code === 'EPIPE' ||
    error.message.includes('before secure TLS connection was established')
  );
}

function closedEarly({ secure }: Endpoint, secured: boolean): string {
  if (secure && !secured) return 'it ended the connection during the TLS handshake';
  const what = 'it ended the connection before it answered';
  return secure ? what : `${what}; if it demands TLS, write https:// in --etcd-endpoints`;
}
