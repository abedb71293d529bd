import { describe, expect, it } from 'vitest';
import { explain, explainable } from '../../../../src/model/bgp/explain.ts';
import { type ModelOptions, modelOptions } from '../../../../src/model/bgp/options.ts';
import type { Cluster } from '../../../../src/model/calico/types.ts';
import { cluster, compute, config, endpointStatus, filter, node, peer, secret } from '../bgp/support.ts';

type Parts = Parameters<typeof cluster>[0] & Partial<Pick<Cluster, 'quarantined'>>;

const NO_MESH = config({ meshEnabled: false });

function inputs(parts: Parts, options: Partial<ModelOptions> = {}, nodeName = 'a') {
  const whole: Cluster = { ...cluster(parts), quarantined: parts.quarantined ?? [] };
  const { model } = compute(whole, nodeName, options);
  return { cluster: whole, nodeName, options: modelOptions('bird1', options), model };
}

/** `IPv4 outcome message` of every finding about the only thing that the subject names. */
function told(subject: string, parts: Parts, options?: Partial<ModelOptions>): readonly string[] {
  const explanations = explain(subject, inputs(parts, options));
  expect(explanations).toHaveLength(1);
  return explanations[0]!.findings.map(({ family, outcome, message }) => {
    return `${family === null ? '' : `IPv${family} `}${outcome}: ${message}`;
  });
}

const A = node('a', '10.0.0.1/24', { labels: { rack: 'r1' } });
const B = node('b', '10.0.0.2/24', { labels: { rack: 'r2' } });

describe('why a session exists', () => {
  it('names the mesh, the protocol and both ends for a mesh session', () => {
    const [first] = explain('b', inputs({ nodes: [A, node('b', '10.0.0.2/24', { asNumber: 65002 })] }));
    expect(first!.subject).toBe('Node/b');
    expect(first!.findings[0]).toMatchObject({
      family: 4,
      resource: 'BGPConfiguration/default',
      rule: 'node-to-node mesh',
      outcome: 'session',
      session: 'Mesh_10_0_0_2',
      ends: {
        local: { node: 'a', address: '10.0.0.1', port: null, asNumber: 64512 },
        remote: { node: 'b', address: '10.0.0.2', port: null, asNumber: 65002 },
      },
    });
  });

  it('names the BGPPeer and the selector by which the node has it', () => {
    const tor = peer('tor', { nodeSelector: "rack == 'r1'", peerAddress: '192.0.2.1', asNumber: 65001 });
    expect(told('tor', { nodes: [A], peers: [tor], configs: [NO_MESH] })).toEqual([
      "IPv4 session: the BGPPeer's nodeSelector rack == 'r1' selects this node",
    ]);
  });

  it('says that a session is the other end of a BGPPeer that points at this node', () => {
    const up = peer('up', { node: 'b', peerSelector: "rack == 'r1'" });
    expect(told('up', { nodes: [A, B], peers: [up], configs: [NO_MESH] })).toEqual([
      'IPv4 session: it is the other end: BGPPeer up points at this node',
    ]);
  });

  it('is found by address in any spelling, and by the name of the protocol', () => {
    const parts = {
      nodes: [node('a', '10.0.0.1', { v6: 'fd00::1' })],
      peers: [peer('tor', { peerAddress: 'fd00::99', asNumber: 65001 })],
    };
    for (const subject of ['fd00:0:0::99', 'Global_fd00__99', 'tor', 'bgppeer/tor'])
      expect(explain(subject, inputs(parts))[0]!.findings[0]!.session, subject).toBe('Global_fd00__99');
  });

  it('mentions that it exchanges no routes for want of a BGPFilter', () => {
    const tor = peer('tor', { peerAddress: '192.0.2.1', asNumber: 65001, filters: ['gone'] });
    expect(told('tor', { nodes: [A], peers: [tor] })[0]).toContain('there is no usable BGPFilter "gone"');
    expect(told('tor', { nodes: [A], peers: [tor], filters: [filter('gone')] })[0]).not.toContain('gone');
  });
});

describe('why a session does not exist', () => {
  it.each([
    ["rack == 'r9'", 'rack == \'r9\' fails: label rack is "r1"'],
    ['has(zone)', 'has(zone) fails: there is no label zone'],
    ["has(rack) && zone in {'z'}", "zone in {'z'} fails: there is no label zone"],
    ['!has(rack)', '!has(rack) fails'],
    [
      "rack == 'x' || rack starts with 'y'",
      'rack == \'x\' fails: label rack is "r1", and rack starts with \'y\' fails: label rack is "r1"',
    ],
  ])('shows the term that fails of the nodeSelector %s', (nodeSelector, term) => {
    const tor = peer('tor', { nodeSelector, peerAddress: '192.0.2.1', asNumber: 65001 });
    expect(told('tor', { nodes: [A], peers: [tor], configs: [NO_MESH] })).toEqual([
      `not-selected: its nodeSelector does not select this node: ${term}`,
    ]);
  });

  it('says which node a BGPPeer is for', () => {
    const tor = peer('tor', { node: 'b', peerAddress: '192.0.2.1', asNumber: 65001 });
    expect(told('192.0.2.1', { nodes: [A, B], peers: [tor] })).toEqual([
      'not-selected: it is for node b, not for a',
    ]);
  });

  it('says that a peerSelector selects nothing, and why not the node asked about', () => {
    const up = peer('up', { node: 'a', peerSelector: "rack == 'r7'" });
    const parts = { nodes: [A, B], peers: [up], configs: [NO_MESH] };
    expect(told('up', parts)[0]).toBe(
      "nothing-selected: its peerSelector rack == 'r7' selects none of the 2 nodes",
    );
    expect(told('b', parts)).toEqual([
      'IPv4 mesh-disabled: the node-to-node mesh is off (spec.nodeToNodeMeshEnabled)',
      'IPv6 no-address: node a has no IPv6 address (spec.bgp)',
      'not-selected: its peerSelector does not select node b: rack == \'r7\' fails: label rack is "r2"',
    ]);
  });

  it('says whose address is missing, by family', () => {
    const nodes = [node('a', '10.0.0.1', { v6: 'fd00::1' }), B];
    expect(told('b', { nodes })).toEqual([
      'IPv4 session: both are nodes of the mesh, and neither is a route reflector',
      'IPv6 no-address: node b has no IPv6 address (spec.bgp)',
    ]);
    const tor = peer('tor', { peerAddress: 'fd00::9', asNumber: 65001 });
    expect(told('tor', { nodes: [A], peers: [tor] })).toEqual([
      'IPv6 no-address: node a has no IPv6 address (spec.bgp)',
    ]);
  });

  it('says which BGPPeer comes first', () => {
    const one = peer('one', { peerAddress: '192.0.2.1', asNumber: 65001 });
    const two = peer('two', { node: 'a', peerAddress: '192.0.2.1', asNumber: 65002 });
    expect(told('two', { nodes: [A], peers: [one, two] })).toEqual([
      'IPv4 suppressed: BGPPeer one (peerIP) asks for the same address and port, and comes first',
    ]);
  });

  it('says which BGPPeer takes the place of a mesh session', () => {
    const beside = peer('beside', { node: 'a', peerAddress: '10.0.0.2' });
    expect(told('b', { nodes: [A, B], peers: [beside] })[0]).toBe(
      'IPv4 suppressed: BGPPeer beside asks for a session with the same address, and comes before the mesh',
    );
  });

  it('says why a resource is quarantined, and whether a last good version stands in', () => {
    const bad = {
      kind: 'BGPPeer',
      name: 'tor',
      key: '/k',
      field: 'spec.peerIP',
      message: '/k: spec.peerIP: "x" is not an IP address',
      reason: 'invalid',
      lastGoodUsed: false,
    } as const;
    expect(told('tor', { nodes: [A], quarantined: [bad] })).toEqual([
      'quarantined: /k: spec.peerIP: "x" is not an IP address; it is left out',
    ]);
    const old = peer('tor', { peerAddress: '192.0.2.1', asNumber: 65001 });
    const standIn = { ...old, origin: { ...old.origin, lastGood: true } };
    expect(
      told('tor', { nodes: [A], peers: [standIn], quarantined: [{ ...bad, lastGoodUsed: true }] }),
    ).toEqual([
      'quarantined: /k: spec.peerIP: "x" is not an IP address; its last good version is used',
      'IPv4 session: the BGPPeer is for all nodes; by the last good version of the BGPPeer',
    ]);
  });

  it('says that the mesh is on for want of the configuration that would switch it off', () => {
    const bad = {
      kind: 'BGPConfiguration',
      name: 'default',
      key: '/k',
      field: 'spec.asNumber',
      message: '/k: spec.asNumber: 0 is not an AS number',
      reason: 'invalid',
      lastGoodUsed: false,
    } as const;
    expect(told('b', { nodes: [A, B], quarantined: [bad] })[0]).toBe(
      'IPv4 session: both are nodes of the mesh, and neither is a route reflector; BGPConfiguration default is quarantined: /k: spec.asNumber: 0 is not an AS number; it is left out',
    );
  });

  it('says which Secret is missing, for a BGPPeer and for the mesh, and shows no password', () => {
    const password = { name: 's', key: 'k' };
    const tor = peer('tor', { peerAddress: '192.0.2.1', asNumber: 65001, password });
    const missing = 'Secret kube-system/s does not exist or cannot be read';
    expect(told('tor', { nodes: [A], peers: [tor] })).toEqual([
      `IPv4 password-missing: 192.0.2.1: ${missing}`,
    ]);
    expect(told('b', { nodes: [A, B], configs: [config({ meshPassword: password })] })[0]).toBe(
      `IPv4 password-missing: ${missing}; the mesh is withheld`,
    );
    const bad = told('tor', { nodes: [A], peers: [tor], secrets: [secret('s', { k: 'hush"hush' })] });
    expect(bad[0]).toMatch(/^IPv4 password-invalid/);
    expect(bad.join()).not.toContain('hush');
  });

  it('says that the node is the one asked about, and what it lacks', () => {
    expect(told('a', { nodes: [A, B] })).toEqual([
      'self: this is the node itself; it has 1 IPv4 and 0 IPv6 sessions with others',
      'IPv6 no-address: node a has no IPv6 address (spec.bgp)',
    ]);
    const all = peer('all', { peerSelector: 'all()' });
    expect(told('all', { nodes: [A], peers: [all], configs: [NO_MESH] })).toContain(
      'IPv4 self: 10.0.0.1 (node a): it is this node itself',
    );
  });

  it('says that the mesh is off, or not for route reflectors', () => {
    const off = told('b', { nodes: [A, B], configs: [NO_MESH] });
    expect(off[0]).toBe('IPv4 mesh-disabled: the node-to-node mesh is off (spec.nodeToNodeMeshEnabled)');
    const theirs = told('b', { nodes: [A, node('b', '10.0.0.2', { clusterId: '244.0.0.1' })] });
    expect(theirs[0]).toMatch(/^IPv4 peer-is-reflector: that node is a route reflector/);
    const ours = told('b', { nodes: [node('a', '10.0.0.1', { clusterId: '244.0.0.1' }), B] });
    expect(ours[0]).toMatch(/^IPv4 node-is-reflector: this node is a route reflector/);
  });

  it('says that the AS of the peer is unknown', () => {
    const tor = peer('tor', { peerAddress: '192.0.2.1' });
    expect(told('tor', { nodes: [A], peers: [tor] })[0]).toMatch(
      /^IPv4 peer-as-unknown: 192.0.2.1: asNumber is not set/,
    );
  });

  it('says that the other end was asked not to be set up, or is about another AS or port', () => {
    const at = (more: Parameters<typeof peer>[1]) => {
      const up = peer('up', { node: 'b', peerAddress: '10.0.0.1', ...more });
      return told('up', { nodes: [A, B], peers: [up], configs: [NO_MESH] })[1];
    };
    expect(at({ reversePeering: 'Manual' })).toBe(
      'reverse-manual: it points at this node, but its reversePeering is Manual',
    );
    expect(at({ asNumber: 65009 })).toBe(
      "not-selected: its peerIP is this node's, but its asNumber 65009 is not (64512)",
    );
    const ports = { nodes: [A, B], configs: [config({ meshEnabled: false, listenPort: 180 })] };
    const elsewhere = peer('up', { node: 'b', peerAddress: '10.0.0.1', peerPort: 181 });
    expect(told('up', { ...ports, peers: [elsewhere] })[1]).toBe(
      "not-selected: its peerIP is this node's, but its port 181 is not (180)",
    );
  });

  it('says that no local workload is selected', () => {
    const kv = peer('kv', { localWorkloadSelector: 'all()', asNumber: 65001 });
    expect(told('kv', { nodes: [A], peers: [kv] })).toEqual([
      'nothing-selected: no endpoint status of a workload on this node names it',
    ]);
    const [found] = told('kv', { nodes: [A], peers: [kv], statuses: [endpointStatus('kv', '10.1.1.1')] });
    expect(found).toBe('IPv4 session: the BGPPeer is for all nodes');
  });

  it('says that the node is not in the datastore', () => {
    const tor = peer('tor', { peerAddress: '192.0.2.1', asNumber: 65001 });
    const [found] = explain('tor', inputs({ nodes: [B], peers: [tor] }));
    expect(found!.findings.map(({ outcome, message }) => [outcome, message])).toEqual([
      ['node-absent', 'there is no node a'],
    ]);
  });
});

describe('what is asked about', () => {
  it('is explained in every sense that it has', () => {
    const parts = { nodes: [A, B], peers: [peer('b', { peerAddress: '192.0.2.1', asNumber: 65001 })] };
    expect(explain('b', inputs(parts)).map(({ subject }) => subject)).toEqual(['BGPPeer/b', 'Node/b']);
    expect(explain('Node/b', inputs(parts)).map(({ subject }) => subject)).toEqual(['Node/b']);
  });

  it('may be any quarantined resource, by its name alone or with its kind', () => {
    const bad = {
      kind: 'BGPFilter',
      name: 'f',
      key: '/k',
      field: null,
      message: '/k: the value is not JSON',
      reason: 'invalid',
      lastGoodUsed: false,
    } as const;
    for (const subject of ['f', 'BGPFilter/f', 'bgpfilter/f'])
      expect(told(subject, { nodes: [A], quarantined: [bad] })).toEqual([
        'quarantined: /k: the value is not JSON; it is left out',
      ]);
    expect(explain('IPPool/f', inputs({ nodes: [A], quarantined: [bad] }))).toEqual([]);
  });

  it('has each reason once', () => {
    const parts = { nodes: [node('a', '10.0.0.1/24'), node('b', null, { v6: 'fd00::2/64' })] };
    const peers = [peer('p', { peerAddress: 'fd00::2', asNumber: 64512 })];
    expect(told('fd00::2', { ...parts, peers })).toEqual([
      'IPv6 no-address: node a has no IPv6 address (spec.bgp)',
    ]);
  });

  it('is unknown when nothing has that name or address', () => {
    for (const subject of ['c', 'BGPPeer/b', '192.0.2.77', 'Mesh_1', 'Pool/b', '', '__proto__'])
      expect(explain(subject, inputs({ nodes: [A, B] })), subject).toEqual([]);
    expect([...explainable(inputs({ nodes: [A, B] }))]).toEqual(
      expect.arrayContaining(['a', 'b', '10.0.0.2', 'Mesh_10_0_0_2']),
    );
  });
});
