// Calico's resources, as users write them, as the objects that Calico keeps in Kubernetes. The reverse of what birdfeed
// does, written for the tests from Calico's side.

import { createHash } from 'node:crypto';

/** Calico's API groups, each with the version that it has. */
export const GROUPS = ['crd.projectcalico.org/v1', 'projectcalico.org/v3'];

const CALICO_PLURALS = {
  BGPPeer: 'bgppeers',
  BGPConfiguration: 'bgpconfigurations',
  BGPFilter: 'bgpfilters',
  IPPool: 'ippools',
  BlockAffinity: 'blockaffinities',
};
const KUBERNETES_PLURALS = { Service: 'services', EndpointSlice: 'endpointslices', Secret: 'secrets' };

/** The custom resource definitions of a group, with as little schema as the API server takes. */
export function definitions(group) {
  const [name, version] = group.split('/');
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } };
  return Object.entries(CALICO_PLURALS).map(([kind, plural]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${name}`,
      // Groups of *.k8s.io need an approval; Calico's need none.
    },
    spec: {
      group: name,
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }));
}

/** Collections that hold what is loaded, by path. */
export function collections(group) {
  return [
    '/api/v1/nodes',
    ...Object.values(CALICO_PLURALS).map((plural) => `/apis/${group}/${plural}`),
    '/api/v1/services',
    '/apis/discovery.k8s.io/v1/endpointslices',
    '/api/v1/secrets',
  ];
}

/** What is to be written for a resource: the path of its collection, and the object. Null: nothing of it is kept here. */
export function toKubernetes(resource, group) {
  const { kind, apiVersion } = resource;
  if (kind === 'Node' && apiVersion.startsWith('projectcalico.org/'))
    return { path: '/api/v1/nodes', object: node(resource) };
  if (kind === 'Node') return { path: '/api/v1/nodes', object: resource };
  const plural = CALICO_PLURALS[kind];
  if (plural !== undefined) {
    const object = kind === 'BlockAffinity' ? affinity(resource, group) : resource;
    const { metadata } = object;
    return {
      path: `/apis/${group}/${plural}`,
      object: { ...object, apiVersion: group, spec: object.spec ?? {}, metadata: withTextLabels(metadata) },
    };
  }
  return kind in KUBERNETES_PLURALS ? namespaced(resource) : null;
}

function namespaced(resource) {
  const { kind, apiVersion } = resource;
  const namespace = resource.metadata.namespace ?? (kind === 'Secret' ? 'kube-system' : 'default');
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const metadata = withTextLabels({ ...resource.metadata, namespace });
  // Two addresses make a Service of two families, which the API server wants to be told.
  const isDual = kind === 'Service' && (resource.spec?.clusterIPs ?? []).length > 1;
  const spec = isDual ? { ipFamilyPolicy: 'PreferDualStack', ...resource.spec } : resource.spec;
  return {
    path: `${root}/namespaces/${namespace}/${KUBERNETES_PLURALS[kind]}`,
    object: { ...resource, metadata, ...(spec === undefined ? {} : { spec }) },
  };
}

function node({ metadata, spec, status }) {
  const bgp = spec?.bgp ?? {};
  const wireguard = spec?.wireguard ?? {};
  const labels = Object.entries(textValues(metadata.labels));
  const others = labels.filter(([name, value]) => !isLabel(name, value));
  const calico = {
    IPv4Address: bgp.ipv4Address,
    IPv6Address: bgp.ipv6Address,
    ASNumber: bgp.asNumber,
    RouteReflectorClusterID: bgp.routeReflectorClusterID,
    IPv4IPIPTunnelAddr: bgp.ipv4IPIPTunnelAddr,
    IPv4WireguardInterfaceAddr: wireguard.interfaceIPv4Address,
    IPv6WireguardInterfaceAddr: wireguard.interfaceIPv6Address,
    WireguardPublicKey: status?.wireguardPublicKey,
    labels: others.length === 0 ? undefined : JSON.stringify(Object.fromEntries(others)),
  };
  const annotations = Object.entries(calico)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [`projectcalico.org/${name}`, String(value)]);
  const podCIDRs = status?.podCIDRs;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: metadata.name,
      labels: Object.fromEntries(labels.filter(([name, value]) => isLabel(name, value))),
      annotations: Object.fromEntries(annotations),
    },
    spec: podCIDRs === undefined ? {} : { podCIDRs, podCIDR: podCIDRs[0] },
  };
}

/** What Kubernetes takes for a label: the rest goes into Calico's annotation. */
function isLabel(name, value) {
  const part = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)$/;
  const [last, prefix, ...more] = name.split('/').reverse();
  const isName =
    part.test(last) && more.length === 0 && (prefix === undefined || /^[a-z0-9.-]+$/.test(prefix));
  return isName && (value === '' || part.test(value));
}

/** Calico writes labels by which an affinity is found; the older group has `deleted` as text. */
function affinity(resource, group) {
  const { spec } = resource;
  const isOld = group === GROUPS[0];
  const hash = base32(createHash('sha3-256').update(spec.node).digest());
  return {
    ...resource,
    metadata: {
      ...resource.metadata,
      labels: {
        'projectcalico.org/hostname-hash': hash,
        'projectcalico.org/affinity-type': spec.type ?? 'host',
        'projectcalico.org/ip-version': spec.cidr.includes(':') ? '6' : '4',
      },
    },
    spec: { ...spec, deleted: isOld ? String(spec.deleted ?? false) : (spec.deleted ?? false) },
  };
}

function base32(bytes) {
  let number = BigInt(`0x${bytes.toString('hex')}`) << BigInt((5 - ((bytes.length * 8) % 5)) % 5);
  let text = '';
  for (; text.length < Math.ceil((bytes.length * 8) / 5); number >>= 5n)
    text = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number(number & 31n)] + text;
  return text;
}

function withTextLabels(metadata) {
  return metadata.labels === undefined ? metadata : { ...metadata, labels: textValues(metadata.labels) };
}

function textValues(map) {
  return Object.fromEntries(Object.entries(map ?? {}).map(([name, value]) => [name, String(value)]));
}
