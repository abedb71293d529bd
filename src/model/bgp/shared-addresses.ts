import type { Cluster, Family, NodeResource } from '../calico/types.ts';
import type { Recall } from './memory.ts';

/** An address that more than one node claims, and those nodes, sorted by name. */
export interface SharedAddress {
  readonly address: string;
  readonly nodes: readonly NodeResource[];
}

/** All shared addresses; normally none, which counting finds out without looking at every address. */
export function sharedAddresses(cluster: Cluster, recall: Recall): readonly SharedAddress[] {
  const counts = recall.perNamed('addressCounts', cluster.nodes, [], addressCount);
  const total = recall.value('addressCount', [counts], () => counts.reduce((sum, count) => sum + count, 0));
  if (total === cluster.nodesByAddress.size) return NONE;
  return recall.list('sharedAddresses', [cluster.nodesByAddress], () =>
    [...cluster.nodesByAddress]
      .filter(([, nodes]) => nodes.length > 1)
      .map(([address, nodes]) => ({ address, nodes })),
  );
}

const NONE: readonly SharedAddress[] = [];

function addressCount({ ipv4, ipv6 }: NodeResource): number {
  return (ipv4 === null ? 0 : 1) + (ipv6 === null ? 0 : 1);
}

/** Names of nodes that come second or later at an address: two sessions to one address would clash. */
export function shadowedNodes(shared: readonly SharedAddress[], family: Family): readonly string[] {
  return shared
    .filter(({ address }) => address.includes(':') === (family === 6))
    .flatMap(({ nodes }) => nodes.filter((node) => node.clusterId === null).slice(1))
    .map((node) => node.name);
}
