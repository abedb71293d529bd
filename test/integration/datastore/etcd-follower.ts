import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLogger } from '../../../src/core/log.ts';
import type { EtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { createEtcdSource } from '../../../src/datastore/etcd/source.ts';
import type { Mount, Source, SourceEvent } from '../../../src/datastore/types.ts';
import { until } from '../../support/wait.ts';

/** Short enough for tests; the proportions are those of the defaults. */
export const QUICK = {
  callMs: 1_000,
  pingMs: 1_000,
  deadMs: 3_000,
  backoff: { initialMs: 50, maxMs: 500 },
  authBackoff: { initialMs: 100, maxMs: 500 },
} as const;

type EventOf<T extends SourceEvent['type']> = Extract<SourceEvent, { type: T }>;

/**
 * A running source and what a consumer would hold: per mount a map of keys, replaced by snapshots and updated by changes.
 * Stopped when the test ends.
 */
export class Follower {
  readonly source: Source;
  readonly mounts: readonly Mount[];
  readonly events: SourceEvent[] = [];
  readonly tree = new Map<string, Map<string, string>>();
  readonly done: Promise<void>;
  readonly #abort = new AbortController();
  /** Called before an event is taken in; may throw, as a broken consumer would. */
  onEvent: (event: SourceEvent) => void = () => {};

  constructor(options: EtcdOptions, prefixes: readonly string[]) {
    this.mounts = prefixes.map((prefix) => ({ prefix, required: true }));
    const timings = { ...QUICK, ...options.timings };
    this.source = createEtcdSource(
      { shuffleEndpoints: false, ...options, timings },
      { clock: systemClock, log: silentLogger, random: Math.random },
    );
    this.done = this.source.run(this.mounts, (event) => this.#take(event), this.#abort.signal);
    onTestFinished(async () => void (await this.stop()));
  }

  /** Ends the source; resolves with the milliseconds that took. */
  async stop(): Promise<number> {
    const started = performance.now();
    this.#abort.abort();
    await this.done;
    return performance.now() - started;
  }

  /** All keys of all mounts. */
  get contents(): Record<string, string> {
    return Object.fromEntries([...this.tree.values()].flatMap((keys) => [...keys]));
  }

  get(key: string): string | undefined {
    return this.contents[key];
  }

  all<T extends SourceEvent['type']>(type: T, since = 0): EventOf<T>[] {
    return this.events.slice(since).filter((event): event is EventOf<T> => event.type === type);
  }

  /** Waits for the next event of a type, counted from `since` (an earlier length of `events`). */
  next<T extends SourceEvent['type']>(type: T, since = 0, timeout = 10_000): Promise<EventOf<T>> {
    return until(() => this.all(type, since)[0], { timeout, what: `a ${type} event` });
  }

  async reads(key: string, value: string | undefined, timeout = 10_000): Promise<void> {
    await until(() => this.get(key) === value, {
      timeout,
      what: `${key} to be ${value}, not ${this.get(key)}`,
    });
  }

  #take(event: SourceEvent): void {
    this.onEvent(event);
    this.events.push(event);
    const { prefix } = event.mount;
    if (event.type === 'snapshot') {
      this.tree.set(prefix, new Map(event.entries.map(({ key, value }) => [key, value])));
    }
    if (event.type !== 'changes') return;
    const keys = this.tree.get(prefix);
    if (keys === undefined) throw new Error(`changes of ${prefix} before its snapshot`);
    for (const change of event.changes) {
      if (change.type === 'put') keys.set(change.entry.key, change.entry.value);
      else keys.delete(change.key);
    }
  }
}
