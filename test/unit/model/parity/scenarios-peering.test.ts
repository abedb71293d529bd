import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calicoKey } from '../../../../src/datastore/keys.ts';
import type { Session } from '../../../../src/model/bgp/types.ts';
import { calico, NO_MESH, namesOf, nodeAt, type Stored, type WorldOptions, worldOf } from './support.ts';

/** Bugs that users of Calico and of other renderers have met: who peers with whom, and how. */

const ID = { routeReflectorClusterID: '244.0.0.1' };
const reflector = (name: string, v4: string, id: unknown = '244.0.0.1'): Stored =>
  nodeAt(name, v4, { labels: { rr: 'true' }, bgp: { routeReflectorClusterID: id } });
const TO_REFLECTORS = calico('BGPPeer', 'to-reflectors', {
  nodeSelector: '!has(rr)',
  peerSelector: 'has(rr)',
});
const TWO = { ...nodeAt('n1', '10.0.0.1/24'), ...nodeAt('n2', '10.0.0.2/24') };

const from = (nodeName: string, values: Stored, options: WorldOptions = {}) =>
  worldOf(values, { nodeName, ...options });
const peersOf = (values: Stored, nodeName: string): readonly string[] =>
  from(nodeName, values).sessions.map(({ address }) => address);

describe('route reflectors', () => {
  const cluster = {
    ...NO_MESH,
    ...TO_REFLECTORS,
    ...reflector('rr1', '10.0.0.11/24'),
    ...reflector('rr2', '10.0.0.12/24'),
    ...TWO,
  };

  // projectcalico/calico#2292, projectcalico/bird#28
  it('have no clients in another AS, for which BIRD would refuse the file', () => {
    const router = calico('BGPPeer', 'router', {
      nodeSelector: 'has(rr)',
      peerIP: '192.0.2.1',
      asNumber: 65001,
    });
    const remote = nodeAt('far', '10.0.9.9/24', { bgp: { asNumber: 65009 } });
    const { sessions } = from('rr1', { ...cluster, ...router, ...remote });
    const external = sessions.filter(({ internal }) => !internal);
    expect(external.map(({ address }) => address).sort()).toEqual(['10.0.9.9', '192.0.2.1']);
    for (const { clusterId } of external) expect(clusterId).toBeNull();
  });

  // projectcalico/calico#2735
  it('of one cluster must all be met by a client; a missed one is warned about, other clusters are not', () => {
    const split = {
      ...NO_MESH,
      ...reflector('rr1', '10.0.0.11/24'),
      ...reflector('rr2', '10.0.0.12/24'),
      ...nodeAt('n1', '10.0.0.1/24'),
      ...calico('BGPPeer', 'p', { node: 'n1', peerIP: '10.0.0.11' }),
    };
    expect(from('n1', split).result.problems).toMatchObject([
      { id: 'reflector-missed', subject: 'Node/rr2' },
    ]);
    expect(from('n1', { ...split, ...reflector('rr2', '10.0.0.12/24', '244.0.0.2') }).problemIds).toEqual([]);
    expect(from('n1', cluster).problemIds).toEqual([]);
  });

  // projectcalico/confd#619
  it('are in nobody’s mesh, nor have one, in either family', () => {
    const values = {
      ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
      ...nodeAt('n2', '10.0.0.2/24', { v6: 'fd00::2/64' }),
      ...nodeAt('rr1', '10.0.0.11/24', { v6: 'fd00::11/64', bgp: ID }),
    };
    expect(peersOf(values, 'n1')).toEqual(['10.0.0.2', 'fd00::2']);
    expect(peersOf(values, 'rr1')).toEqual([]);
  });

  // projectcalico/bird#18
  it('peer plainly with a router that is no node, inside and outside their AS', () => {
    const one = calico('BGPPeer', 'one', { node: 'rr1', peerIP: '192.0.2.1', asNumber: 65001 });
    const two = calico('BGPPeer', 'two', { node: 'rr1', peerIP: '192.0.2.2', asNumber: 64512 });
    const { sessions } = from('rr1', { ...reflector('rr1', '10.0.0.11/24'), ...one, ...two });
    expect(sessions.map(({ address, clusterId }) => [address, clusterId])).toEqual([
      ['192.0.2.1', null],
      ['192.0.2.2', '244.0.0.1'],
    ]);
  });

  // cloudnativelabs/kube-router#451, #573
  it.each([
    ['244.0.0.1', '244.0.0.1'],
    [5, '0.0.0.5'],
    ['5', '0.0.0.5'],
    [4_093_640_705, '244.0.0.1'],
  ])('may have the cluster id %j, which is printed as a dotted quad', (id, printed) => {
    const { sessions } = from('rr1', { ...cluster, ...reflector('rr1', '10.0.0.11/24', id) });
    expect(sessions.find(({ address }) => address === '10.0.0.1')?.clusterId).toBe(printed);
  });

  // cloudnativelabs/kube-router#764
  it('are all that their clients peer with, and their clients all that they reflect to', () => {
    expect(peersOf(cluster, 'n1')).toEqual(['10.0.0.11', '10.0.0.12']);
    expect(peersOf(cluster, 'rr1')).toEqual(['10.0.0.1', '10.0.0.2']);
  });
});

describe('the mesh', () => {
  const on = calico('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: true });

  // projectcalico/calico#3785, #1939: peers of the mesh stay when a reflector comes.
  it('is gone when it is switched off, whatever was there before', () => {
    const world = worldOf({ ...TWO, ...on });
    expect(namesOf(world)).toEqual(['Mesh_10_0_0_2']);
    world.change(reflector('rr1', '10.0.0.11/24'));
    world.change(TO_REFLECTORS);
    expect([...namesOf(world)].sort()).toEqual(['Mesh_10_0_0_2', 'Node_10_0_0_11']);
    world.change(NO_MESH);
    expect(namesOf(world)).toEqual(['Node_10_0_0_11']);
    expect(world.text()).not.toContain('Mesh_');
  });

  // projectcalico/calicoctl#1247: toggled for two hours, then "on" without peers.
  it('depends on nothing but what is stored now, however it came to that', () => {
    const steps: readonly Stored[] = [
      on,
      NO_MESH,
      { [calicoKey('BGPConfiguration', 'default')]: undefined },
      reflector('n2', '10.0.0.2/24'),
      nodeAt('n2', '10.0.0.2/24'),
      { [calicoKey('Node', 'n2')]: undefined },
      reflector('n1', '10.0.0.1/24'),
      nodeAt('n1', '10.0.0.1/24'),
      TO_REFLECTORS,
      { [calicoKey('BGPPeer', 'to-reflectors')]: undefined },
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...steps), { minLength: 1, maxLength: 20 }), (taken) => {
        const world = worldOf(TWO);
        let now: Stored = TWO;
        for (const step of taken) {
          world.change(step);
          now = Object.fromEntries(
            Object.entries({ ...now, ...step }).filter(([, value]) => value !== undefined),
          );
        }
        expect(world.files()).toEqual(worldOf(now).files());
      }),
      { numRuns: 60 },
    );
  });

  // projectcalico/calico#2021
  it("uses each node's own AS, here and there", () => {
    const values = {
      ...nodeAt('n1', '10.0.0.1/24', { bgp: { asNumber: 65001 } }),
      ...nodeAt('n2', '10.0.0.2/24', { bgp: { asNumber: '65002' } }),
      ...nodeAt('n3', '10.0.0.3/24'),
    };
    const world = worldOf({ ...values, ...calico('BGPConfiguration', 'default', { asNumber: 64999 }) });
    expect(world.text()).toMatch(/local as 65001;/);
    expect(world.sessions.map(({ asNumber }) => asNumber)).toEqual([65002, 64999]);
  });

  // projectcalico/calico#2458: both ends passive.
  it.each(['text', 'numeric'] as const)(
    'has exactly one passive end per session, by %s order',
    (passiveOrder) => {
      const hosts = ['1', '2', '9', '10', 'a', 'ff', '99', '100', '1:1'];
      for (const one of hosts) {
        for (const two of hosts) {
          if (one === two) continue;
          const values = {
            ...nodeAt('n1', undefined, { v6: `fd00::${one}` }),
            ...nodeAt('n2', undefined, { v6: `fd00::${two}` }),
          };
          const passive = ['n1', 'n2'].map(
            (name) => from(name, values, { passiveOrder }).sessions[0]!.passive,
          );
          expect(passive[0] !== passive[1], `${one} and ${two}`).toBe(true);
        }
      }
    },
  );

  it('holds IPv6 sessions that are multihop, since a gateway may be link-local', () => {
    const values = {
      ...nodeAt('n1', '10.0.0.1', { v6: 'fd00::1' }),
      ...nodeAt('n2', '10.0.0.2', { v6: 'fd00::2' }),
    };
    for (const dialect of ['bird1', 'bird2'] as const)
      expect(worldOf(values, { dialect }).text()).toMatch(/^template bgp bgp6 \{\n[^}]* {2}multihop;/m);
  });
});

describe('BGPPeers', () => {
  it('that select the node itself, by any of its names and addresses, give no session with it', () => {
    const values = {
      ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64', labels: { rr: 'true' } }),
      ...NO_MESH,
      ...calico('BGPPeer', 'a', { peerSelector: 'all()' }),
      ...calico('BGPPeer', 'b', { nodeSelector: 'has(rr)', peerSelector: 'has(rr)' }),
      ...calico('BGPPeer', 'c', { peerIP: '10.0.0.1', asNumber: 64512 }),
      ...calico('BGPPeer', 'd', { node: 'n1', peerIP: '[FD00:0::1]:179', asNumber: 65001 }),
    };
    const world = worldOf(values);
    expect(namesOf(world)).toEqual([]);
    expect(world.text()).not.toMatch(/^protocol bgp/m);
    // Nor with one that pretends to have its address.
    expect(namesOf(worldOf({ ...values, ...nodeAt('twin', '10.0.0.1/24') }))).toEqual([]);
  });

  // projectcalico/calico PR 6119
  it('by the IPv6 address of a node give both ends one IPv6 session', () => {
    const values = {
      ...nodeAt('n1', '10.0.0.1', { v6: 'fd00::1' }),
      ...nodeAt('n2', '10.0.0.2', { v6: 'fd00::2' }),
      ...NO_MESH,
      ...calico('BGPPeer', 'p', { node: 'n1', peerIP: 'fd00::2' }),
    };
    expect(peersOf(values, 'n1')).toEqual(['fd00::2']);
    expect(peersOf(values, 'n2')).toEqual(['fd00::1']);
  });

  // projectcalico/node#55, projectcalico/calico#4164, projectcalico/confd#308
  it.each([
    [{ keepOriginalNextHop: true }, 65001, 'keep'],
    [{ keepOriginalNextHop: true }, 64512, null],
    [{ nextHopMode: 'Keep' }, 64512, 'keep'],
    [{ nextHopMode: 'Self' }, 65001, 'self'],
    [{ nextHopMode: 'Auto' }, 65001, null],
    [{}, 65001, null],
  ])(
    'with %j and AS %d have the next hop %s, by address and by selector, in both families',
    (spec, asNumber, nextHop) => {
      const values = {
        ...nodeAt('n1', '10.0.0.1', { v6: 'fd00::1' }),
        ...nodeAt('n2', '10.0.0.2', { v6: 'fd00::2', labels: { it: 'x' }, bgp: { asNumber } }),
        ...NO_MESH,
      };
      const bySelector = worldOf({
        ...values,
        ...calico('BGPPeer', 'p', { node: 'n1', peerSelector: 'has(it)', ...spec }),
      });
      const byAddress = worldOf({
        ...values,
        ...calico('BGPPeer', 'p', { node: 'n1', peerIP: '10.0.0.2', asNumber, ...spec }),
        ...calico('BGPPeer', 'q', { node: 'n1', peerIP: 'fd00::2', asNumber, ...spec }),
      });
      const nextHops = (sessions: readonly Session[]) => sessions.map((session) => session.nextHop);
      expect(nextHops(bySelector.sessions)).toEqual([nextHop, nextHop]);
      expect(nextHops(byAddress.sessions)).toEqual([nextHop, nextHop]);
      const line = nextHop === null ? /next hop (keep|self);/ : new RegExp(`next hop ${nextHop};`);
      for (const text of [bySelector.text(), byAddress.text()])
        expect(line.test(text)).toBe(nextHop !== null);
    },
  );

  // projectcalico/calico#2620: whether such a session comes up matters to no other one.
  it('to localhost are sessions like any other', () => {
    const world = worldOf({ ...TWO, ...calico('BGPPeer', 'p', { peerIP: '127.0.0.1', asNumber: 65001 }) });
    expect([...namesOf(world)].sort()).toEqual(['Global_127_0_0_1', 'Mesh_10_0_0_2']);
  });

  it('of which every session says where it comes from', () => {
    const world = worldOf({
      ...TWO,
      ...reflector('rr1', '10.0.0.11/24'),
      ...TO_REFLECTORS,
      ...calico('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 65001 }),
    });
    const comments = [...world.text().matchAll(/^# (.*)\nprotocol bgp (\S+)/gm)].map(([, comment, name]) => [
      name,
      comment,
    ]);
    expect(Object.fromEntries(comments)).toEqual({
      Mesh_10_0_0_2: 'BGPConfiguration default: node-to-node mesh, node n2',
      Node_10_0_0_11: 'BGPPeer to-reflectors: peerSelector, node rr1',
      Global_192_0_2_1: 'BGPPeer tor: peerIP',
    });
  });
});

describe('addresses', () => {
  // projectcalico/calico#1628, #2521, #3194: autodetection gave many nodes the address of docker0.
  it('shared by many nodes are warned about, and everything goes on', () => {
    const many = Object.assign({}, ...[2, 3, 4, 5].map((i) => nodeAt(`n${i}`, '172.17.0.1/16')));
    const world = worldOf({ ...nodeAt('n1', '10.0.0.1/24'), ...many, ...nodeAt('n6', '10.0.0.6/24') });
    expect(namesOf(world)).toEqual(['Mesh_172_17_0_1', 'Mesh_10_0_0_6']);
    expect(world.problemIds).toEqual(['duplicate-address']);
  });

  // projectcalico/calicoctl#2109
  it('of an interface in 240.0.0.0/4 can be kept out by its name', () => {
    const world = worldOf({
      ...TWO,
      ...calico('BGPConfiguration', 'default', { ignoredInterfaces: ['docker0', 'br-*'] }),
    });
    expect(world.text()).toContain('interface -"docker0", -"br-*", -"cali*", -"kube-ipvs*", "*";');
  });

  it('in any spelling are one address', () => {
    const world = worldOf({
      ...nodeAt('n1', '10.0.0.1', { v6: 'FD00:0:0:0:0:0:0:1' }),
      ...nodeAt('n2', '10.0.0.2', { v6: 'fd00:0::2/64' }),
      ...calico('BGPPeer', 'p', { node: 'n1', peerIP: 'FD00::0002', asNumber: 64512 }),
    });
    expect(world.ipv6.sessions.map(({ name }) => name)).toEqual(['Node_fd00__2']);
  });
});
