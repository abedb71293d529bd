import { type BackoffPolicy, backoffDelay } from '../core/backoff.ts';
import { type Clock, sleep } from '../core/clock.ts';
import { asBirdfeedError } from '../core/errors.ts';
import type { Mount, Source, SourceEvent } from '../datastore/types.ts';

/** For a source that ended by an error of its own; what is wrong with its datastore it deals with itself. */
const RESTART: BackoffPolicy = { initialMs: 1_000, maxMs: 60_000 };

/**
 * Runs a source until `signal` aborts. One that ends by itself is reported as lost, since its mounts would look fresh for
 * ever, and starts again after a while. Never rejects. `random` is in [0, 1).
 */
export async function keepRunning(
  source: Source,
  mounts: readonly Mount[],
  emit: (event: SourceEvent) => void,
  {
    clock,
    random,
    signal,
  }: { readonly clock: Clock; readonly random: () => number; readonly signal: AbortSignal },
): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await source.run(mounts, emit, signal);
      if (signal.aborted) return;
      throw new Error(`the source ${source.description} ended`);
    } catch (cause) {
      const error = asBirdfeedError(cause);
      if (!signal.aborted) for (const mount of mounts) emit({ type: 'lost', mount, error });
    }
    await sleep(clock, backoffDelay(RESTART, attempt, random()), signal);
  }
}
