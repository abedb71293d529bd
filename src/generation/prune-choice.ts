export interface PruneCandidate {
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface PruneRule {
  /** How many of the newest stay. */
  readonly keep: number;
  /** Stay whatever their age: `current`, its parent, what a daemon runs, the pinned one. */
  readonly protect: ReadonlySet<number>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const HOUR_MS = 3_600_000;

/**
 * The numbers of the generations to remove, oldest first. Besides the newest `keep` and the protected ones, the newest
 * that is older than an hour stays: in a storm all the others may hold the same mistake.
 */
export function choosePrunable(candidates: readonly PruneCandidate[], rule: PruneRule): readonly number[] {
  const newestFirst = [...candidates].sort((a, b) => b.number - a.number);
  const settled = newestFirst.find(({ createdAt }) => rule.now - createdAt > HOUR_MS);
  return newestFirst
    .slice(Math.max(0, rule.keep))
    .map(({ number }) => number)
    .filter((number) => number !== settled?.number && !rule.protect.has(number))
    .reverse();
}
