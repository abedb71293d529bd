import { byText } from '../core/order.ts';
import type { Entry } from './types.ts';

/**
 * The entries below one prefix as a sorted array that is the same object until something below changes. Changed keys
 * are only noted; the array is brought up to date when it is read, so that a storm costs one rebuild and not one per
 * batch.
 */
export interface Subtree {
  /** The tree's change counter at the last change below. */
  version: number;
  entries: readonly Entry[];
  /** Keys that changed since `entries` was built, in the order of the changes, repeated where they changed again. */
  pending: string[];
}

type Lookup = (key: string) => Entry | undefined;

/** The up-to-date array of `subtree`. One changed value among 10,000 costs one array copy. */
export function currentEntries(subtree: Subtree, lookup: Lookup): readonly Entry[] {
  if (subtree.pending.length > 0) {
    subtree.entries = merged(subtree.entries, subtree.pending, lookup);
    subtree.pending = [];
  }
  return subtree.entries;
}

/** The first `entries`, sorted, of a subtree that has had none. */
export function firstEntries(subtree: Subtree, entries: readonly Entry[], version: number): void {
  if (entries.length === 0) return;
  subtree.entries = entries;
  subtree.pending = [];
  subtree.version = version;
}

export function noteChange(subtree: Subtree, key: string, version: number, lookup: Lookup): void {
  subtree.pending.push(key);
  subtree.version = version;
  // Nobody may ever read this one, and as long as it is not brought up to date it keeps the old values.
  if (subtree.pending.length > subtree.entries.length / 4 + 1_000) currentEntries(subtree, lookup);
}

/** Entries at or below `prefix` (normal form) from a sorted array: found by bisection. The array itself if that is all. */
export function entriesBelow(entries: readonly Entry[], prefix: string): readonly Entry[] {
  if (prefix === '') return entries;
  // The key itself and what is below `prefix/` need not be neighbours: `/a-b` sorts between `/a` and `/a/b`.
  const itself = lowerBound(entries, prefix, 0);
  const from = lowerBound(entries, `${prefix}/`, itself);
  const to = lowerBound(entries, `${prefix}0`, from); // `0` follows `/`
  if (from === 0 && to === entries.length) return entries;
  const below = entries.slice(from, to);
  const own = entries[itself];
  return own?.key === prefix ? [own, ...below] : below;
}

function merged(entries: readonly Entry[], keys: readonly string[], lookup: Lookup): readonly Entry[] {
  const few = keys.length ** 2 < entries.length;
  return few ? patched(entries, keys, lookup) : rebuilt(entries, keys, lookup);
}

/** For few changes: a plain copy is a memory copy, and so is each move that an insertion or deletion needs. */
function patched(entries: readonly Entry[], keys: readonly string[], lookup: Lookup): readonly Entry[] {
  const result = entries.slice();
  for (const key of keys) {
    const entry = lookup(key);
    const at = lowerBound(result, key, 0);
    const replaced = result[at]?.key === key ? 1 : 0;
    if (entry === undefined) result.splice(at, replaced);
    else if (replaced === 1) result[at] = entry;
    else result.splice(at, 0, entry);
  }
  return result;
}

/** For many: one pass over both, which needs a bisection per change and no comparison per entry. */
function rebuilt(entries: readonly Entry[], keys: readonly string[], lookup: Lookup): readonly Entry[] {
  const result: Entry[] = [];
  let from = 0;
  for (const key of uniqueSorted(keys)) {
    const at = lowerBound(entries, key, from);
    for (let i = from; i < at; i += 1) result.push(entries[i] as Entry);
    const entry = lookup(key);
    if (entry !== undefined) result.push(entry);
    from = entries[at]?.key === key ? at + 1 : at;
  }
  for (let i = from; i < entries.length; i += 1) result.push(entries[i] as Entry);
  return result;
}

/** Sorted without repetitions; the argument itself when it is like that already, as after a snapshot. */
export function uniqueSorted(keys: readonly string[]): readonly string[] {
  for (let i = 1; i < keys.length; i += 1) {
    if ((keys[i - 1] as string) >= (keys[i] as string)) return [...new Set(keys)].sort(byText);
  }
  return keys;
}

/** Index of the first entry at or after `from` whose key is not less than `key`. */
function lowerBound(entries: readonly Entry[], key: string, from: number): number {
  let low = from;
  let high = entries.length;
  // Snapshots come in order: most keys belong at the end or right here.
  const last = entries[high - 1];
  if (last === undefined || last.key < key) return high;
  if ((entries[low] as Entry).key >= key) return low;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] as Entry).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
