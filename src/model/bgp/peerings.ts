import { sortedBy } from '../../core/order.ts';
import { familyOf } from '../calico/ip.ts';
import { matches, parseSelector } from '../calico/selector.ts';
import type { BgpPeerResource, Cluster, Family, NodeResource } from '../calico/types.ts';
import type { Recall } from './memory.ts';
import type { ModelOptions } from './options.ts';
import { peerPlan, policiesByFilters } from './plans.ts';
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
  const { peers, filters, secrets, nodeConfigs } = cluster;
  const { family } = context;
  const forward = recall.list(`forward${family}`, [peers, node], () =>
    peers.filter((peer) => isFor(peer, node)),
  );
  const pointing = [peers, node, settings, context, options, nodeConfigs];
  const reverse = recall.list(`reverse${family}`, pointing, () =>
    peers.filter((peer) => reverseRule(peer, inputs) !== null),
  );
  const policies = recall.part(`policies${family}`, [forward, reverse, filters, options], (own) =>
    policiesByFilters([...forward, ...reverse], cluster, family, options, own),
  );
  const plansOf = (end: string, some: readonly BgpPeerResource[]): readonly PeerPlan[] =>
    recall.perNamed(`plans${family}:${end}`, some, [filters, secrets, options], (peer) =>
      peerPlan(peer, policies, cluster, options),
    );
  const claim = (end: string, candidates: typeof selectedCandidates) => (plan: PeerPlan) =>
    recall.fields(`claim${family}:${end}:${plan.name}`, {
      peer: plan.peer,
      candidates: candidates(plan, inputs, recall),
    });
  const having = (end: string, has: (peer: BgpPeerResource) => boolean) =>
    recall.list(`${end}${family}`, [forward], () => forward.filter(has));
  const fixed = having('fixed', (peer) => hasFixedEnds(peer, family));
  const selecting = having('selecting', selectsNodes);
  const steady = fixedClaims(plansOf('fixed', fixed), inputs, recall);
  const selected = plansOf('selecting', selecting).map(claim('selecting', selectedCandidates));
  const reversed = plansOf('reverse', reverse).map(claim('reverse', reverseCandidates));
  return recall.list(`claims${family}`, [steady, ...selected, ...reversed], () =>
    [...ranked([...steady, ...selected]), ...reversed].filter(({ candidates }) => candidates.length > 0),
  );
}

/** Claims of BGPPeers for all nodes first, each rank in the order of names. */
function ranked(unordered: readonly Claim[]): readonly Claim[] {
  const byName = sortedBy(unordered, ({ peer }) => peer.name);
  return [...byName.filter(({ peer }) => isGlobal(peer)), ...byName.filter(({ peer }) => !isGlobal(peer))];
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

/** What counts of a node at an address that a BGPPeer names. */
interface Owner extends Pick<NodeResource, 'name' | 'asNumber' | 'clusterId'> {
  readonly address: string;
}

/** The nodes at an address, sorted by name. */
type Owners = ReadonlyMap<string, readonly Owner[]>;

/** The claims of BGPPeers that select no nodes, one per BGPPeer. */
function fixedClaims(plans: readonly PeerPlan[], inputs: PeeringInputs, recall: Recall): readonly Claim[] {
  const { cluster, settings, context, options } = inputs;
  const owners = ownersOf(plans, inputs, recall);
  const used = [owners, settings, context, options, cluster.nodeConfigs, cluster.endpointStatuses];
  return recall.perNamed(`fixed${context.family}`, plans, used, (plan) => ({
    peer: plan.peer,
    candidates:
      plan.peer.localWorkloadSelector === null
        ? [addressCandidate(plan, plan.peer.peerAddress!, inputs, owners)]
        : workloadCandidates(plan, inputs),
  }));
}

/** The nodes that have an address which one of these BGPPeers names. */
function ownersOf(
  plans: readonly PeerPlan[],
  { cluster, context: { family } }: PeeringInputs,
  recall: Recall,
): Owners {
  const named = recall.part(
    `named${family}`,
    [plans],
    () => new Set(plans.map(({ peer }) => peer.peerAddress)),
  );
  const owners = recall.perNamed(`owners${family}`, cluster.nodes, [named], (node): Owner | null => {
    const address = addressOf(node, family);
    if (address === null || !named.has(address)) return null;
    return { name: node.name, asNumber: node.asNumber, clusterId: node.clusterId, address };
  });
  return recall.part(`owners${family}`, [owners], () => {
    const byAddress = new Map<string, Owner[]>();
    for (const owner of owners)
      byAddress.set(owner.address, [...(byAddress.get(owner.address) ?? []), owner]);
    return byAddress;
  });
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

function selectedCandidates(plan: PeerPlan, inputs: PeeringInputs, recall: Recall): readonly Candidate[] {
  const nodes = selectedNodes(plan.peer.peerSelector!, inputs, recall);
  const type = isGlobal(plan.peer) ? 'global' : 'node';
  return nodeCandidates(plan, nodes, { type, rule: 'peerSelector' }, inputs, recall);
}

function addressCandidate(
  plan: PeerPlan,
  address: string,
  { cluster, settings, context, options }: PeeringInputs,
  owners: Owners,
): Candidate {
  const { peer } = plan;
  const nodes = owners.get(address) ?? [];
  const match = nodes.find((node) => peer.asNumber === null || peer.asNumber === asOf(node, settings));
  const known = match ?? nodes[0];
  const remote: Remote = {
    address,
    port: peer.peerPort ?? (match === undefined ? null : listenPortOf(cluster, match.name)),
    asNumber: peer.asNumber ?? (known === undefined ? null : asOf(known, settings)),
    clusterId: options.compat.reflectsWithinCluster ? null : (known?.clusterId ?? null),
    nodeName: known?.name ?? null,
  };
  return candidate(context, plan, remote, { type: isGlobal(peer) ? 'global' : 'node', rule: 'peerIP' });
}

/** Felix evaluates the selector; it writes the BGPPeer's name into the status file of every endpoint selected. */
function workloadCandidates(plan: PeerPlan, { cluster, context }: PeeringInputs): readonly Candidate[] {
  const { peer } = plan;
  const addresses = cluster.endpointStatuses
    .filter((status) => status.bgpPeerName === peer.name)
    .map((status) => (context.family === 4 ? status.ipv4 : status.ipv6))
    .filter((address) => address !== null);
  return [...new Set(addresses)].map((address) => {
    const remote = { address, port: null, asNumber: peer.asNumber, clusterId: null, nodeName: null };
    return candidate(context, plan, remote, { type: 'workload', rule: 'localWorkloadSelector' });
  });
}

/** Sessions to nodes, one per node with an address of the family. */
function nodeCandidates(
  plan: PeerPlan,
  nodes: readonly NodeResource[],
  want: Want,
  { cluster, settings, context }: PeeringInputs,
  recall: Recall,
): readonly Candidate[] {
  const name = `${want.type}${context.family}:${want.rule}:${plan.name}`;
  const { clusterAsNumber, clusterListenPort } = settings;
  const inputs = [context, plan, clusterAsNumber, clusterListenPort, cluster.nodeConfigs];
  return recall.perNamed(name, nodes, inputs, (node) => {
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
function reverseCandidates(plan: PeerPlan, inputs: PeeringInputs, recall: Recall): readonly Candidate[] {
  const rule = reverseRule(plan.peer, inputs);
  if (rule === null) return [];
  return nodeCandidates(plan, nodesFor(plan.peer, inputs, recall), { type: 'node', rule }, inputs, recall);
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
  return recall.perNamed(`selected:${selector}`, cluster.nodes, [], (node) =>
    matches(parsed.value, node.labels) ? node : null,
  );
}

function asOf(node: Pick<NodeResource, 'asNumber'>, settings: NodeSettings): number {
  return node.asNumber ?? settings.clusterAsNumber;
}

export function addressOf(node: NodeResource, family: Family): string | null {
  return (family === 4 ? node.ipv4 : node.ipv6)?.address ?? null;
}
