import type { Clock } from '../../core/clock.ts';

/** Lets one loop wait for "something may have happened" or for time to pass. A call before the wait is not lost. */
export class Waker {
  readonly #clock: Clock;
  #called = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#called = true;
    this.#wake?.();
  }

  /** Resolves when {@link wake} is called, was called since the last wait, or after `ms`. */
  wait(ms: number): Promise<void> {
    if (this.#called) {
      this.#called = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => this.#wake?.());
      this.#wake = () => {
        cancel();
        this.#wake = undefined;
        this.#called = false;
        resolve();
      };
    });
  }
}
