import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapAgain, nextDifference, sameElements } from '../../../src/core/same.ts';

describe('arrays compared by identity', () => {
  it('tell where they differ next', () => {
    const [a, b, c] = [{}, {}, {}];
    expect(nextDifference([a, b, c], [a, c, c], 0)).toBe(1);
    expect(nextDifference([a, b, c], [a, c, c], 2)).toBe(3);
    expect(nextDifference([], [], 0)).toBe(0);
  });

  it('are the same only with the same elements in the same number', () => {
    const [a, b] = [{}, {}];
    expect(sameElements([a, b], [a, b])).toBe(true);
    expect(sameElements([a, b], [a])).toBe(false);
    expect(sameElements([a], [a, b])).toBe(false);
    expect(sameElements([a], [{}])).toBe(false);
  });
});

describe('mapping again', () => {
  const list = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 });

  it('gives what mapping anew gives', () => {
    fc.assert(
      fc.property(list, list, (before, next) => {
        const square = (n: number): number => n * n;
        expect(mapAgain(next, before, before.map(square), square)).toEqual(next.map(square));
      }),
    );
  });

  it('asks only for what changed, and keeps the array when nothing came out differently', () => {
    const asked: string[] = [];
    const initial = (text: string): string => {
      asked.push(text);
      return text.slice(0, 1);
    };
    const made = ['a', 'b'];
    expect(mapAgain(['ax', 'bz'], ['ax', 'by'], made, initial)).toBe(made);
    expect(mapAgain(['ax', 'cz'], ['ax', 'by'], made, initial)).toEqual(['a', 'c']);
    expect(made).toEqual(['a', 'b']);
    expect(asked).toEqual(['bz', 'cz']);
  });
});
