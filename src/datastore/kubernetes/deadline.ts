import type { Clock } from '../../core/clock.ts';

/**
 * Runs `work` with a signal that aborts after `ms` milliseconds, or with `signal`; rejects then, even when the work does
 * not heed its signal.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  let fail = (_error: Error): void => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const end = (error: Error): void => {
    own.abort(error);
    fail(error);
  };
  const onAbort = (): void => end(new Error('aborted'));
  const cancel = clock.after(ms, () => end(new Error(`no answer within ${ms / 1000} s`)));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([failed, work(own.signal)]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}
