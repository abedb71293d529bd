import { onTestFinished } from 'vitest';
import { normalPrefix } from '../../../src/core/prefix.ts';
import type { Mount, Source, SourceEvent } from '../../../src/datastore/types.ts';

type Of<T extends SourceEvent['type']> = Extract<SourceEvent, { type: T }>;

/**
 * Runs a source until the test ends and keeps what it said: the events, and the values as a consumer would have them
 * now. `stop` ends it earlier.
 */
export class FilesFollower {
  readonly events: SourceEvent[] = [];
  readonly values = new Map<string, string>();
  readonly #abort = new AbortController();
  readonly #done: Promise<void>;

  constructor(source: Source, prefixes: readonly string[] = ['/']) {
    const mounts: Mount[] = prefixes.map((prefix) => ({ prefix: normalPrefix(prefix), required: true }));
    this.#done = source.run(mounts, (event) => this.#take(event), this.#abort.signal);
    onTestFinished(() => this.stop());
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }

  of<T extends SourceEvent['type']>(type: T): Of<T>[] {
    return this.events.filter((event): event is Of<T> => event.type === type);
  }

  /** What the last `problems` event said. */
  get problems(): readonly string[] {
    return (
      this.of('problems')
        .at(-1)
        ?.problems.map((problem) => problem.message) ?? []
    );
  }

  /** What each `changes` event did: `+key=value` and `-key`. */
  get changes(): readonly (readonly string[])[] {
    return this.of('changes').map(({ changes }) =>
      changes.map((change) =>
        change.type === 'put' ? `+${change.entry.key}=${change.entry.value}` : `-${change.key}`,
      ),
    );
  }

  #take(event: SourceEvent): void {
    this.events.push(event);
    if (event.type === 'snapshot') {
      for (const key of [...this.values.keys()]) {
        if (`${key}/`.startsWith(`${event.mount.prefix}/`)) this.values.delete(key);
      }
      for (const { key, value } of event.entries) this.values.set(key, value);
    }
    if (event.type !== 'changes') return;
    for (const change of event.changes) {
      if (change.type === 'put') this.values.set(change.entry.key, change.entry.value);
      else this.values.delete(change.key);
    }
  }
}
