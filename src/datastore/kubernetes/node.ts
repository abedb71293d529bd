import { isIP, isIPv4 } from 'node:net';
import { canonicalNetwork } from '../keys.ts';
import { compact, isObject, type JsonObject, objectAt, textAt, textMembers } from './shape.ts';

export interface NodeOptions {
  /**
   * USE_POD_CIDR: host-local IPAM gives each node the pods of `spec.podCIDR`, and the tunnel address is the first address
   * of that range. Default false.
   */
  readonly usePodCidr?: boolean;
}

const ANNOTATION = 'projectcalico.org/';

/**
 * A core/v1 Node as the Calico Node that Calico makes of it (libcalico-go `lib/backend/k8s/resources/node.go`,
 * `K8sNodeToCalico`): BGP settings from annotations, where an invalid one counts as unset; labels from the annotation
 * `projectcalico.org/labels` with the Kubernetes labels over them; `status.podCIDRs` from the spec. Everything else, such
 * as the conditions that every heartbeat rewrites, is left out, so that the result changes only when its meaning does.
 */
export function calicoNode(node: JsonObject, options: NodeOptions = {}): JsonObject {
  const metadata = objectAt(node, 'metadata');
  const annotations = textMembers(metadata['annotations']);
  const spec = objectAt(node, 'spec');
  const tunnel = options.usePodCidr === true ? podTunnelAddress(textAt(spec, 'podCIDR')) : undefined;
  return {
    kind: 'Node',
    apiVersion: 'projectcalico.org/v3',
    metadata: compact({
      name: textAt(metadata, 'name'),
      uid: metadata['uid'],
      creationTimestamp: metadata['creationTimestamp'],
      labels: { ...jsonMap(annotations, 'labels'), ...textMembers(metadata['labels']) },
      annotations: jsonMap(annotations, 'annotations'),
    }),
    spec: compact({ bgp: bgpSpec(annotations, tunnel), wireguard: wireguardSpec(annotations, tunnel) }),
    ...nodeStatus(annotations, spec['podCIDRs']),
  };
}

function bgpSpec(annotations: Readonly<Record<string, string>>, tunnel: string | undefined): JsonObject {
  return compact({
    ipv4Address: annotation(annotations, 'IPv4Address', (text) => isInterfaceAddress(text, 4)),
    ipv6Address: annotation(annotations, 'IPv6Address', (text) => isInterfaceAddress(text, 6)),
    ipv4IPIPTunnelAddr: tunnel ?? annotation(annotations, 'IPv4IPIPTunnelAddr', isIPv4),
    asNumber: asNumber(annotations[`${ANNOTATION}ASNumber`]),
    routeReflectorClusterID: annotation(annotations, 'RouteReflectorClusterID', isIPv4),
  });
}

function wireguardSpec(
  annotations: Readonly<Record<string, string>>,
  tunnel: string | undefined,
): JsonObject {
  if (tunnel !== undefined) {
    return compact({ interfaceIPv4Address: annotations[`${ANNOTATION}WireguardPublicKey`] && tunnel });
  }
  return compact({
    interfaceIPv4Address: annotation(annotations, 'IPv4WireguardInterfaceAddr', isIPv4),
    interfaceIPv6Address: annotation(annotations, 'IPv6WireguardInterfaceAddr', (text) => isIP(text) === 6),
  });
}

function nodeStatus(annotations: Readonly<Record<string, string>>, podCidrs: unknown): JsonObject {
  const status = compact({
    wireguardPublicKey: annotations[`${ANNOTATION}WireguardPublicKey`],
    wireguardPublicKeyV6: annotations[`${ANNOTATION}WireguardPublicKeyV6`],
    podCIDRs: Array.isArray(podCidrs) ? podCidrs.filter((cidr) => typeof cidr === 'string') : undefined,
  });
  return compact({ status });
}

function annotation(
  annotations: Readonly<Record<string, string>>,
  name: string,
  isValid: (text: string) => boolean,
): string | undefined {
  const value = annotations[ANNOTATION + name];
  return value !== undefined && isValid(value) ? value : undefined;
}

/** An annotation that holds a JSON map of text; empty where it is absent or broken. */
function jsonMap(annotations: Readonly<Record<string, string>>, name: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(annotations[ANNOTATION + name] ?? '{}');
    return isObject(value) ? textMembers(value) : {};
  } catch {
    return {};
  }
}

/** An address with or without its network, as Calico takes it for a node. */
function isInterfaceAddress(text: string, family: 4 | 6): boolean {
  return text.includes('/') ? canonicalNetwork(text)?.family === family : isIP(text) === family;
}

/** Plain decimal or asdot (`1.10`, both halves 16 bit); undefined when it is neither. */
function asNumber(text: string | undefined): number | undefined {
  const match = /^(\d{1,10})(?:\.(\d{1,5}))?$/.exec(text ?? '');
  if (match === null) return undefined;
  const [high, low] = [Number(match[1]), match[2] === undefined ? undefined : Number(match[2])];
  if (low === undefined) return high <= 0xffff_ffff ? high : undefined;
  return high <= 0xffff && low <= 0xffff ? high * 0x1_0000 + low : undefined;
}

/** The first address of an IPv4 pod range; undefined for IPv6 or nonsense, for which Calico has no tunnel address. */
function podTunnelAddress(podCidr: string): string | undefined {
  if (canonicalNetwork(podCidr)?.family !== 4) return undefined;
  const address = podCidr.slice(0, podCidr.indexOf('/'));
  const dot = address.lastIndexOf('.');
  return `${address.slice(0, dot)}.${(Number(address.slice(dot + 1)) + 1) & 0xff}`;
}
