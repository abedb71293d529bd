import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Draft, PersistentMap } from '../../../../src/model/calico/persistent-map.ts';

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
        map = map.with((draft) => {
          for (const [name, value] of changes) {
            draft.set(name, value);
            expect(draft.get(name)).toBe(value);
          }
        });
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
  const map = PersistentMap.empty<number>().with((draft) => draft.set('a', 1));
  expect(map.with(() => {})).toBe(map);
});

it('holds what a Map holds after many times more changes than are kept beside it', () => {
  const model = new Map<string, number>();
  let map = PersistentMap.empty<number>();
  for (let n = 0; n < 2_000; n += 1) {
    const [name, value] = [`node-${n % 700}`, n % 7 === 0 ? undefined : n];
    map = map.with((draft) => draft.set(name, value));
    if (value === undefined) model.delete(name);
    else model.set(name, value);
    expect(map.size).toBe(model.size);
  }
  expect([...map]).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)));
});

it('copies little for one change among many keys', () => {
  const fill = (draft: Draft<number>) => {
    for (let n = 0; n < 10_000; n += 1) draft.set(`kube-node-${n}`, n);
  };
  let map = PersistentMap.empty<number>().with(fill);
  const time = (work: (turn: number) => void, times: number) => {
    const started = performance.now();
    for (let i = 0; i < times; i += 1) work(i);
    return (performance.now() - started) / times;
  };
  const change = (turn: number) => {
    map = map.with((draft) => draft.set(`kube-node-${turn}`, -1));
  };
  time(change, 200);
  const building = time(() => PersistentMap.empty<number>().with(fill), 20);
  // The seldom times when all is copied are among these.
  expect(time(change, 1_000)).toBeLessThan(building / 4);
});
