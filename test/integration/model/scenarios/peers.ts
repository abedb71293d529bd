import { calico, nodeAt } from '../../../unit/model/parity/support.ts';
import { cluster, gone, MESH, peer, type Scenario } from './scenario.ts';

const SECRET = { secretKeyRef: { name: 'bgp', key: 'k' } };
const FILTER = calico('BGPFilter', 'f', {
  importV4: [{ action: 'Reject', matchOperator: 'In', cidr: '10.9.0.0/16' }],
});

export const PEERS: readonly Scenario[] = [
  {
    name: 'labels and selectors',
    start: {
      ...MESH,
      ...cluster({ nodeToNodeMeshEnabled: false }),
      ...calico('BGPPeer', 'p', { peerSelector: "rack == 'a'" }),
    },
    steps: [
      { what: 'the start', has: [/Global_10_0_0_2 /, /Global_fd00__2 /], not: [/10_0_0_3/] },
      {
        what: 'a label moves',
        put: nodeAt('n3', '10.0.0.3/24', { labels: { rack: 'a' } }),
        has: [/Global_10_0_0_3 /],
      },
      {
        what: 'the selector changes',
        put: calico('BGPPeer', 'p', { peerSelector: "rack != 'a'" }),
        has: [/Global_10_0_0_4 /],
        not: [/Global_10_0_0_[23] /],
      },
      {
        what: 'a port of one node',
        put: calico('BGPConfiguration', 'node.n4', { listenPort: 500 }),
        has: [/Global_10_0_0_4_port_500 /],
      },
      { what: 'and away', put: gone(calico('BGPConfiguration', 'node.n4', {})), has: [/Global_10_0_0_4 /] },
      {
        what: 'the selector is no selector',
        put: calico('BGPPeer', 'p', { peerSelector: 'rack =' }),
        has: [/Global_10_0_0_4 /],
      },
      {
        what: 'and is one again',
        put: calico('BGPPeer', 'p', { nodeSelector: "rack == 'a'", peerSelector: 'all()' }),
        has: [/Node_10_0_0_2 /],
        not: [/Global_/],
      },
    ],
  },
  {
    name: 'nodes that come and go',
    start: MESH,
    steps: [
      { what: 'the start', has: [/Mesh_10_0_0_4 /, /Mesh_fd00__2 /] },
      { what: 'one goes', put: gone(nodeAt('n4', '')), has: [/Mesh_10_0_0_3 /], not: [/10_0_0_4/] },
      {
        what: 'one becomes a reflector',
        put: nodeAt('n2', '10.0.0.2/24', {
          bgp: { routeReflectorClusterID: '244.0.0.1' },
          labels: { rr: 'y' },
        }),
        has: [/Mesh_10_0_0_3 /],
        not: [/10_0_0_2/],
      },
      {
        what: 'and gets a BGPPeer',
        put: calico('BGPPeer', 'rr', { nodeSelector: '!has(rr)', peerSelector: 'has(rr)' }),
        has: [/Node_10_0_0_2 /],
      },
      {
        what: 'the mesh is switched off',
        put: cluster({ nodeToNodeMeshEnabled: false }),
        has: [/Node_10_0_0_2 /],
        not: [/Mesh_/],
      },
      {
        what: 'this node becomes a reflector',
        put: nodeAt('n1', '10.0.0.1/24', {
          v6: 'fd00::1/64',
          bgp: { routeReflectorClusterID: '244.0.0.2' },
          labels: { rr: 'y' },
        }),
        has: [/Node_10_0_0_3 [^}]*rr client;/],
        not: [/Mesh_/],
      },
      { what: 'and one more node', put: nodeAt('n9', '10.0.0.9/24'), has: [/Node_10_0_0_9 /] },
    ],
  },
  {
    name: 'filters that come and go',
    start: { ...MESH, ...peer({ filters: ['f'] }), ...FILTER },
    steps: [
      { what: 'the start', has: [/bgp_f_importFilterV4\(\);/] },
      {
        what: 'other rules',
        put: calico('BGPFilter', 'f', { exportV4: [{ action: 'Reject', peerType: 'iBGP' }] }),
        has: [/bgp_f_exportFilterV4\(false\);/],
        not: [/importFilterV4/],
      },
      { what: 'it goes', put: gone(FILTER), has: [/A BGPFilter of this peer is missing/], not: [/bgp_f_/] },
      { what: 'it comes', put: FILTER, has: [/bgp_f_importFilterV4\(\);/], not: [/is missing/] },
      {
        what: 'it makes no sense',
        put: calico('BGPFilter', 'f', { importV4: [{ action: 'Pass' }] }),
        has: [/bgp_f_importFilterV4\(\);/],
      },
      { what: 'nobody uses it', put: peer({}), has: [/import filter import_routes4;/], not: [/bgp_f_/] },
    ],
  },
  {
    name: 'passwords',
    start: {
      ...MESH,
      ...peer({ password: SECRET }),
      ...cluster({ nodeMeshPassword: { secretKeyRef: { name: 'mesh', key: 'k' } } }),
    },
    steps: [
      { what: 'no Secret', has: [], not: [/protocol bgp/] },
      {
        what: 'the first Secret',
        secrets: { bgp: { k: 'one' } },
        has: [/Global_192_0_2_1 [^}]*password "one";/],
        not: [/Mesh_/],
      },
      { what: 'the second', secrets: { mesh: { k: 'two' } }, has: [/Mesh_10_0_0_2 [^}]*password "two";/] },
      {
        what: 'another password',
        secrets: { bgp: { k: 'three' } },
        has: [/password "three";/],
        not: [/"one"/],
      },
      {
        what: 'under another key',
        secrets: { bgp: { l: 'four' } },
        has: [/password "two";/],
        not: [/Global_/],
      },
      {
        what: 'which the BGPPeer names now',
        put: peer({ password: { secretKeyRef: { name: 'bgp', key: 'l' } } }),
        has: [/password "four";/],
      },
      {
        what: 'and none at all',
        put: { ...peer({}), ...cluster({}) },
        has: [/Global_192_0_2_1 /, /Mesh_/],
        not: [/password/],
      },
    ],
  },
  {
    name: "passwords in Calico's way",
    asCalico: true,
    start: { ...MESH, ...cluster({ nodeMeshPassword: { secretKeyRef: { name: 'mesh', key: 'k' } } }) },
    steps: [
      { what: 'no Secret', has: [/Mesh_10_0_0_2 /], not: [/password/] },
      { what: 'a Secret', secrets: { mesh: { k: 'one' } }, has: [/password "one";/] },
      { what: 'another password', secrets: { mesh: { k: 'two' } }, has: [/password "two";/], not: [/"one"/] },
      {
        what: 'under another key',
        secrets: { mesh: { l: 'two' } },
        has: [/Mesh_10_0_0_2 /],
        not: [/password/],
      },
      { what: 'back again', secrets: { mesh: { k: 'three' } }, has: [/password "three";/] },
      { what: 'no Secret any more', secrets: { mesh: null }, has: [/Mesh_10_0_0_2 /], not: [/password/] },
    ],
  },
];
