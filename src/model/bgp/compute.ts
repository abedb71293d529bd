import { sortedBy } from '../../core/order.ts';
import type { Cluster, NodeResource } from '../calico/types.ts';
import type { Interests, Problem } from '../types.ts';
import { type FamilyInputs, familyModel } from './family.ts';
import { lint } from './lint.ts';
import { type Memory, type Recall, recall as recallFrom } from './memory.ts';
import type { ModelOptions } from './options.ts';
import { serviceRoutes, wantsServices } from './services.ts';
import { nodeSettings } from './settings.ts';
import type { NodeModel } from './types.ts';

export interface Computation {
  readonly model: NodeModel;
  readonly interests: Interests;
  /** For the next computation of the same node with the same options. */
  readonly memory: Memory;
}

/**
 * One node's BGP configuration. Pure; works for any node of the cluster, and for one that the cluster does not know (then
 * it has no sessions). With the previous computation, objects whose inputs did not change are the very same objects again,
 * sessions above all, since rendered text is remembered by identity; the result is equal either way.
 */
export function computeNode(
  cluster: Cluster,
  nodeName: string,
  options: ModelOptions,
  previous?: Computation,
): Computation {
  const recall = recallFrom(previous?.memory);
  const node = cluster.nodeByName.get(nodeName);
  const settled = recall.value('settings', [cluster.defaultConfig, cluster.nodeConfigs, node, options], () =>
    nodeSettings(cluster, nodeName, node, options),
  );
  const inputs = familyInputs(cluster, node, settled.settings, options, recall);
  const ipv4 = familyModel({ ...inputs.shared, family: 4, services: inputs.services.ipv4 }, recall);
  const ipv6 = familyModel({ ...inputs.shared, family: 6, services: inputs.services.ipv6 }, recall);
  const parts = {
    nodePresent: node !== undefined,
    settings: settled.settings,
    ipv4: ipv4.model,
    ipv6: ipv6.model,
  };
  const problems: readonly Problem[] = [
    ...(node === undefined ? [absent(nodeName)] : []),
    ...settled.problems,
    ...ipv4.problems,
    ...ipv6.problems,
    ...lint(cluster, node, parts, recall),
  ];
  return {
    model: recall.fields('model', { ...parts, problems: recall.same('problems', distinct(problems)) }),
    interests: recall.same('interests', {
      secrets: [...new Set([...ipv4.secrets, ...ipv6.secrets])].sort(),
      services: wantsServices(cluster, options),
      endpointStatus: cluster.peers.some((peer) => peer.localWorkloadSelector !== null),
    }),
    memory: recall.next,
  };
}

/** What both families of a node are made of. */
export function familyInputs(
  cluster: Cluster,
  node: NodeResource | undefined,
  settings: NodeModel['settings'],
  options: ModelOptions,
  recall: Recall,
): {
  readonly shared: Omit<FamilyInputs, 'family' | 'services'>;
  readonly services: ReturnType<typeof serviceRoutes>;
} {
  const used = [cluster.services, cluster.endpointSlices, cluster.defaultConfig, node, options];
  return {
    shared: { cluster, node, settings, options },
    services: recall.value('services', used, () => serviceRoutes(cluster, settings.nodeName, node, options)),
  };
}

function absent(nodeName: string): Problem {
  return {
    severity: 'error',
    id: 'node-absent',
    subject: `Node/${nodeName}`,
    field: null,
    message: 'the datastore has no such node; check the node name',
  };
}

/** Both families find the same fault in one BGPPeer. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  const byText = new Map(
    problems.map((problem) => [`${problem.subject} ${problem.id} ${problem.message}`, problem]),
  );
  return sortedBy(byText.entries(), ([key]) => key).map(([, problem]) => problem);
}
