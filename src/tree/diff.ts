import { byText } from '../core/order.ts';
import type { Change, Entry } from './types.ts';

/**
 * What turns snapshot `before` into snapshot `after`: the changes in key order. Both are sorted by key without
 * duplicates ({@link sortedEntries}). Entries with equal values are the same thing, whatever their revisions.
 */
export function diffSnapshots(before: readonly Entry[], after: readonly Entry[]): Change[] {
  const changes: Change[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const old = before[i];
    const entry = after[j];
    if (entry === undefined || (old !== undefined && old.key < entry.key)) {
      changes.push({ type: 'delete', key: (old as Entry).key });
      i += 1;
      continue;
    }
    const same = old !== undefined && old.key === entry.key;
    if (!same || old.value !== entry.value) changes.push({ type: 'put', entry });
    if (same) i += 1;
    j += 1;
  }
  return changes;
}

/** The entries sorted by key; of several with one key the last stays. The argument itself when it is in order. */
export function sortedEntries(entries: readonly Entry[]): readonly Entry[] {
  if (isStrictlySorted(entries)) return entries;
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  return [...byKey.values()].sort((a, b) => byText(a.key, b.key));
}

function isStrictlySorted(entries: readonly Entry[]): boolean {
  for (let i = 1; i < entries.length; i += 1) {
    if ((entries[i - 1] as Entry).key >= (entries[i] as Entry).key) return false;
  }
  return true;
}
