import type { Clock } from '../../src/core/clock.ts';

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/**
 * A clock that stands still until a test moves it. Timers run in order of their time, those of equal time in the order
 * they were set. Wall clock and monotonic time move together, except through {@link FakeClock.jumpWallClock}.
 */
export class FakeClock implements Clock {
  #now = 0;
  #wallOffset: number;
  readonly #timers = new Set<Timer>();

  /** `wall` is the wall clock at the start, in ms since the epoch. */
  constructor(wall = Date.UTC(2026, 0, 1)) {
    this.#wallOffset = wall;
  }

  now(): number {
    return this.#now + this.#wallOffset;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), fn };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Monotonic time of the next timer, in ms from the start; undefined when none is set. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /**
   * Moves time forward by `ms` and runs what falls due on the way, with the time it was due at. After each timer the
   * promises that it settled get their turn, so that code which sleeps in a loop takes all of its turns.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let timer = this.#next(); timer !== undefined && timer.at <= end; timer = this.#next()) {
      this.#timers.delete(timer);
      this.#now = timer.at;
      timer.fn();
      await settle();
    }
    this.#now = end;
  }

  /** Sets the wall clock forward or back by `ms`, as an operator or NTP does; monotonic time and timers stay. */
  jumpWallClock(ms: number): void {
    this.#wallOffset += ms;
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at) next = timer;
    }
    return next;
  }
}

/** One turn of the event loop: every promise that can settle without I/O or timers has settled after it. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
