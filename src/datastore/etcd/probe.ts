import { connect } from 'node:http2';
import type { Clock } from '../../core/clock.ts';
import type { Credentials } from './credentials.ts';
import { type FailureContext, failureOf, silence } from './failures.ts';
import type { Endpoint } from './options.ts';

/**
 * Finds out with a connection of its own whether an HTTP/2 server answers at the endpoint and takes our certificate.
 * gRPC is let near an endpoint only after that, for three reasons: it cannot be made to give up a connection attempt
 * (one that is dropped on the way keeps the process alive for two minutes), it goes on waiting on the first attempt when
 * later ones would succeed, and it hides the cause. Rejects with a BirdfeedError, also when `signal` aborts.
 */
export function probe(
  endpoint: Endpoint,
  credentials: Credentials,
  { clock, signal, context }: { clock: Clock; signal: AbortSignal; context: FailureContext },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(failureOf(new Error('stopped'), context));
    const { ca, cert, key } = credentials;
    const session = connect(endpoint.url, endpoint.secure ? { ca, cert, key } : {});
    const finish = (settle: () => void) => {
      cancelTimer();
      signal.removeEventListener('abort', abort);
      session.destroy();
      settle();
    };
    const fail = (error: unknown) => finish(() => reject(failureOf(error, context)));
    const abort = () => fail(new Error('stopped'));
    const cancelTimer = clock.after(context.afterMs, () => finish(() => reject(silence(context))));
    signal.addEventListener('abort', abort, { once: true });
    // Stays for good: the destroyed session may still report an error, which nobody else would catch.
    session.on('error', fail);
    session.once('close', () => fail(new Error(closedEarly(endpoint))));
    session.once('remoteSettings', () => finish(resolve));
  });
}

function closedEarly({ secure }: Endpoint): string {
  if (secure) return 'it ended the connection before it answered';
  return 'it ended the connection before it answered; if it demands TLS, write https:// in --etcd-endpoints';
}
