import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byText } from '../../../src/core/order.ts';
import { diffSnapshots, sortedEntries } from '../../../src/tree/diff.ts';
import type { Change, Entry } from '../../../src/tree/types.ts';

const key = fc.stringMatching(/^\/[ab](\/[a-c-]{1,2})?$/);
const entry = fc.record({ key, value: fc.constantFrom('', '1', '2'), revision: fc.nat(5) });
const snapshot = fc.uniqueArray(entry, { selector: (e) => e.key }).map(sortedEntries);

function apply(before: readonly Entry[], changes: readonly Change[]): Entry[] {
  const map = new Map(before.map((e) => [e.key, e]));
  for (const change of changes) {
    if (change.type === 'put') map.set(change.entry.key, change.entry);
    else map.delete(change.key);
  }
  return [...map.values()].sort((a, b) => byText(a.key, b.key));
}

const keysAndValues = (entries: readonly Entry[]) => entries.map((e) => [e.key, e.value]);

describe('diffSnapshots', () => {
  it('gives changes which turn the first snapshot into the second', () => {
    fc.assert(
      fc.property(snapshot, snapshot, (before, after) => {
        const result = apply(before, diffSnapshots(before, after));
        expect(keysAndValues(result)).toEqual(keysAndValues(after));
      }),
    );
  });

  it('gives nothing for equal values, whatever their revisions', () => {
    fc.assert(
      fc.property(snapshot, (before) => {
        const after = before.map((e) => ({ ...e, revision: e.revision + 1 }));
        expect(diffSnapshots(before, after)).toEqual([]);
      }),
    );
  });

  it('names a key once and in order', () => {
    fc.assert(
      fc.property(snapshot, snapshot, (before, after) => {
        const keys = diffSnapshots(before, after).map((c) => (c.type === 'put' ? c.entry.key : c.key));
        expect(keys).toEqual([...new Set(keys)].sort(byText));
      }),
    );
  });
});

describe('sortedEntries', () => {
  it('returns the argument when it is in order', () => {
    const entries = [
      { key: '/a', value: '', revision: 0 },
      { key: '/b', value: '', revision: 0 },
    ];
    expect(sortedEntries(entries)).toBe(entries);
  });

  it('keeps the last of several entries with one key', () => {
    const entries = ['1', '2'].map((value) => ({ key: '/a', value, revision: 0 }));
    expect(sortedEntries(entries)).toEqual([{ key: '/a', value: '2', revision: 0 }]);
  });
});
