import {
  asNumber,
  each,
  FieldError,
  MAX_RESTART_TIME,
  network,
  optional,
  orNull,
  seconds,
  secretKeyRef,
} from './fields.ts';
import { isCommunityLiteral, parseCommunity } from './scalars.ts';
import type { StoredValue } from './schemas/all.ts';
import type {
  BgpConfigurationResource,
  ClusterRouteProgramming,
  Origin,
  PrefixAdvertisement,
} from './types.ts';

const PER_NODE = 'node.';

export function convertBgpConfiguration(
  stored: StoredValue<'BGPConfiguration'>,
  origin: Origin,
): BgpConfigurationResource {
  const { name } = origin;
  const spec = stored.spec ?? {};
  if (name !== 'default' && !(name.startsWith(PER_NODE) && name.length > PER_NODE.length))
    throw new FieldError('metadata.name', 'must be "default" or "node.NODENAME"; others have no effect');
  return {
    origin,
    name,
    node: name === 'default' ? null : name.slice(PER_NODE.length),
    logSeverity: orNull(spec.logSeverityScreen),
    meshEnabled: orNull(spec.nodeToNodeMeshEnabled),
    asNumber: asNumber(spec.asNumber, 'spec.asNumber'),
    listenPort: orNull(spec.listenPort),
    bindMode: orNull(spec.bindMode),
    meshPassword: secretKeyRef(spec.nodeMeshPassword, 'spec.nodeMeshPassword'),
    meshMaxRestartTime: seconds(
      spec.nodeMeshMaxRestartTime,
      'spec.nodeMeshMaxRestartTime',
      0,
      MAX_RESTART_TIME,
    ),
    ignoredInterfaces: each(spec.ignoredInterfaces, 'spec.ignoredInterfaces', ignoredInterface),
    prefixAdvertisements: prefixAdvertisements(spec.prefixAdvertisements),
    communities: each(spec.communities, 'spec.communities', namedCommunity),
    serviceClusterIPs: serviceNetworks(spec.serviceClusterIPs, 'spec.serviceClusterIPs'),
    serviceExternalIPs: serviceNetworks(spec.serviceExternalIPs, 'spec.serviceExternalIPs'),
    serviceLoadBalancerIPs: serviceNetworks(spec.serviceLoadBalancerIPs, 'spec.serviceLoadBalancerIPs'),
    serviceLoadBalancerAggregation: orNull(spec.serviceLoadBalancerAggregation),
    programClusterRoutes: clusterRouteProgramming(spec.programClusterRoutes),
    ipv4NormalRoutePriority: orNull(spec.ipv4NormalRoutePriority),
    ipv6NormalRoutePriority: orNull(spec.ipv6NormalRoutePriority),
  };
}

function ignoredInterface(pattern: string, field: string): string {
  if (pattern === '') throw new FieldError(field, 'must not be empty');
  if (pattern === '*') throw new FieldError(field, '"*" would ignore every interface');
  return pattern;
}

interface StoredAdvertisement {
  readonly cidr?: string | null | undefined;
  readonly communities?: readonly (string | null)[] | null | undefined;
}

/** Without those that name no network: Calico drops them. */
function prefixAdvertisements(
  stored: readonly (StoredAdvertisement | null)[] | null | undefined,
): readonly PrefixAdvertisement[] | null {
  const converted = each(stored, 'spec.prefixAdvertisements', (entry: StoredAdvertisement, field) => {
    const cidr = network(entry.cidr, `${field}.cidr`);
    const communities = each(entry.communities, `${field}.communities`, communityOrName) ?? [];
    return cidr === null ? null : { cidr, communities };
  });
  return converted?.filter((entry) => entry !== null) ?? null;
}

function communityOrName(text: string, field: string): string {
  if (isCommunityLiteral(text)) optional(text, field, parseCommunity);
  return text;
}

interface StoredCommunity {
  readonly name?: string | null | undefined;
  readonly value?: string | null | undefined;
}

function namedCommunity(stored: StoredCommunity, field: string): { name: string; value: string } {
  if (!stored.name) throw new FieldError(`${field}.name`, 'is missing');
  if (!stored.value) throw new FieldError(`${field}.value`, 'is missing: "a:b" or "a:b:c" is expected');
  optional(stored.value, `${field}.value`, parseCommunity);
  return { name: stored.name, value: stored.value };
}

function serviceNetworks(
  stored: readonly ({ readonly cidr?: string | null | undefined } | null)[] | null | undefined,
  field: string,
): readonly string[] | null {
  const converted = each(stored, field, (entry, at) => network(entry.cidr, `${at}.cidr`));
  return converted?.filter((cidr) => cidr !== null) ?? null;
}

const CLUSTER_ROUTE_PROGRAMMING: ReadonlySet<string> = new Set<ClusterRouteProgramming>([
  'Disabled',
  'EnabledNoEncapOnly',
  'EnabledIPIPOnly',
  'Enabled',
]);

/** An unknown value means the default, by Calico's design of the field (it must agree with Felix, which does the same). */
function clusterRouteProgramming(value: string | null | undefined): ClusterRouteProgramming | null {
  return CLUSTER_ROUTE_PROGRAMMING.has(value ?? '') ? (value as ClusterRouteProgramming) : null;
}
