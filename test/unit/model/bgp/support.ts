import { type Computation, computeNode } from '../../../../src/model/bgp/compute.ts';
import { type ModelOptions, modelOptions } from '../../../../src/model/bgp/options.ts';
import type { Session } from '../../../../src/model/bgp/types.ts';
import type {
  BgpConfigurationResource,
  BgpFilterResource,
  BgpFilterRule,
  BgpPeerResource,
  BlockAffinityResource,
  Cluster,
  EndpointSliceResource,
  EndpointStatusResource,
  Family,
  IpPoolResource,
  NodeResource,
  Origin,
  ResourceKind,
  SecretResource,
  ServiceResource,
} from '../../../../src/model/calico/types.ts';

/** Resources with defaults for what a test does not care about. */
function origin(kind: ResourceKind, name: string): Origin {
  return { kind, name, key: `/test/${kind}/${name}`, lastGood: false };
}

/** `v4` and `v6` are written as in a Node: `10.0.0.1/24`, or without a length. */
export function node(
  name: string,
  v4: string | null,
  more: Partial<Omit<NodeResource, 'ipv4' | 'ipv6'>> & { readonly v6?: string } = {},
): NodeResource {
  const { v6, ...rest } = more;
  return {
    origin: origin('Node', name),
    name,
    labels: {},
    hasBgp: true,
    asNumber: null,
    ipv4: v4 === null ? null : address(v4),
    ipv6: v6 === undefined ? null : address(v6),
    clusterId: null,
    wireguardIpv4: null,
    wireguardIpv6: null,
    podCidrs: [],
    ...rest,
  };
}

function address(text: string): { address: string; length: number } {
  const [host, length] = text.split('/');
  return { address: host!, length: Number(length ?? (host!.includes(':') ? 128 : 32)) };
}

export function peer(name: string, more: Partial<BgpPeerResource> = {}): BgpPeerResource {
  return {
    origin: origin('BGPPeer', name),
    name,
    node: null,
    nodeSelector: null,
    peerAddress: null,
    peerPort: null,
    peerSelector: null,
    localWorkloadSelector: null,
    asNumber: null,
    localAsNumber: null,
    keepOriginalNextHop: false,
    nextHopMode: null,
    password: null,
    sourceAddress: 'UseNodeIP',
    maxRestartTime: null,
    keepaliveTime: null,
    numAllowedLocalAs: null,
    ttlSecurityHops: null,
    reachableBy: null,
    filters: [],
    reversePeering: 'Auto',
    ...more,
  };
}

export function config(more: Partial<BgpConfigurationResource> = {}): BgpConfigurationResource {
  const name = more.node ? `node.${more.node}` : 'default';
  return {
    origin: origin('BGPConfiguration', name),
    name,
    node: null,
    logSeverity: null,
    meshEnabled: null,
    asNumber: null,
    listenPort: null,
    bindMode: null,
    meshPassword: null,
    meshMaxRestartTime: null,
    ignoredInterfaces: null,
    prefixAdvertisements: null,
    communities: null,
    serviceClusterIPs: null,
    serviceExternalIPs: null,
    serviceLoadBalancerIPs: null,
    serviceLoadBalancerAggregation: null,
    programClusterRoutes: null,
    ipv4NormalRoutePriority: null,
    ipv6NormalRoutePriority: null,
    ...more,
  };
}

export function rule(more: Partial<BgpFilterRule> = {}): BgpFilterRule {
  return {
    cidr: null,
    matchOperator: null,
    prefixLength: null,
    source: null,
    interface: null,
    peerType: null,
    community: null,
    asPathPrefix: null,
    priority: null,
    action: 'Accept',
    operations: [],
    ...more,
  };
}

export function filter(name: string, rules: Partial<BgpFilterResource> = {}): BgpFilterResource {
  return {
    origin: origin('BGPFilter', name),
    name,
    importV4: [],
    exportV4: [],
    importV6: [],
    exportV6: [],
    ...rules,
  };
}

export function pool(name: string, cidr: string, more: Partial<IpPoolResource> = {}): IpPoolResource {
  return {
    origin: origin('IPPool', name),
    name,
    family: familyOf(cidr),
    cidr,
    ipipMode: 'Never',
    vxlanMode: 'Never',
    disableBgpExport: false,
    ...more,
  };
}

export function block(
  nodeName: string,
  cidr: string,
  state: BlockAffinityResource['state'] = 'confirmed',
): BlockAffinityResource {
  return {
    origin: origin('BlockAffinity', cidr),
    node: nodeName,
    family: familyOf(cidr),
    cidr,
    state,
    implicit: false,
  };
}

export function secret(name: string, data: Readonly<Record<string, string>>): SecretResource {
  return { origin: origin('Secret', name), namespace: 'kube-system', name, data };
}

export function service(name: string, more: Partial<ServiceResource> = {}): ServiceResource {
  return {
    origin: origin('Service', name),
    namespace: 'default',
    name,
    type: 'ClusterIP',
    clusterIPs: [],
    externalIPs: [],
    loadBalancerIP: null,
    ingressIPs: [],
    externalTrafficPolicy: 'Local',
    families: [4],
    ...more,
  };
}

export function slice(
  serviceName: string,
  endpoints: EndpointSliceResource['endpoints'],
  more: Partial<EndpointSliceResource> = {},
): EndpointSliceResource {
  const name = `${serviceName}-x`;
  return {
    origin: origin('EndpointSlice', name),
    namespace: 'default',
    name,
    service: serviceName,
    family: 4,
    endpoints,
    ...more,
  };
}

export function endpointStatus(
  bgpPeerName: string,
  ipv4: string | null,
  ipv6: string | null = null,
): EndpointStatusResource {
  return { origin: origin('EndpointStatus', bgpPeerName), bgpPeerName, ipv4, ipv6 };
}

/** A cluster of resources, indexed as the parser does it. */
export function cluster(parts: {
  readonly nodes?: readonly NodeResource[];
  readonly peers?: readonly BgpPeerResource[];
  readonly configs?: readonly BgpConfigurationResource[];
  readonly filters?: readonly BgpFilterResource[];
  readonly pools?: readonly IpPoolResource[];
  readonly blocks?: readonly BlockAffinityResource[];
  readonly services?: readonly ServiceResource[];
  readonly slices?: readonly EndpointSliceResource[];
  readonly secrets?: readonly SecretResource[];
  readonly statuses?: readonly EndpointStatusResource[];
}): Cluster {
  const nodes = byName(parts.nodes ?? []);
  const configs = parts.configs ?? [];
  return {
    nodes,
    nodeByName: new Map(nodes.map((n) => [n.name, n])),
    nodesByAddress: addresses(nodes),
    peers: byName(parts.peers ?? []),
    defaultConfig: configs.find((c) => c.node === null) ?? null,
    nodeConfigs: new Map(configs.filter((c) => c.node !== null).map((c) => [c.node!, c])),
    filters: new Map(byName(parts.filters ?? []).map((f) => [f.name, f])),
    pools: parts.pools ?? [],
    blocks: parts.blocks ?? [],
    services: parts.services ?? [],
    endpointSlices: parts.slices ?? [],
    secrets: new Map((parts.secrets ?? []).map((s) => [`${s.namespace}/${s.name}`, s])),
    endpointStatuses: parts.statuses ?? [],
    quarantined: [],
  };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): readonly T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function addresses(nodes: readonly NodeResource[]): ReadonlyMap<string, readonly NodeResource[]> {
  const map = new Map<string, NodeResource[]>();
  for (const n of nodes)
    for (const a of [n.ipv4?.address, n.ipv6?.address])
      if (a !== undefined) map.set(a, [...(map.get(a) ?? []), n]);
  return map;
}

function familyOf(cidr: string): Family {
  return cidr.includes(':') ? 6 : 4;
}

export function compute(
  parts: Parameters<typeof cluster>[0] | Cluster,
  nodeName = 'a',
  options: Partial<ModelOptions> = {},
): Computation {
  const { dialect, ...changes } = options;
  const whole = 'nodeByName' in parts ? parts : cluster(parts);
  return computeNode(whole, nodeName, modelOptions(dialect ?? 'bird1', changes));
}

export function model(
  parts: Parameters<typeof compute>[0],
  nodeName?: string,
  options?: Partial<ModelOptions>,
) {
  return compute(parts, nodeName, options).model;
}

/** Names of the sessions of a node, both families. */
export function sessionNames(computation: Computation): readonly string[] {
  return allSessions(computation).map((session) => session.name);
}

export function allSessions({ model: { ipv4, ipv6 } }: Computation): readonly Session[] {
  return [...ipv4.sessions, ...ipv6.sessions];
}

export function onlySession(computation: Computation): Session {
  const sessions = allSessions(computation);
  if (sessions.length !== 1)
    throw new Error(`one session expected, not ${sessionNames(computation).join(', ')}`);
  return sessions[0]!;
}

export function problemIds(computation: Computation): readonly string[] {
  return computation.model.problems.map((problem) => problem.id);
}
