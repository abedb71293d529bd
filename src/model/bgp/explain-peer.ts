import type { BgpPeerResource, Cluster, NodeResource } from '../calico/types.ts';
import { type FamilyWorld, type Finding, type Outcome, unaddressed } from './explain-types.ts';
import { addressOf, isFor, type PeeringInputs, reverseRule } from './peerings.ts';
import { selectorFault } from './selector-fault.ts';
import { listenPortOf } from './settings.ts';

interface Surroundings {
  readonly cluster: Cluster;
  readonly nodeName: string;
  readonly families: readonly FamilyWorld[];
}

/**
 * Why a BGPPeer gives a node no session: first as what it is for, then as what it points at. With `remote`, only why it
 * gives none with that node, and nothing where the BGPPeer is not about nodes like it at all.
 */
export function reasonsAgainst(
  peer: BgpPeerResource,
  node: NodeResource | undefined,
  world: Surroundings,
  remote?: NodeResource,
): readonly Finding[] {
  if (node === undefined) return remote === undefined ? [unaddressed(undefined, world.nodeName, 4)] : [];
  const usable = world.families.filter(({ peering }) => peering !== null);
  if (usable.length === 0) return remote === undefined ? [unaddressed(node, node.name, 4)] : [];
  if (remote !== undefined) return reasonsAgainstRemote(peer, node, remote, usable);
  const forward = forwardReason(peer, node, world);
  const backward = reverseReason(peer, node, usable);
  return [forward, backward].filter((finding) => finding !== null);
}

function finding(peer: BgpPeerResource, outcome: Outcome, message: string): Finding {
  const resource = `BGPPeer/${peer.name}`;
  return { family: null, resource, rule: null, outcome, session: null, ends: null, message };
}

function forwardReason(peer: BgpPeerResource, node: NodeResource, world: Surroundings): Finding | null {
  if (peer.nodeSelector !== null) {
    const fault = selectorFault(peer.nodeSelector, node.labels);
    if (fault !== null)
      return finding(peer, 'not-selected', `its nodeSelector does not select this node: ${fault}`);
  }
  if (peer.node !== null && peer.node !== node.name)
    return finding(peer, 'not-selected', `it is for node ${peer.node}, not for ${node.name}`);
  if (peer.localWorkloadSelector !== null)
    return finding(peer, 'nothing-selected', 'no endpoint status of a workload on this node names it');
  if (peer.peerSelector !== null)
    return finding(
      peer,
      'nothing-selected',
      `its peerSelector ${peer.peerSelector} selects none of the ${world.cluster.nodes.length} nodes`,
    );
  // By address, and for this node: only a missing family is left.
  const family = peer.peerAddress?.includes(':') ? 6 : 4;
  return unaddressed(node, node.name, family);
}

function reverseReason(
  peer: BgpPeerResource,
  node: NodeResource,
  usable: readonly FamilyWorld[],
): Finding | null {
  if (peer.localWorkloadSelector !== null) return null;
  if (usable.some(({ peering }) => reverseRule(peer, peering!) !== null))
    return finding(peer, 'nothing-selected', `it points at this node, but is for no node with an address`);
  if (peer.peerSelector !== null) {
    const fault = selectorFault(peer.peerSelector, node.labels);
    if (fault !== null)
      return finding(peer, 'not-selected', `its peerSelector does not select this node either: ${fault}`);
    return finding(peer, 'reverse-manual', 'it points at this node, but its reversePeering is Manual');
  }
  return addressReason(peer, node, usable[0]!.peering!);
}

/** Null when the BGPPeer's address is not this node's, which is what one expects. */
function addressReason(
  peer: BgpPeerResource,
  node: NodeResource,
  { cluster, settings }: PeeringInputs,
): Finding | null {
  if (peer.peerAddress !== node.ipv4?.address && peer.peerAddress !== node.ipv6?.address) return null;
  if (peer.reversePeering === 'Manual')
    return finding(peer, 'reverse-manual', 'it points at this node, but its reversePeering is Manual');
  if (peer.asNumber !== null && peer.asNumber !== settings.asNumber)
    return finding(
      peer,
      'not-selected',
      `its peerIP is this node's, but its asNumber ${peer.asNumber} is not (${settings.asNumber})`,
    );
  const port = listenPortOf(cluster, node.name) ?? 179;
  return finding(
    peer,
    'not-selected',
    `its peerIP is this node's, but its port ${peer.peerPort} is not (${port})`,
  );
}

function reasonsAgainstRemote(
  peer: BgpPeerResource,
  node: NodeResource,
  remote: NodeResource,
  usable: readonly FamilyWorld[],
): readonly Finding[] {
  if (peer.peerSelector !== null && isFor(peer, node)) {
    const fault = selectorFault(peer.peerSelector, remote.labels);
    if (fault !== null)
      return [
        finding(peer, 'not-selected', `its peerSelector does not select node ${remote.name}: ${fault}`),
      ];
  }
  if (!usable.some(({ peering }) => reverseRule(peer, peering!) !== null)) return [];
  if (peer.nodeSelector !== null) {
    const fault = selectorFault(peer.nodeSelector, remote.labels);
    if (fault !== null)
      return [
        finding(peer, 'not-selected', `its nodeSelector does not select node ${remote.name}: ${fault}`),
      ];
  }
  if (peer.node !== null && peer.node !== remote.name)
    return [finding(peer, 'not-selected', `it is for node ${peer.node}, not for ${remote.name}`)];
  return [];
}

/** Nodes that a BGPPeer for this node selects, and that have no address of the family. */
export function withoutAddress(
  peer: BgpPeerResource,
  { family, peering }: FamilyWorld,
  cluster: Cluster,
): readonly Finding[] {
  if (peering === null || peer.peerSelector === null || !isFor(peer, peering.node)) return [];
  return cluster.nodes
    .filter((node) => node !== peering.node && addressOf(node, family) === null)
    .filter((node) => selectorFault(peer.peerSelector!, node.labels) === null)
    .map((node) => unaddressed(node, node.name, family));
}
