import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../../src/app/run-outcome.ts';
import { createSetSchedule } from '../../../src/app/set-schedule.ts';
import { BirdfeedError } from '../../../src/core/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const held: RunOutcome = { type: 'held', reasons: ['all nodes are gone'], digest: 'd', change: null };
const pinned: RunOutcome = { type: 'pinned', generation: 3, change: null };
const condition: RunOutcome = {
  type: 'condition',
  error: new BirdfeedError('BF_CACHE_UNWRITABLE', 'the file system is full'),
};

function setUp(outcome: RunOutcome, copyFailure: BirdfeedError | null = null) {
  const clock = new FakeClock();
  const runs: number[] = [];
  const relists: number[] = [];
  const state = { outcome, copyFailure };
  const schedule = createSetSchedule({
    runtime: {
      async run() {
        runs.push(clock.monotonic());
        return state.outcome;
      },
      get copyFailure() {
        return state.copyFailure;
      },
    },
    clock,
    random: () => 1,
    leadMs: 0,
    quietMs: 20,
    quietMaxMs: 250,
    relist: () => relists.push(clock.monotonic()),
    onOutcome() {},
  });
  return { clock, runs, relists, state, schedule };
}

describe('the schedule of a set', () => {
  it('has the data read anew while something is held, however often something else changes', async () => {
    const { clock, relists, schedule } = setUp(held);
    for (let second = 0; second < 16; second += 1) {
      schedule.notify();
      await clock.advance(1_000);
    }
    expect(relists).toEqual([5_000, 15_000]);
  });

  it('begins anew when something else is held later', async () => {
    const { clock, relists, state, schedule } = setUp(held);
    schedule.notify();
    await clock.advance(5_000);
    schedule.notify();
    await clock.advance(1_000);
    state.outcome = pinned;
    schedule.notify();
    await clock.advance(60_000);
    expect(relists).toEqual([5_000]);
    state.outcome = held;
    schedule.notify();
    await clock.advance(5_000);
    expect(relists).toEqual([5_000, 71_000]);
  });

  it.each([
    ['after what may pass', condition, null],
    [
      'after a check that failed',
      { type: 'failed', error: new BirdfeedError('BF_CHECK_FAILED', 'no') },
      null,
    ],
    ['while copies are owed', pinned, new BirdfeedError('BF_DEST_UNWRITABLE', 'cannot write /etc/x')],
  ] as const)('runs again by itself %s', async (_what, outcome, copyFailure) => {
    const { clock, runs, schedule } = setUp(outcome, copyFailure);
    schedule.notify();
    await clock.advance(1_500);
    expect(runs).toEqual([0, 1_000]);
  });

  it('does not run again by itself on an input that cannot be rendered', async () => {
    const { clock, runs, schedule } = setUp({
      type: 'failed',
      error: new BirdfeedError('BF_TEMPLATE_FAILED', 'no such key'),
    });
    schedule.notify();
    await clock.advance(120_000);
    expect(runs).toEqual([0]);
  });

  it('leaves no timer behind', async () => {
    const { clock, schedule } = setUp(held);
    schedule.notify();
    await clock.advance(100);
    await schedule.stop();
    expect(clock.pending).toBe(0);
  });
});
