import { sortedBy } from '../../core/order.ts';
import type { Cluster } from '../calico/types.ts';

/**
 * Which half of the cluster's route reflectors a node belongs to; null for a node that is none. Reflectors alternate in the
 * order of cluster id, then name, so that those of one cluster id are in both halves, and so are those with one each. Every
 * node comes to the same halves.
 */
export function reflectorHalf(
  { nodes, nodeByName }: Pick<Cluster, 'nodes' | 'nodeByName'>,
  nodeName: string,
): 0 | 1 | null {
  if ((nodeByName.get(nodeName)?.clusterId ?? null) === null) return null;
  const reflectors = nodes.filter(({ clusterId }) => clusterId !== null);
  const ordered = sortedBy(reflectors, ({ clusterId, name }) => `${clusterId} ${name}`);
  return ordered.findIndex(({ name }) => name === nodeName) % 2 === 0 ? 0 : 1;
}
