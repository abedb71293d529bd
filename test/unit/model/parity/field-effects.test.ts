import { describe, expect, it } from 'vitest';
import { kubernetesKey } from '../../../../src/datastore/keys.ts';
import type { ResourceKind } from '../../../../src/model/calico/types.ts';
import { fieldsOf, SAMPLES } from './fields.ts';
import {
  blockOf,
  calico,
  kubernetes,
  NO_MESH,
  nodeAt,
  type Stored,
  secretWith,
  statusOf,
  type WorldOptions,
  worldOf,
} from './support.ts';

/** A datastore without the field, what to store to set it, and what the configuration has only then. */
interface Effect {
  readonly without: Stored;
  readonly set: Stored;
  readonly has: RegExp;
  readonly options?: WorldOptions;
}

const N1 = nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' });
const N2 = nodeAt('n2', '10.0.0.2/24', { labels: { rack: 'a' } });
const TWO = { ...N1, ...N2 };
const POOL = calico('IPPool', 'pods', { cidr: '10.244.0.0/16' });
const TOR = { peerIP: '192.0.2.1', asNumber: 65001 };

const node = (bgp: object, has: RegExp, of = 'n2', more: Stored = {}): Effect => ({
  without: { ...TWO, ...more },
  set: calico('Node', of, { bgp: { ipv4Address: of === 'n1' ? '10.0.0.1/24' : '10.0.0.2/24', ...bgp } }),
  has,
});
const peer = (spec: object, has: RegExp, more: Stored = {}, base: object = TOR): Effect => ({
  without: { ...TWO, ...NO_MESH, ...more, ...calico('BGPPeer', 'p', base) },
  set: calico('BGPPeer', 'p', { ...base, ...spec }),
  has,
});
const config = (spec: object, has: RegExp, more: Stored = {}, options: WorldOptions = {}): Effect => ({
  without: { ...TWO, ...POOL, ...more },
  set: calico('BGPConfiguration', 'default', spec),
  has,
  options,
});
const rule = (fields: object, has: RegExp): Effect => ({
  without: { ...TWO, ...calico('BGPPeer', 'p', { ...TOR, filters: ['f'] }), ...calico('BGPFilter', 'f', {}) },
  set: calico('BGPFilter', 'f', { importV4: [{ action: 'Accept', ...fields }] }),
  has,
});
const netted = (fields: object, has: RegExp): Effect =>
  rule({ cidr: '10.1.0.0/16', matchOperator: 'In', ...fields }, has);
const operation = (op: object, has: RegExp): Effect => rule({ operations: [op] }, has);
const list = (direction: string, net: string): Effect => ({
  without: {
    ...TWO,
    ...calico('BGPPeer', 'p', { ...TOR, filters: ['f'] }),
    ...calico('BGPPeer', 'q', { peerIP: 'fd00::9', asNumber: 65001, filters: ['f'] }),
    ...calico('BGPFilter', 'f', {}),
  },
  set: calico('BGPFilter', 'f', { [direction]: [{ action: 'Reject', cidr: net, matchOperator: 'In' }] }),
  has: new RegExp(`bgp_f_${direction.replace(/V(.)/, 'FilterV$1')}.*\\n[^}]*if net ~ ${net} then reject;`),
});
const pool = (spec: object, has: RegExp, options: WorldOptions = {}): Effect => ({
  without: { ...TWO, ...calico('BGPConfiguration', 'default', { programClusterRoutes: 'Enabled' }), ...POOL },
  set: calico('IPPool', 'pods', { cidr: '10.244.0.0/16', ...spec }),
  has,
  options,
});

const SERVICES = calico('BGPConfiguration', 'default', {
  serviceClusterIPs: [{ cidr: '10.96.0.0/16' }],
  serviceExternalIPs: [{ cidr: '10.97.0.0/16' }, { cidr: '10.97.9.9/32' }],
  serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }, { cidr: '10.98.9.9/32' }],
});
const LOCAL = {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.1',
  externalTrafficPolicy: 'Local',
  ipFamilies: ['IPv4'],
};
const sliceWith = (more: object): Stored =>
  kubernetes('EndpointSlice', 'web-1', {
    metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ nodeName: 'n1', conditions: { ready: true } }],
    ...more,
  });
const service = (base: object, spec: object, has: RegExp, more: object = {}): Effect => ({
  without: { ...TWO, ...SERVICES, ...sliceWith({}), ...kubernetes('Service', 'web', { spec: base }) },
  set: kubernetes('Service', 'web', { spec: { ...base, ...spec }, ...more }),
  has,
});
const slice = (base: object, more: object): Effect => ({
  without: { ...TWO, ...SERVICES, ...sliceWith(base), ...kubernetes('Service', 'web', { spec: LOCAL }) },
  set: sliceWith(more),
  has: /route 10\.96\.0\.1\/32 blackhole;/,
});
const PASSWORD = { secretKeyRef: { name: 's', key: 'k' } };

const EFFECTS: Readonly<Record<string, Effect>> = {
  'Node metadata.labels.added': {
    without: { ...TWO, ...NO_MESH, ...calico('BGPPeer', 'p', { peerSelector: "rack == 'b'" }) },
    set: nodeAt('n2', '10.0.0.2/24', { labels: { rack: 'b' } }),
    has: /neighbor 10\.0\.0\.2 /,
  },
  'Node spec.bgp.asNumber': node({ asNumber: 65002 }, /neighbor 10\.0\.0\.2 as 65002;/),
  'Node spec.bgp.ipv4Address': node({ ipv4Address: '10.0.0.22/24' }, /neighbor 10\.0\.0\.22 /),
  'Node spec.bgp.ipv6Address': node({ ipv6Address: 'FD00:0::2/64' }, /neighbor fd00::2 /),
  'Node spec.bgp.routeReflectorClusterID': node(
    { routeReflectorClusterID: '244.0.0.1' },
    /rr client;\n {2}rr cluster id 244\.0\.0\.1;/,
    'n1',
    calico('BGPPeer', 'p', { peerSelector: 'has(rack)' }),
  ),
  'Node spec.wireguard.interfaceIPv4Address': {
    without: {
      ...calico('Node', 'n1', {
        bgp: { ipv4Address: '10.0.0.1/24' },
        wireguard: { interfaceIPv4Address: '10.9.0.1' },
      }),
      ...N2,
    },
    set: calico('Node', 'n2', {
      bgp: { ipv4Address: '10.0.0.2/24' },
      wireguard: { interfaceIPv4Address: '10.9.0.2' },
    }),
    has: /bgp_next_hop ~ \[ 10\.0\.0\.2 \] then reject;/,
  },
  'Node spec.wireguard.interfaceIPv6Address': {
    without: {
      ...calico('Node', 'n1', {
        bgp: { ipv6Address: 'fd00::1/64' },
        wireguard: { interfaceIPv6Address: 'fd09::1' },
      }),
    },
    set: calico('Node', 'n2', {
      bgp: { ipv6Address: 'fd00::2/64' },
      wireguard: { interfaceIPv6Address: 'fd09::2' },
    }),
    has: /bgp_next_hop ~ \[ fd00::2 \] then reject;/,
  },
  'Node status.podCIDRs.0': {
    without: TWO,
    set: {
      [Object.keys(N1)[0]!]: {
        spec: { bgp: { ipv4Address: '10.0.0.1/24' } },
        status: { podCIDRs: ['10.244.7.0/24'] },
      },
    },
    has: /route 10\.244\.7\.0\/24 blackhole;/,
    options: { usePodCidr: true },
  },

  'BGPPeer spec.node': peer({ node: 'n1' }, /protocol bgp Node_192_0_2_1 /),
  'BGPPeer spec.nodeSelector': peer({ nodeSelector: '!has(rack)' }, /protocol bgp Node_192_0_2_1 /),
  'BGPPeer spec.peerIP': peer({ peerIP: '192.0.2.2:1790' }, /neighbor 192\.0\.2\.2 port 1790 as 65001;/),
  'BGPPeer spec.peerSelector': peer(
    { peerSelector: 'has(rack)' },
    /neighbor 10\.0\.0\.2 as 64512;/,
    {},
    { peerSelector: 'has(nothing)' },
  ),
  'BGPPeer spec.localWorkloadSelector': {
    without: { ...TWO, ...NO_MESH, ...statusOf('pod', { bgpPeerName: 'p', ipv4Nets: ['10.1.1.1/32'] }) },
    set: calico('BGPPeer', 'p', { localWorkloadSelector: 'all()', asNumber: 65009 }),
    has: /protocol bgp Local_Workload_10_1_1_1 [^}]*passive on;/,
  },
  'BGPPeer spec.asNumber': peer({ asNumber: '1.10' }, /neighbor 192\.0\.2\.1 as 65546;/),
  'BGPPeer spec.localASNumber': peer({ localASNumber: 65077 }, /Global_192_0_2_1 [^}]*local as 65077;/),
  'BGPPeer spec.keepOriginalNextHop': peer({ keepOriginalNextHop: true }, /next hop keep;/),
  'BGPPeer spec.nextHopMode': peer({ nextHopMode: 'Self' }, /next hop self;/),
  'BGPPeer spec.password.secretKeyRef.name': peer(
    { password: PASSWORD },
    /password "hush";/,
    secretWith('s', { k: 'hush' }),
  ),
  'BGPPeer spec.password.secretKeyRef.key': peer(
    { password: { secretKeyRef: { name: 's', key: 'l' } } },
    /password "other";/,
    secretWith('s', { k: 'hush', l: 'other' }),
  ),
  'BGPPeer spec.sourceAddress': {
    ...peer(
      { sourceAddress: 'UseNodeIP' },
      /source address 10\.0\.0\.1;/,
      {},
      { ...TOR, sourceAddress: 'None' },
    ),
  },
  'BGPPeer spec.maxRestartTime': peer({ maxRestartTime: '1m30s' }, /graceful restart time 90;/),
  'BGPPeer spec.keepaliveTime': peer({ keepaliveTime: '10s' }, /keepalive time 10;/),
  'BGPPeer spec.numAllowedLocalASNumbers': peer({ numAllowedLocalASNumbers: 2 }, /allow local as 2;/),
  'BGPPeer spec.ttlSecurity': peer({ ttlSecurity: 3 }, /ttl security on;\n {2}multihop 3;/),
  'BGPPeer spec.reachableBy': peer(
    { reachableBy: '10.0.0.254' },
    /route 192\.0\.2\.1\/32 via 10\.0\.0\.254;/,
  ),
  'BGPPeer spec.filters.0': peer(
    { filters: ['f'] },
    /bgp_f_importFilterV4\(\);/,
    calico('BGPFilter', 'f', { importV4: [{ action: 'Reject' }] }),
  ),
  'BGPPeer spec.reversePeering': {
    without: {
      ...TWO,
      ...NO_MESH,
      ...calico('BGPPeer', 'p', { node: 'n2', peerIP: '10.0.0.1', reversePeering: 'Manual' }),
    },
    set: calico('BGPPeer', 'p', { node: 'n2', peerIP: '10.0.0.1', reversePeering: 'Auto' }),
    has: /protocol bgp Node_10_0_0_2 /,
  },

  'BGPConfiguration spec.logSeverityScreen': config({ logSeverityScreen: 'Debug' }, /debug all;/),
  'BGPConfiguration spec.nodeToNodeMeshEnabled': {
    without: { ...TWO, ...NO_MESH },
    set: calico('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: true }),
    has: /protocol bgp Mesh_10_0_0_2 /,
  },
  'BGPConfiguration spec.asNumber': config({ asNumber: 65099 }, /local as 65099;/),
  'BGPConfiguration spec.listenPort': config({ listenPort: 1790 }, /listen bgp port 1790;/),
  'BGPConfiguration spec.bindMode': config({ bindMode: 'NodeIP' }, /listen bgp address 10\.0\.0\.1;/),
  'BGPConfiguration spec.nodeMeshPassword.secretKeyRef.name': config(
    { nodeMeshPassword: PASSWORD },
    /password "hush";/,
    secretWith('s', { k: 'hush' }),
  ),
  'BGPConfiguration spec.nodeMeshPassword.secretKeyRef.key': config(
    { nodeMeshPassword: { secretKeyRef: { name: 's', key: 'l' } } },
    /password "other";/,
    secretWith('s', { l: 'other' }),
  ),
  'BGPConfiguration spec.nodeMeshMaxRestartTime': config(
    { nodeMeshMaxRestartTime: '10s' },
    /graceful restart time 10;/,
  ),
  'BGPConfiguration spec.ignoredInterfaces.0': config(
    { ignoredInterfaces: ['docker0'] },
    /interface -"docker0", /,
  ),
  'BGPConfiguration spec.prefixAdvertisements.0.cidr': config(
    { prefixAdvertisements: [{ cidr: '10.244.0.0/17', communities: ['65000:1'] }] },
    /if net ~ 10\.244\.0\.0\/17 then \{\n {4}bgp_community\.add/,
  ),
  'BGPConfiguration spec.prefixAdvertisements.0.communities.0': config(
    { prefixAdvertisements: [{ cidr: '10.244.0.0/17', communities: ['1:2:3'] }] },
    /bgp_large_community\.add\(\(1, 2, 3\)\);/,
  ),
  'BGPConfiguration spec.communities.0.name': config(
    {
      communities: [{ name: 'blue', value: '65000:7' }],
      prefixAdvertisements: [{ cidr: '10.0.0.0/8', communities: ['blue'] }],
    },
    /bgp_community\.add\(\(65000, 7\)\);/,
  ),
  'BGPConfiguration spec.communities.0.value': config(
    {
      communities: [{ name: 'blue', value: '65000:8' }],
      prefixAdvertisements: [{ cidr: '10.0.0.0/8', communities: ['blue'] }],
    },
    /bgp_community\.add\(\(65000, 8\)\);/,
  ),
  'BGPConfiguration spec.serviceClusterIPs.0.cidr': config(
    { serviceClusterIPs: [{ cidr: '10.96.0.0/16' }] },
    /route 10\.96\.0\.0\/16 blackhole;/,
  ),
  'BGPConfiguration spec.serviceExternalIPs.0.cidr': config(
    { serviceExternalIPs: [{ cidr: '10.97.0.0/16' }] },
    /route 10\.97\.0\.0\/16 blackhole;/,
  ),
  'BGPConfiguration spec.serviceLoadBalancerIPs.0.cidr': config(
    { serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }] },
    /route 10\.98\.0\.0\/16 blackhole;/,
  ),
  'BGPConfiguration spec.serviceLoadBalancerAggregation': {
    without: {
      ...TWO,
      ...calico('BGPConfiguration', 'default', {
        serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }],
        serviceLoadBalancerAggregation: 'Disabled',
      }),
    },
    set: calico('BGPConfiguration', 'default', {
      serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }],
      serviceLoadBalancerAggregation: 'Enabled',
    }),
    has: /route 10\.98\.0\.0\/16 blackhole;/,
  },
  'BGPConfiguration spec.programClusterRoutes': config(
    { programClusterRoutes: 'Disabled' },
    /cluster routes are handled by Felix/,
  ),
  'BGPConfiguration spec.ipv4NormalRoutePriority': config(
    { ipv4NormalRoutePriority: 2000 },
    /krt_metric = 2000;/,
  ),
  'BGPConfiguration spec.ipv6NormalRoutePriority': config(
    { ipv6NormalRoutePriority: 3000 },
    /krt_metric = 3000;/,
  ),

  'BGPFilter spec.importV4': list('importV4', '10.1.0.0/16'),
  'BGPFilter spec.exportV4': list('exportV4', '10.1.0.0/16'),
  'BGPFilter spec.importV6': list('importV6', 'fd01::/16'),
  'BGPFilter spec.exportV6': list('exportV6', 'fd01::/16'),
  'BGPFilter rule.cidr': netted({ cidr: '10.2.0.0/16' }, /if net ~ 10\.2\.0\.0\/16 then accept;/),
  'BGPFilter rule.matchOperator': netted(
    { matchOperator: 'NotEqual' },
    /if net != 10\.1\.0\.0\/16 then accept;/,
  ),
  'BGPFilter rule.prefixLength.min': netted(
    { prefixLength: { min: 20 } },
    /net ~ \[ 10\.1\.0\.0\/16\{20,32\} \]/,
  ),
  'BGPFilter rule.prefixLength.max': netted(
    { prefixLength: { max: 24 } },
    /net ~ \[ 10\.1\.0\.0\/16\{16,24\} \]/,
  ),
  'BGPFilter rule.source': rule({ source: 'RemotePeers' }, /if source = RTS_BGP then accept;/),
  'BGPFilter rule.interface': rule({ interface: 'eth*' }, /ifname ~ "eth\*" then accept;/),
  'BGPFilter rule.peerType': rule({ peerType: 'iBGP' }, /if internal_peer then accept;/),
  'BGPFilter rule.communities.values.0': rule(
    { communities: { values: ['65000:1'] } },
    /\(65000, 1\) ~ bgp_community then accept;/,
  ),
  'BGPFilter rule.asPathPrefix.0': rule(
    { asPathPrefix: [65001, '1.10'] },
    /bgp_path ~ \[= 65001 65546 \* =\] then accept;/,
  ),
  'BGPFilter rule.priority': rule({ priority: 100 }, /bgp_local_pref = 2147483547 then accept;/),
  'BGPFilter rule.action': rule({ action: 'Reject' }, /importFilterV4\(\) \{\n {2}reject;/),
  'BGPFilter rule.operations.0.addCommunity.value': operation(
    { addCommunity: { value: '1:2:3' } },
    /bgp_large_community\.add\(\(1, 2, 3\)\);/,
  ),
  'BGPFilter rule.operations.0.prependASPath.prefix.0': operation(
    { prependASPath: { prefix: [1, 2] } },
    /prepend\(2\);\n\s+bgp_path\.prepend\(1\);/,
  ),
  'BGPFilter rule.operations.0.setPriority.value': operation(
    { setPriority: { value: 7 } },
    /bgp_local_pref = 2147483640;/,
  ),

  'IPPool spec.cidr': pool({ cidr: '10.245.0.0/16' }, /if net ~ 10\.245\.0\.0\/16 then accept;/),
  'IPPool spec.ipipMode': pool({ ipipMode: 'Always' }, /krt_tunnel = "tunl0";/, { dialect: 'bird1-calico' }),
  'IPPool spec.vxlanMode': pool({ vxlanMode: 'CrossSubnet' }, /VXLAN routes are handled by Felix/),
  'IPPool spec.disableBGPExport': pool(
    { disableBGPExport: true },
    /BGP export is disabled\.\n\s+if net ~ 10\.244\.0\.0\/16 then reject;/,
  ),

  'BlockAffinity state': {
    without: { ...TWO, ...blockOf('n1', '10.244.1.0/26', 'pending') },
    set: blockOf('n1', '10.244.1.0/26', 'confirmed'),
    has: /route 10\.244\.1\.0\/26 blackhole;/,
  },
  'BlockAffinity deleted': {
    without: {
      ...TWO,
      [Object.keys(blockOf('n1', '10.244.1.0/26'))[0]!]: { state: 'confirmed', deleted: true },
    },
    set: blockOf('n1', '10.244.1.0/26'),
    has: /route 10\.244\.1\.0\/26 blackhole;/,
  },

  'Service spec.type': service({ ...LOCAL, type: 'ExternalName' }, { type: 'NodePort' }, /10\.96\.0\.1\/32/),
  'Service spec.clusterIP': service(
    { ...LOCAL, clusterIP: 'None' },
    { clusterIP: '10.96.0.9' },
    /10\.96\.0\.9\/32/,
  ),
  'Service spec.clusterIPs.0': service(LOCAL, { clusterIPs: ['10.96.0.8'] }, /10\.96\.0\.8\/32/),
  'Service spec.externalIPs.0': service(LOCAL, { externalIPs: ['10.97.0.1'] }, /10\.97\.0\.1\/32/),
  'Service spec.loadBalancerIP': service(
    { ...LOCAL, externalTrafficPolicy: 'Cluster' },
    { loadBalancerIP: '10.98.9.9' },
    /10\.96\.0\.1\/32/,
  ),
  'Service spec.externalTrafficPolicy': service(
    { ...LOCAL, externalTrafficPolicy: 'Cluster' },
    { externalTrafficPolicy: 'Local' },
    /10\.96\.0\.1\/32/,
  ),
  'Service spec.ipFamilies.0': service(
    { ...LOCAL, ipFamilies: ['IPv6'] },
    { ipFamilies: ['IPv4'] },
    /10\.96\.0\.1\/32/,
  ),
  'Service status.loadBalancer.ingress.0.ip': service(LOCAL, {}, /10\.98\.0\.1\/32/, {
    status: { loadBalancer: { ingress: [{ ip: '10.98.0.1' }] } },
  }),

  'EndpointSlice metadata.labels.added': slice({ metadata: { labels: {} } }, {}),
  'EndpointSlice addressType': slice({ addressType: 'IPv6' }, {}),
  'EndpointSlice endpoints.0.nodeName': slice({ endpoints: [{ nodeName: 'n2' }] }, {}),
  'EndpointSlice endpoints.0.conditions.ready': slice(
    { endpoints: [{ nodeName: 'n1', conditions: { ready: false } }] },
    {},
  ),

  'Secret data.added': {
    ...peer({}, /password "hush";/, {}, { ...TOR, password: PASSWORD }),
    set: { [kubernetesKey('Secret', 'kube-system', 's')]: { data: { k: 'aHVzaA==' } } },
  },
  'Secret stringData.added': {
    ...peer({}, /password "hush";/, {}, { ...TOR, password: PASSWORD }),
    set: secretWith('s', { k: 'hush' }),
  },

  'EndpointStatus bgpPeerName': {
    without: {
      ...TWO,
      ...NO_MESH,
      ...calico('BGPPeer', 'p', { localWorkloadSelector: 'all()', asNumber: 65009 }),
    },
    set: statusOf('pod', { bgpPeerName: 'p', ipv4Nets: ['10.1.1.1/32'] }),
    has: /Local_Workload_10_1_1_1 /,
  },
  'EndpointStatus ipv4Nets.0': {
    without: {
      ...TWO,
      ...NO_MESH,
      ...calico('BGPPeer', 'p', { localWorkloadSelector: 'all()', asNumber: 65009 }),
    },
    set: statusOf('pod', { bgpPeerName: 'p', ipv4Nets: ['10.1.1.2/32'] }),
    has: /neighbor 10\.1\.1\.2 as 65009;/,
  },
  'EndpointStatus ipv6Nets.0': {
    without: {
      ...TWO,
      ...NO_MESH,
      ...calico('BGPPeer', 'p', { localWorkloadSelector: 'all()', asNumber: 65009 }),
    },
    set: statusOf('pod', { bgpPeerName: 'p', ipv6Nets: ['fd01::2/128'] }),
    has: /neighbor fd01::2 as 65009;/,
  },
};

/** Only compared with the key, or the envelope of every resource. */
const ENVELOPE = /^(kind|metadata\.(name|namespace))$|^metadata\.labels/;

describe('every field that is read', () => {
  it('has its effect on the configuration shown here', () => {
    const shown = Object.keys(EFFECTS).map((name) =>
      name.replace('BGPFilter rule', 'BGPFilter spec.importV4.0'),
    );
    const missing: string[] = [];
    for (const kind of Object.keys(SAMPLES) as ResourceKind[]) {
      const fields = fieldsOf(kind).map(({ path }) => path.join('.'));
      const leaves = fields.filter((field) => !fields.some((other) => other.startsWith(`${field}.`)));
      for (const field of leaves) {
        if (ENVELOPE.test(field) || /spec\.(exportV4|importV6|exportV6)\./.test(field)) continue;
        if (!shown.includes(`${kind} ${field}`)) missing.push(`${kind} ${field}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it.each(Object.keys(EFFECTS))('%s', (name) => {
    const { without, set, has, options } = EFFECTS[name]!;
    expect(worldOf(without, options).text()).not.toMatch(has);
    const world = worldOf({ ...without, ...set }, options);
    expect(world.problemIds.filter((id) => id === 'resource-invalid')).toEqual([]);
    expect(world.text()).toMatch(has);
  });
});
