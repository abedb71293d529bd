import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/core/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('the fake clock', () => {
  it('runs timers in order of time, then of setting, each at its own time', async () => {
    const clock = new FakeClock();
    const ran: string[] = [];
    for (const [ms, name] of [
      [20, 'c'],
      [10, 'a'],
      [10, 'b'],
      [31, 'never'],
    ] as const) {
      clock.after(ms, () => ran.push(`${name}${clock.monotonic()}`));
    }
    await clock.advance(30);
    expect(ran).toEqual(['a10', 'b10', 'c20']);
    expect([clock.monotonic(), clock.pending, clock.nextAt]).toEqual([30, 1, 31]);
  });

  it('does not run what was cancelled, and bears a second cancel', async () => {
    const clock = new FakeClock();
    let ran = false;
    const cancel = clock.after(1, () => {
      ran = true;
    });
    cancel();
    cancel();
    await clock.advance(5);
    expect(ran).toBe(false);
  });

  it('lets a loop that sleeps take all of its turns within one advance', async () => {
    const clock = new FakeClock();
    const turns: number[] = [];
    const loop = (async () => {
      for (let turn = 0; turn < 4; turn += 1) {
        await sleep(clock, 10);
        turns.push(clock.monotonic());
      }
    })();
    await clock.advance(35);
    expect(turns).toEqual([10, 20, 30]);
    await clock.advance(5);
    await loop;
  });

  it('moves the wall clock alone', async () => {
    const clock = new FakeClock(1_000);
    await clock.advance(5);
    clock.jumpWallClock(-500);
    expect([clock.now(), clock.monotonic()]).toEqual([505, 5]);
  });
});
