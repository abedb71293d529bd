import { describe, expect, it } from 'vitest';
import { compatOptions } from '../../../../src/model/bgp/options.ts';
import {
  allSessions,
  compute,
  config,
  node,
  onlySession,
  peer,
  problemIds,
  secret,
  sessionNames,
} from './support.ts';

const a = node('a', '10.0.0.1/24');
const b = node('b', '10.0.0.2/24');
const c = node('c', '10.0.0.3/24');

describe('the node-to-node mesh', () => {
  it('gives a session with every other node, one per family that both have', () => {
    const nodes = [
      node('a', '10.0.0.1/24', { v6: 'fd00::1/64' }),
      node('b', '10.0.0.2/24', { v6: 'fd00::2/64' }),
      node('c', '10.0.0.3/24'),
    ];
    expect(sessionNames(compute({ nodes }))).toEqual(['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2']);
  });

  it('is on unless it is switched off', () => {
    expect(sessionNames(compute({ nodes: [a, b], configs: [config({})] }))).toHaveLength(1);
    expect(sessionNames(compute({ nodes: [a, b], configs: [config({ meshEnabled: false })] }))).toEqual([]);
  });

  it('leaves route reflectors out, at both ends', () => {
    const reflector = node('c', '10.0.0.3/24', { clusterId: '244.0.0.1' });
    expect(sessionNames(compute({ nodes: [a, b, reflector] }))).toEqual(['Mesh_10_0_0_2']);
    expect(sessionNames(compute({ nodes: [a, b, reflector] }, 'c'))).toEqual([]);
  });

  it('uses the node address as the source and the restart time of the mesh', () => {
    const computed = compute({ nodes: [a, b], configs: [config({ meshMaxRestartTime: 10 })] });
    expect(onlySession(computed)).toMatchObject({ sourceAddress: '10.0.0.1', gracefulRestartTime: 10 });
  });

  it("takes the AS and the port of the other node, else the cluster's", () => {
    const configs = [config({ asNumber: 65_000, listenPort: 178 }), config({ node: 'c', listenPort: 500 })];
    const other = node('c', '10.0.0.3/24', { asNumber: 65_009 });
    expect(allSessions(compute({ nodes: [a, b, other], configs }))).toMatchObject([
      { asNumber: 65_000, port: 178, internal: true },
      { asNumber: 65_009, port: 500, internal: false },
    ]);
  });

  it('gives a node without an AS the AS of the cluster although this node has another', () => {
    const own = node('a', '10.0.0.1/24', { asNumber: 65_001 });
    expect(onlySession(compute({ nodes: [own, b] }))).toMatchObject({ asNumber: 64_512, internal: false });
    const asCalico = compute({ nodes: [own, b] }, 'a', { compat: compatOptions(true) });
    expect(onlySession(asCalico)).toMatchObject({ asNumber: 65_001, internal: true });
  });

  it('makes exactly one end of each session passive, by text or by number', () => {
    const nodes = [node('a', '10.0.0.9/24'), node('b', '10.0.0.10/24')];
    for (const passiveOrder of ['text', 'numeric'] as const) {
      const ends = ['a', 'b'].map((name) => onlySession(compute({ nodes }, name, { passiveOrder })).passive);
      expect(ends.filter((passive) => passive)).toHaveLength(1);
    }
    // As text 10.0.0.10 comes before 10.0.0.9, so that b is the one that waits.
    expect(onlySession(compute({ nodes }, 'b')).passive).toBe(true);
    expect(onlySession(compute({ nodes }, 'b', { passiveOrder: 'numeric' })).passive).toBe(false);
  });

  it('has one session to an address that two nodes have, and reports them', () => {
    const computed = compute({ nodes: [a, b, node('c', '10.0.0.2/24')] });
    expect(sessionNames(computed)).toEqual(['Mesh_10_0_0_2']);
    expect(problemIds(computed)).toContain('duplicate-address');
  });

  it('has no session with a node that has the address of this one', () => {
    expect(sessionNames(compute({ nodes: [a, node('b', '10.0.0.1/24')] }))).toEqual([]);
  });

  it('withholds all its sessions while its password is missing, rather than open them without one', () => {
    const configs = [config({ meshPassword: { name: 's', key: 'k' } })];
    const missing = compute({ nodes: [a, b], configs });
    expect(sessionNames(missing)).toEqual([]);
    expect(problemIds(missing)).toContain('password-missing');
    expect(missing.interests.secrets).toEqual(['kube-system/s']);
    const found = compute({ nodes: [a, b], configs, secrets: [secret('s', { k: 'hush' })] });
    expect(onlySession(found).password).toBe('hush');
    const asCalico = compute({ nodes: [a, b], configs }, 'a', { compat: compatOptions(true) });
    expect(onlySession(asCalico).password).toBeNull();
  });

  it('asks for no password where it has no sessions', () => {
    const configs = [config({ meshEnabled: false, meshPassword: { name: 's', key: 'k' } })];
    const computed = compute({ nodes: [a, b], configs });
    expect(computed.interests.secrets).toEqual([]);
    expect(problemIds(computed)).toEqual([]);
  });

  it('makes room for an explicit session to the same address', () => {
    const peers = [peer('p', { peerAddress: '10.0.0.2', asNumber: 64_512 })];
    expect(sessionNames(compute({ nodes: [a, b, c], peers }))).toEqual(['Mesh_10_0_0_3', 'Global_10_0_0_2']);
    const asCalico = compute({ nodes: [a, b], peers }, 'a', { compat: compatOptions(true) });
    expect(sessionNames(asCalico)).toEqual(['Mesh_10_0_0_2', 'Global_10_0_0_2']);
  });

  it('comes back when route reflectors go, whatever was before', () => {
    const reflector = node('b', '10.0.0.2/24', { clusterId: '244.0.0.1' });
    const before = compute({ nodes: [a, reflector, c] });
    expect(sessionNames(before)).toEqual(['Mesh_10_0_0_3']);
    expect(sessionNames(compute({ nodes: [a, b, c] }))).toEqual(['Mesh_10_0_0_2', 'Mesh_10_0_0_3']);
  });
});
