import type { Clock } from '../../core/clock.ts';
import { type EtcdConnection, openConnection } from './connection.ts';
import { type Credentials, readCredentials } from './credentials.ts';
import type { FailureContext } from './failures.ts';
import type { Endpoint, EtcdSettings } from './options.ts';

/** Opens connections, one at a time, and keeps the one that is open. */
export interface Dialler {
  /**
   * The open connection if it goes to `endpoint` with the certificates that are in the files now, else a new one; the
   * endpoint has then just answered. Rejects with a BirdfeedError.
   */
  connect(endpoint: Endpoint, signal: AbortSignal): Promise<EtcdConnection>;
  /** Closes what is open; the next connection is a new one. */
  drop(): void;
}

export function createDialler(
  settings: EtcdSettings,
  clock: Clock,
  contextOf: (endpoint: Endpoint) => FailureContext,
): Dialler {
  let open: { readonly connection: EtcdConnection; readonly credentials: Credentials } | undefined;

  async function connect(endpoint: Endpoint, signal: AbortSignal): Promise<EtcdConnection> {
    const credentials = await readCredentials(endpoint.secure ? settings.tls : {});
    const fitting =
      open?.connection.endpoint === endpoint && open.credentials.fingerprint === credentials.fingerprint;
    if (open !== undefined && fitting) return open.connection;
    drop();
    const context = contextOf(endpoint);
    const connection = await openConnection({ endpoint, credentials, settings, clock, signal, context });
    if (signal.aborted) connection.close();
    open = { connection, credentials };
    return connection;
  }

  function drop(): void {
    open?.connection.close();
    open = undefined;
  }

  return { connect, drop };
}
