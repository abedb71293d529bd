import { describe, expect, it } from 'vitest';
import { compatOptions } from '../../../../src/model/bgp/options.ts';
import type { NodeResource } from '../../../../src/model/calico/types.ts';
import {
  compute,
  config,
  endpointStatus,
  node,
  onlySession,
  peer,
  problemIds,
  secret,
  sessionNames,
} from './support.ts';

const noMesh = config({ meshEnabled: false });
const a = node('a', '10.0.0.1/24');
const TOR = { peerAddress: '10.0.0.254', asNumber: 65_001, reversePeering: 'Manual' } as const;

function session(spec: Parameters<typeof peer>[1], nodes: readonly NodeResource[] = [a], more = {}) {
  return onlySession(compute({ nodes, peers: [peer('p', { ...TOR, ...spec })], configs: [noMesh], ...more }));
}

describe('an explicit session', () => {
  it('uses the node address as its source unless told not to', () => {
    expect(session({}).sourceAddress).toBe('10.0.0.1');
    expect(session({ sourceAddress: 'None' }).sourceAddress).toBeNull();
  });

  it('carries timers, TTL security and allowed AS repetitions of its BGPPeer', () => {
    const spec = { maxRestartTime: 60, keepaliveTime: 5, ttlSecurityHops: 2, numAllowedLocalAs: 3 };
    expect(session(spec)).toMatchObject({
      gracefulRestartTime: 60,
      keepaliveTime: 5,
      ttlSecurityHops: 2,
      allowLocalAs: 3,
    });
  });

  it('has a local AS only when its BGPPeer gives one, and is internal when that is the AS of the peer', () => {
    expect(session({})).toMatchObject({ localAs: null, internal: false });
    expect(session({ localAsNumber: 64_512 })).toMatchObject({ localAs: 64_512, internal: false });
    expect(session({ localAsNumber: 65_001 })).toMatchObject({ localAs: 65_001, internal: true });
    expect(session({ asNumber: 64_512 })).toMatchObject({ internal: true });
    expect(session({ asNumber: 64_512, localAsNumber: 65_009 })).toMatchObject({ internal: false });
  });

  it('keeps the next hop where asked: the older field means external peers only, and the newer one hides it', () => {
    const nextHop = (spec: Parameters<typeof peer>[1]) => session(spec).nextHop;
    expect(nextHop({})).toBeNull();
    expect(nextHop({ keepOriginalNextHop: true })).toBe('keep');
    expect(nextHop({ keepOriginalNextHop: true, asNumber: 64_512 })).toBeNull();
    expect(nextHop({ nextHopMode: 'Keep', asNumber: 64_512 })).toBe('keep');
    expect(nextHop({ nextHopMode: 'Self' })).toBe('self');
    expect(nextHop({ nextHopMode: 'Auto', keepOriginalNextHop: true })).toBeNull();
  });

  it('keeps the next hop for peers by selector and IPv6 peers alike', () => {
    const six = [node('a', '10.0.0.1/24', { v6: 'fd00::1/64' })];
    expect(session({ peerAddress: 'fd00::9', keepOriginalNextHop: true }, six).nextHop).toBe('keep');
    const nodes = [a, node('b', '10.0.0.2/24', { asNumber: 65_002 })];
    const spec = { peerAddress: null, asNumber: null, peerSelector: 'all()', keepOriginalNextHop: true };
    expect(session(spec, nodes).nextHop).toBe('keep');
  });
});

describe('a route reflector', () => {
  const reflector = node('a', '10.0.0.1/24', { clusterId: '244.0.0.1' });
  const other = (clusterId: string | null, asNumber: number | null = null) => [
    reflector,
    node('b', '10.0.0.2/24', { clusterId, asNumber }),
  ];
  const towards = (nodes: readonly NodeResource[]) =>
    session({ peerAddress: null, asNumber: null, peerSelector: 'all()' }, nodes).clusterId;

  it('reflects to internal peers: nodes, and reflectors of other clusters', () => {
    expect(towards(other(null))).toBe('244.0.0.1');
    expect(towards(other('244.0.0.2'))).toBe('244.0.0.1');
  });

  it('peers plainly with reflectors of its own cluster, by selector and by address', () => {
    expect(towards(other('244.0.0.1'))).toBeNull();
    expect(session({ peerAddress: '10.0.0.2', asNumber: 64_512 }, other('244.0.0.1')).clusterId).toBeNull();
  });

  it('reflects to an internal workload on its node', () => {
    const workload = (asNumber: number) => {
      const spec = { ...TOR, peerAddress: null, localWorkloadSelector: 'all()', asNumber };
      const statuses = [endpointStatus('p', '10.65.0.2')];
      return session(spec, [reflector], { statuses }).clusterId;
    };
    expect(workload(64_512)).toBe('244.0.0.1');
    expect(workload(65_002)).toBeNull();
  });

  it('never makes an external peer its client, for which BIRD would refuse the file', () => {
    expect(towards(other(null, 65_002))).toBeNull();
    expect(session({}, [reflector]).clusterId).toBeNull();
  });

  it('reflects to an internal peer that is not a node at all', () => {
    expect(session({ asNumber: 64_512 }, [reflector]).clusterId).toBe('244.0.0.1');
  });
});

describe('a password', () => {
  const spec = { password: { name: 's', key: 'k' } };
  const withSecret = (data: Readonly<Record<string, string>>, compat = false) =>
    compute(
      {
        nodes: [a],
        peers: [peer('p', { ...TOR, ...spec })],
        configs: [noMesh],
        secrets: [secret('s', data)],
      },
      'a',
      {
        compat: compatOptions(compat),
      },
    );

  it('is taken from the Secret in the namespace of secrets', () => {
    const computed = withSecret({ k: 'hush' });
    expect(onlySession(computed).password).toBe('hush');
    expect(computed.interests.secrets).toEqual(['kube-system/s']);
    const elsewhere = compute({ nodes: [a], peers: [peer('p', { ...TOR, ...spec })] }, 'a', {
      secretsNamespace: 'x',
    });
    expect(elsewhere.interests.secrets).toEqual(['x/s']);
  });

  it('that is missing withholds its session, and no other', () => {
    const peers = [peer('p', { ...TOR, ...spec }), peer('q', { ...TOR, peerAddress: '10.0.0.253' })];
    const computed = compute({ nodes: [a], peers, configs: [noMesh] });
    expect(sessionNames(computed)).toEqual(['Global_10_0_0_253']);
    expect(computed.model.problems).toMatchObject([
      { id: 'password-missing', subject: 'BGPPeer/p', field: 'spec.password', severity: 'error' },
    ]);
    expect(sessionNames(withSecret({ other: 'hush' }))).toEqual([]);
  });

  it('that is missing opens the session without one only when Calico is asked for', () => {
    expect(onlySession(withSecret({}, true)).password).toBeNull();
  });

  it.each([
    ['holds a quote', 'a"b'],
    ['ends with a line break', 'hush\n'],
    ['holds a control character', 'a\u0000b'],
    ['holds a control character', 'a\u0085b'],
    ['holds a control character', 'a\u2028b'],
    ['holds a control character', 'a\u2029b'],
    ['is longer than the kernel takes', 'x'.repeat(81)],
    ['is too long in bytes', 'é'.repeat(41)],
    ['is empty', ''],
  ])('that %s withholds its session even then, and is not shown', (_what, password) => {
    const computed = withSecret({ k: password }, true);
    expect(sessionNames(computed)).toEqual([]);
    expect(problemIds(computed)).toEqual(['password-invalid']);
    if (password !== '')
      expect(JSON.stringify(computed.model.problems)).not.toContain(password.trim().slice(0, 40));
  });

  it('may have 80 bytes and any other text', () => {
    expect(onlySession(withSecret({ k: 'p\\n é #{};'.padEnd(70, 'x') })).password).toContain('é');
    expect(onlySession(withSecret({ k: 'x'.repeat(80) })).password).toHaveLength(80);
  });

  it('of many sessions gives one problem that counts them', () => {
    const nodes = [a, node('b', '10.0.0.2/24'), node('c', '10.0.0.3/24')];
    const peers = [peer('p', { peerSelector: 'all()', ...spec })];
    const computed = compute({ nodes, peers, configs: [noMesh] });
    expect(computed.model.problems).toHaveLength(1);
    expect(computed.model.problems[0]!.message).toContain('2 sessions are withheld');
  });
});
