import { describe, expect, it } from 'vitest';
import { bootOrder } from '../../../src/generation/boot-order.ts';
import { choosePrunable } from '../../../src/generation/prune-choice.ts';

describe('bootOrder', () => {
  const sealed = (numbers: readonly number[], used: readonly number[]) =>
    numbers.map((number) => ({ number, wasCurrent: used.includes(number) }));

  it.each([
    ['current, then older ones that were in use', sealed([1, 2, 3, 4], [1, 2, 3]), 4, null, [4, 3, 2, 1]],
    [
      'an older one that nobody has run comes after those in use',
      sealed([1, 2, 3, 4], [1, 2]),
      4,
      null,
      [4, 2, 1, 3],
    ],
    ['a newer one was never switched to and comes last', sealed([1, 2, 3], [1]), 2, null, [2, 1, 3]],
    ['after a rollback, what was rolled back comes last', sealed([1, 2, 3], [1, 2, 3]), 1, 1, [1, 3, 2]],
    ['an interrupted rollback is completed', sealed([1, 2, 3], [1, 2]), 3, 1, [1, 3, 2]],
    ['a dangling current still tells which ones are older', sealed([1, 2, 4], [1, 2]), 3, null, [2, 1, 4]],
    ['without current, those in use, newest first', sealed([1, 2, 3], [1, 2]), null, null, [2, 1, 3]],
    ['without current, the only one', sealed([1], []), null, null, [1]],
    ['nothing', [], 7, 7, []],
  ] as const)('%s', (_what, candidates, current, pinned, expected) => {
    expect(bootOrder(candidates, current, pinned)).toEqual(expected);
  });
});

describe('choosePrunable', () => {
  const now = Date.UTC(2026, 0, 1);
  const minutesOld = (ages: readonly number[]) =>
    ages.map((age, index) => ({ number: index + 1, createdAt: now - age * 60_000 }));

  it.each([
    ['fewer than are kept', [30, 20, 10], 5, [], []],
    ['more than are kept, one of them older than an hour', [90, 30, 20, 10], 2, [], [2]],
    ['only the newest of those older than an hour stays', [99, 90, 80, 10, 5], 1, [], [1, 2, 4]],
    ['the protected ones', [30, 25, 20, 10, 5], 2, [1], [2, 3]],
    ['all are young', [3, 2, 1], 1, [], [1, 2]],
    ['the one older than an hour is among the newest anyway', [99, 98, 97], 1, [], [1, 2]],
  ])('%s', (_what, ages, keep, protect, expected) => {
    expect(choosePrunable(minutesOld(ages), { keep, protect: new Set(protect), now })).toEqual(expected);
  });
});
