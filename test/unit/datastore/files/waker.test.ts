import { describe, expect, it } from 'vitest';
import { Waker } from '../../../../src/datastore/files/waker.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

describe('the waker', () => {
  it('waits for the time to pass', async () => {
    const clock = new FakeClock();
    let woken = false;
    void new Waker(clock).wait(100).then(() => {
      woken = true;
    });
    await clock.advance(99);
    expect(woken).toBe(false);
    await clock.advance(1);
    expect(woken).toBe(true);
  });

  it('ends the wait when it is called, and leaves no timer', async () => {
    const clock = new FakeClock();
    const waker = new Waker(clock);
    const waiting = waker.wait(100);
    waker.wake();
    await waiting;
    expect(clock.pending).toBe(0);
  });

  it('remembers a call from before the wait, once', async () => {
    const clock = new FakeClock();
    const waker = new Waker(clock);
    waker.wake();
    waker.wake();
    await waker.wait(100);
    let woken = false;
    void waker.wait(100).then(() => {
      woken = true;
    });
    await settle();
    expect(woken).toBe(false);
  });
});
