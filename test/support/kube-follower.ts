import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import type {
  KubernetesAccess,
  KubernetesOptions,
  KubernetesTimings,
} from '../../src/datastore/kubernetes/options.ts';
import { createKubernetesSource } from '../../src/datastore/kubernetes/source.ts';
import type { Mount, Source, SourceEvent } from '../../src/datastore/types.ts';
import { until } from './wait.ts';

/** Short enough for tests; the proportions are those of the defaults. */
export const QUICK: Partial<KubernetesTimings> = {
  dialMs: 1_000,
  answerMs: 1_500,
  pageMs: 3_000,
  pingMs: 500,
  deadMs: 1_000,
  absentMs: 200,
  vanishedMs: 600,
  backoff: { initialMs: 50, maxMs: 500 },
  authBackoff: { initialMs: 100, maxMs: 500 },
};

export const NO_ACCESS: KubernetesAccess = {
  kubeconfig: null,
  context: null,
  servers: [],
  caFile: null,
  certFile: null,
  keyFile: null,
  insecure: false,
};

type EventOf<T extends SourceEvent['type']> = Extract<SourceEvent, { type: T }>;

export interface KubeFollowerOptions extends Partial<Omit<KubernetesOptions, 'access'>> {
  readonly access: Partial<KubernetesAccess>;
  readonly env?: Readonly<Record<string, string>>;
  readonly random?: () => number;
  readonly optional?: readonly string[];
}

/**
 * A running source and what a consumer would hold: per mount a map of keys, replaced by snapshots and updated by changes.
 * Stopped when the test ends.
 */
export class KubeFollower {
  readonly source: Source;
  readonly events: SourceEvent[] = [];
  readonly tree = new Map<string, Map<string, string>>();
  readonly done: Promise<void>;
  readonly #abort = new AbortController();
  /** Called before an event is taken in; may throw, as a broken consumer would. */
  onEvent: (event: SourceEvent) => void = () => {};

  constructor(options: KubeFollowerOptions, prefixes: readonly string[]) {
    const { access, env = {}, random = Math.random, timings, optional = [], ...rest } = options;
    this.source = createKubernetesSource(
      { apiGroup: null, ...rest, access: { ...NO_ACCESS, ...access }, timings: { ...QUICK, ...timings } },
      { clock: systemClock, log: silentLogger, random, env },
    );
    const mounts: Mount[] = [
      ...prefixes.map((prefix) => ({ prefix, required: true })),
      ...optional.map((prefix) => ({ prefix, required: false })),
    ];
    this.done = this.source.run(mounts, (event) => this.#take(event), this.#abort.signal);
    onTestFinished(async () => void (await this.stop()));
  }

  /** Ends the source; resolves with the milliseconds that took. */
  async stop(): Promise<number> {
    const started = performance.now();
    this.#abort.abort();
    await this.done.catch(() => {});
    return performance.now() - started;
  }

  /** All keys of all mounts. */
  get contents(): Record<string, string> {
    return Object.fromEntries([...this.tree.values()].flatMap((keys) => [...keys]));
  }

  all<T extends SourceEvent['type']>(type: T, prefix = '', since = 0): EventOf<T>[] {
    return this.events
      .slice(since)
      .filter((event): event is EventOf<T> => event.type === type && event.mount.prefix.startsWith(prefix));
  }

  /** Waits for an event of a type, counted from `since` (an earlier length of `events`). */
  next<T extends SourceEvent['type']>(
    type: T,
    prefix = '',
    since = 0,
    timeout = 10_000,
  ): Promise<EventOf<T>> {
    return until(() => this.all(type, prefix, since)[0], { timeout, what: `a ${type} event` });
  }

  async holds(key: string, isIt: (value: string | undefined) => boolean, timeout = 10_000): Promise<void> {
    await until(() => isIt(this.contents[key]), { timeout, what: `${key}, now ${this.contents[key]}` });
  }

  #take(event: SourceEvent): void {
    this.onEvent(event);
    this.events.push(event);
    const { prefix } = event.mount;
    if (event.type === 'snapshot') {
      this.tree.set(prefix, new Map(event.entries.map(({ key, value }) => [key, value])));
    } else if (event.type === 'changes') {
      const keys = this.tree.get(prefix);
      if (keys === undefined) throw new Error(`changes of ${prefix} before its first snapshot`);
      for (const change of event.changes) {
        if (change.type === 'put') keys.set(change.entry.key, change.entry.value);
        else keys.delete(change.key);
      }
    }
  }
}
