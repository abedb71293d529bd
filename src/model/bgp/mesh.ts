import type { Cluster, NodeResource } from '../calico/types.ts';
import type { Recall } from './memory.ts';
import { sessionName } from './names.ts';
import type { CompatOptions } from './options.ts';
import type { Password } from './passwords.ts';
import { addressOf } from './peerings.ts';
import { isAfter, type Policies, type SessionContext } from './sessions.ts';
import { listenPortOf } from './settings.ts';
import type { NodeSettings, Session } from './types.ts';

export interface MeshInputs {
  readonly cluster: Cluster;
  readonly settings: NodeSettings;
  readonly context: SessionContext;
  readonly password: Password;
  readonly gracefulRestartTime: number | null;
  readonly internal: Policies;
  readonly external: Policies;
  /** Names of nodes that share their address with one before them. */
  readonly shadowed: readonly string[];
  readonly compat: CompatOptions;
}

/** Why this node has no mesh at all, or null. */
export function whyNoMesh(
  cluster: Cluster,
  settings: NodeSettings,
  password: Password,
  compat: CompatOptions,
) {
  if (cluster.defaultConfig?.meshEnabled === false) return 'mesh-disabled';
  if (settings.clusterId !== null) return 'node-is-reflector';
  if (password.fault === null) return null;
  return password.fault === 'password-missing' && compat.missingPasswordOpensSession ? null : password.fault;
}

/** Why there is no mesh session to one node although there is a mesh, or null. */
export function whyNotMeshed(node: NodeResource, context: SessionContext, shadowed: readonly string[]) {
  const address = addressOf(node, context.family);
  if (address === null) return 'no-address';
  if (node.name === context.nodeName || address === context.address) return 'self';
  if (node.clusterId !== null) return 'peer-is-reflector';
  if (shadowed.includes(node.name)) return 'address-shared';
  return null;
}

/**
 * Sessions to every other node that is not a route reflector: reflectors get theirs from BGPPeers. In the order of node
 * names. Nothing if `whyNoMesh` says so.
 */
export function meshSessions(inputs: MeshInputs, recall: Recall): readonly Session[] {
  const { cluster, settings, context, password, compat } = inputs;
  if (whyNoMesh(cluster, settings, password, compat) !== null) return [];
  const { clusterAsNumber, clusterListenPort } = settings;
  const defaultAs = compat.meshPeerInheritsOwnAs ? settings.asNumber : clusterAsNumber;
  const { internal, external, shadowed, gracefulRestartTime } = inputs;
  const used = [context, password, gracefulRestartTime, internal, external, shadowed];
  const config = [defaultAs, clusterListenPort, cluster.nodeConfigs];
  return recall.perNamed(`mesh${context.family}`, cluster.nodes, [...used, ...config], (node) => {
    if (whyNotMeshed(node, context, shadowed) !== null) return null;
    return meshSession(node, node.asNumber ?? defaultAs, inputs);
  });
}

function meshSession(node: NodeResource, asNumber: number, inputs: MeshInputs): Session {
  const { cluster, context, password } = inputs;
  const address = addressOf(node, context.family)!;
  const internal = asNumber === context.asNumber;
  const policies = internal ? inputs.internal : inputs.external;
  return {
    name: sessionName('mesh', address, null),
    family: context.family,
    type: 'mesh',
    provenance: { kind: 'BGPConfiguration', name: 'default', rule: 'node-to-node mesh', node: node.name },
    address,
    port: listenPortOf(cluster, node.name),
    asNumber,
    localAs: null,
    internal,
    sourceAddress: context.address,
    ttlSecurityHops: null,
    passive: isAfter(address, context),
    gracefulRestartTime: inputs.gracefulRestartTime,
    keepaliveTime: null,
    clusterId: null,
    password: password.value,
    nextHop: null,
    allowLocalAs: null,
    import: policies.import,
    export: policies.export,
  };
}
