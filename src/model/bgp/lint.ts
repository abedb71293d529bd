import type { BgpPeerResource, Cluster, NodeResource } from '../calico/types.ts';
import type { Problem, ProblemId } from '../types.ts';
import { unansweredPeers } from './lint-ends.ts';
import type { Recall } from './memory.ts';
import { hashedRouterId } from './settings.ts';
import { type SharedAddress, sharedAddresses } from './shared-addresses.ts';
import type { NodeModel, NodeSettings, Session } from './types.ts';

/** A number reserved for routers that cannot speak 4-byte AS numbers (RFC 6793); never a peer's own. */
const AS_TRANS = 23_456;

/** Things that work, or would, but look wrong from this node: never a reason to leave anything out. */
export function lint(
  cluster: Cluster,
  node: NodeResource | undefined,
  model: Omit<NodeModel, 'problems'>,
  recall: Recall,
): readonly Problem[] {
  const { settings, ipv4, ipv6 } = model;
  return [
    ...duplicateAddresses(sharedAddresses(cluster, recall)),
    ...takenRouterId(cluster, settings),
    ...clusterIdProblems(cluster, settings),
    ...largeMesh(ipv4.sessions, ipv6.sessions),
    ...missedReflectors(cluster, node, [ipv4.sessions, ipv6.sessions], recall),
    ...asTransProblems(cluster, recall),
    ...recall.value('lint:claims', [cluster.peers, node], () => claimProblems(cluster.peers, node)),
    ...unanswered(cluster, node, recall),
  ];
}

function unanswered(cluster: Cluster, node: NodeResource | undefined, recall: Recall): readonly Problem[] {
  if (node === undefined) return [];
  const used = [cluster.peers, cluster.nodes, cluster.defaultConfig, node];
  return recall.value('lint:unanswered', used, () => unansweredPeers(cluster, node));
}

function warning(id: ProblemId, subject: string, field: string | null, message: string): Problem {
  return { severity: 'warning', id, subject, field, message };
}

/** Addresses are router ids too: routes that a reflector passes on from one node would be ignored by the other. */
function duplicateAddresses(shared: readonly SharedAddress[]): readonly Problem[] {
  return shared.map(({ address, nodes }) => {
    const names = nodes.map((node) => node.name);
    return warning(
      'duplicate-address',
      `Node/${names[0]}`,
      'spec.bgp',
      `${address} is the address of ${names.join(', ')}; give each node its own (only one session to it is set up)`,
    );
  });
}

/** A router id that is another router's address is, most likely, that one's router id too. */
function takenRouterId(cluster: Cluster, { nodeName, routerId }: NodeSettings): readonly Problem[] {
  if (cluster.nodeByName.get(nodeName)?.ipv4?.address === routerId) return [];
  const node = cluster.nodesByAddress.get(routerId)?.find(({ name }) => name !== nodeName);
  const owner = node ?? cluster.peers.find((peer) => peer.peerAddress === routerId);
  if (owner === undefined) return literalRouterId(cluster, nodeName, routerId);
  const message = `the router id ${routerId} is the address of ${owner.origin.kind} ${owner.name}; router ids must differ`;
  return [warning('duplicate-router-id', `Node/${nodeName}`, null, message)];
}

/** Calico's documentation advises route reflectors from about a hundred nodes on; beyond this many they are missed. */
const MESH_LIMIT = 200;

function largeMesh(...families: readonly (readonly Session[])[]): readonly Problem[] {
  const size = Math.max(...families.map((sessions) => (sessions[0]?.type === 'mesh' ? sessions.length : 0)));
  if (size <= MESH_LIMIT) return [];
  const message = `the node-to-node mesh gives every node over ${MESH_LIMIT} sessions; consider route reflectors`;
  return [warning('mesh-large', 'BGPConfiguration/default', 'spec.nodeToNodeMeshEnabled', message)];
}

/**
 * Reflectors of one cluster drop each other's reflected routes (the cluster list, RFC 4456), so a client must have a
 * session with each of them, or misses the routes of clients that only the others have.
 */
function missedReflectors(
  cluster: Cluster,
  node: NodeResource | undefined,
  families: readonly (readonly Session[])[],
  recall: Recall,
): readonly Problem[] {
  const reflectors = recall.perNamed('reflectors', cluster.nodes, [], (n) =>
    n.clusterId === null ? null : n,
  );
  if (node === undefined || node.clusterId !== null || reflectors.length < 2) return [];
  return recall.value('lint:reflectors', [reflectors, ...families], () => {
    const met = new Set(families.flat().map((session) => session.provenance.node));
    const joined = new Set(reflectors.filter(({ name }) => met.has(name)).map(({ clusterId }) => clusterId));
    return reflectors
      .filter(({ name, clusterId }) => joined.has(clusterId) && !met.has(name))
      .map(({ name, clusterId }) =>
        warning(
          'reflector-missed',
          `Node/${name}`,
          'spec.bgp.routeReflectorClusterID',
          `node ${node.name} has sessions with other reflectors of cluster ${clusterId}, but not with this one, whose clients it cannot reach; peer with all of them or give them different cluster ids`,
        ),
      );
  });
}

/** A literal id, often given to all nodes of a DaemonSet alike: then they ignore each other's reflected routes, silently. */
function literalRouterId(cluster: Cluster, nodeName: string, routerId: string): readonly Problem[] {
  if (cluster.nodes.length < 2) return [];
  if (routerId === hashedRouterId(nodeName) || routerId === hashedRouterId(nodeName, true)) return [];
  const message = `the router id ${routerId} is set for this node; no other node may have the same (with "hash" each has its own)`;
  return [warning('router-id-literal', `Node/${nodeName}`, null, message)];
}

/** A cluster id should not look like a node. */
function clusterIdProblems(cluster: Cluster, { nodeName, clusterId }: NodeSettings): readonly Problem[] {
  if (clusterId === null) return [];
  const owner = cluster.nodesByAddress.get(clusterId)?.find((node) => node.name !== nodeName);
  const problems: Problem[] = [];
  if (owner !== undefined)
    problems.push(
      warning(
        'cluster-id-is-address',
        `Node/${nodeName}`,
        'spec.bgp.routeReflectorClusterID',
        `the cluster id ${clusterId} is the address of node ${owner.name}; choose one outside the nodes' addresses`,
      ),
    );
  return problems;
}

function asTransProblems(cluster: Cluster, recall: Recall): readonly Problem[] {
  const isTrans = (...numbers: readonly (number | null)[]): boolean => numbers.includes(AS_TRANS);
  const nodes = recall.perNamed('asTrans', cluster.nodes, [], (n) => (isTrans(n.asNumber) ? n : null));
  const peers = recall.list('asTransPeers', [cluster.peers], () =>
    cluster.peers.filter((peer) => isTrans(peer.asNumber, peer.localAsNumber)),
  );
  return [...nodes, ...peers].map(({ origin: { kind, name } }) =>
    warning(
      'as-trans',
      `${kind}/${name}`,
      kind === 'Node' ? 'spec.bgp.asNumber' : 'spec.asNumber',
      "AS 23456 is reserved (RFC 6793) and never a router's own",
    ),
  );
}

/** Two BGPPeers of equal rank for one address: the first by name is used, the other one is not. */
function claimProblems(
  peers: readonly BgpPeerResource[],
  node: NodeResource | undefined,
): readonly Problem[] {
  if (node === undefined) return [];
  const claims = new Map<string, BgpPeerResource>();
  const problems: Problem[] = [];
  for (const peer of peers) {
    if (peer.peerAddress === null || peer.nodeSelector !== null) continue;
    if (peer.node !== null && peer.node !== node.name) continue;
    const key = `${peer.node ?? ''} ${peer.peerAddress} ${peer.peerPort ?? 179}`;
    const first = claims.get(key);
    if (first === undefined) claims.set(key, peer);
    else
      problems.push(
        warning(
          'peer-shadowed',
          `BGPPeer/${peer.name}`,
          'spec.peerIP',
          `BGPPeer ${first.name} is for the same nodes and the same address ${peer.peerAddress}; this one is not used`,
        ),
      );
  }
  return problems;
}
