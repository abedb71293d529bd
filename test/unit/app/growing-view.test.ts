import { describe, expect, it } from 'vitest';
import { growingParts } from '../../../src/app/growing-view.ts';
import { calicoKey, calicoPrefix } from '../../../src/datastore/keys.ts';
import { modelOptions } from '../../../src/model/bgp/options.ts';
import { createCalicoProducer } from '../../../src/model/bgp/producer.ts';
import type { ProducerResult } from '../../../src/model/types.ts';
import { createTree, type Tree } from '../../../src/tree/tree.ts';
import type { Entry, TreeView } from '../../../src/tree/types.ts';

const NODES = calicoPrefix('Node');
const OWN = 'node-1999';
const isAlwaysThere = (key: string): boolean => key.endsWith(`/${OWN}`);

function nodeEntry(index: number): Entry {
  const name = `node-${String(index).padStart(4, '0')}`;
  const bgp = { ipv4Address: `10.0.${Math.floor(index / 200)}.${1 + (index % 200)}/16`, asNumber: 64_512 };
  return {
    key: calicoKey('Node', name),
    value: JSON.stringify({ kind: 'Node', metadata: { name }, spec: { bgp } }),
    revision: index + 1,
  };
}

function treeOf(size: number, prefixes: readonly string[] = [NODES]): Tree {
  const tree = createTree();
  tree.declare(prefixes);
  tree.applySnapshot(
    { prefix: NODES },
    Array.from({ length: size }, (_, index) => nodeEntry(index)),
  );
  return tree;
}

const keysOf = (view: TreeView): readonly string[] => view.range(NODES).map(({ key }) => key);

describe('growing parts of a tree', () => {
  it('are longer and longer beginnings of it, each with what is always there', async () => {
    const tree = treeOf(2_000);
    const parts: (readonly string[])[] = [];
    await growingParts(tree, [NODES], isAlwaysThere, (part) => void parts.push(keysOf(part)));
    const all = keysOf(tree);
    expect(parts.length).toBeGreaterThan(2);
    let before = 0;
    for (const part of parts) {
      expect(part).toEqual([...all.slice(0, part.length - 1), calicoKey('Node', OWN)]);
      expect(part.length - before).toBeLessThanOrEqual(601);
      expect(part.length).toBeGreaterThan(before);
      before = part.length;
    }
    expect(all.length - before).toBeLessThanOrEqual(600);
  });

  it('come in turns of the event loop, and none of a small tree', async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    const seen: number[] = [];
    await growingParts(treeOf(2_000), [NODES], isAlwaysThere, () => void seen.push(turns));
    clearImmediate(timer);
    expect(new Set(seen).size).toBe(seen.length);
    await growingParts(treeOf(100), [NODES], isAlwaysThere, () => expect.unreachable());
    await growingParts(treeOf(0), [NODES], isAlwaysThere, () => expect.unreachable());
  });

  it('are of the tree as it was when the first was asked for', async () => {
    const tree = treeOf(2_000);
    const all = keysOf(tree);
    await growingParts(tree, [NODES], isAlwaysThere, (part) => {
      tree.applyChanges({ prefix: NODES }, [{ type: 'delete', key: all[0]! }]);
      expect(keysOf(part)[0]).toBe(all[0]);
    });
    expect(keysOf(tree)[0]).toBe(all[1]);
  });

  it('lead a producer to the result that it has without them', async () => {
    const model = modelOptions('bird2', {});
    const producerOf = () => createCalicoProducer({ nodeName: OWN, model, lastGood: new Map() });
    const [producer, fresh] = [producerOf(), producerOf()];
    const tree = treeOf(
      2_000,
      producer.mounts.map(({ prefix }) => prefix),
    );
    let result: ProducerResult | undefined;
    const prefixes = producer.mounts.map(({ prefix }) => prefix);
    await growingParts(tree, prefixes, isAlwaysThere, (part) => {
      result = producer.compute(part, result);
      expect(result.sessions.length).toBeGreaterThan(0);
    });
    const whole = producer.compute(tree, result);
    const expected = fresh.compute(tree, undefined);
    expect(whole.sessions).toHaveLength(1_999);
    expect(whole).toEqual(expected);
  });
});
