import { byText } from '../../core/order.ts';

/** The changes are made part of the large Map when they are more than this part of it: seldom, since that copies it. */
const LARGE = 1 / 32;

/** An altered copy of a {@link PersistentMap} in the making. */
export interface Draft<V> {
  get(key: string): V | undefined;
  /** Undefined deletes the key. */
  set(key: string, value: V | undefined): void;
}

/**
 * A map with text keys of which an altered copy is cheap: few changes are kept beside a large Map that the copies share,
 * where copying a Map of 10,000 keys takes over a millisecond. Iterates in key order (by sorting each time), so that the
 * order does not depend on how the map came about.
 */
export class PersistentMap<V> implements ReadonlyMap<string, V> {
  readonly size: number;
  readonly #base: ReadonlyMap<string, V>;
  /** What is otherwise than in `#base`; undefined where a key was deleted. */
  readonly #changes: ReadonlyMap<string, V | undefined>;

  private constructor(
    base: ReadonlyMap<string, V>,
    changes: ReadonlyMap<string, V | undefined>,
    size: number,
  ) {
    this.#base = base;
    this.#changes = changes;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(new Map(), new Map(), 0);
  }

  /** The map after `alter`; this very map when that sets nothing. The draft must not be used afterwards. */
  with(alter: (draft: Draft<V>) => void): PersistentMap<V> {
    const base = this.#base;
    const changes = new Map(this.#changes);
    let isSame = true;
    let deletes = false;
    alter({
      get: (key) => newest(base, changes, key),
      set(key, value) {
        changes.set(key, value);
        isSame = false;
        deletes ||= value === undefined;
      },
    });
    if (isSame) return this;
    // The first changes of all, most often: they are the whole map.
    if (base.size === 0 && !deletes)
      return new PersistentMap<V>(changes as Map<string, V>, new Map(), changes.size);
    if (changes.size > base.size * LARGE) {
      const all = merged(base, changes);
      return new PersistentMap(all, new Map(), all.size);
    }
    let { size } = base;
    for (const [key, value] of changes) size += (value === undefined ? 0 : 1) - (base.has(key) ? 1 : 0);
    return new PersistentMap(base, changes, size);
  }

  get(key: string): V | undefined {
    return newest(this.#base, this.#changes, key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): MapIterator<[string, V]> {
    const all = [...merged(this.#base, this.#changes)];
    yield* all.sort(([a], [b]) => byText(a, b));
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }
}

function newest<V>(
  base: ReadonlyMap<string, V>,
  changes: ReadonlyMap<string, V | undefined>,
  key: string,
): V | undefined {
  const value = changes.get(key);
  return value !== undefined || changes.has(key) ? value : base.get(key);
}

function merged<V>(
  base: ReadonlyMap<string, V>,
  changes: ReadonlyMap<string, V | undefined>,
): Map<string, V> {
  const all = new Map(base);
  for (const [key, value] of changes) {
    if (value === undefined) all.delete(key);
    else all.set(key, value);
  }
  return all;
}
