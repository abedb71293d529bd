import { describe, expect, it } from 'vitest';
import { createScheduler } from '../../../src/app/scheduler.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

function setUp(options: { results?: ('done' | 'retry')[]; hold?: boolean; leadMs?: number } = {}) {
  const clock = new FakeClock();
  const starts: number[] = [];
  const finishers: (() => void)[] = [];
  const results = [...(options.results ?? [])];
  const scheduler = createScheduler({
    clock,
    random: () => 1,
    leadMs: options.leadMs ?? 0,
    quietMs: 20,
    quietMaxMs: 250,
    retry: { initialMs: 1_000, maxMs: 8_000 },
    run: async () => {
      starts.push(clock.monotonic());
      if (options.hold === true) await new Promise<void>((resolve) => finishers.push(resolve));
      return results.shift() ?? 'done';
    },
  });
  return { clock, starts, scheduler, finish: () => finishers.shift()?.() };
}

describe('the run scheduler', () => {
  it('runs the first change after idle at once', async () => {
    const { clock, starts, scheduler } = setUp();
    await clock.advance(500);
    scheduler.notify();
    expect(starts).toEqual([500]);
    await settle();
  });

  it('gives the rest of a transaction a moment to come before the first run', async () => {
    const { clock, starts, scheduler } = setUp({ leadMs: 2 });
    scheduler.notify();
    expect(starts).toEqual([]);
    await clock.advance(2);
    expect(starts).toEqual([2]);
    await clock.advance(500);
    scheduler.notify();
    await clock.advance(1);
    scheduler.notify();
    await clock.advance(500);
    expect(starts).toEqual([2, 523]);
  });

  it('waits for quiet when changes follow the first one', async () => {
    const { clock, starts, scheduler } = setUp();
    scheduler.notify();
    await settle();
    await clock.advance(5);
    scheduler.notify();
    await clock.advance(10);
    scheduler.notify();
    await clock.advance(100);
    expect(starts).toEqual([0, 35]);
  });

  it('never waits longer than the maximum while changes keep coming', async () => {
    const { clock, starts, scheduler } = setUp();
    scheduler.notify();
    await settle();
    for (let at = 0; at < 600; at += 10) {
      await clock.advance(10);
      scheduler.notify();
    }
    // 10 ms: first of the second wave; at most 250 ms later it runs, and the same again.
    expect(starts.slice(0, 3)).toEqual([0, 260, 510]);
  });

  it('turns any number of changes during a run into exactly one more run', async () => {
    const { clock, starts, scheduler, finish } = setUp({ hold: true });
    scheduler.notify();
    for (let i = 0; i < 50; i += 1) scheduler.notify();
    expect(starts).toHaveLength(1);
    finish();
    await clock.advance(1_000);
    finish();
    await clock.advance(1_000);
    expect(starts).toHaveLength(2);
  });

  it('retries a condition with growing delays and without a change', async () => {
    const { clock, starts, scheduler } = setUp({ results: ['retry', 'retry', 'done'] });
    scheduler.notify();
    await clock.advance(10_000);
    expect(starts).toEqual([0, 1_000, 3_000]);
  });

  it('does not let a pending retry delay a newer change', async () => {
    const { clock, starts, scheduler } = setUp({ results: ['retry', 'done'] });
    scheduler.notify();
    await clock.advance(100);
    scheduler.notify();
    expect(starts).toEqual([0, 100]);
    await clock.advance(10_000);
    expect(starts).toEqual([0, 100]);
  });

  it('starts nothing after stop and waits for the current run', async () => {
    const { clock, starts, scheduler, finish } = setUp({ hold: true });
    scheduler.notify();
    let stopped = false;
    const stopping = scheduler.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect(stopped).toBe(false);
    finish();
    await stopping;
    scheduler.notify();
    await clock.advance(1_000);
    expect(starts).toHaveLength(1);
  });
});
