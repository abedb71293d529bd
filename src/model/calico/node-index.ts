import { sortedBy } from '../../core/order.ts';
import { PersistentMap } from './persistent-map.ts';
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
  if (changes.length === 0) return index;
  return {
    byName: index.byName.with(nameChanges(changes)),
    byAddress: index.byAddress.with(addressChanges(index.byAddress, changes)),
  };
}

function* nameChanges(
  changes: readonly ResourceChange<NodeResource>[],
): Generator<[string, NodeResource | undefined]> {
  for (const { before, after } of changes) yield [(after ?? before!).name, after ?? undefined];
}

type Holders = readonly NodeResource[];

/** The nodes of each address that a changed node has or had; undefined where there is none any more. */
function addressChanges(
  current: PersistentMap<Holders>,
  changes: readonly ResourceChange<NodeResource>[],
): ReadonlyMap<string, Holders | undefined> {
  const changed = new Map<string, Holders | undefined>();
  const alter = (node: NodeResource | null, address: string | undefined, alteration: Alteration) => {
    if (node === null || address === undefined) return;
    const holders = (changed.has(address) ? changed.get(address) : current.get(address)) ?? [];
    const altered = alteration(holders, node);
    changed.set(address, altered.length === 0 ? undefined : altered);
  };
  for (const { before, after } of changes) {
    alter(before, before?.ipv4?.address, without);
    alter(before, before?.ipv6?.address, without);
    alter(after, after?.ipv4?.address, including);
    alter(after, after?.ipv6?.address, including);
  }
  return changed;
}

type Alteration = (holders: Holders, node: NodeResource) => Holders;

function without(holders: Holders, node: NodeResource): Holders {
  return holders.filter((holder) => holder !== node);
}

function including(holders: Holders, node: NodeResource): Holders {
  return holders.length === 0 ? [node] : sortedBy([...holders, node], ({ name }) => name);
}
