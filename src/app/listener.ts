import type { Server } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Status } from '../status/status.ts';

export interface ListenerDeps {
  /** `ADDR:PORT`, or `none`. */
  readonly listen: string;
  readonly unreadyWhenStaleMs: number | null;
  readonly clock: Clock;
  readonly log: Logger;
  status(): Status;
}

const RETRY_MS = 2_000;

/**
 * The HTTP listener over the life of the process. On the host's network a pod and its successor share the port for a
 * while, so a port in use is tried again for as long as it takes, and stops nobody; a wrong address does.
 */
export class Listener {
  readonly #deps: ListenerDeps;
  #opening: Promise<void> | null = null;
  #server: Server | null = null;
  #cancelRetry: () => void = () => {};
  #closed = false;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
  }

  /** Opens it, once. Resolves also while the port is in use. */
  open(): Promise<void> {
    this.#opening ??= this.#deps.listen === 'none' ? Promise.resolve() : this.#tryOpen();
    return this.#opening;
  }

  close(): void {
    this.#closed = true;
    this.#cancelRetry();
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async #tryOpen(): Promise<void> {
    const { listen, clock, log, status, unreadyWhenStaleMs } = this.#deps;
    const { startStatusServer } = await import('../status/server.ts');
    const { createMetrics } = await import('../status/metrics.ts');
    const metrics = createMetrics();
    try {
      this.#server = await startStatusServer(listen, {
        clock,
        status,
        unreadyWhenStaleMs,
        metrics: () => metrics(status(), clock.now()),
      });
    } catch (error) {
      if (!isInUse(error)) throw error;
      log.warn({ reason: error.message }, 'no status listener yet');
      this.#cancelRetry = clock.after(RETRY_MS, () => {
        this.#tryOpen().catch((failure: unknown) =>
          log.error({ reason: asBirdfeedError(failure).message }, 'no status listener'),
        );
      });
    }
    // A listener that opens after everything was closed would keep the process for ever.
    if (this.#closed) this.close();
  }
}

function isInUse(error: unknown): error is BirdfeedError {
  const cause =
    error instanceof BirdfeedError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === 'EADDRINUSE';
}
