import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forget, NOTHING_KNOWN, type SettleState, settle } from '../../../../src/datastore/files/settle.ts';

const look = (files: Readonly<Record<string, string>>) =>
  new Map(Object.entries(files).map(([path, signature]) => [path, { signature }]));

/** The state after a first look that takes everything as it is. */
function knowing(files: Readonly<Record<string, string>>): SettleState {
  return settle(NOTHING_KNOWN, look(files), 0, 0).state;
}

describe('settling', () => {
  it('takes everything at once when the settle time is nothing', () => {
    const first = settle(NOTHING_KNOWN, look({ a: '1', b: '1' }), 0, 0);
    expect(first).toMatchObject({ changed: ['a', 'b'], gone: [], waitMs: null });
    expect(settle(first.state, look({ a: '1', b: '1' }), 1, 75)).toMatchObject({ changed: [], waitMs: null });
  });

  it('reads a changed file when it looked the same for the settle time', () => {
    const one = settle(knowing({ a: '1' }), look({ a: '2' }), 1000, 75);
    expect(one).toMatchObject({ changed: [], waitMs: 75 });
    const two = settle(one.state, look({ a: '2' }), 1074, 75);
    expect(two).toMatchObject({ changed: [], waitMs: 1 });
    expect(settle(two.state, look({ a: '2' }), 1075, 75)).toMatchObject({ changed: ['a'], waitMs: null });
  });

  it('starts anew when the file changes again meanwhile', () => {
    const one = settle(knowing({ a: '1' }), look({ a: '2' }), 1000, 75);
    const two = settle(one.state, look({ a: '3' }), 1070, 75);
    expect(settle(two.state, look({ a: '3' }), 1100, 75)).toMatchObject({ changed: [], waitMs: 45 });
    expect(settle(two.state, look({ a: '3' }), 1145, 75).changed).toEqual(['a']);
  });

  it('does not take a file for gone that comes back within the settle time', () => {
    const one = settle(knowing({ a: '1' }), look({}), 1000, 75);
    expect(one.gone).toEqual([]);
    const two = settle(one.state, look({ a: '2' }), 1050, 75);
    expect(settle(two.state, look({ a: '2' }), 1125, 75)).toMatchObject({ changed: ['a'], gone: [] });
  });

  it('takes a file for gone that stays away', () => {
    const one = settle(knowing({ a: '1' }), look({}), 1000, 75);
    const two = settle(one.state, look({}), 1075, 75);
    expect(two).toMatchObject({ changed: [], gone: ['a'], waitMs: null });
    expect(settle(two.state, look({}), 2000, 75)).toMatchObject({ gone: [], waitMs: null });
  });

  it('forgets a probe that comes and goes', () => {
    const one = settle(knowing({}), look({ '4913': '1' }), 1000, 75);
    expect(settle(one.state, look({}), 1001, 75)).toMatchObject({ changed: [], gone: [], waitMs: null });
  });

  it('reads the files of a burst together', () => {
    const one = settle(knowing({}), look({ a: '1' }), 1000, 75);
    const two = settle(one.state, look({ a: '1', b: '1' }), 1070, 75);
    const three = settle(two.state, look({ a: '1', b: '1' }), 1080, 75);
    expect(three.changed).toEqual([]);
    expect(settle(three.state, look({ a: '1', b: '1' }), 1145, 75).changed).toEqual(['a', 'b']);
  });

  it('is not held up for ever by a file that never rests', () => {
    let state = knowing({ a: '1', log: '0' });
    let readAt: number | undefined;
    for (let now = 1000; now < 4000 && readAt === undefined; now += 50) {
      const result = settle(state, look({ a: '2', log: `${now}` }), now, 75);
      state = result.state;
      if (result.changed.includes('a')) readAt = now;
    }
    expect(readAt).toBe(1750);
  });

  it('reads again what was to be forgotten', () => {
    const state = forget(knowing({ a: '1', b: '1' }), ['a', 'unknown']);
    const one = settle(state, look({ a: '1', b: '1' }), 1000, 75);
    expect(settle(one.state, look({ a: '1', b: '1' }), 1075, 75)).toMatchObject({ changed: ['a'], gone: [] });
  });

  it('ends knowing exactly what is there, whatever happened before', () => {
    const files = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'));
    const step = fc.record({ files, after: fc.nat(120) });
    fc.assert(
      fc.property(fc.array(step), files, (steps, last) => {
        let state = NOTHING_KNOWN;
        let now = 0;
        for (const { files: seen, after } of steps) {
          now += after;
          state = settle(state, look(seen), now, 75).state;
        }
        for (let wait: number | null = 1; wait !== null; now += wait ?? 0) {
          const result = settle(state, look(last), now, 75);
          ({ state, waitMs: wait } = result);
          if (wait !== null) expect(wait).toBeGreaterThan(0);
        }
        expect(Object.fromEntries(state.known)).toEqual(last);
        expect(state.pending.size).toBe(0);
      }),
    );
  });
});
