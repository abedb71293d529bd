import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recall, reuse } from '../../../../src/model/bgp/memory.ts';
import { node } from './support.ts';

describe('reuse', () => {
  it('equals the next value, whatever the previous one', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.nat(3),
        fc.string({ maxLength: 2 }),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('any'), { maxLength: 4 }),
      object: fc.record(
        { name: fc.constantFrom('a', 'b', 'c'), x: tie('any'), y: tie('any') },
        { requiredKeys: [], noNullPrototype: true },
      ),
    })).any;
    fc.assert(
      fc.property(value, value, (previous, next) => {
        const copy = structuredClone(next);
        expect(reuse(previous, next)).toStrictEqual(copy);
      }),
      { numRuns: 500 },
    );
  });

  it('gives back the previous object when nothing changed', () => {
    const previous = { name: 'a', list: [{ x: 1 }, { x: 2 }] };
    expect(reuse(previous, structuredClone(previous))).toBe(previous);
  });

  it('keeps the parts that did not change', () => {
    const previous = { list: [{ x: 1 }, { x: 2 }] };
    const next = reuse(previous, { list: [{ x: 1 }, { x: 3 }] });
    expect(next.list[0]).toBe(previous.list[0]);
    expect(next.list[1]).toEqual({ x: 3 });
  });

  it('finds elements with names again when one is put in front', () => {
    const previous = [
      { name: 'b', x: 1 },
      { name: 'c', x: 2 },
    ];
    const next = reuse(previous, [
      { name: 'a', x: 0 },
      { name: 'b', x: 1 },
      { name: 'c', x: 2 },
    ]);
    expect(next.slice(1)).toEqual(previous);
    expect(next[1]).toBe(previous[0]);
    expect(next[2]).toBe(previous[1]);
  });

  it('does not take things with different names for each other', () => {
    const inner = { x: 1 };
    const next = { name: 'b', inner: { x: 1 } };
    expect(reuse({ name: 'a', inner }, next)).toBe(next);
  });

  it('does not touch maps and other objects that are not plain data', () => {
    const next = new Map([['a', 1]]);
    expect(reuse(new Map([['a', 1]]), next)).toBe(next);
  });
});

describe('perNode', () => {
  const nodes = ['a', 'b', 'c', 'd'].map((name, i) => node(name, `10.0.0.${i + 1}/24`));

  it('asks only for nodes that changed', () => {
    const asked: string[] = [];
    const ask = (list: typeof nodes, memory?: ReturnType<typeof recall>['next'], inputs: unknown[] = []) => {
      asked.length = 0;
      const now = recall(memory);
      const values = now.perNamed('x', list, inputs, (n) => {
        asked.push(n.name);
        return n.name === 'b' ? null : { name: n.name, address: n.ipv4!.address };
      });
      return { values, memory: now.next };
    };
    const first = ask(nodes);
    expect(asked).toEqual(['a', 'b', 'c', 'd']);
    expect(first.values.map(({ name }) => name)).toEqual(['a', 'c', 'd']);

    const changed = nodes.with(2, node('c', '10.0.0.9/24'));
    const second = ask(changed, first.memory);
    expect(asked).toEqual(['c']);
    expect(second.values.map(({ address }) => address)).toEqual(['10.0.0.1', '10.0.0.9', '10.0.0.4']);
    expect(second.values[2]).toBe(first.values[2]);

    const third = ask([node('0', '10.0.0.8/24'), ...changed.slice(1)], second.memory);
    expect(asked).toEqual(['0']);
    expect(third.values.map(({ name }) => name)).toEqual(['0', 'c', 'd']);

    const equal = ask(changed.with(3, node('d', '10.0.0.4/24')), second.memory);
    expect(asked).toEqual(['d']);
    expect(equal.values).toBe(second.values);

    ask(changed, equal.memory, ['another input']);
    expect(asked).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a part of a computation', () => {
  const compute = (made: string[], inputs: readonly unknown[], previous?: ReturnType<typeof recall>) => {
    const next = recall(previous?.next);
    const value = next.part('outer', inputs, (own) =>
      ['a', 'b'].map((name) =>
        own.value(name, [name === 'a' ? inputs[0] : null], () => {
          made.push(name);
          return { name };
        }),
      ),
    );
    return { next, value };
  };

  it('is kept whole while its inputs are the same, and remembers what is within', () => {
    const made: string[] = [];
    const first = compute(made, [1]);
    const second = compute(made, [1], first.next);
    expect(second.value).toBe(first.value);
    const third = compute(made, [2], second.next);
    expect(made).toEqual(['a', 'b', 'a']);
    expect(third.value[1]).toBe(first.value[1]);
  });

  it('is forgotten when it is not asked for', () => {
    const made: string[] = [];
    const first = compute(made, [1]);
    const without = recall(first.next.next);
    compute(made, [1], without);
    expect(made).toEqual(['a', 'b', 'a', 'b']);
  });
});
