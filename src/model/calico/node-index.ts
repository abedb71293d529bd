import { sortedBy } from '../../core/order.ts';
import { type Draft, PersistentMap } from './persistent-map.ts';
import type { ResourceChange } from './slot.ts';
import type { NodeResource } from './types.ts';

export interface NodeIndex {
  readonly byName: PersistentMap<NodeResource>;
  /** Canonical address to the nodes that have it, sorted by name. */
  readonly byAddress: PersistentMap<readonly NodeResource[]>;
}

export const EMPTY_NODE_INDEX: NodeIndex = {
  byName: PersistentMap.empty(),
  byAddress: PersistentMap.empty(),
};

/** The index after these changes. Costs as much as the changes, not as the cluster; a map that did not change is kept. */
export function updateNodeIndex(
  index: NodeIndex,
  changes: readonly ResourceChange<NodeResource>[],
): NodeIndex {
  return {
    byName: index.byName.with((draft) => {
      for (const { before, after } of changes) draft.set((after ?? before!).name, after ?? undefined);
    }),
    byAddress: index.byAddress.with((draft) => {
      for (const { before, after } of changes) {
        if (before !== null) eachAddress(before, (address) => removeHolder(draft, address, before));
        if (after !== null) eachAddress(after, (address) => addHolder(draft, address, after));
      }
    }),
  };
}

function eachAddress({ ipv4, ipv6 }: NodeResource, visit: (address: string) => void): void {
  if (ipv4 !== null) visit(ipv4.address);
  if (ipv6 !== null) visit(ipv6.address);
}

type Holders = Draft<readonly NodeResource[]>;

function removeHolder(draft: Holders, address: string, node: NodeResource): void {
  const others = draft.get(address)!.filter((holder) => holder !== node);
  draft.set(address, others.length === 0 ? undefined : others);
}

function addHolder(draft: Holders, address: string, node: NodeResource): void {
  const holders = draft.get(address);
  draft.set(address, holders === undefined ? [node] : sortedBy([...holders, node], ({ name }) => name));
}
