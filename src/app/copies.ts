import { asBirdfeedError, type BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { copyToDestinations } from '../generation/destination.ts';
import type { CacheFs } from '../generation/fs.ts';
import type { Layout } from '../generation/layout.ts';
import type { Destination, Generation } from '../generation/types.ts';

export interface CopiesDeps {
  readonly fs: CacheFs;
  readonly log: Logger;
  readonly layout: Layout;
  /** Numeric group of new files that set none themselves; null leaves the process's own. */
  readonly fileGroup: number | null;
  destinations(): readonly Destination[];
  /** All copies are made of this generation: reload commands that read them may run. */
  onMade(generation: Generation): void;
}

/**
 * Keeps the copies outside the cache equal to one generation, the one wanted last. One after the other, since a roll-back
 * may come while what it takes back is being written. What is wanted is owed until it is made.
 */
export class Copies {
  readonly #deps: CopiesDeps;
  #wanted: Generation | null = null;
  #made: Generation | null = null;
  #failure: BirdfeedError | null = null;
  /** Grows with every wish: tells a copy that was begun before it. */
  #wishes = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: CopiesDeps) {
    this.#deps = deps;
  }

  /** Why the last try did not make them; null when it did, or there was none. */
  get failure(): BirdfeedError | null {
    return this.#failure;
  }

  areMadeOf(generation: Generation): boolean {
    return this.#made === generation;
  }

  /** From now on this one is owed, also when it is the same as before: a copy may have been edited or removed. */
  want(generation: Generation): void {
    this.#wanted = generation;
    this.#owe();
  }

  /** The destinations are others now. */
  wantAnew(): void {
    this.#owe();
  }

  /** Tries to make what is owed, if anything. Never rejects: see `failure`. */
  settle(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#make());
    return this.#turn;
  }

  #owe(): void {
    this.#made = null;
    this.#wishes += 1;
  }

  async #make(): Promise<void> {
    const { fs, log, layout, fileGroup, destinations, onMade } = this.#deps;
    const { cacheDir, backups } = layout;
    const generation = this.#wanted;
    const wishes = this.#wishes;
    if (generation === null || this.#made === generation) return;
    try {
      await copyToDestinations({ fs, log, cacheDir, backups, fileGroup }, generation, destinations());
    } catch (error) {
      this.#failure = asBirdfeedError(error);
      return;
    }
    if (wishes !== this.#wishes) return;
    this.#failure = null;
    this.#made = generation;
    onMade(generation);
  }
}
