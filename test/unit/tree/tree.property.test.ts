import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byText } from '../../../src/core/order.ts';
import { createTree } from '../../../src/tree/tree.ts';
import type { Change, Entry } from '../../../src/tree/types.ts';

// Letters on both sides of the slash in the order of code units, so that wrong boundaries show.
const segment = fc.stringMatching(/^[a-c.0-]{1,2}$/);
const key = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `/r/${parts.join('/')}`);
const entry: fc.Arbitrary<Entry> = fc.record({
  key,
  value: fc.constantFrom('1', '2', '3'),
  revision: fc.nat(9),
});
const change: fc.Arbitrary<Change> = fc.oneof(
  entry.map((e) => ({ type: 'put' as const, entry: e })),
  key.map((k) => ({ type: 'delete' as const, key: k })),
);
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('changes' as const), changes: fc.array(change) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const), entries: fc.array(entry) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), prefix: key }) },
);
const mount = { prefix: '/r' };

/** The obvious way: a map, and every range by looking at all keys. */
class NaiveTree {
  readonly values = new Map<string, string>();

  apply(changes: readonly Change[]): void {
    for (const c of changes) {
      if (c.type === 'put') this.values.set(c.entry.key, c.entry.value);
      else this.values.delete(c.key);
    }
  }

  range(prefix: string): [string, string][] {
    const below = [...this.values].filter(([k]) => k === prefix || k.startsWith(`${prefix}/`));
    return below.sort((a, b) => byText(a[0], b[0]));
  }
}

const pairs = (entries: readonly Entry[]) => entries.map((e) => [e.key, e.value]);

describe('the tree, under random operations', () => {
  it('equals the obvious implementation, keeps identity, and raises versions exactly when something changed', () => {
    fc.assert(
      fc.property(
        fc.array(key, { maxLength: 3 }),
        fc.array(operation, { maxLength: 20 }),
        (more, operations) => {
          const tree = createTree();
          tree.declare(['/r', ...more]);
          const naive = new NaiveTree();
          const asked = new Set(['/r', ...more]);
          for (const op of operations) {
            if (op.do === 'read') asked.add(op.prefix);
            const before = new Map(
              [...asked].map((p) => [
                p,
                { range: tree.range(p), version: tree.version(p), naive: naive.range(p) },
              ]),
            );
            const olds = new Map(tree.range('/r').map((e) => [e.key, e]));
            if (op.do === 'changes') {
              tree.applyChanges(mount, op.changes);
              naive.apply(op.changes);
            } else if (op.do === 'snapshot') {
              tree.applySnapshot(mount, op.entries);
              naive.values.clear();
              naive.apply(op.entries.map((e) => ({ type: 'put', entry: e })));
            }
            for (const [prefix, was] of before) {
              const now = tree.range(prefix);
              expect(pairs(now)).toEqual(naive.range(prefix));
              const equal = JSON.stringify(was.naive) === JSON.stringify(naive.range(prefix));
              // A change and its reversal in one batch may count as a change, never the other way round.
              if (!equal) expect(tree.version(prefix)).toBeGreaterThan(was.version);
              if (tree.version(prefix) === was.version) expect(now).toBe(was.range);
              if (op.do === 'snapshot' && equal) expect(now).toBe(was.range);
            }
            for (const now of tree.range('/r')) {
              const old = olds.get(now.key);
              if (op.do === 'snapshot' && old?.value === now.value) expect(now).toBe(old);
              expect(tree.get(now.key)).toBe(now);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('does not depend on when ranges were read', () => {
    fc.assert(
      fc.property(fc.array(fc.array(change)), (batches) => {
        const [eager, lazy] = [createTree(), createTree()];
        for (const tree of [eager, lazy]) tree.declare(['/r']);
        for (const batch of batches) {
          eager.applyChanges(mount, batch);
          lazy.applyChanges(mount, batch);
          eager.range('/r');
        }
        expect(lazy.range('/r')).toEqual(eager.range('/r'));
      }),
    );
  });
});

describe('snapshots of several mounts, under random operations', () => {
  // One inside the other or not, with what nothing mounted in between.
  const mounts = ['/r', '/r/a', '/r/a/b', '/r/c'].map((prefix) => ({ prefix }));
  const step = fc.oneof(
    fc.record({ do: fc.constant('snapshot' as const), at: fc.nat(3), entries: fc.array(entry) }),
    fc.record({ do: fc.constant('changes' as const), at: fc.nat(3), changes: fc.array(change) }),
    fc.record({ do: fc.constant('unmount' as const), at: fc.nat(3) }),
    fc.record({ do: fc.constant('read' as const), prefix: key }),
  );

  it('show the same in every range, whichever were read before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
        const [read, unread] = [createTree(), createTree()];
        for (const tree of [read, unread]) tree.declare(['/r']);
        for (const what of steps) {
          if (what.do === 'read') {
            read.range(what.prefix);
            continue;
          }
          const mount = mounts[what.at]!;
          const isInside = (name: string) => name === mount.prefix || name.startsWith(`${mount.prefix}/`);
          const changed = [read, unread].map((tree) => {
            if (what.do === 'unmount') return tree.unmount(mount);
            if (what.do === 'changes')
              return tree.applyChanges(
                mount,
                what.changes.filter((c) => isInside(c.type === 'put' ? c.entry.key : c.key)),
              );
            return tree.applySnapshot(
              mount,
              what.entries.filter((e) => isInside(e.key)),
            );
          });
          expect(changed[0]).toEqual(changed[1]);
          for (const { prefix } of mounts) read.range(prefix);
        }
        for (const { prefix } of mounts) {
          const naive = new NaiveTree();
          for (const { key: name, value } of unread.range('/r')) naive.values.set(name, value);
          for (const tree of [read, unread]) {
            expect(pairs(tree.range(prefix))).toEqual(naive.range(prefix));
            for (const one of tree.range(prefix)) expect(tree.get(one.key)).toBe(one);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the tree, at scale', () => {
  it('takes one changed value among 10,000 keys in well under a millisecond', () => {
    const nodes = '/calico/resources/v3/projectcalico.org/nodes';
    const entries = Array.from({ length: 10_000 }, (_, i) => ({
      key: `${nodes}/node-${String(i).padStart(5, '0')}`,
      value: `${i}`,
      revision: i,
    }));
    const tree = createTree();
    tree.declare(['/calico', nodes]);
    tree.applySnapshot({ prefix: '/calico' }, entries);
    const times: number[] = [];
    for (let i = 0; i < 101; i += 1) {
      const changed = { key: entries[i * 97]?.key as string, value: `new ${i}`, revision: 20_000 + i };
      const started = performance.now();
      tree.applyChanges({ prefix: '/calico' }, [{ type: 'put', entry: changed }]);
      expect(tree.range(nodes)[i * 97]).toBe(changed);
      expect(tree.range('/calico')).toHaveLength(10_000);
      times.push(performance.now() - started);
    }
    times.sort((a, b) => a - b);
    expect(times[50]).toBeLessThan(1);
  });
});
