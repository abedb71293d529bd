import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allSessions,
  compute,
  config,
  endpointStatus,
  node,
  onlySession,
  peer,
  problemIds,
  sessionNames,
} from './support.ts';

const noMesh = config({ meshEnabled: false });
const rr = (name: string, v4: string) => node(name, v4, { labels: { rr: 'true' }, clusterId: '244.0.0.1' });

describe('a BGPPeer with peerIP', () => {
  const nodes = [node('a', '10.0.0.1/24'), node('b', '10.0.0.2/24')];
  const tor = { peerAddress: '10.0.0.254', asNumber: 65_001 };

  it('is for every node when it names none', () => {
    const peers = [peer('tor', tor)];
    for (const name of ['a', 'b'])
      expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }, name))).toEqual(['Global_10_0_0_254']);
  });

  it('is for one node when it names it, or for those it selects', () => {
    const labelled = [node('a', '10.0.0.1/24', { labels: { rack: '1' } }), node('b', '10.0.0.2/24')];
    for (const who of [{ node: 'a' }, { nodeSelector: "rack == '1'" }]) {
      const peers = [peer('tor', { ...tor, ...who })];
      const names = (name: string) =>
        sessionNames(compute({ nodes: labelled, peers, configs: [noMesh] }, name));
      expect(names('a')).toEqual(['Node_10_0_0_254']);
      expect(names('b')).toEqual([]);
    }
  });

  it('never makes a node peer with itself', () => {
    const peers = [
      peer('all', { peerSelector: 'all()' }),
      peer('me', { peerAddress: '10.0.0.1', asNumber: 64_512 }),
    ];
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }))).toEqual(['Global_10_0_0_2']);
  });

  it('takes the port of the node at that address when it has that AS, and no port otherwise', () => {
    const configs = [config({ meshEnabled: false, listenPort: 150 }), config({ node: 'b', listenPort: 166 })];
    const port = (more: object) =>
      onlySession(compute({ nodes, configs, peers: [peer('p', { reversePeering: 'Manual', ...more })] }))
        .port;
    expect(port({ peerAddress: '10.0.0.2', asNumber: 64_512 })).toBe(166);
    expect(port({ peerAddress: '10.0.0.2', peerPort: 99, asNumber: 64_512 })).toBe(99);
    expect(port({ peerAddress: '10.0.0.2', asNumber: 65_001 })).toBeNull();
    expect(port({ peerAddress: '10.0.0.254', asNumber: 64_512 })).toBeNull();
  });

  it('is passive towards a node with the greater address when it is for all nodes', () => {
    const peers = [peer('p', { peerAddress: '10.0.0.2', asNumber: 64_512 })];
    expect(onlySession(compute({ nodes, peers, configs: [noMesh] })).passive).toBe(true);
    expect(onlySession(compute({ nodes, peers: [peer('tor', tor)], configs: [noMesh] })).passive).toBe(false);
    const forOne = [peer('p', { node: 'a', peerAddress: '10.0.0.2', asNumber: 64_512 })];
    expect(onlySession(compute({ nodes, peers: forOne, configs: [noMesh] })).passive).toBe(false);
  });

  it('takes the AS of the node at that address when it gives none', () => {
    const own = [node('a', '10.0.0.1/24'), node('b', '10.0.0.2/24', { asNumber: 65_002 })];
    const computed = compute({
      nodes: own,
      peers: [peer('p', { peerAddress: '10.0.0.2' })],
      configs: [noMesh],
    });
    expect(onlySession(computed).asNumber).toBe(65_002);
  });

  it('is withheld alone when no AS is known, since BIRD refuses a file with AS 0', () => {
    const peers = [
      peer('p', { peerAddress: '10.0.0.254' }),
      peer('q', { peerAddress: '10.0.0.253', asNumber: 65_001 }),
    ];
    const computed = compute({ nodes, peers, configs: [noMesh] });
    expect(sessionNames(computed)).toEqual(['Global_10_0_0_253']);
    expect(computed.model.problems).toMatchObject([
      { id: 'peer-as-unknown', subject: 'BGPPeer/p', field: 'spec.asNumber', severity: 'error' },
    ]);
  });
});

describe('a BGPPeer with peerSelector', () => {
  const nodes = [
    rr('r', '10.0.0.9/24'),
    node('a', '10.0.0.1/24', { v6: 'fd00::1/64' }),
    node('b', '10.0.0.2/24', { v6: 'fd00::2/64' }),
  ];

  it('gives a session per node and family', () => {
    const peers = [peer('p', { peerSelector: '!has(rr)', reversePeering: 'Manual' })];
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }))).toEqual([
      'Global_10_0_0_2',
      'Global_fd00__2',
    ]);
  });

  it("takes AS and port of each node, else the cluster's", () => {
    const own = [
      node('a', '10.0.0.1/24'),
      node('b', '10.0.0.2/24', { asNumber: 65_002 }),
      node('c', '10.0.0.3/24'),
    ];
    const configs = [config({ meshEnabled: false, listenPort: 178 }), config({ node: 'b', listenPort: 500 })];
    expect(
      allSessions(compute({ nodes: own, peers: [peer('p', { peerSelector: 'all()' })], configs })),
    ).toMatchObject([
      { asNumber: 65_002, port: 500 },
      { asNumber: 64_512, port: 178 },
    ]);
  });

  it('gives the other ends of its sessions to the nodes it points at', () => {
    const peers = [peer('p', { nodeSelector: '!has(rr)', peerSelector: 'has(rr)' })];
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }, 'a'))).toEqual(['Node_10_0_0_9']);
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }, 'r'))).toEqual([
      'Node_10_0_0_1',
      'Node_10_0_0_2',
    ]);
  });

  it('gives no other ends with reverse peering Manual', () => {
    const peers = [
      peer('p', { nodeSelector: '!has(rr)', peerSelector: 'has(rr)', reversePeering: 'Manual' }),
    ];
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }, 'r'))).toEqual([]);
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }, 'a'))).toEqual(['Node_10_0_0_9']);
  });

  it('selects everything when it is empty, and nothing when it does not parse', () => {
    const everything = compute({ nodes, peers: [peer('p', { peerSelector: '' })], configs: [noMesh] }, 'r');
    expect(sessionNames(everything)).toEqual(['Global_10_0_0_1', 'Global_10_0_0_2']);
    const nothing = compute({ nodes, peers: [peer('p', { peerSelector: 'a ==' })], configs: [noMesh] }, 'r');
    expect(sessionNames(nothing)).toEqual([]);
  });
});

describe('the other end of a peerIP that is a node', () => {
  const nodes = [
    node('a', '10.0.0.1/24', { v6: 'fd00::1/64' }),
    node('b', '10.0.0.2/24', { v6: 'fd00::2/64' }),
  ];
  const names = (more: object, name = 'b', configs = [noMesh]) =>
    sessionNames(compute({ nodes, peers: [peer('p', { node: 'a', ...more })], configs }, name));

  it('exists in the family of the address only, so that no session waits in vain', () => {
    expect(names({ peerAddress: 'fd00::2', asNumber: 64_512 })).toEqual(['Node_fd00__1']);
    expect(names({ peerAddress: 'fd00::2', asNumber: 64_512 }, 'a')).toEqual(['Node_fd00__2']);
    expect(names({ peerAddress: 'fd00::2' })).toEqual(['Node_fd00__1']);
  });

  it('needs the AS of that node, and its port where one is given', () => {
    expect(names({ peerAddress: '10.0.0.2', asNumber: 65_001 })).toEqual([]);
    const listening = [
      config({ meshEnabled: false, listenPort: 150 }),
      config({ node: 'b', listenPort: 166 }),
    ];
    expect(names({ peerAddress: '10.0.0.2', peerPort: 150, asNumber: 64_512 }, 'b', listening)).toEqual([]);
    expect(names({ peerAddress: '10.0.0.2', peerPort: 166, asNumber: 64_512 }, 'b', listening)).toEqual([
      'Node_10_0_0_1_port_150',
    ]);
  });
});

describe('of several claims to one address', () => {
  const nodes = [node('a', '10.0.0.1/24'), node('b', '10.0.0.2/24')];

  it('one for all nodes is stronger than one for some, and both than the other end of a session', () => {
    const some = peer('a-some', { node: 'a', peerAddress: '10.0.0.2', asNumber: 64_512, keepaliveTime: 1 });
    const all = peer('b-all', { peerAddress: '10.0.0.2', asNumber: 64_512, keepaliveTime: 2 });
    const reverse = peer('0-reverse', {
      node: 'b',
      peerAddress: '10.0.0.1',
      asNumber: 64_512,
      keepaliveTime: 3,
    });
    const session = (...peers: ReturnType<typeof peer>[]) =>
      onlySession(compute({ nodes, peers, configs: [noMesh] }));
    expect(session(some, all, reverse)).toMatchObject({ name: 'Global_10_0_0_2', keepaliveTime: 2 });
    expect(session(some, reverse)).toMatchObject({ name: 'Node_10_0_0_2', keepaliveTime: 1 });
    expect(session(reverse)).toMatchObject({ name: 'Node_10_0_0_2', keepaliveTime: 3 });
  });

  it('of one rank the first by name wins, whatever the order they came in, and the other is reported', () => {
    const peers = ['x', 'y', 'z'].map((name, i) =>
      peer(name, { peerAddress: '10.0.0.9', asNumber: 65_001 + i }),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(peers, { minLength: 3 }), (shuffled) => {
        const computed = compute({ nodes, peers: shuffled, configs: [noMesh] });
        expect(onlySession(computed).asNumber).toBe(65_001);
        expect(computed.model.problems.map(({ subject }) => subject)).toEqual(['BGPPeer/y', 'BGPPeer/z']);
      }),
    );
  });

  it('another port is another session, and 179 is no port', () => {
    const at = (peerPort: number | null) => ({ peerAddress: '10.0.0.9', peerPort, asNumber: 65_001 });
    const peers = [peer('p', at(null)), peer('q', at(179)), peer('r', at(180))];
    expect(sessionNames(compute({ nodes, peers, configs: [noMesh] }))).toEqual([
      'Global_10_0_0_9',
      'Global_10_0_0_9_port_180',
    ]);
  });
});

describe('a BGPPeer with localWorkloadSelector', () => {
  const nodes = [node('a', '10.0.0.1/24', { v6: 'fd00::1/64' })];
  const spec = { localWorkloadSelector: "app == 'x'", asNumber: 65_100, localAsNumber: 65_200 };
  const statuses = [endpointStatus('p', '192.168.0.5', 'fd10::5'), endpointStatus('other', '192.168.0.6')];

  it('gives a passive session per address of a workload whose status names it', () => {
    const computed = compute({
      nodes,
      statuses,
      peers: [peer('p', { ...spec, ttlSecurityHops: 1, keepaliveTime: 3 })],
    });
    expect(sessionNames(computed)).toEqual(['Local_Workload_192_168_0_5', 'Local_Workload_fd10__5']);
    expect(allSessions(computed)[0]).toMatchObject({
      ...{ type: 'workload', asNumber: 65_100, localAs: 65_200, passive: true, sourceAddress: null },
      ...{ ttlSecurityHops: null, keepaliveTime: null, password: null, nextHop: null, internal: false },
    });
    expect(computed.interests.endpointStatus).toBe(true);
  });

  it('counts only on the nodes it is for', () => {
    const peers = [peer('p', { ...spec, node: 'b' })];
    expect(sessionNames(compute({ nodes, statuses, peers }))).toEqual([]);
  });

  it('gives one session where two statuses have one address', () => {
    const twice = [endpointStatus('p', '192.168.0.5'), endpointStatus('p', '192.168.0.5')];
    const computed = compute({ nodes, statuses: twice, peers: [peer('p', spec)] });
    expect(sessionNames(computed)).toEqual(['Local_Workload_192_168_0_5']);
  });
});

it('a node without problems has none', () => {
  const peers = [peer('p', { peerSelector: 'has(rr)' })];
  expect(problemIds(compute({ nodes: [rr('r', '10.0.0.9/24'), node('a', '10.0.0.1/24')], peers }))).toEqual(
    [],
  );
});
