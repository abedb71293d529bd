import { type BackoffPolicy, backoffDelay } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import type { BirdfeedError } from '../core/errors.ts';
import type { RunOutcome } from './run-outcome.ts';
import { createScheduler } from './scheduler.ts';

export interface SetScheduleDeps {
  readonly runtime: { run(): Promise<RunOutcome>; readonly copyFailure: BirdfeedError | null };
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly leadMs: number;
  readonly quietMs: number;
  readonly quietMaxMs: number;
  /** Has the datastore read anew. */
  relist(): void;
  /** After every run; must not throw. */
  onOutcome(outcome: RunOutcome): void;
}

/** When a set runs: on notice, again after a failure that may pass, and while something is held on fresh data. */
export interface SetSchedule {
  notify(): void;
  /** No run starts any more; resolves when the current one has ended. */
  stop(): Promise<void>;
}

const RETRY: BackoffPolicy = { initialMs: 1_000, maxMs: 60_000 };
/** How often a hold is tested anew, by a full relist. */
const HOLD_RETEST: BackoffPolicy = { initialMs: 5_000, maxMs: 300_000 };

export function createSetSchedule(deps: SetScheduleDeps): SetSchedule {
  const { runtime, clock, random, relist, onOutcome } = deps;
  let retests = 0;
  let cancelRetest: (() => void) | null = null;

  const scheduler = createScheduler({
    ...deps,
    retry: RETRY,
    async run() {
      const outcome = await runtime.run();
      if (outcome.type === 'held') retestLater();
      else forgetHold();
      onOutcome(outcome);
      return mayPass(outcome) || runtime.copyFailure !== null ? 'retry' : 'done';
    },
  });

  /** A hold clears itself when a full relist brings back what was missing. Other changes do not put that off. */
  function retestLater(): void {
    if (cancelRetest !== null) return;
    cancelRetest = clock.after(backoffDelay(HOLD_RETEST, retests, random()), () => {
      cancelRetest = null;
      retests += 1;
      relist();
    });
  }

  function forgetHold(): void {
    cancelRetest?.();
    cancelRetest = null;
    retests = 0;
  }

  return {
    notify: () => scheduler.notify(),
    async stop() {
      await scheduler.stop();
      forgetHold();
    },
  };
}

/**
 * A failed check, too: a check command may fail for a reason of its own. What BIRD itself refused is remembered, and not
 * given to it again.
 */
function mayPass(outcome: RunOutcome): boolean {
  if (outcome.type === 'failed') return outcome.error.code === 'BF_CHECK_FAILED';
  return outcome.type === 'condition';
}
