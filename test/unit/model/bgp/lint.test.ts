import { describe, expect, it } from 'vitest';
import { compute, config, node, peer, problemIds } from './support.ts';

const a = node('a', '10.0.0.1/24');

describe('the BGP model warns', () => {
  it('of addresses that nodes share, whose routes a reflector would mix up', () => {
    const computed = compute({ nodes: [a, node('b', '10.0.0.2/24'), node('c', '10.0.0.2/24')] });
    expect(computed.model.problems).toMatchObject([
      { id: 'duplicate-address', severity: 'warning', subject: 'Node/b' },
    ]);
    expect(computed.model.problems[0]!.message).toContain('b, c');
  });

  it("of a router id that is another router's address", () => {
    const nodes = [a, node('b', '10.0.0.2/24')];
    expect(problemIds(compute({ nodes }, 'a', { routerId: '10.0.0.2' }))).toEqual(['duplicate-router-id']);
    const peers = [peer('tor', { peerAddress: '10.0.0.254', asNumber: 65_001 })];
    expect(problemIds(compute({ nodes, peers }, 'a', { routerId: '10.0.0.254' }))).toEqual([
      'duplicate-router-id',
    ]);
    expect(problemIds(compute({ nodes }, 'a', { routerId: '10.0.0.1' }))).toEqual([]);
  });

  it('of a cluster id that is the address of another node', () => {
    const nodes = [node('a', '10.0.0.1/24', { clusterId: '10.0.0.2' }), node('b', '10.0.0.2/24')];
    expect(problemIds(compute({ nodes }))).toEqual(['cluster-id-is-address']);
    const own = [node('a', '10.0.0.1/24', { clusterId: '10.0.0.1' }), node('b', '10.0.0.2/24')];
    expect(problemIds(compute({ nodes: own }))).toEqual([]);
  });

  it('of reflectors of one cluster that a client has no session with', () => {
    const reflector = (name: string, v4: string, clusterId: string) =>
      node(name, v4, { clusterId, labels: { [name]: '' } });
    const one = [a, reflector('r1', '10.0.0.8/24', '244.0.0.1'), reflector('r2', '10.0.0.9/24', '244.0.0.1')];
    const two = [a, reflector('r1', '10.0.0.8/24', '244.0.0.1'), reflector('r2', '10.0.0.9/24', '244.0.0.2')];
    const towards = (peerSelector: string) => [
      peer('p', { nodeSelector: '!has(r1) && !has(r2)', peerSelector }),
    ];
    const configs = [config({ meshEnabled: false })];
    const missed = compute({ nodes: one, peers: towards('has(r1)'), configs });
    expect(missed.model.problems).toMatchObject([{ id: 'reflector-missed', subject: 'Node/r2' }]);
    expect(problemIds(compute({ nodes: one, peers: towards('has(r1) || has(r2)'), configs }))).toEqual([]);
    expect(problemIds(compute({ nodes: two, peers: towards('has(r1)'), configs }))).toEqual([]);
  });

  it('of the reserved AS 23456', () => {
    const nodes = [a, node('b', '10.0.0.2/24', { asNumber: 23_456 })];
    const peers = [peer('p', { peerAddress: '10.0.0.9', asNumber: 23_456 })];
    const { problems } = compute({ nodes, peers }).model;
    expect(problems.map(({ id, subject }) => `${id} ${subject}`)).toEqual([
      'as-trans BGPPeer/p',
      'as-trans Node/b',
    ]);
  });

  it('of a mesh that has outgrown itself', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => node(`n${i}`, `10.0.${i >> 8}.${i & 255}/16`));
    expect(problemIds(compute({ nodes: many(201) }, 'n0'))).toEqual([]);
    expect(problemIds(compute({ nodes: many(202) }, 'n0'))).toEqual(['mesh-large']);
  });

  it('of a peering that only one end knows of', () => {
    const nodes = [a, node('b', '10.0.0.2/24'), node('c', '10.0.0.3/24')];
    const configs = [config({ meshEnabled: false })];
    const manual = peer('p', {
      node: 'a',
      peerAddress: '10.0.0.2',
      asNumber: 64_512,
      reversePeering: 'Manual',
    });
    const back = peer('q', {
      node: 'b',
      peerAddress: '10.0.0.1',
      asNumber: 64_512,
      reversePeering: 'Manual',
    });
    const ids = (...peers: (typeof manual)[]) => problemIds(compute({ nodes, peers, configs }));
    expect(ids(manual)).toEqual(['peer-unanswered']);
    expect(ids(manual, back)).toEqual([]);
    expect(ids({ ...manual, reversePeering: 'Auto' })).toEqual([]);
    expect(problemIds(compute({ nodes, peers: [manual] }))).toEqual([]);
    const external = peer('tor', { peerAddress: '10.0.0.254', asNumber: 65_001, reversePeering: 'Manual' });
    expect(ids(external)).toEqual([]);
    const all = compute({
      nodes,
      configs,
      peers: [peer('s', { node: 'a', peerSelector: 'all()', reversePeering: 'Manual' })],
    });
    expect(all.model.problems).toMatchObject([{ id: 'peer-unanswered', subject: 'BGPPeer/s' }]);
    expect(all.model.problems[0]!.message).toContain('node b (and 1 more)');
  });

  it('of nothing in a plain cluster', () => {
    expect(problemIds(compute({ nodes: [a, node('b', '10.0.0.2/24')], configs: [config()] }))).toEqual([]);
  });
});
