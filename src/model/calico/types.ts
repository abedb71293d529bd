/**
 * Calico's resources as the model uses them: validated, normalised, slim. Addresses and CIDRs are in canonical text
 * (lower-case, compressed IPv6, host bits cleared in networks), AS numbers are plain integers (asdot accepted on input),
 * durations whole seconds. `null` means "not set". Field semantics: Calico API reference (projectcalico.org/v3).
 *
 * Identity matters: while a resource's stored value is unchanged, its parsed object is the very same object.
 */
export type Family = 4 | 6;

/** Where a value came from, for messages, provenance comments and `explain`. */
export interface Origin {
  /** Kind as users write it: `Node`, `BGPPeer`, ... */
  readonly kind: ResourceKind;
  readonly name: string;
  /** The key in the key space. */
  readonly key: string;
  /** True when the stored value is bad now and this is its last good version. */
  readonly lastGood: boolean;
}

export type ResourceKind =
  | 'Node'
  | 'BGPConfiguration'
  | 'BGPPeer'
  | 'BGPFilter'
  | 'IPPool'
  | 'BlockAffinity'
  | 'Service'
  | 'EndpointSlice'
  | 'Secret'
  | 'EndpointStatus';

export interface NodeAddress {
  readonly address: string;
  /** Of the network that the address was written with: 16 for `10.0.3.7/16`; 32 or 128 for a bare one. */
  readonly length: number;
}

export interface NodeResource {
  readonly origin: Origin;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** False when the node has no `spec.bgp` at all: it takes no part in BGP. */
  readonly hasBgp: boolean;
  readonly asNumber: number | null;
  readonly ipv4: NodeAddress | null;
  readonly ipv6: NodeAddress | null;
  /** Route reflector cluster id, dotted quad. A node with one is a route reflector. */
  readonly clusterId: string | null;
  readonly wireguardIpv4: string | null;
  readonly wireguardIpv6: string | null;
  /** `status.podCIDRs`, used instead of block affinities with USE_POD_CIDR. */
  readonly podCidrs: readonly string[];
}

export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

export type NextHopMode = 'Auto' | 'Self' | 'Keep';

export interface BgpPeerResource {
  readonly origin: Origin;
  readonly name: string;
  readonly node: string | null;
  readonly nodeSelector: string | null;
  /** Canonical address, without the port; null when the peer is chosen by selector. */
  readonly peerAddress: string | null;
  readonly peerPort: number | null;
  readonly peerSelector: string | null;
  readonly localWorkloadSelector: string | null;
  readonly asNumber: number | null;
  readonly localAsNumber: number | null;
  readonly keepOriginalNextHop: boolean;
  readonly nextHopMode: NextHopMode | null;
  readonly password: SecretKeyRef | null;
  readonly sourceAddress: 'UseNodeIP' | 'None';
  readonly maxRestartTime: number | null;
  readonly keepaliveTime: number | null;
  readonly numAllowedLocalAs: number | null;
  readonly ttlSecurityHops: number | null;
  readonly reachableBy: string | null;
  readonly filters: readonly string[];
  readonly reversePeering: 'Auto' | 'Manual';
}

export interface PrefixAdvertisement {
  readonly cidr: string;
  /** As written: literal `a:b`, `a:b:c`, or a name from `communities`. */
  readonly communities: readonly string[];
}

export type ClusterRouteProgramming = 'Disabled' | 'EnabledNoEncapOnly' | 'EnabledIPIPOnly' | 'Enabled';

/** BGPConfiguration `default` or `node.NAME`; null = not set in this object. */
export interface BgpConfigurationResource {
  readonly origin: Origin;
  readonly name: string;
  /** The node it is for; null for `default`. */
  readonly node: string | null;
  readonly logSeverity: string | null;
  readonly meshEnabled: boolean | null;
  readonly asNumber: number | null;
  readonly listenPort: number | null;
  readonly bindMode: 'None' | 'NodeIP' | null;
  readonly meshPassword: SecretKeyRef | null;
  readonly meshMaxRestartTime: number | null;
  readonly ignoredInterfaces: readonly string[] | null;
  readonly prefixAdvertisements: readonly PrefixAdvertisement[] | null;
  readonly communities: readonly { readonly name: string; readonly value: string }[] | null;
  readonly serviceClusterIPs: readonly string[] | null;
  readonly serviceExternalIPs: readonly string[] | null;
  readonly serviceLoadBalancerIPs: readonly string[] | null;
  readonly serviceLoadBalancerAggregation: 'Enabled' | 'Disabled' | null;
  readonly programClusterRoutes: ClusterRouteProgramming | null;
  readonly ipv4NormalRoutePriority: number | null;
  readonly ipv6NormalRoutePriority: number | null;
}

export type FilterMatchOperator = 'Equal' | 'NotEqual' | 'In' | 'NotIn';

export type FilterOperation =
  | { readonly type: 'addCommunity'; readonly community: readonly number[] }
  | { readonly type: 'prependAsPath'; readonly asNumbers: readonly number[] }
  | { readonly type: 'setPriority'; readonly priority: number };

export interface BgpFilterRule {
  readonly cidr: string | null;
  readonly matchOperator: FilterMatchOperator | null;
  readonly prefixLength: { readonly min: number | null; readonly max: number | null } | null;
  readonly source: 'RemotePeers' | null;
  readonly interface: string | null;
  readonly peerType: 'eBGP' | 'iBGP' | null;
  /** Standard (2 numbers) or large (3 numbers). */
  readonly community: readonly number[] | null;
  readonly asPathPrefix: readonly number[] | null;
  readonly priority: number | null;
  readonly action: 'Accept' | 'Reject';
  readonly operations: readonly FilterOperation[];
}

export interface BgpFilterResource {
  readonly origin: Origin;
  readonly name: string;
  readonly importV4: readonly BgpFilterRule[];
  readonly exportV4: readonly BgpFilterRule[];
  readonly importV6: readonly BgpFilterRule[];
  readonly exportV6: readonly BgpFilterRule[];
}

export interface IpPoolResource {
  readonly origin: Origin;
  readonly name: string;
  readonly family: Family;
  readonly cidr: string;
  readonly ipipMode: 'Never' | 'Always' | 'CrossSubnet';
  readonly vxlanMode: 'Never' | 'Always' | 'CrossSubnet';
  readonly disableBgpExport: boolean;
}

export interface BlockAffinityResource {
  readonly origin: Origin;
  readonly node: string;
  readonly family: Family;
  readonly cidr: string;
  /** An empty stored state counts as confirmed (as in Calico). */
  readonly state: 'confirmed' | 'pending' | 'pendingDeletion';
  /** True when the state was stored empty: Calico says "implicitly confirmed". */
  readonly implicit: boolean;
}

export interface ServiceResource {
  readonly origin: Origin;
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  readonly loadBalancerIP: string | null;
  readonly ingressIPs: readonly string[];
  readonly externalTrafficPolicy: 'Cluster' | 'Local';
  readonly families: readonly Family[];
}

export interface EndpointSliceResource {
  readonly origin: Origin;
  readonly namespace: string;
  readonly name: string;
  /** From the label `kubernetes.io/service-name`; null when it has none. */
  readonly service: string | null;
  readonly family: Family | null;
  readonly endpoints: readonly { readonly nodeName: string | null; readonly ready: boolean }[];
}

export interface SecretResource {
  readonly origin: Origin;
  readonly namespace: string;
  readonly name: string;
  /** Decoded values. Never logged. */
  readonly data: Readonly<Record<string, string>>;
}

/** A local workload's status file, written by Felix. */
export interface EndpointStatusResource {
  readonly origin: Origin;
  readonly bgpPeerName: string;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

/** A stored object that could not be used, alone. */
export interface Quarantined {
  readonly kind: ResourceKind;
  readonly name: string;
  readonly key: string;
  /** Path of the first bad field, `spec.peerIP`; null when the value is not even JSON. */
  readonly field: string | null;
  /** One line: what is wrong and what is allowed. Holds no secret. */
  readonly message: string;
  /** `conflict`: valid by itself, but another object has the same claim and wins; its last good version is not used. */
  readonly reason: 'invalid' | 'conflict';
  /** True when the last good version stands in for it. */
  readonly lastGoodUsed: boolean;
}

export interface ResourceByKind {
  readonly Node: NodeResource;
  readonly BGPConfiguration: BgpConfigurationResource;
  readonly BGPPeer: BgpPeerResource;
  readonly BGPFilter: BgpFilterResource;
  readonly IPPool: IpPoolResource;
  readonly BlockAffinity: BlockAffinityResource;
  readonly Service: ServiceResource;
  readonly EndpointSlice: EndpointSliceResource;
  readonly Secret: SecretResource;
  readonly EndpointStatus: EndpointStatusResource;
}

export type Resource = ResourceByKind[ResourceKind];

/**
 * Everything the model reads, indexed. Arrays are sorted by name (blocks and pools by CIDR key text); each array and map
 * is the same object as in the previous cluster while nothing in it changed.
 */
export interface Cluster {
  readonly nodes: readonly NodeResource[];
  readonly nodeByName: ReadonlyMap<string, NodeResource>;
  /** Canonical address (either family) → nodes that have it. More than one is a user's mistake and is reported. */
  readonly nodesByAddress: ReadonlyMap<string, readonly NodeResource[]>;
  readonly peers: readonly BgpPeerResource[];
  readonly defaultConfig: BgpConfigurationResource | null;
  readonly nodeConfigs: ReadonlyMap<string, BgpConfigurationResource>;
  readonly filters: ReadonlyMap<string, BgpFilterResource>;
  readonly pools: readonly IpPoolResource[];
  /** Only of the nodes whose affinities are watched (this one). */
  readonly blocks: readonly BlockAffinityResource[];
  readonly services: readonly ServiceResource[];
  readonly endpointSlices: readonly EndpointSliceResource[];
  readonly secrets: ReadonlyMap<string, SecretResource>;
  readonly endpointStatuses: readonly EndpointStatusResource[];
  readonly quarantined: readonly Quarantined[];
}
