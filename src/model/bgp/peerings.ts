import { familyOf } from '../calico/ip.ts';
import { matches, parseSelector } from '../calico/selector.ts';
import type { BgpPeerResource, Cluster, Family, NodeResource } from '../calico/types.ts';
import type { Recall } from './memory.ts';
import type { ModelOptions } from './options.ts';
import {
  type Candidate,
  candidate,
  type PeerPlan,
  type Remote,
  type SessionContext,
  type Want,
} from './sessions.ts';
import { listenPortOf } from './settings.ts';
import type { NodeSettings, SessionRule } from './types.ts';

/** Everything that decides which BGPPeers give a node which sessions of one family. */
export interface PeeringInputs {
  readonly cluster: Cluster;
  readonly node: NodeResource;
  readonly settings: NodeSettings;
  readonly context: SessionContext;
  readonly options: ModelOptions;
  readonly planOf: (peer: BgpPeerResource, recall: Recall) => PeerPlan;
}

/** The sessions that one BGPPeer asks for by one rule. */
export interface Claim {
  readonly peer: BgpPeerResource;
  readonly candidates: readonly Candidate[];
}

/**
 * The sessions that BGPPeers ask for, strongest claim first: BGPPeers for all nodes, then those for some, then the other
 * ends of both. Within a rank the order is that of BGPPeer names and then node names, so that the result does not depend
 * on how anything was stored. Of thousands of BGPPeers only those that select nodes are looked at when another node
 * changes.
 */
export function claims(inputs: PeeringInputs, recall: Recall): readonly Claim[] {
  const { cluster, node, settings, context, options } = inputs;
  const { peers, nodeConfigs } = cluster;
  const of = context.family;
  const forward = recall.list(`forward${of}`, [peers, node], () => forwardPeers(peers, node));
  const pointing = [peers, node, settings, context, options, nodeConfigs];
  const reverse = recall.list(`reverse${of}`, pointing, () =>
    peers.filter((peer) => reverseRule(peer, inputs) !== null),
  );
  const fixed = fixedClaims(forward, inputs, recall);
  const selecting = recall.list(`selecting${of}`, [forward], () => forward.filter(selectsNodes));
  const selected = selecting.map((peer) => claim(peer, 'forward', selectedCandidates, inputs, recall));
  const reversed = reverse.map((peer) => claim(peer, 'reverse', reverseCandidates, inputs, recall));
  return recall.list(`claims${of}`, [forward, fixed, ...selected, ...reversed], () => {
    const byPeer = new Map([...fixed, ...selected].map((made) => [made.peer, made]));
    const inOrder = [...forward.flatMap((peer) => byPeer.get(peer) ?? []), ...reversed];
    return inOrder.filter(({ candidates }) => candidates.length > 0);
  });
}

/** The BGPPeers that are meant for a node, those for all nodes first. */
function forwardPeers(peers: readonly BgpPeerResource[], node: NodeResource): readonly BgpPeerResource[] {
  const forward = peers.filter((peer) => isFor(peer, node));
  return [...forward.filter(isGlobal), ...forward.filter((peer) => !isGlobal(peer))];
}

function selectsNodes(peer: BgpPeerResource): boolean {
  return peer.peerSelector !== null && peer.localWorkloadSelector === null;
}

/** Whether a BGPPeer's other ends, of one family, have addresses that it names, or that Felix found for it. */
function hasFixedEnds(
  { localWorkloadSelector, peerSelector, peerAddress }: BgpPeerResource,
  family: Family,
): boolean {
  if (localWorkloadSelector !== null) return true;
  return peerSelector === null && peerAddress !== null && familyOf(peerAddress) === family;
}

type Candidates = (peer: BgpPeerResource, inputs: PeeringInputs, recall: Recall) => readonly Candidate[];

function claim(
  peer: BgpPeerResource,
  end: 'forward' | 'reverse',
  of: Candidates,
  inputs: PeeringInputs,
  recall: Recall,
): Claim {
  const candidates = of(peer, inputs, recall);
  return recall.fields(`claim${inputs.context.family}:${end}:${peer.name}`, { peer, candidates });
}

/** The claims of BGPPeers that select no nodes: of the nodes, only those that have an address that a BGPPeer names matter. */
function fixedClaims(
  forward: readonly BgpPeerResource[],
  inputs: PeeringInputs,
  recall: Recall,
): readonly Claim[] {
  const { cluster, settings, context, options } = inputs;
  const { nodes, filters, secrets, nodeConfigs, endpointStatuses } = cluster;
  const of = context.family;
  const addresses = recall.part(
    `named${of}`,
    [forward],
    () => new Set(forward.map(({ peerAddress }) => peerAddress)),
  );
  const named = recall.perNode(`named${of}`, nodes, [addresses], (node) => {
    const address = addressOf(node, of);
    return address !== null && addresses.has(address) ? node : null;
  });
  const used = [forward, named, settings, context, options, filters, secrets, nodeConfigs, endpointStatuses];
  return recall.part(`fixed${of}`, used, (own) =>
    forward
      .filter((peer) => hasFixedEnds(peer, of))
      .map((peer) => claim(peer, 'forward', fixedCandidates, inputs, own)),
  );
}

/** Claims without the candidates whose address and port a stronger one has. `sharing`: nodes may have one address. */
export function winningClaims(all: readonly Claim[], sharing: boolean): readonly Claim[] {
  const taken = new Set<string>();
  return all.map(({ peer, candidates }, index) => {
    // Without shared addresses no two candidates of a claim can clash, so the last and often longest one adds nothing.
    const adds = sharing || index < all.length - 1;
    if (!adds && taken.size === 0) return { peer, candidates };
    const won: Candidate[] = [];
    for (const candidate of candidates) {
      if (taken.has(candidate.key)) continue;
      if (adds) taken.add(candidate.key);
      won.push(candidate);
    }
    return { peer, candidates: won.length === candidates.length ? candidates : won };
  });
}

export function isGlobal(peer: BgpPeerResource): boolean {
  return peer.node === null && peer.nodeSelector === null;
}

/** Whether a BGPPeer is meant for this node. */
export function isFor(peer: BgpPeerResource, node: NodeResource): boolean {
  if (peer.nodeSelector !== null) return isSelected(peer.nodeSelector, node);
  return peer.node === null || peer.node === node.name;
}

function isSelected(selector: string, node: NodeResource): boolean {
  const parsed = parseSelector(selector);
  return parsed.ok && matches(parsed.value, node.labels);
}

function selectedCandidates(
  peer: BgpPeerResource,
  inputs: PeeringInputs,
  recall: Recall,
): readonly Candidate[] {
  const nodes = selectedNodes(peer.peerSelector!, inputs, recall);
  const type = isGlobal(peer) ? 'global' : 'node';
  return nodeCandidates(peer, nodes, { type, rule: 'peerSelector' }, inputs, recall);
}

function fixedCandidates(peer: BgpPeerResource, inputs: PeeringInputs, recall: Recall): readonly Candidate[] {
  if (peer.localWorkloadSelector !== null) return workloadCandidates(peer, inputs, recall);
  return addressCandidates(peer, peer.peerAddress!, isGlobal(peer) ? 'global' : 'node', inputs, recall);
}

function addressCandidates(
  peer: BgpPeerResource,
  address: string,
  type: 'global' | 'node',
  { cluster, settings, context, options, planOf }: PeeringInputs,
  recall: Recall,
): readonly Candidate[] {
  const plan = planOf(peer, recall);
  const nodes = cluster.nodesByAddress.get(address) ?? [];
  const match = nodes.find((node) => peer.asNumber === null || peer.asNumber === asOf(node, settings));
  const known = match ?? nodes[0];
  const remote: Remote = {
    address,
    port: peer.peerPort ?? (match === undefined ? null : listenPortOf(cluster, match.name)),
    asNumber: peer.asNumber ?? (known === undefined ? null : asOf(known, settings)),
    clusterId: options.compat.reflectsWithinCluster ? null : (known?.clusterId ?? null),
    nodeName: known?.name ?? null,
  };
  const name = `address${context.family}:${peer.name}`;
  return recall.value(name, [context, plan, ...Object.values(remote)], () => [
    candidate(context, plan, remote, { type, rule: 'peerIP' }),
  ]);
}

/** Felix evaluates the selector; it writes the BGPPeer's name into the status file of every endpoint selected. */
function workloadCandidates(
  peer: BgpPeerResource,
  { cluster, context, planOf }: PeeringInputs,
  recall: Recall,
): readonly Candidate[] {
  const plan = planOf(peer, recall);
  const name = `workload${context.family}:${peer.name}`;
  return recall.value(name, [context, plan, cluster.endpointStatuses], () => {
    const addresses = cluster.endpointStatuses
      .filter((status) => status.bgpPeerName === peer.name)
      .map((status) => (context.family === 4 ? status.ipv4 : status.ipv6))
      .filter((address) => address !== null);
    return [...new Set(addresses)].map((address) => {
      const remote = { address, port: null, asNumber: peer.asNumber, clusterId: null, nodeName: null };
      return candidate(context, plan, remote, { type: 'workload', rule: 'localWorkloadSelector' });
    });
  });
}

/** Sessions to nodes, one per node with an address of the family. */
function nodeCandidates(
  peer: BgpPeerResource,
  nodes: readonly NodeResource[],
  want: Want,
  { cluster, settings, context, planOf }: PeeringInputs,
  recall: Recall,
): readonly Candidate[] {
  const plan = planOf(peer, recall);
  const name = `${want.type}${context.family}:${want.rule}:${peer.name}`;
  const { clusterAsNumber, clusterListenPort } = settings;
  const inputs = [context, plan, clusterAsNumber, clusterListenPort, cluster.nodeConfigs];
  return recall.perNode(name, nodes, inputs, (node) => {
    const address = addressOf(node, context.family);
    if (address === null) return null;
    const remote: Remote = {
      address,
      port: listenPortOf(cluster, node.name),
      asNumber: asOf(node, settings),
      clusterId: node.clusterId,
      nodeName: node.name,
    };
    return candidate(context, plan, remote, want);
  });
}

/** The other end of BGPPeers that point at this node: without it the peer would wait for a session that never comes. */
function reverseCandidates(
  peer: BgpPeerResource,
  inputs: PeeringInputs,
  recall: Recall,
): readonly Candidate[] {
  const rule = reverseRule(peer, inputs);
  if (rule === null) return [];
  return nodeCandidates(peer, nodesFor(peer, inputs, recall), { type: 'node', rule }, inputs, recall);
}

/** Whether and by which rule a BGPPeer points at this node. */
export function reverseRule(peer: BgpPeerResource, inputs: PeeringInputs): SessionRule | null {
  if (peer.reversePeering === 'Manual' || peer.localWorkloadSelector !== null) return null;
  if (peer.peerSelector !== null)
    return isSelected(peer.peerSelector, inputs.node) ? 'reverse of peerSelector' : null;
  return pointsAtAddress(peer, inputs) ? 'reverse of peerIP' : null;
}

function pointsAtAddress(peer: BgpPeerResource, inputs: PeeringInputs): boolean {
  const { cluster, settings, context, options } = inputs;
  if (peer.peerAddress !== context.address) return false;
  if (peer.asNumber !== null && peer.asNumber !== settings.asNumber) return false;
  if (peer.peerPort === null) return true;
  const ports = [listenPortOf(cluster, settings.nodeName)];
  if (options.compat.clusterPortHidesOwnPort) ports.push(settings.clusterListenPort);
  return ports.every((port) => port === null || port === peer.peerPort);
}

/** The nodes that a BGPPeer is for. */
function nodesFor(peer: BgpPeerResource, inputs: PeeringInputs, recall: Recall): readonly NodeResource[] {
  if (peer.nodeSelector !== null) return selectedNodes(peer.nodeSelector, inputs, recall);
  if (peer.node === null) return inputs.cluster.nodes;
  const node = inputs.cluster.nodeByName.get(peer.node);
  return recall.list(`node:${peer.node}`, [node], () => (node === undefined ? [] : [node]));
}

function selectedNodes(
  selector: string,
  { cluster }: PeeringInputs,
  recall: Recall,
): readonly NodeResource[] {
  const parsed = parseSelector(selector);
  if (!parsed.ok) return [];
  return recall.perNode(`selected:${selector}`, cluster.nodes, [], (node) =>
    matches(parsed.value, node.labels) ? node : null,
  );
}

function asOf(node: NodeResource, settings: NodeSettings): number {
  return node.asNumber ?? settings.clusterAsNumber;
}

export function addressOf(node: NodeResource, family: Family): string | null {
  return (family === 4 ? node.ipv4 : node.ipv6)?.address ?? null;
}
