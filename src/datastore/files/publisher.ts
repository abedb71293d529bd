import type { BirdfeedError } from '../../core/errors.ts';
import { byText } from '../../core/order.ts';
import { covers, normalPrefix } from '../../core/prefix.ts';
import type { Change, Entry } from '../../tree/types.ts';
import type { Mount, Position, SnapshotReason, SourceEvent } from '../types.ts';
import type { Assembled } from './file-set.ts';

/**
 * Tells the mounts what a directory holds: whole snapshots when asked for one, otherwise what changed since the last
 * time. Keys outside every mount are left out; of nested mounts the longest prefix gets the key. What is wrong with the
 * data goes to the first mount alone, since a file that does not parse belongs to none in particular.
 */
export class Publisher {
  readonly #mounts: readonly Mount[];
  readonly #emit: (event: SourceEvent) => void;
  readonly #datastoreId: string;
  #revision: number;
  #entries = new Map<string, Entry>();
  #problems = '[]';

  /** `revision` is that of the first snapshot; each later batch of changes raises it by one. */
  constructor(
    mounts: readonly Mount[],
    emit: (event: SourceEvent) => void,
    datastoreId: string,
    revision: number,
  ) {
    this.#mounts = mounts;
    this.#emit = emit;
    this.#datastoreId = datastoreId;
    this.#revision = revision;
  }

  publish({ values, problems }: Assembled, snapshot: SnapshotReason | null): void {
    this.#tellProblems(problems);
    const changes = this.#change(values);
    for (const mount of this.#mounts) {
      if (snapshot !== null) this.#tellSnapshot(mount, snapshot);
      else this.#tellChanges(mount, changes);
    }
  }

  lost(error: BirdfeedError): void {
    for (const mount of this.#mounts) this.#emit({ type: 'lost', mount, error });
  }

  get #position(): Position {
    return { datastoreId: this.#datastoreId, revision: this.#revision };
  }

  /** Takes over `values` and returns the difference, in key order. Equal values keep their entries. */
  #change(values: ReadonlyMap<string, string>): readonly Change[] {
    const puts = [...values].filter(([key, value]) => this.#entries.get(key)?.value !== value);
    const deletes = [...this.#entries.keys()].filter((key) => !values.has(key));
    if (puts.length + deletes.length === 0) return [];
    this.#revision += 1;
    const changes: Change[] = deletes.map((key) => ({ type: 'delete', key }));
    for (const [key, value] of puts) {
      changes.push({ type: 'put', entry: { key, value, revision: this.#revision } });
    }
    for (const change of changes) {
      if (change.type === 'put') this.#entries.set(change.entry.key, change.entry);
      else this.#entries.delete(change.key);
    }
    return changes.sort((a, b) => byText(keyOf(a), keyOf(b)));
  }

  #tellSnapshot(mount: Mount, reason: SnapshotReason): void {
    const entries = [...this.#entries.values()].filter((entry) => this.#mountOf(entry.key) === mount);
    entries.sort((a, b) => byText(a.key, b.key));
    this.#emit({ type: 'snapshot', mount, entries, position: this.#position, reason });
  }

  #tellChanges(mount: Mount, all: readonly Change[]): void {
    const changes = all.filter((change) => this.#mountOf(keyOf(change)) === mount);
    if (changes.length > 0) this.#emit({ type: 'changes', mount, changes, position: this.#position });
  }

  #tellProblems(problems: readonly BirdfeedError[]): void {
    const [mount] = this.#mounts;
    const text = JSON.stringify(problems.map((problem) => problem.message));
    if (mount === undefined || text === this.#problems) return;
    this.#problems = text;
    this.#emit({ type: 'problems', mount, problems });
  }

  #mountOf(key: string): Mount | undefined {
    let best: Mount | undefined;
    for (const mount of this.#mounts) {
      const inside = covers(normalPrefix(mount.prefix), key);
      if (inside && (best === undefined || mount.prefix.length > best.prefix.length)) best = mount;
    }
    return best;
  }
}

function keyOf(change: Change): string {
  return change.type === 'put' ? change.entry.key : change.key;
}
