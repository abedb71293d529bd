import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PersistentMap } from '../../../../src/model/calico/persistent-map.ts';

const key = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.nat(300).map((n) => `node-${n}`),
);
const batch = fc.array(fc.tuple(key, fc.option(fc.nat(), { nil: undefined })), { maxLength: 20 });

it('holds what a Map holds, in key order, and never changes afterwards', () => {
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 10 }), (batches) => {
      const model = new Map<string, number>();
      const states: [PersistentMap<number>, [string, number][]][] = [];
      let map = PersistentMap.empty<number>();
      for (const changes of batches) {
        map = map.with(changes);
        for (const [name, value] of changes) {
          if (value === undefined) model.delete(name);
          else model.set(name, value);
        }
        states.push([map, [...model].sort(([a], [b]) => (a < b ? -1 : 1))]);
      }
      for (const [state, expected] of states) {
        expect([...state]).toEqual(expected);
        expect([...state.keys()]).toEqual(expected.map(([name]) => name));
        expect([...state.values()]).toEqual(expected.map(([, value]) => value));
        expect(state.size).toBe(expected.length);
        for (const [name, value] of expected) {
          expect(state.get(name)).toBe(value);
          expect(state.has(name)).toBe(true);
        }
        const seen: [string, number][] = [];
        state.forEach((value, name) => {
          seen.push([name, value]);
        });
        expect(seen).toEqual(expected);
      }
      expect(map.get('absent-key')).toBeUndefined();
      expect(map.has('absent-key')).toBe(false);
    }),
  );
});

it('is itself when nothing is changed', () => {
  const map = PersistentMap.empty<number>().with([['a', 1]]);
  expect(map.with([])).toBe(map);
});

it('spreads names that differ in their last digits over its parts', () => {
  // Seen from outside: a change among 10,000 keys must not copy thousands, so it takes far less than building them.
  const names = Array.from({ length: 10_000 }, (_, n): [string, number] => [`kube-node-${n}`, n]);
  const map = PersistentMap.empty<number>().with(names);
  const time = (work: () => void, times: number) => {
    const started = performance.now();
    for (let i = 0; i < times; i += 1) work();
    return (performance.now() - started) / times;
  };
  time(() => map.with([['kube-node-1', 0]]), 200);
  const building = time(() => PersistentMap.empty<number>().with(names), 20);
  const changing = time(() => map.with([['kube-node-5000', 0]]), 200);
  expect(changing).toBeLessThan(building / 4);
});
