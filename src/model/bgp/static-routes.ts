import { byText } from '../../core/order.ts';
import { familyOf, hostNetwork, isSingle } from '../calico/ip.ts';
import type { BgpPeerResource, BlockAffinityResource } from '../calico/types.ts';
import type { FamilyInputs } from './family.ts';
import { addressOf, type Claim, isFor, isGlobal } from './peerings.ts';
import type { StaticRoute } from './types.ts';

/** The blocks of this node in one family: its affinities, or its pod CIDRs with host-local IPAM. */
export function ownBlocks({
  cluster,
  node,
  settings,
  family,
  options,
}: Omit<FamilyInputs, 'services'>): readonly BlockAffinityResource[] {
  if (options.usePodCidr && node !== undefined)
    return [...node.podCidrs]
      .filter((cidr) => familyOf(cidr) === family)
      .sort(byText)
      .map((cidr) => ({
        origin: node.origin,
        node: node.name,
        family,
        cidr,
        state: 'confirmed',
        implicit: false,
      }));
  return cluster.blocks.filter(
    (block) => block.family === family && block.node === settings.nodeName && block.state !== 'pending',
  );
}

/**
 * Blackholes for this node's blocks (so that it announces them whole, and drops what goes to addresses not in use) and for
 * the service addresses it announces, then host routes to peers that are reached through a gateway.
 */
export function staticRoutes(inputs: FamilyInputs, throughGateway: readonly Claim[]): readonly StaticRoute[] {
  const releasing = inputs.options.compat.pendingDeletionBlackholes;
  const routes = new Map<string, StaticRoute>();
  const add = (prefix: string, via: string | null, comment: string): void => {
    if (!routes.has(prefix)) routes.set(prefix, { prefix, via, comment });
  };
  for (const block of ownBlocks(inputs))
    if ((block.state === 'confirmed' || releasing) && !isSingle(block.cidr))
      add(block.cidr, null, 'IPAM block');
  for (const cidr of inputs.services.advertised) add(cidr, null, 'service');
  for (const { peer, candidates } of throughGateway)
    for (const { address, reachableBy } of candidates)
      if (reachableBy !== null) add(hostNetwork(address), reachableBy, hostRouteComment(peer));
  for (const peer of peersWithoutSession(inputs))
    add(hostNetwork(peer.peerAddress!), peer.reachableBy, hostRouteComment(peer));
  return [...routes.values()];
}

function hostRouteComment({ name }: BgpPeerResource): string {
  return `BGPPeer ${name}, reachableBy`;
}

/** Calico sets up their host routes on a node that has no address of the family and so no session, too. */
function peersWithoutSession({ cluster, node, family, options }: FamilyInputs): readonly BgpPeerResource[] {
  if (!options.compat.hostRoutesAtBothEnds) return [];
  if (node === undefined || addressOf(node, family) !== null) return [];
  const mine = cluster.peers.filter(
    (peer) => peer.peerAddress !== null && familyOf(peer.peerAddress) === family && isFor(peer, node),
  );
  const ranked = [...mine.filter(isGlobal), ...mine.filter((peer) => !isGlobal(peer))];
  // The first one of an address and port counts, so it is put in last.
  const winners = ranked
    .toReversed()
    .map((peer) => [`${peer.peerAddress} ${peer.peerPort ?? 179}`, peer] as const);
  return [...new Map(winners).values()].filter(({ reachableBy }) => reachableBy !== null);
}
