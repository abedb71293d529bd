import { type Baseline, baselineOfCensus, type GuardVerdict, judge, judgeKeys } from '../generation/guard.ts';
import type { Computation } from './set-plan.ts';

/** The guard of one set, with what it measures losses by. */
export interface SetGuard {
  /** How often the datastore had gone back when the data in hand was looked at. */
  look(regressions: number): void;
  judge(computation: Computation, approvals: readonly string[]): GuardVerdict;
  /** What is published now is the measure of what may be lost next. */
  settle(computation: Computation): void;
}

/** `baseline` is what the last good generation was made from, `share` which part of a kind may vanish at once, 0 to 1. */
export function createSetGuard({ baseline, share }: { baseline: Baseline | null; share: number }): SetGuard {
  let measure = baseline;
  let keyCounts: ReadonlyMap<string, number> | null = null;
  let seen = 0;
  let settled = 0;

  return {
    look(regressions) {
      seen = regressions;
    },
    judge({ census, keys }, approvals) {
      const approved = new Set(approvals);
      // The doubt stays until something has passed, however many snapshots come meanwhile.
      const reason = seen > settled ? 'regressed' : 'reconnect';
      const verdicts = [
        ...(census === null ? [] : [judge(measure, census, { reason, share, approved })]),
        ...keys.map((counts) =>
          judgeKeys({ ...counts, previous: keyCounts?.get(counts.resource) ?? null }, approved),
        ),
      ];
      return verdicts.find(({ verdict }) => verdict === 'hold') ?? { verdict: 'pass', approved: null };
    },
    settle({ census, keys }) {
      if (census !== null) measure = baselineOfCensus(census);
      keyCounts = new Map(keys.map(({ resource, next }) => [resource, next]));
      settled = seen;
    },
  };
}
