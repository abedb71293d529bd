import { blockOf, calico, kubernetes, nodeAt, type Stored } from '../../../unit/model/parity/support.ts';
import { cluster, gone, MESH, peer, type Scenario } from './scenario.ts';

const workloads = (spec: object): Stored =>
  calico('BGPPeer', 'wl', {
    localWorkloadSelector: 'all()',
    asNumber: 64516,
    localASNumber: 65002,
    ...spec,
  });
const WEB = kubernetes('Service', 'web', {
  spec: {
    type: 'NodePort',
    clusterIP: '10.96.0.10',
    externalIPs: ['203.0.113.7'],
    externalTrafficPolicy: 'Local',
    ports: [{ port: 80 }],
    ipFamilies: ['IPv4'],
  },
});
const slice = (name: string, nodeName: string, ready = true): Stored =>
  kubernetes('EndpointSlice', name, {
    metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.1.5'], nodeName, conditions: { ready } }],
  });
const RANGES = cluster({
  serviceClusterIPs: [{ cidr: '10.96.0.0/16' }],
  serviceExternalIPs: [{ cidr: '203.0.113.0/24' }],
});

export const ROUTES: readonly Scenario[] = [
  {
    name: 'priorities, communities and programming of routes',
    start: MESH,
    steps: [
      { what: 'the start', has: [/krt_metric = 1024;/] },
      {
        what: 'another priority of IPv4',
        put: cluster({ ipv4NormalRoutePriority: 2000 }),
        has: [/krt_metric = 2000;/, /krt_metric = 1024;/],
      },
      {
        what: 'and of IPv6',
        put: cluster({ ipv4NormalRoutePriority: 2000, ipv6NormalRoutePriority: 3000 }),
        has: [/krt_metric = 2000;/, /krt_metric = 3000;/],
        not: [/krt_metric = 1024;/],
      },
      {
        what: 'communities',
        put: cluster({ prefixAdvertisements: [{ cidr: '10.244.0.0/16', communities: ['65000:1'] }] }),
        has: [/bgp_community\.add\(\(65000, 1\)\);/],
      },
      {
        what: 'of this node',
        put: calico('BGPConfiguration', 'node.n1', {
          prefixAdvertisements: [{ cidr: '10.244.0.0/16', communities: ['1:2:3'] }],
        }),
        has: [/\(1, 2, 3\)/],
        not: [/\(65000, 1\)/],
      },
      {
        what: 'Felix programs',
        put: cluster({ programClusterRoutes: 'Disabled' }),
        has: [/cluster routes are handled by Felix/],
      },
      {
        what: 'a service range',
        put: cluster({ serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] }),
        has: [/route 10\.96\.0\.0\/12 blackhole;/],
        not: [/Felix/],
      },
      {
        what: 'nothing set',
        put: gone(cluster({})),
        has: [/krt_metric = 1024;/, /\(1, 2, 3\)/],
        not: [/10\.96\.0\.0/],
      },
    ],
  },
  {
    name: 'workloads that come and go',
    start: { ...MESH, ...cluster({ nodeToNodeMeshEnabled: false }), ...workloads({}) },
    steps: [
      { what: 'no workload', has: [], not: [/protocol bgp/] },
      {
        what: 'one of both families',
        statuses: { a: { bgpPeerName: 'wl', ipv4Nets: ['10.65.0.2/32'], ipv6Nets: ['fd65::2/128'] } },
        has: [/Local_Workload_10_65_0_2 [^}]*passive on;/, /Local_Workload_fd65__2 [^}]*local as 65002;/],
      },
      {
        what: 'another one',
        statuses: { b: { bgpPeerName: 'wl', ipv4Nets: ['10.65.0.3/32'] } },
        has: [/Local_Workload_10_65_0_2 /, /Local_Workload_10_65_0_3 /],
      },
      {
        what: 'which then is of another BGPPeer',
        statuses: { b: { bgpPeerName: 'other', ipv4Nets: ['10.65.0.3/32'] } },
        has: [/Local_Workload_10_65_0_2 /],
        not: [/10_65_0_3/],
      },
      { what: 'those of another node', put: workloads({ node: 'n2' }), has: [], not: [/Local_Workload/] },
      { what: 'those of this node', put: workloads({ node: 'n1' }), has: [/Local_Workload_10_65_0_2 /] },
      { what: 'it goes', statuses: { a: null }, has: [], not: [/Local_Workload/] },
      {
        what: 'and comes again, with another address',
        statuses: { a: { bgpPeerName: 'wl', ipv4Nets: ['10.65.0.9/32'] } },
        has: [/Local_Workload_10_65_0_9 /],
        not: [/10_65_0_2/],
      },
    ],
  },
  {
    name: 'services that come and go',
    start: { ...MESH, ...RANGES },
    steps: [
      { what: 'the ranges', has: [/route 10\.96\.0\.0\/16 blackhole;/], not: [/\/32 blackhole/] },
      {
        what: 'a service with an endpoint here',
        put: { ...WEB, ...slice('web-1', 'n1') },
        has: [/route 10\.96\.0\.10\/32 blackhole;/, /route 203\.0\.113\.7\/32 blackhole;/],
      },
      {
        what: 'it is on another node',
        put: slice('web-1', 'n2'),
        has: [/route 10\.96\.0\.0\/16 /],
        not: [/\/32 blackhole/],
      },
      { what: 'one more here', put: slice('web-2', 'n1'), has: [/route 10\.96\.0\.10\/32 blackhole;/] },
      { what: 'not ready', put: slice('web-2', 'n1', false), has: [], not: [/\/32 blackhole/] },
      { what: 'ready', put: slice('web-2', 'n1'), has: [/route 10\.96\.0\.10\/32 blackhole;/] },
      {
        what: 'the last slices go',
        put: gone({ ...slice('web-1', ''), ...slice('web-2', '') }),
        has: [/route 10\.96\.0\.0\/16 /],
        not: [/\/32 blackhole/],
      },
      {
        what: 'the node is excluded',
        put: nodeAt('n1', '10.0.0.1/24', {
          v6: 'fd00::1/64',
          labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' },
        }),
        has: [/net ~ \[ 10\.96\.0\.0\/16\+/],
        not: [/route 10\.96\.0\.0/],
      },
      { what: 'the ranges go', put: cluster({}), has: [/protocol bgp Mesh_/], not: [/10\.96\./] },
    ],
  },
  {
    name: 'addresses, sources and timers',
    start: { ...MESH, ...peer({}) },
    steps: [
      { what: 'the start', has: [/Global_192_0_2_1 [^}]*source address 10\.0\.0\.1;/] },
      {
        what: 'no source',
        put: peer({ sourceAddress: 'None' }),
        has: [/Global_192_0_2_1 /],
        not: [/Global_192_0_2_1 [^}]*source address/],
      },
      {
        what: 'a restart time',
        put: peer({ sourceAddress: 'None', maxRestartTime: '10s' }),
        has: [/graceful restart time 10;/],
      },
      {
        what: 'a far peer through a gateway',
        put: peer({ ttlSecurity: 3, reachableBy: '10.0.0.254' }),
        has: [/ttl security on;/, /route 192\.0\.2\.1\/32 via 10\.0\.0\.254;/],
        not: [/restart time 10;/],
      },
      {
        what: 'this node has another address',
        put: nodeAt('n1', '10.0.0.77/24', { v6: 'fd00::1/64' }),
        has: [/source address 10\.0\.0\.77;/, /router id 10\.0\.0\.77;/],
        not: [/10\.0\.0\.1[;\s]/],
      },
      {
        what: 'another block',
        put: { ...blockOf('n1', '10.244.2.0/26'), ...blockOf('n1', '10.244.1.0/26', 'pendingDeletion') },
        has: [/route 10\.244\.2\.0\/26 blackhole;/],
        not: [/10\.244\.1\.0/],
      },
    ],
  },
];
