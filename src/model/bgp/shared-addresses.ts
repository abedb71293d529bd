import type { Cluster, Family, NodeResource } from '../calico/types.ts';
import type { Recall } from './memory.ts';

/** An address that more than one node claims, and those nodes, sorted by name. */
export interface SharedAddress {
  readonly address: string;
  readonly nodes: readonly NodeResource[];
}

/** All shared addresses; normally none, which counting finds out without looking at every address. */
export function sharedAddresses(cluster: Cluster, recall: Recall): readonly SharedAddress[] {
  return recall.list('sharedAddresses', [cluster.nodesByAddress], () => {
    let count = 0;
    for (const node of cluster.nodes) count += (node.ipv4 === null ? 0 : 1) + (node.ipv6 === null ? 0 : 1);
    if (count === cluster.nodesByAddress.size) return [];
    return [...cluster.nodesByAddress]
      .filter(([, nodes]) => nodes.length > 1)
      .map(([address, nodes]) => ({ address, nodes }));
  });
}

/** Names of nodes that come second or later at an address: two sessions to one address would clash. */
export function shadowedNodes(shared: readonly SharedAddress[], family: Family): readonly string[] {
  return shared
    .filter(({ address }) => address.includes(':') === (family === 6))
    .flatMap(({ nodes }) => nodes.filter((node) => node.clusterId === null).slice(1))
    .map((node) => node.name);
}
