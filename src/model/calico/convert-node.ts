import {
  address,
  asNumber,
  each,
  endpointAndLength,
  FieldError,
  network,
  optional,
  orNull,
} from './fields.ts';
import { parseCidr } from './ip.ts';
import { quoted } from './result.ts';
import { parseClusterId } from './scalars.ts';
import type { StoredValue } from './schemas/all.ts';
import type {
  BlockAffinityResource,
  EndpointStatusResource,
  Family,
  IpPoolResource,
  NodeResource,
  Origin,
} from './types.ts';

const NO_LABELS: Readonly<Record<string, string>> = {};

/**
 * Stored values that their schema has accepted, as resources. Each function throws FieldError for the first field that
 * cannot be used. Semantics: Calico's API reference (projectcalico.org/v3).
 */
export function convertNode(stored: StoredValue<'Node'>, origin: Origin): NodeResource {
  const bgp = stored.spec?.bgp ?? null;
  const wireguard = stored.spec?.wireguard;
  return {
    origin,
    name: origin.name,
    labels: stored.metadata?.labels ?? NO_LABELS,
    hasBgp: bgp !== null,
    asNumber: asNumber(bgp?.asNumber, 'spec.bgp.asNumber'),
    ipv4: endpointAndLength(bgp?.ipv4Address, 'spec.bgp.ipv4Address', 4),
    ipv6: endpointAndLength(bgp?.ipv6Address, 'spec.bgp.ipv6Address', 6),
    clusterId: optional(bgp?.routeReflectorClusterID, 'spec.bgp.routeReflectorClusterID', parseClusterId),
    wireguardIpv4: address(wireguard?.interfaceIPv4Address, 'spec.wireguard.interfaceIPv4Address', 4),
    wireguardIpv6: address(wireguard?.interfaceIPv6Address, 'spec.wireguard.interfaceIPv6Address', 6),
    podCidrs: networks(stored.status?.podCIDRs, 'status.podCIDRs') ?? [],
  };
}

export function convertIpPool(stored: StoredValue<'IPPool'>, origin: Origin): IpPoolResource {
  const spec = stored.spec ?? {};
  const cidr = optional(spec.cidr, 'spec.cidr', parseCidr);
  if (cidr === null) throw new FieldError('spec.cidr', 'is missing');
  return {
    origin,
    name: origin.name,
    family: cidr.family,
    cidr: cidr.text,
    ipipMode: orNull(spec.ipipMode) ?? 'Never',
    vxlanMode: orNull(spec.vxlanMode) ?? 'Never',
    disableBgpExport: spec.disableBGPExport ?? false,
  };
}

/**
 * A node's claim on a block of addresses; all but its state is in the key. Null when it is being deleted (`deleted` is
 * text in one of Calico's API groups, a bool elsewhere).
 */
export function convertBlockAffinity(
  stored: StoredValue<'BlockAffinity'>,
  origin: Origin,
  key: { readonly node: string; readonly family: Family; readonly cidr: string },
): BlockAffinityResource | null {
  const cidr = parseCidr(key.cidr);
  if (!cidr.ok) throw new FieldError('', `the key names no network: ${cidr.reason}`);
  if (cidr.value.family !== key.family)
    throw new FieldError('', `the key has the network ${quoted(key.cidr)} under ipv${key.family}`);
  if (stored.deleted === true || stored.deleted === 'true') return null;
  return {
    origin,
    node: key.node,
    family: cidr.value.family,
    cidr: cidr.value.text,
    state: stored.state || 'confirmed',
    implicit: !stored.state,
  };
}

/** Null when no BGPPeer is meant: Felix writes such a file for every workload. Only the first network of a family counts. */
export function convertEndpointStatus(
  stored: StoredValue<'EndpointStatus'>,
  origin: Origin,
): EndpointStatusResource | null {
  if (!stored.bgpPeerName) return null;
  return {
    origin,
    bgpPeerName: stored.bgpPeerName,
    ipv4: endpointAndLength(stored.ipv4Nets?.[0], 'ipv4Nets[0]', 4)?.address ?? null,
    ipv6: endpointAndLength(stored.ipv6Nets?.[0], 'ipv6Nets[0]', 6)?.address ?? null,
  };
}

function networks(
  values: readonly (string | null)[] | null | undefined,
  field: string,
): readonly string[] | null {
  const converted = each(values, field, (value, at) => network(value, at));
  return converted?.filter((cidr) => cidr !== null) ?? null;
}
