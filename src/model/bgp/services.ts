import { byText } from '../../core/order.ts';
import { contains, familyOf, hostNetwork, isSingle, parseCidr } from '../calico/ip.ts';
import type {
  Cluster,
  EndpointSliceResource,
  Family,
  NodeResource,
  ServiceResource,
} from '../calico/types.ts';
import type { ModelOptions } from './options.ts';

/** What this node does about service addresses in one family. CIDRs, sorted. */
export interface ServiceRoutes {
  /** Originated and exported by this node. */
  readonly advertised: readonly string[];
  /** Never programmed into the kernel: traffic for them is kube-proxy's. */
  readonly keptFromKernel: readonly string[];
  /** Ranges whose single addresses a route reflector passes on. */
  readonly reflected: readonly string[];
}

interface Ranges {
  readonly cluster: readonly string[];
  readonly external: readonly string[];
  readonly loadBalancer: readonly string[];
  readonly aggregate: boolean;
}

const EXCLUDE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
const TYPES: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer']);

/** Whether anything about services is configured, so that Services and EndpointSlices are worth reading. */
export function wantsServices(cluster: Cluster, options: ModelOptions): boolean {
  const ranges = serviceRanges(cluster, options);
  return ranges.cluster.length + ranges.external.length + ranges.loadBalancer.length > 0;
}

export function serviceRoutes(
  cluster: Cluster,
  nodeName: string,
  node: NodeResource | undefined,
  options: ModelOptions,
): { readonly ipv4: ServiceRoutes; readonly ipv6: ServiceRoutes } {
  const ranges = serviceRanges(cluster, options);
  const excluded = node?.labels[EXCLUDE_LABEL] === 'true';
  const several = (cidrs: readonly string[]): readonly string[] => cidrs.filter((cidr) => !isSingle(cidr));
  const loadBalancer = several(ranges.loadBalancer);
  const aggregated = [
    ...ranges.cluster,
    ...several(ranges.external),
    ...(ranges.aggregate ? loadBalancer : []),
  ];
  const single = excluded ? [] : advertisedAddresses(cluster, ranges, nodeName, options);
  const advertised = excluded ? [] : [...aggregated, ...single];
  const kept = [
    ...(options.compat.unaggregatedRangesReachKernel ? aggregated : [...aggregated, ...loadBalancer]),
    ...(options.compat.serviceBlackholesReachKernel ? [] : single),
  ];
  const reflected = [...ranges.loadBalancer, ...ranges.external];
  const inFamily = (family: Family): ServiceRoutes => ({
    advertised: sortedIn(family, advertised),
    keptFromKernel: withoutCovered(sortedIn(family, kept)),
    reflected: reflected.filter((cidr) => familyOf(cidr) === family),
  });
  return { ipv4: inFamily(4), ipv6: inFamily(6) };
}

function serviceRanges(cluster: Cluster, options: ModelOptions): Ranges {
  const config = cluster.defaultConfig;
  const override = options.advertiseClusterIPs === null ? null : parseCidr(options.advertiseClusterIPs);
  return {
    cluster: override?.ok ? [override.value.text] : (config?.serviceClusterIPs ?? []),
    external: config?.serviceExternalIPs ?? [],
    loadBalancer: config?.serviceLoadBalancerIPs ?? [],
    aggregate: config?.serviceLoadBalancerAggregation !== 'Disabled',
  };
}

/** Host routes of the services that this node answers for by itself. */
function advertisedAddresses(
  cluster: Cluster,
  ranges: Ranges,
  nodeName: string,
  options: ModelOptions,
): readonly string[] {
  if (ranges.cluster.length + ranges.external.length + ranges.loadBalancer.length === 0) return [];
  const slices = slicesByService(cluster.endpointSlices);
  const localName = options.kubernetesNodeName ?? nodeName;
  return cluster.services
    .filter((service) =>
      isAdvertised(service, slices.get(`${service.namespace}/${service.name}`) ?? [], ranges, localName),
    )
    .flatMap((service) => serviceAddresses(service, ranges, options))
    .map(hostNetwork);
}

function slicesByService(
  slices: readonly EndpointSliceResource[],
): ReadonlyMap<string, readonly EndpointSliceResource[]> {
  const byService = new Map<string, EndpointSliceResource[]>();
  for (const slice of slices) {
    if (slice.service === null) continue;
    const key = `${slice.namespace}/${slice.service}`;
    const list = byService.get(key);
    if (list === undefined) byService.set(key, [slice]);
    else list.push(slice);
  }
  return byService;
}

/**
 * Calico's rule. A service that any node may take traffic for (policy Cluster) is covered by the ranges all nodes advertise,
 * unless its address is configured as a single address or load balancer ranges are not aggregated.
 */
function isAdvertised(
  service: ServiceResource,
  slices: readonly EndpointSliceResource[],
  ranges: Ranges,
  nodeName: string,
): boolean {
  if (!TYPES.has(service.type) || service.clusterIPs.length === 0) return false;
  const local = service.externalTrafficPolicy === 'Local';
  if (!local && hasSingleAddress(service, ranges)) return true;
  if (!local && ranges.aggregate) return false;
  return slices.some(
    (slice) =>
      slice.family !== null &&
      service.families.includes(slice.family) &&
      slice.endpoints.some((endpoint) => endpoint.ready && (!local || endpoint.nodeName === nodeName)),
  );
}

function hasSingleAddress(service: ServiceResource, ranges: Ranges): boolean {
  const loadBalancerIPs =
    service.type === 'LoadBalancer' ? [...present(service.loadBalancerIP), ...service.ingressIPs] : [];
  return (
    loadBalancerIPs.some((address) => isWithin(address, ranges.loadBalancer.filter(isSingle))) ||
    service.externalIPs.some((address) => isWithin(address, ranges.external.filter(isSingle)))
  );
}

function serviceAddresses(
  service: ServiceResource,
  ranges: Ranges,
  options: ModelOptions,
): readonly string[] {
  const unchecked = options.compat.serviceClusterIPsUnchecked && ranges.cluster.length > 0;
  return [
    ...service.clusterIPs.filter((address) => unchecked || isWithin(address, ranges.cluster)),
    ...service.externalIPs.filter((address) => isWithin(address, ranges.external)),
    ...service.ingressIPs.filter((address) => isWithin(address, ranges.loadBalancer)),
  ];
}

function isWithin(address: string, ranges: readonly string[]): boolean {
  return ranges.some((range) => contains(range, address));
}

function sortedIn(family: Family, cidrs: readonly string[]): readonly string[] {
  return [...new Set(cidrs)].filter((cidr) => familyOf(cidr) === family).sort(byText);
}

/** Drops what a shorter prefix of the list covers anyway, so that thousands of services do not make a long list. */
function withoutCovered(cidrs: readonly string[]): readonly string[] {
  const ranges = cidrs.filter((cidr) => !isSingle(cidr));
  return cidrs.filter((cidr) => !isSingle(cidr) || !isWithin(cidr, ranges));
}

function present<T>(value: T | null): readonly T[] {
  return value === null ? [] : [value];
}
