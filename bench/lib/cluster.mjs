// The data: Calico Node resources as Calico's own client stores them, padded to a given size.

const PREFIX = '/calico/resources/v3/projectcalico.org';

export const NODES_PREFIX = `${PREFIX}/nodes/`;
/** What birdfeed watches for the BIRD of one node. */
export function watchedPrefixes(name) {
  const kinds = ['bgpconfigurations', 'bgpfilters', 'bgppeers', 'ippools', 'nodes'];
  return [`/calico/ipam/v2/host/${name}`, ...kinds.map((kind) => `${PREFIX}/${kind}`)];
}
/** Below no prefix that birdfeed reads for BIRD: Calico keeps workload endpoints there. */
export const UNREAD_PREFIX = `${PREFIX}/workloadendpoints/`;

const FIRST_AS = 4_200_000_000;

/**
 * A cluster of `nodes` nodes in a full mesh, with `peers` BGPPeers that all nodes have, each with one of `filters`
 * BGPFilters. Every node has an AS number of its own, by which a change shows in the output:
 * `as(index)` is the one in force, `changed(index)` gives the key and value with another one.
 */
export function createCluster({ nodes: size, peers = 0, filters = 0 }, valueBytes) {
  const revisions = new Array(size).fill(0);
  const asNumber = (index) => FIRST_AS + ((revisions[index] * size + index) % 90_000_000);
  const entry = (index, label) => [
    `${NODES_PREFIX}${nodeName(index)}`,
    nodeValue(index, asNumber(index), label, valueBytes),
  ];
  return {
    size,
    /** The node that BIRD is configured for: its address comes first, so that every session of it is passive. */
    nodeName: nodeName(0),
    address: address(0),
    entries: () => [
      ...revisions.map((_, index) => entry(index, 'a')),
      [`${PREFIX}/ippools/default`, POOL],
      [`${PREFIX}/bgpconfigurations/default`, CONFIGURATION],
      ...Array.from({ length: filters }, (_, index) => filterEntry(index)),
      ...Array.from({ length: peers }, (_, index) => peerEntry(index, filters)),
    ],
    changed(index) {
      revisions[index] += 1;
      return entry(index, 'a');
    },
    /** Another label: nothing that the output shows, or that a selector of this cluster asks for. */
    relabelled: (index, label) => entry(index, label),
    /** What BIRD's file says of a peer in its present state. */
    expected: (index) => `neighbor ${address(index)} as ${asNumber(index)};`,
    /** Numbers of peers, over and over, beginning behind the node itself. */
    peer: (n) => 1 + (n % (size - 1)),
  };
}

export function nodeName(index) {
  return `node-${String(index).padStart(5, '0')}`;
}

/** Of the same length for all, so that text order, by which Calico chooses the passive side, is number order. */
function address(index) {
  return `10.${100 + Math.floor(index / 10_000)}.${100 + (Math.floor(index / 100) % 100)}.${100 + (index % 100)}`;
}

function nodeValue(index, asNumber, label, bytes) {
  const name = nodeName(index);
  const value = {
    kind: 'Node',
    apiVersion: 'projectcalico.org/v3',
    metadata: {
      name,
      uid: `8f2d6c1e-0000-4000-8000-${String(index).padStart(12, '0')}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': label },
      annotations: { 'projectcalico.org/kube-labels': '' },
    },
    spec: {
      bgp: { asNumber, ipv4Address: `${address(index)}/8`, ipv4IPIPTunnelAddr: `192.168.0.1` },
      orchRefs: [{ nodeName: name, orchestrator: 'k8s' }],
    },
    status: {},
  };
  const missing = bytes - Buffer.byteLength(JSON.stringify(value));
  value.metadata.annotations['projectcalico.org/kube-labels'] = 'x'.repeat(Math.max(0, missing));
  return JSON.stringify(value);
}

function filterName(index) {
  return `filter-${String(index).padStart(4, '0')}`;
}

/** Prefixes differ, so that no two filters could share anything. */
function filterEntry(index) {
  const cidr = `10.${Math.floor(index / 250)}.${index % 250}.0/24`;
  const value = {
    kind: 'BGPFilter',
    apiVersion: 'projectcalico.org/v3',
    metadata: { name: filterName(index) },
    spec: {
      exportV4: [
        { action: 'Reject', matchOperator: 'In', cidr, prefixLength: { min: 25, max: 32 } },
        { action: 'Accept', matchOperator: 'Equal', cidr },
      ],
      importV4: [{ action: 'Reject', matchOperator: 'NotIn', cidr }],
    },
  };
  return [`${PREFIX}/bgpfilters/${value.metadata.name}`, JSON.stringify(value)];
}

function peerEntry(index, filters) {
  const name = `peer-${String(index).padStart(5, '0')}`;
  const value = {
    kind: 'BGPPeer',
    apiVersion: 'projectcalico.org/v3',
    metadata: { name },
    spec: {
      peerIP: `172.${16 + Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${1 + (index % 250)}`,
      asNumber: 64_512 + (index % 1_000),
      ...(filters === 0 ? {} : { filters: [filterName(index % filters)] }),
    },
  };
  return [`${PREFIX}/bgppeers/${name}`, JSON.stringify(value)];
}

const POOL = JSON.stringify({
  kind: 'IPPool',
  apiVersion: 'projectcalico.org/v3',
  metadata: { name: 'default' },
  spec: {
    cidr: '192.168.0.0/16',
    ipipMode: 'Never',
    vxlanMode: 'Never',
    natOutgoing: true,
    nodeSelector: 'all()',
    blockSize: 26,
  },
});

/** Without BIRD's debug messages: each would be a system call or three per session, which is BIRD's affair. */
const CONFIGURATION = JSON.stringify({
  kind: 'BGPConfiguration',
  apiVersion: 'projectcalico.org/v3',
  metadata: { name: 'default' },
  spec: { logSeverityScreen: 'None', nodeToNodeMeshEnabled: true },
});
