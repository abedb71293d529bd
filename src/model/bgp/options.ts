/**
 * Where Calico's confd does something less safe than birdfeed. Each field names one difference; true means "as Calico
 * does". `--calico-compat` sets all of them, for those who depend on Calico's behaviour.
 */
export interface CompatOptions {
  /** A BGPFilter that a BGPPeer names but that does not exist is skipped. Otherwise such a session exchanges no routes. */
  readonly missingFilterFailsOpen: boolean;
  /** A session whose password is missing is opened without one. Otherwise it keeps its last good one, or is withheld. */
  readonly missingPasswordOpensSession: boolean;
  /** Cluster IPs of services are advertised although they lie outside `serviceClusterIPs`. */
  readonly serviceClusterIPsUnchecked: boolean;
  /** A mesh peer without an AS number is given this node's AS. Otherwise it is given the cluster's. */
  readonly meshPeerInheritsOwnAs: boolean;
  /** Blocks that are being released (`pendingDeletion`) keep their blackhole route. */
  readonly pendingDeletionBlackholes: boolean;
  /** On a node without an IPv4 address its kernel filter says nothing about pools: Felix's routes get programmed. */
  readonly kernelFilterNeedsSubnet: boolean;
  /** Priorities above 2147483647 wrap around. Otherwise they are held at the limit. */
  readonly priorityWraps: boolean;
  /** BGPFilter rules with `Equal` and `prefixLength` never match, with `NotEqual` always. */
  readonly equalNeverMatchesRange: boolean;
  /** A mesh session is set up beside an explicit session to the same address. Otherwise the explicit one replaces it. */
  readonly meshBesideExplicitPeer: boolean;
  /** Without load balancer aggregation, learned load balancer routes are programmed into the kernel. */
  readonly unaggregatedRangesReachKernel: boolean;
  /** Blackholes of single service addresses outside the ranges kept from the kernel are programmed there. */
  readonly serviceBlackholesReachKernel: boolean;
  /** A route reflector takes a reflector of its own cluster for a client when a BGPPeer names it by `peerIP`. */
  readonly reflectsWithinCluster: boolean;
  /** The host route of `reachableBy` is set up at the other end, too, and on a node that is itself the peer. */
  readonly hostRoutesAtBothEnds: boolean;
  /** A BGPPeer with a node's own port does not make that node peer back when the cluster's port is another. */
  readonly clusterPortHidesOwnPort: boolean;
  /** Router ids that other vendors refuse (0.x, 127.x, 224.x and higher) are used. */
  readonly routerIdUnchecked: boolean;
  /** BIRD 1.6 waits its default of 240 s after a restart for peers that do not come back. */
  readonly longGracefulRestartWait: boolean;
}

export type ModelDialect = 'bird1' | 'bird1-calico' | 'bird2';

export interface ModelOptions {
  /** Decides what can be expressed (only `bird1-calico` programs tunnels) and what is needed. */
  readonly dialect: ModelDialect;
  readonly compat: CompatOptions;
  /** `auto`: the node's IPv4 address, else a hash of its name. `hash`: the hash. Otherwise a dotted quad. */
  readonly routerId: string;
  /** Which end of a mesh session is passive: the greater address, compared as text (as Calico does) or as a number. */
  readonly passiveOrder: 'text' | 'numeric';
  /** A CIDR that replaces `serviceClusterIPs`, or null. */
  readonly advertiseClusterIPs: string | null;
  /** Where Secrets are looked up. */
  readonly secretsNamespace: string;
  /** What EndpointSlices call this node; null: the same name. */
  readonly kubernetesNodeName: string | null;
  /** Host-local IPAM: the node's pod CIDRs take the place of block affinities. */
  readonly usePodCidr: boolean;
  /** Seconds between scans of interfaces and kernel routes. */
  readonly scanTime: number;
  /** Seconds that BIRD 1.6 waits for peers after a restart; BIRD 2 goes on without those that do not come back. */
  readonly gracefulRestartWait: number;
}

/** All of `CompatOptions` at once. */
export function compatOptions(asCalico: boolean): CompatOptions {
  return {
    missingFilterFailsOpen: asCalico,
    missingPasswordOpensSession: asCalico,
    serviceClusterIPsUnchecked: asCalico,
    meshPeerInheritsOwnAs: asCalico,
    pendingDeletionBlackholes: asCalico,
    kernelFilterNeedsSubnet: asCalico,
    priorityWraps: asCalico,
    equalNeverMatchesRange: asCalico,
    meshBesideExplicitPeer: asCalico,
    unaggregatedRangesReachKernel: asCalico,
    serviceBlackholesReachKernel: asCalico,
    reflectsWithinCluster: asCalico,
    hostRoutesAtBothEnds: asCalico,
    clusterPortHidesOwnPort: asCalico,
    routerIdUnchecked: asCalico,
    longGracefulRestartWait: asCalico,
  };
}

/** The defaults of everything but the dialect. */
export function modelOptions(
  dialect: ModelDialect,
  changes: Partial<Omit<ModelOptions, 'dialect'>> = {},
): ModelOptions {
  return {
    dialect,
    compat: compatOptions(false),
    routerId: 'auto',
    passiveOrder: 'text',
    advertiseClusterIPs: null,
    secretsNamespace: 'kube-system',
    kubernetesNodeName: null,
    usePodCidr: false,
    scanTime: 2,
    gracefulRestartWait: 30,
    ...changes,
  };
}
