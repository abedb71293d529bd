import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePieces, encodeText, JoinedText, sizeOf } from '../../../src/core/joined-text.ts';

interface Item {
  readonly n: number;
}

const items = (count: number, from = 0): Item[] => Array.from({ length: count }, (_, i) => ({ n: from + i }));
const textOf = ({ n }: Item): string => `<${n}>`;
const plainly = (list: readonly Item[], separator: string): string => list.map(textOf).join(separator);
const textWith = (separator: string) => (list: readonly Item[]) => plainly(list, separator);

describe('texts that are joined', () => {
  it('are those of all items in order, with the separator in between, wherever lists change', () => {
    const edits = fc.array(
      fc.tuple(fc.constantFrom('replace', 'insert', 'remove', 'reverse'), fc.nat({ max: 399 })),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.nat({ max: 400 }), edits, fc.constantFrom('', ',', '\n'), (count, list, separator) => {
        const joined = new JoinedText<Item>(separator);
        const current = items(count);
        let next = count;
        for (const [edit, at] of list) {
          next += 1;
          if (edit === 'replace') current[at % Math.max(1, current.length)] = { n: next };
          if (edit === 'insert') current.splice(at, 0, { n: next });
          if (edit === 'remove') current.splice(at, 1);
          if (edit === 'reverse') current.reverse();
          expect(decodePieces(joined.join([...current], textWith(separator)))).toBe(
            plainly(current, separator),
          );
        }
      }),
    );
  });

  it('are asked for only where something is new, also when several lists take turns', () => {
    const joined = new JoinedText<Item>();
    const asked: number[] = [];
    const ask = (list: readonly Item[]): string => {
      asked.push(...list.map(({ n }) => n));
      return plainly(list, '');
    };
    const [a, b] = [items(300), items(300, 1_000)];
    const changed = a.with(150, { n: 7_777 });
    for (const list of [a, b, a, b]) joined.join(list, ask);
    expect(asked).toHaveLength(600);
    expect(decodePieces(joined.join(changed, ask))).toBe(plainly(changed, ''));
    expect(asked.slice(600)).toContain(7_777);
    expect(asked.length - 600).toBeLessThan(150);
  });

  it('are kept as they are now, and not as they were before the list moved', () => {
    const joined = new JoinedText<Item>();
    const asked: (readonly Item[])[] = [];
    const ask = (list: readonly Item[]): string => {
      asked.push(list);
      return plainly(list, '');
    };
    const list = items(400);
    joined.join(list, ask);
    joined.join([{ n: 7_777 }, ...list], ask);
    const before = asked.length;
    joined.join(list, ask);
    // All four stretches: none of the former ones was kept.
    expect(asked.length - before).toBe(4);
  });

  it('come in pieces that are the very same ones where nothing changed', () => {
    const joined = new JoinedText<Item>();
    const list = items(400);
    const before = joined.join(list, textWith(''));
    const after = joined.join(list.with(150, { n: 7_777 }), textWith(''));
    expect(after.map((piece, index) => piece === before[index])).toEqual([true, false, true, true]);
  });

  it('do not mistake a longer list for the shorter one that it begins with', () => {
    const joined = new JoinedText<Item>(',');
    const all = items(200);
    for (const length of [130, 200, 128, 129, 1, 0, 200]) {
      const expected = plainly(all.slice(0, length), ',');
      const pieces = joined.join(all.slice(0, length), textWith(','));
      expect(decodePieces(pieces)).toBe(expected);
      expect(sizeOf(pieces)).toBe(expected.length);
    }
  });
});

describe('encoded text', () => {
  it('is UTF-8 whatever the text', () => {
    for (const text of ['', 'plain', 'naïve', '日本', '\u{1f426}', 'é'.repeat(1_000), '\ud800']) {
      expect(encodeText(text)).toEqual(Buffer.from(text, 'utf8'));
    }
  });
});
