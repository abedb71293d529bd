import { describe, expect, it } from 'vitest';
import { calicoKey } from '../../../../src/datastore/keys.ts';
import { compatOptions } from '../../../../src/model/bgp/options.ts';
import {
  blockOf,
  calico,
  kubernetes,
  NO_MESH,
  namesOf,
  nodeAt,
  secretWith,
  type WorldOptions,
  worldOf,
} from './support.ts';

/** Where Calico's confd does something else; docs/differences-from-calico-confd.md names these tests. */
const AS_CALICO: WorldOptions = { compat: compatOptions(true) };

const TWO = { ...nodeAt('n1', '10.0.0.1/24'), ...nodeAt('n2', '10.0.0.2/24') };
const TOR = calico('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 65001 });

describe('one bad object', () => {
  it('a BGPFilter that makes no sense is left out alone, and everything else is rendered', () => {
    const good = { ...TWO, ...TOR, ...calico('BGPFilter', 'good', { importV4: [{ action: 'Reject' }] }) };
    const bad = calico('BGPFilter', 'bad', {
      importV4: [{ action: 'Accept', matchOperator: 'Near', cidr: '10.0.0.0/8' }],
    });
    const world = worldOf({ ...good, ...bad });
    expect(world.text()).toBe(worldOf(good).text());
    expect(world.result.problems).toMatchObject([{ id: 'resource-invalid', subject: 'BGPFilter/bad' }]);
  });

  it('a BGPPeer without asNumber takes the AS of the node at its address, and is held back alone where there is none', () => {
    const world = worldOf({
      ...TWO,
      ...NO_MESH,
      ...TOR,
      ...calico('BGPPeer', 'node', { peerIP: '10.0.0.2' }),
      ...calico('BGPPeer', 'stranger', { peerIP: '192.0.2.9' }),
    });
    expect(world.sessions.map(({ address, asNumber }) => [address, asNumber])).toEqual([
      ['10.0.0.2', 64512],
      ['192.0.2.1', 65001],
    ]);
    expect(world.result.problems).toMatchObject([{ id: 'peer-as-unknown', subject: 'BGPPeer/stranger' }]);
    expect(world.text()).not.toMatch(/as 0;/);
  });

  it('a password that BIRD cannot express holds back its own session only', () => {
    const password = { secretKeyRef: { name: 's', key: 'bad' } };
    const other = { ...TWO, ...NO_MESH, ...TOR, ...secretWith('s', { bad: 'a"b', good: 'hush' }) };
    const bad = calico('BGPPeer', 'bad', { peerIP: '192.0.2.2', asNumber: 65002, password });
    const world = worldOf({ ...other, ...bad });
    expect(namesOf(world)).toEqual(['Global_192_0_2_1']);
    expect(world.text()).toBe(worldOf(other).text());
    expect(world.problemIds).toEqual(['password-invalid']);
  });

  it('a node without IPv4 has a hashed router id', () => {
    const world = worldOf({
      ...nodeAt('n1', undefined, { v6: 'fd00::1/64' }),
      ...nodeAt('n2', undefined, { v6: 'fd00::2/64' }),
    });
    expect(world.text()).toMatch(/^router id \d+\.\d+\.\d+\.\d+;$/m);
    expect(namesOf(world)).toEqual(['Mesh_fd00__2']);
  });

  it('a bad version of a good object leaves the last good one in force', () => {
    const world = worldOf({ ...TWO, ...TOR });
    const before = world.text();
    world.change(calico('BGPPeer', 'tor', { peerIP: '192.0.2.1"', asNumber: 65001 }));
    expect(world.text()).toBe(before);
    expect(world.result.problems[0]?.message).toMatch(/its last good version is used$/);
  });
});

describe('nodes', () => {
  it('an IPv6 address that a node gave up is no longer taken for a node', () => {
    const peer = calico('BGPPeer', 'p', { peerIP: 'fd00::2', asNumber: 64512 });
    const port = calico('BGPConfiguration', 'node.n2', { listenPort: 180 });
    const at = (v6: string) => nodeAt('n2', undefined, { v6 });
    const world = worldOf({
      ...nodeAt('n1', '10.0.0.1', { v6: 'fd00::1' }),
      ...at('fd00::2'),
      ...NO_MESH,
      ...peer,
      ...port,
    });
    expect(world.sessions[0]).toMatchObject({ address: 'fd00::2', port: 180, passive: true });
    world.change(at('fd00::3'));
    expect(world.sessions[0]).toMatchObject({ address: 'fd00::2', port: null, passive: false });
    expect(world.sessions[0]?.provenance.node).toBeNull();
  });

  it("a peering with a node's own port is mutual although the cluster's port is another", () => {
    const values = {
      ...TWO,
      ...calico('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: false, listenPort: 177 }),
      ...calico('BGPConfiguration', 'node.n1', { listenPort: 500 }),
      ...calico('BGPPeer', 'p', { node: 'n2', peerIP: '10.0.0.1:500', asNumber: 64512 }),
    };
    expect(namesOf(worldOf(values))).toEqual(['Node_10_0_0_2_port_177']);
    expect(namesOf(worldOf(values, { nodeName: 'n2' }))).toEqual(['Node_10_0_0_1_port_500']);
  });

  it('a log level set for one node counts although the level of the cluster stays', () => {
    const world = worldOf({
      ...TWO,
      ...calico('BGPConfiguration', 'default', { logSeverityScreen: 'Info' }),
    });
    world.change(calico('BGPConfiguration', 'node.n1', { logSeverityScreen: 'Debug' }));
    expect(world.node.debug.sessions).toEqual(['all']);
    expect(world.text()).toContain('debug all;');
    world.change(calico('BGPConfiguration', 'node.n1', { logSeverityScreen: 'None' }));
    expect(world.text()).not.toMatch(/debug (all|\{)/);
  });

  it('the mesh comes and goes with its switch', () => {
    const world = worldOf(TWO);
    const on = world.text();
    world.change(NO_MESH);
    expect(namesOf(world)).toEqual([]);
    world.change(calico('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: true }));
    expect(world.text()).toBe(on);
    world.change(NO_MESH);
    world.change({ [calicoKey('BGPConfiguration', 'default')]: undefined });
    expect(world.text()).toBe(on);
  });

  it('a node that has the address of this one is no peer, and two nodes with one address are one', () => {
    const world = worldOf({
      ...TWO,
      ...nodeAt('n3', '10.0.0.2/24'),
      ...nodeAt('n4', '10.0.0.1/24'),
    });
    expect(namesOf(world)).toEqual(['Mesh_10_0_0_2']);
    expect(world.problemIds.filter((id) => id === 'duplicate-address')).toHaveLength(2);
  });
});

describe('blocks and services', () => {
  it('a block that is marked as deleted is none, whatever its state and the type of the mark', () => {
    const key = Object.keys(blockOf('n1', '10.1.0.0/26'))[0]!;
    for (const deleted of [true, 'true']) {
      const world = worldOf({ ...TWO, [key]: { state: 'confirmed', deleted } });
      expect(world.ipv4.staticRoutes, String(deleted)).toEqual([]);
    }
    expect(
      worldOf({ ...TWO, [key]: { state: 'confirmed', deleted: 'false' } }).ipv4.staticRoutes,
    ).toHaveLength(1);
  });

  it('a service whose last EndpointSlice goes is no longer advertised, whatever the slice is called', () => {
    const slice = kubernetes('EndpointSlice', 'web-x7k2p', {
      metadata: { name: 'web-x7k2p', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ nodeName: 'n1', conditions: { ready: true } }],
    });
    const world = worldOf({
      ...TWO,
      ...calico('BGPConfiguration', 'default', { serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] }),
      ...kubernetes('Service', 'web', {
        spec: {
          type: 'ClusterIP',
          clusterIP: '10.96.0.10',
          externalTrafficPolicy: 'Local',
          ipFamilies: ['IPv4'],
        },
      }),
      ...slice,
    });
    const routes = () => world.ipv4.staticRoutes.map(({ prefix }) => prefix);
    expect(routes()).toEqual(['10.96.0.0/12', '10.96.0.10/32']);
    world.change(Object.fromEntries(Object.keys(slice).map((key) => [key, undefined])));
    expect(routes()).toEqual(['10.96.0.0/12']);
  });
});

describe('passwords', () => {
  const password = { secretKeyRef: { name: 's', key: 'k' } };
  const values = {
    ...TWO,
    ...NO_MESH,
    ...calico('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 65001, password }),
  };
  const secret = secretWith('s', { k: 'hush' });
  const without = Object.fromEntries(Object.keys(secret).map((key) => [key, undefined]));

  it('a Secret that goes away leaves the last good password in force, also after a restart', () => {
    const world = worldOf({ ...values, ...secret });
    const before = world.text();
    expect(before).toContain('password "hush";');
    world.change(without);
    expect(world.text()).toBe(before);
    expect(world.problemIds).toEqual(['secret-absent']);
    const restarted = worldOf(values, { lastGood: world.result.lastGood });
    expect(restarted.text()).toBe(before);
  });

  it('a Secret that goes away opens the session without a password when Calico is asked for', () => {
    const world = worldOf({ ...values, ...secret }, AS_CALICO);
    expect(world.text()).toContain('password "hush";');
    world.change(without);
    expect(namesOf(world)).toEqual(['Global_192_0_2_1']);
    expect(world.text()).not.toContain('password');
    expect(world.text()).toBe(worldOf(values, AS_CALICO).text());
  });

  it('a Secret that exists without the password is taken at its word', () => {
    const world = worldOf({ ...values, ...secret });
    world.change(secretWith('s', { other: 'x' }));
    expect(namesOf(world)).toEqual([]);
    expect(world.problemIds).toEqual(['password-missing']);
  });

  it('a Secret that nobody has written yet delays nothing but its own sessions', () => {
    const world = worldOf({
      ...values,
      ...TOR,
      ...calico('BGPPeer', 'other', { peerIP: '192.0.2.2', asNumber: 1, password }),
    });
    expect(namesOf(world)).toEqual(['Global_192_0_2_1']);
    expect(world.result.interests.secrets).toEqual(['kube-system/s']);
    world.change(secret);
    expect([...namesOf(world)].sort()).toEqual(['Global_192_0_2_1', 'Global_192_0_2_2']);
  });
});

describe('hostile text', () => {
  const QUOTE = 'x"; } protocol static evil { route 10.99.0.0/16 blackhole; }\n#';

  it('never reaches the configuration, whichever field it stands in', () => {
    const world = worldOf({
      ...TWO,
      ...TOR,
      ...calico('BGPPeer', 'a', { peerIP: QUOTE, asNumber: 1 }),
      ...calico('BGPPeer', 'b', { peerIP: '192.0.2.3', asNumber: QUOTE }),
      ...calico('BGPConfiguration', 'default', { ignoredInterfaces: [QUOTE] }),
      ...calico('BGPConfiguration', 'node.n1', {
        prefixAdvertisements: [{ cidr: '10.0.0.0/8', communities: [QUOTE] }],
      }),
      ...calico('BGPFilter', 'f', { importV4: [{ action: 'Accept', interface: QUOTE }] }),
      ...calico('BGPFilter', 'g', { importV4: [{ action: 'Accept', communities: { values: [QUOTE] } }] }),
      ...calico('IPPool', 'p', { cidr: QUOTE }),
      ...nodeAt('n3', QUOTE),
      ...nodeAt('n4', '10.0.0.4', { bgp: { routeReflectorClusterID: QUOTE } }),
    });
    expect(world.text()).toBe(worldOf({ ...TWO, ...TOR }).text());
    expect(world.problemIds.filter((id) => id === 'resource-invalid')).toHaveLength(9);
  });

  it('in a name ends in a comment or a hash at most', () => {
    const name = 'x}; protocol static evil';
    const world = worldOf({
      ...TWO,
      ...calico('BGPFilter', name, { importV4: [{ action: 'Reject' }] }),
      ...calico('BGPPeer', name, { peerIP: '192.0.2.1', asNumber: 65001, filters: [name] }),
    });
    expect(namesOf(world)).toContain('Global_192_0_2_1');
    const lines = world
      .text()
      .split('\n')
      .filter((line) => line.includes('protocol static evil'));
    for (const line of lines) expect(line.trimStart()).toMatch(/^#/);
  });
});
