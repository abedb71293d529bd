import ipaddr from 'ipaddr.js';

/**
 * The one key space. Every source delivers its objects under these keys, so that the model reads the same thing
 * wherever the data lives. The first two rows are what Calico writes to etcd (libcalico-go `lib/backend/model`,
 * `resource.go` and `block_affinity.go`); the others are ours, in the same style, for what Calico keeps elsewhere.
 *
 * | key                                                            | value                                            |
 * |----------------------------------------------------------------|--------------------------------------------------|
 * | `/calico/resources/v3/projectcalico.org/PLURAL/NAME`            | the resource as JSON: kind, apiVersion, metadata, |
 * |   (nodes, bgppeers, bgpconfigurations, bgpfilters, ippools)     | spec, status                                     |
 * | `/calico/ipam/v2/host/NODE/ipv4/block/10.0.0.0-26`              | `{"state":"confirmed","deleted":false}`; may be  |
 * | `/calico/ipam/v2/host/NODE/ipv6/block/fd00:10::40-122`          | empty                                            |
 * | `/calico/resources/v3/kubernetes/PLURAL/NAMESPACE/NAME`         | the Kubernetes object as JSON, without server    |
 * |   (services, endpointslices, secrets)                           | bookkeeping (managedFields, resourceVersion)     |
 * | `/calico/endpoint-status/NAME`                                  | the status file's JSON                           |
 */
const CALICO_RESOURCES = '/calico/resources/v3/projectcalico.org';
const KUBERNETES_RESOURCES = '/calico/resources/v3/kubernetes';
const BLOCK_AFFINITIES = '/calico/ipam/v2/host';
const ENDPOINT_STATUS = '/calico/endpoint-status';

const CALICO_PLURALS = {
  Node: 'nodes',
  BGPPeer: 'bgppeers',
  BGPConfiguration: 'bgpconfigurations',
  BGPFilter: 'bgpfilters',
  IPPool: 'ippools',
} as const;

const KUBERNETES_PLURALS = {
  Service: 'services',
  EndpointSlice: 'endpointslices',
  Secret: 'secrets',
} as const;

export type CalicoKind = keyof typeof CALICO_PLURALS;
export type KubernetesKind = keyof typeof KUBERNETES_PLURALS;

/** What a key of the key space names. */
export type ParsedKey =
  | { readonly kind: CalicoKind; readonly name: string }
  | { readonly kind: KubernetesKind; readonly namespace: string; readonly name: string }
  | { readonly kind: 'BlockAffinity'; readonly node: string; readonly family: 4 | 6; readonly cidr: string }
  | { readonly kind: 'EndpointStatus'; readonly name: string };

export function isCalicoKind(kind: string): kind is CalicoKind {
  return Object.hasOwn(CALICO_PLURALS, kind);
}

export function isKubernetesKind(kind: string): kind is KubernetesKind {
  return Object.hasOwn(KUBERNETES_PLURALS, kind);
}

/** `/calico/resources/v3/projectcalico.org/nodes`: the prefix that holds all resources of a Calico kind. */
export function calicoPrefix(kind: CalicoKind): string {
  return `${CALICO_RESOURCES}/${CALICO_PLURALS[kind]}`;
}

export function calicoKey(kind: CalicoKind, name: string): string {
  return `${calicoPrefix(kind)}/${name}`;
}

/** `/calico/resources/v3/kubernetes/secrets`, or with a namespace only that namespace. */
export function kubernetesPrefix(kind: KubernetesKind, namespace?: string): string {
  const all = `${KUBERNETES_RESOURCES}/${KUBERNETES_PLURALS[kind]}`;
  return namespace === undefined ? all : `${all}/${namespace}`;
}

export function kubernetesKey(kind: KubernetesKind, namespace: string, name: string): string {
  return `${kubernetesPrefix(kind, namespace)}/${name}`;
}

/** The prefix of block affinities: of all nodes, of one node, or of one node and family. */
export function blockPrefix(node?: string, family?: 4 | 6): string {
  if (node === undefined) return BLOCK_AFFINITIES;
  if (family === undefined) return `${BLOCK_AFFINITIES}/${node}`;
  return `${BLOCK_AFFINITIES}/${node}/ipv${family}/block`;
}

/**
 * The key of a node's block affinity, or null when `cidr` is not a network. As in Calico the network is masked, IPv6 is
 * in lower-case compressed text with its colons kept, and the slash before the prefix length becomes a dash.
 */
export function blockKey(node: string, cidr: string): string | null {
  const network = canonicalNetwork(cidr);
  if (network === null) return null;
  return `${blockPrefix(node, network.family)}/${network.text.replace('/', '-')}`;
}

/** The prefix of the status files of local workloads. */
export function endpointStatusPrefix(): string {
  return ENDPOINT_STATUS;
}

export function endpointStatusKey(name: string): string {
  return `${ENDPOINT_STATUS}/${name}`;
}

/** Whether a name can be a segment of a key: not empty, no slash. */
export function isKeySegment(name: string): boolean {
  return name !== '' && !name.includes('/');
}

const BELOW_CALICO = `${CALICO_RESOURCES}/`;
const CALICO_KINDS = kindsByPlural(CALICO_PLURALS);
const KUBERNETES_KINDS = kindsByPlural(KUBERNETES_PLURALS);
const BLOCK_PATTERN = /^\/calico\/ipam\/v2\/host\/([^/]+)\/ipv([46])\/block\/([^/]+)-(\d+)$/;

/** What `key` names, or null when it is not a key of this key space (a plain key, or a kind that is not read). */
export function parseKey(key: string): ParsedKey | null {
  // Most keys are of this kind, and ten thousand of them come at once.
  if (key.startsWith(BELOW_CALICO)) {
    const slash = key.indexOf('/', BELOW_CALICO.length);
    const kind = CALICO_KINDS.get(key.slice(BELOW_CALICO.length, slash));
    const name = key.slice(slash + 1);
    return slash < 0 || kind === undefined || !isKeySegment(name) ? null : { kind, name };
  }
  const kubernetes = segmentsBelow(key, KUBERNETES_RESOURCES);
  if (kubernetes !== null) {
    const kind = KUBERNETES_KINDS.get(kubernetes[0] ?? '');
    const [, namespace, name] = kubernetes;
    return kind === undefined || !namespace || !name || kubernetes.length !== 3
      ? null
      : { kind, namespace, name };
  }
  const block = BLOCK_PATTERN.exec(key);
  if (block !== null) {
    const [, node = '', digit, address, length] = block;
    return { kind: 'BlockAffinity', node, family: digit === '4' ? 4 : 6, cidr: `${address}/${length}` };
  }
  const [name, ...rest] = segmentsBelow(key, ENDPOINT_STATUS) ?? [];
  return name && rest.length === 0 ? { kind: 'EndpointStatus', name } : null;
}

/** A network in Calico's text form, or null: four decimal parts or IPv6 without a zone, host bits cleared. */
export function canonicalNetwork(cidr: string): { readonly text: string; readonly family: 4 | 6 } | null {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) {
    const [, length] = ipaddr.IPv4.parseCIDR(cidr);
    return { text: `${ipaddr.IPv4.networkAddressFromCIDR(cidr)}/${length}`, family: 4 };
  }
  if (cidr.includes('%') || !ipaddr.IPv6.isValidCIDR(cidr)) return null;
  const [, length] = ipaddr.IPv6.parseCIDR(cidr);
  return { text: `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toRFC5952String()}/${length}`, family: 6 };
}

function segmentsBelow(key: string, prefix: string): string[] | null {
  return key.startsWith(`${prefix}/`) ? key.slice(prefix.length + 1).split('/') : null;
}

function kindsByPlural<K extends string>(plurals: Readonly<Record<K, string>>): ReadonlyMap<string, K> {
  return new Map(Object.entries<string>(plurals).map(([kind, plural]) => [plural, kind as K]));
}
