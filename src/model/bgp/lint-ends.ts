import { matches, parseSelector } from '../calico/selector.ts';
import type { BgpPeerResource, Cluster, NodeResource } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import { isFor } from './peerings.ts';

/**
 * BGPPeers without reverse peering that point at nodes which nothing makes peer with this one: their sessions wait for
 * ever. With reverse peering the other end follows from the BGPPeer itself.
 */
export function unansweredPeers(cluster: Cluster, node: NodeResource): readonly Problem[] {
  const mine = cluster.peers.filter((peer) => isFor(peer, node));
  const manual = mine.filter((peer) => peer.reversePeering === 'Manual');
  if (manual.length === 0) return [];
  // Chosen once: looking at every BGPPeer for every node would take seconds with thousands of both.
  const answering: Answering = {
    pointing: cluster.peers.filter((peer) => pointsAt(peer, node)),
    reversed: mine.filter((peer) => peer.reversePeering === 'Auto'),
  };
  const isAnswered = (other: NodeResource): boolean =>
    isMeshed(cluster, node, other) || answers(other, answering);
  return manual.flatMap((peer) => {
    const silent = targets(peer, cluster).filter((other) => other !== node && !isAnswered(other));
    const [first] = silent;
    if (first === undefined) return [];
    const others = silent.length === 1 ? '' : ` (and ${silent.length - 1} more)`;
    return {
      severity: 'warning',
      id: 'peer-unanswered',
      subject: `BGPPeer/${peer.name}`,
      field: 'spec.reversePeering',
      message: `no BGPPeer makes node ${first.name}${others} peer with ${node.name}; set reversePeering to Auto or add one`,
    };
  });
}

function targets(peer: BgpPeerResource, cluster: Cluster): readonly NodeResource[] {
  if (peer.peerSelector !== null) return cluster.nodes.filter((node) => isSelected(peer, node));
  return peer.peerAddress === null ? [] : (cluster.nodesByAddress.get(peer.peerAddress) ?? []);
}

/** The BGPPeers by which another node may peer with this one. */
interface Answering {
  readonly pointing: readonly BgpPeerResource[];
  readonly reversed: readonly BgpPeerResource[];
}

function answers(other: NodeResource, { pointing, reversed }: Answering): boolean {
  return pointing.some((peer) => isFor(peer, other)) || reversed.some((peer) => pointsAt(peer, other));
}

function isMeshed(cluster: Cluster, ...nodes: readonly NodeResource[]): boolean {
  return cluster.defaultConfig?.meshEnabled !== false && nodes.every((node) => node.clusterId === null);
}

function pointsAt(peer: BgpPeerResource, node: NodeResource): boolean {
  if (peer.peerSelector !== null) return isSelected(peer, node);
  const address = peer.peerAddress;
  return address !== null && (address === node.ipv4?.address || address === node.ipv6?.address);
}

function isSelected(peer: BgpPeerResource, node: NodeResource): boolean {
  const parsed = parseSelector(peer.peerSelector ?? '');
  return parsed.ok && matches(parsed.value, node.labels);
}
