import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { blockOf, calico, kubernetes, nodeAt, type Stored } from '../../unit/model/parity/support.ts';
import { BIRD1, BIRD2, currentFiles, type Host, makeHost, onetime, startBirdfeed } from '../app/support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;
beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

/** One change, and what the configuration then has and has not. */
interface Step {
  readonly what: string;
  /** `undefined` deletes. */
  readonly put?: Stored;
  /** Secrets by name; `null` deletes. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  /** Status files of workloads by name; `null` deletes. */
  readonly statuses?: Readonly<Record<string, object | null>>;
  readonly has: readonly RegExp[];
  readonly not?: readonly RegExp[];
}

interface Scenario {
  readonly name: string;
  readonly asCalico?: boolean;
  readonly start: Stored;
  readonly steps: readonly Step[];
}

const gone = (values: Stored): Stored =>
  Object.fromEntries(Object.keys(values).map((key) => [key, undefined]));
const cluster = (spec: object): Stored => calico('BGPConfiguration', 'default', spec);
const peer = (spec: object): Stored =>
  calico('BGPPeer', 'p', { peerIP: '192.0.2.1', asNumber: 65001, ...spec });

const MESH = {
  ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
  ...nodeAt('n2', '10.0.0.2/24', { v6: 'fd00::2/64', labels: { rack: 'a' } }),
  ...nodeAt('n3', '10.0.0.3/24', { labels: { rack: 'b' } }),
  ...nodeAt('n4', '10.0.0.4/24'),
  ...calico('IPPool', 'pods', { cidr: '10.244.0.0/16' }),
  ...blockOf('n1', '10.244.1.0/26'),
};
const SECRET = { secretKeyRef: { name: 'bgp', key: 'k' } };
const FILTER = calico('BGPFilter', 'f', {
  importV4: [{ action: 'Reject', matchOperator: 'In', cidr: '10.9.0.0/16' }],
});

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
    ipFamilies: ['IPv4'],
  },
});
const slice = (name: string, nodeName: string, ready = true): Stored =>
  kubernetes('EndpointSlice', name, {
    metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ nodeName, conditions: { ready } }],
  });
const RANGES = cluster({
  serviceClusterIPs: [{ cidr: '10.96.0.0/16' }],
  serviceExternalIPs: [{ cidr: '203.0.113.0/24' }],
});

const SCENARIOS: readonly Scenario[] = [
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

async function write(values: Stored): Promise<void> {
  const entries = Object.entries(values);
  const operations = entries.map(([key, value]) =>
    value === undefined
      ? { del: key }
      : { put: [key, typeof value === 'string' ? value : JSON.stringify(value)] as const },
  );
  if (operations.length > 0) await etcd.client.txn(operations);
}

/** As a mounted Secret is replaced: the new one is complete before it takes the place of the old one. */
async function writeSecrets(directory: string, secrets: Step['secrets'] = {}): Promise<void> {
  for (const [name, data] of Object.entries(secrets)) {
    const [at, next] = [join(directory, name), join(directory, '..', `next-${name}`)];
    if (data !== null) {
      await mkdir(next);
      for (const [key, value] of Object.entries(data)) await writeFile(join(next, key), value);
    }
    await rm(at, { recursive: true, force: true });
    if (data !== null) await rename(next, at);
  }
}

/** As Felix does: a file is complete before it has its name. */
async function writeStatuses(directory: string, statuses: Step['statuses'] = {}): Promise<void> {
  for (const [name, value] of Object.entries(statuses)) {
    const [at, next] = [join(directory, name), join(directory, '..', `next-${name}`)];
    if (value === null) await rm(at);
    else {
      await writeFile(next, JSON.stringify(value));
      await rename(next, at);
    }
  }
}

const rendered = (host: Host): string =>
  currentFiles(host)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

function fits(text: string, { has, not = [] }: Step): string | null {
  for (const pattern of has) if (!pattern.test(text)) return `lacks ${pattern}`;
  for (const pattern of not) if (pattern.test(text)) return `has ${pattern}`;
  return null;
}

describe.each([
  ['bird1', BIRD1],
  ['bird2', BIRD2],
] as const)('steps under a running birdfeed (%s)', (_dialect, flavour) => {
  it.each(SCENARIOS)(
    '$name: each ends in what it should, and in the bytes of a fresh rendering',
    async ({ start, steps, asCalico }) => {
      const host = await makeHost(flavour);
      const [secrets, statuses] = [join(host.directory, 'secrets'), join(host.directory, 'endpoint-status')];
      await mkdir(secrets);
      await mkdir(statuses);
      await etcd.client.delPrefix('');
      await write(start);
      const args = [
        ...['--reload', 'none', '--syntax-check', 'off', '--guard-share', '100%', '--secrets-dir', secrets],
        ...['--endpoint-status-dir', statuses],
        ...(asCalico ? ['--calico-compat'] : []),
      ];
      const birdfeed = await startBirdfeed(host, etcd, args);
      await birdfeed.reaches('generation 1', ({ generation }) => generation !== null);
      for (const step of steps) {
        await write(step.put ?? {});
        await writeSecrets(secrets, step.secrets);
        await writeStatuses(statuses, step.statuses);
        await until(
          () => {
            const fault = fits(rendered(host), step);
            if (fault !== null) throw new Error(fault);
            return true;
          },
          { timeout: 20_000, what: step.what },
        );
      }
      // What is quarantined would end in its last good version here, and in nothing there: the last steps are good ones.
      const fresh = { ...host, cache: join(await testDir('bfa'), 'cache') };
      expect(await onetime(fresh, etcd, args)).toMatchObject({ code: 0 });
      const wanted = rendered(fresh);
      await until(() => rendered(host) === wanted, { timeout: 10_000, what: 'equal bytes' });
    },
  );
});
