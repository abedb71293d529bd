/** Exponential back-off with full jitter, as a pure function of the attempt number. */
export interface BackoffPolicy {
  /** Upper bound of the first delay, milliseconds. */
  readonly initialMs: number;
  /** Upper bound of every delay, milliseconds. */
  readonly maxMs: number;
}

/**
 * The delay before retry number `attempt` (0 is the first retry), in milliseconds. `random` is a number in
 * [0, 1). The lower half is never used: with a full-range jitter a fleet would retry at once now and then.
 */
export function backoffDelay(policy: BackoffPolicy, attempt: number, random: number): number {
  const ceiling = Math.min(policy.maxMs, policy.initialMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
