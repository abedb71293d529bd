import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EMPTY_NODE_INDEX, updateNodeIndex } from '../../../../src/model/calico/node-index.ts';
import type { NodeResource } from '../../../../src/model/calico/types.ts';
import { node } from '../bgp/support.ts';

const addresses = ['10.0.0.1', '10.0.0.2', null];
const step = fc.array(fc.tuple(fc.nat(5), fc.constantFrom('gone', ...addresses)), { maxLength: 6 });

it('has every node under its name and under its address, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const nodes = new Map<string, NodeResource>();
      let index = EMPTY_NODE_INDEX;
      for (const changes of steps) {
        const made = changes.flatMap(([n, address]) => {
          const name = `n${n}`;
          const before = nodes.get(name) ?? null;
          const after = address === 'gone' ? null : node(name, address);
          if (before === null && after === null) return [];
          if (after === null) nodes.delete(name);
          else nodes.set(name, after);
          return { before, after };
        });
        const old = index;
        index = updateNodeIndex(index, made);
        if (made.length === 0) {
          expect(index.byName).toBe(old.byName);
          expect(index.byAddress).toBe(old.byAddress);
        }
        const sorted = [...nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
        expect([...index.byName.values()]).toEqual(sorted);
        for (const address of addresses) {
          if (address === null) continue;
          const holders = sorted.filter(({ ipv4 }) => ipv4?.address === address);
          expect(index.byAddress.get(address) ?? []).toEqual(holders);
        }
      }
    }),
  );
});
