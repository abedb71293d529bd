/**
 * Time as an argument. Everything that waits takes a Clock, so that tests decide what time it is
 * (`test/support/fake-clock.ts`) and no unit test sleeps.
 */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. For people and stamps only: it may jump. */
  now(): number;
  /** Monotonic milliseconds. For durations. */
  monotonic(): number;
  /** Calls `fn` once after `ms` milliseconds; the returned function cancels it and may be called twice. */
  after(ms: number, fn: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects: callers look at
 * `signal.aborted`, so that a shutdown does not travel as an error through every loop.
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Resolves in the next turn of the event loop: lets sockets and timers have theirs between two long computations. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * For work in small pieces, by one or several loops at once: each awaits the returned function between its pieces. That lets
 * the event loop turn once a turn has taken `ms` milliseconds, and costs next to nothing before.
 */
export function turnsOf(ms: number): () => Promise<void> {
  let since = performance.now();
  let turn: Promise<void> | undefined;
  return async () => {
    // Looked at again after the turn: another loop may have taken the time of the new one.
    while (performance.now() - since > ms) {
      turn ??= nextTurn().then(() => {
        since = performance.now();
        turn = undefined;
      });
      await turn;
    }
  };
}
