import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** How long to keep trying, in ms (default 5,000). */
  readonly timeout?: number;
  /** Pause between two tries, in ms (default 20). */
  readonly every?: number;
  /** What is being waited for, for the message of a time-out. */
  readonly what?: string;
}

/**
 * Calls `fn` until it returns something truthy, and returns that. A throw counts as "not yet", so assertions can be
 * used as conditions (return true after them). Rejects after `timeout` with the last error or value in the message.
 */
export async function until<T>(
  fn: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const { timeout = 5_000, every = 20, what = 'the condition' } = options;
  const started = performance.now();
  let tries = 0;
  for (;;) {
    let last: string;
    let cause: unknown;
    tries += 1;
    try {
      const value = await fn();
      if (value) return value as Exclude<T, false | null | undefined | 0 | ''>;
      last = `last value ${inspect(value, { depth: 3 })}`;
    } catch (error) {
      cause = error;
      last = `last error ${error instanceof Error ? error.message : inspect(error)}`;
    }
    const elapsed = performance.now() - started;
    if (elapsed >= timeout) {
      throw new Error(
        `gave up waiting for ${what} after ${Math.round(elapsed)} ms and ${tries} tries: ${last}`,
        {
          cause,
        },
      );
    }
    await sleep(Math.min(every, Math.max(1, timeout - elapsed)));
  }
}
