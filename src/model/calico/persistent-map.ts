import { byText } from '../../core/order.ts';

/** Enough that a shard of a map with 10,000 keys has about ten of them, and that a few hundred new keys do not copy all. */
const SHARDS = 1_024;

/**
 * A map with text keys of which an altered copy is cheap: only the shards that changed are copied, where copying a Map of
 * 10,000 keys takes over a millisecond. Iterates in key order (by sorting each time), so that the order does not depend
 * on how the map came about.
 */
export class PersistentMap<V> implements ReadonlyMap<string, V> {
  readonly size: number;
  readonly #shards: readonly ReadonlyMap<string, V>[];

  private constructor(shards: readonly ReadonlyMap<string, V>[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(new Array(SHARDS).fill(new Map<string, V>()), 0);
  }

  /** The map with these keys set, or deleted where the value is undefined; this very map when there are none. */
  with(changes: Iterable<readonly [string, V | undefined]>): PersistentMap<V> {
    const shards = [...this.#shards];
    const copies = new Map<number, Map<string, V>>();
    let size = this.size;
    for (const [key, value] of changes) {
      const index = shardOf(key);
      const shard = copies.get(index) ?? new Map(shards[index]);
      copies.set(index, shard);
      shards[index] = shard;
      size -= shard.size;
      if (value === undefined) shard.delete(key);
      else shard.set(key, value);
      size += shard.size;
    }
    return copies.size === 0 ? this : new PersistentMap(shards, size);
  }

  get(key: string): V | undefined {
    return this.#shards[shardOf(key)]!.get(key);
  }

  has(key: string): boolean {
    return this.#shards[shardOf(key)]!.has(key);
  }

  *entries(): MapIterator<[string, V]> {
    const all: [string, V][] = this.#shards.flatMap((shard) => [...shard]);
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

function shardOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 15)) & (SHARDS - 1);
}
