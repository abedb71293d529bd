import { describe, expect, it } from 'vitest';
import type { ModelOptions } from '../../../../src/model/bgp/options.ts';
import { compatOptions } from '../../../../src/model/bgp/options.ts';
import type { FamilyModel } from '../../../../src/model/bgp/types.ts';
import { decide, type Route, route, type Verdict } from '../../../support/policy-interpreter.ts';
import { block, type cluster, compute, config, model, node, peer, pool, problemIds } from './support.ts';

type Parts = Parameters<typeof cluster>[0];

const nodes = [node('a', '10.0.0.1/24', { v6: 'fd00::1/64' }), node('b', '10.0.0.2/24')];
const asCalico = { compat: compatOptions(true) };
/** 2147483647 - 1024: the local preference of a route with the normal priority. */
const NORMAL = 2_147_482_623;

function four(parts: Parts, options: Partial<ModelOptions> = {}): FamilyModel {
  return model({ nodes, ...parts }, 'a', options).ipv4;
}

function exported(family: FamilyModel, given: Route, internal = true): Verdict {
  const name = internal ? 'export_internal4' : 'export_external4';
  return decide(family.filters.find((f) => f.name === name)!.body, family.functions, given);
}

function imported(family: FamilyModel, given: Route): Verdict {
  return decide(family.filters.find((f) => f.name === 'import_routes4')!.body, family.functions, given);
}

function programmed(family: FamilyModel, given: Route): Verdict {
  return decide(family.kernelFilter.body, family.functions, given);
}

const workload = (net: string, more: Partial<Route> = {}) =>
  route(net, { source: 'inherit', interface: 'cali12', metric: 1024, ...more });

describe('what a node exports', () => {
  const pools = [pool('p', '192.168.0.0/16'), pool('off', '192.168.128.0/17', { disableBgpExport: true })];

  it('is what lies in pools, unless their export is disabled', () => {
    const family = four({ pools });
    expect(exported(family, workload('192.168.1.1/32')).decision).toBe('accept');
    expect(exported(family, workload('192.168.128.1/32')).decision).toBe('reject');
    expect(exported(family, workload('172.16.0.0/24')).decision).toBe('reject');
  });

  it('never is what came over an overlay of Calico, to internal peers', () => {
    const family = four({ pools });
    for (const name of ['vxlan.calico', 'wireguard.cali', 'tunl0']) {
      const over = route('192.168.1.1/32', { interface: name });
      expect(exported(family, over).decision).toBe('reject');
      expect(exported(family, over, false).decision).toBe('accept');
    }
    expect(exported(family, route('192.168.1.1/32', { interface: 'bpfin.cali' }), false).decision).toBe(
      'reject',
    );
  });

  it('may be on the tunnel device where BIRD programs tunnels itself', () => {
    const family = four({ pools, configs: [config({ programClusterRoutes: 'Enabled' })] });
    expect(exported(family, route('192.168.1.1/32', { interface: 'tunl0' })).decision).toBe('accept');
  });

  it('holds blocks of the node as a whole, not the addresses in them', () => {
    const family = four({ pools, blocks: [block('a', '192.168.1.0/26')] });
    expect(exported(family, route('192.168.1.0/26', { source: 'static', interface: '' })).decision).toBe(
      'accept',
    );
    expect(exported(family, workload('192.168.1.5/32')).decision).toBe('reject');
    expect(exported(family, workload('192.168.2.5/32')).decision).toBe('accept');
  });

  it('holds an address of a block that is being migrated, which has a better priority', () => {
    const family = four({ pools, blocks: [block('a', '192.168.1.0/26')] });
    expect(exported(family, workload('192.168.1.5/32', { metric: 512 })).decision).toBe('accept');
    // BIRD itself takes an unset metric for less than any number; here it is set first.
    expect(exported(family, workload('192.168.1.5/32', { metric: null })).decision).toBe('reject');
  });

  it('ignores blocks that are not confirmed', () => {
    for (const state of ['pending', 'pendingDeletion'] as const) {
      const family = four({ pools, blocks: [block('a', '192.168.1.0/26', state)] });
      expect(exported(family, workload('192.168.1.5/32')).decision).toBe('accept');
    }
  });

  it('carries the priority of a route in its local preference', () => {
    const family = four({ pools });
    expect(exported(family, workload('192.168.1.1/32', { metric: 512 })).route.localPref).toBe(2_147_483_135);
    expect(exported(family, workload('192.168.1.1/32', { metric: null })).route.localPref).toBe(NORMAL);
    const learned = exported(family, route('192.168.1.1/32', { localPref: 100 })).route;
    expect(learned).toMatchObject({ localPref: 100, metric: 2_147_483_547 });
  });

  it('follows a configured normal priority', () => {
    const family = four({ pools, configs: [config({ ipv4NormalRoutePriority: 2_000 })] });
    expect(exported(family, workload('192.168.1.1/32', { metric: null })).route.localPref).toBe(
      2_147_481_647,
    );
  });

  it('never turns the best local preference into the worst metric, as wrapping arithmetic does', () => {
    const best = route('192.168.1.1/32', { localPref: 3_000_000_000 });
    expect(exported(four({ pools }), best).route.metric).toBe(0);
    expect(exported(four({ pools }, asCalico), best).route.metric).toBe(3_442_450_943);
    const worst = workload('192.168.1.1/32', { metric: 4_000_000_000 });
    expect(exported(four({ pools }), worst).route.localPref).toBe(0);
  });

  it('gets the communities of its prefix, by value and by name, once each', () => {
    const configs = [
      config({
        communities: [{ name: 'blue', value: '65000:7' }],
        prefixAdvertisements: [{ cidr: '192.168.0.0/16', communities: ['blue', '65000:7', '1:2:3'] }],
      }),
    ];
    const family = four({ pools, configs });
    expect(exported(family, workload('192.168.1.1/32')).route.communities).toEqual(['1:2:3', '65000:7']);
    expect(exported(family, workload('172.16.0.0/24')).route.communities).toEqual([]);
  });

  it("gets the communities of the node's own configuration instead of the cluster's", () => {
    const advertise = (community: string) => [{ cidr: '192.168.0.0/16', communities: [community] }];
    const configs = [
      config({ prefixAdvertisements: advertise('1:1') }),
      config({ node: 'a', prefixAdvertisements: advertise('2:2') }),
    ];
    expect(exported(four({ pools, configs }), workload('192.168.1.1/32')).route.communities).toEqual(['2:2']);
  });

  it('leaves out a community that nobody defined, and says so', () => {
    const configs = [
      config({ prefixAdvertisements: [{ cidr: '192.168.0.0/16', communities: ['red', '1:1'] }] }),
    ];
    const computed = compute({ nodes, pools, configs });
    expect(problemIds(computed)).toEqual(['community-unknown']);
    expect(exported(computed.model.ipv4, workload('192.168.1.1/32')).route.communities).toEqual(['1:1']);
  });
});

describe('what a node imports', () => {
  it('is everything, with routes of better priority preferred over its own', () => {
    const family = four({});
    expect(imported(family, route('192.168.1.1/32', { localPref: NORMAL }))).toMatchObject({
      decision: 'accept',
      route: { preference: 100 },
    });
    expect(imported(family, route('192.168.1.1/32', { localPref: NORMAL + 1 })).route.preference).toBe(200);
    expect(imported(family, route('192.168.1.1/32')).route.preference).toBe(100);
  });
});

describe('what a node programs into its kernel', () => {
  const vxlan = pool('v', '192.168.0.0/16', { vxlanMode: 'Always' });
  const plain = pool('n', '172.16.0.0/16');
  const crossSubnet = pool('x', '10.244.0.0/16', { ipipMode: 'CrossSubnet' });
  const always = pool('i', '10.245.0.0/16', { ipipMode: 'Always' });
  const all = { pools: [crossSubnet, always, plain, vxlan] };
  const near = { nextHop: '10.0.0.2' };
  const far = { nextHop: '198.51.100.1' };

  it.each([
    [null, true, false],
    ['EnabledNoEncapOnly', true, false],
    ['EnabledIPIPOnly', false, true],
    ['Enabled', true, true],
    ['Disabled', false, false],
  ] as const)(
    'with programClusterRoutes %s: without encapsulation %s, IPIP %s, VXLAN never',
    (programClusterRoutes, noEncap, ipip) => {
      const family = four(
        { ...all, configs: [config({ programClusterRoutes })] },
        { dialect: 'bird1-calico' },
      );
      const decisions = ['172.16.1.0/26', '10.245.1.0/26', '192.168.1.0/26', '10.99.0.0/24'].map(
        (net) => programmed(family, route(net, far)).decision === 'accept',
      );
      expect(decisions).toEqual([noEncap, ipip, false, true]);
    },
  );

  it('goes through the tunnel, except within the subnet with CrossSubnet', () => {
    const family = four(
      { ...all, configs: [config({ programClusterRoutes: 'Enabled' })] },
      { dialect: 'bird1-calico' },
    );
    const tunnel = (net: string, more: Partial<Route>) => programmed(family, route(net, more)).route.tunnel;
    expect(tunnel('10.245.1.0/26', near)).toBe('tunl0');
    expect(tunnel('10.244.1.0/26', near)).toBeNull();
    expect(tunnel('10.244.1.0/26', far)).toBe('tunl0');
  });

  it('leaves tunnelled routes out and says so where this BIRD cannot do it', () => {
    for (const dialect of ['bird1', 'bird2'] as const) {
      const parts = { nodes, ...all, configs: [config({ programClusterRoutes: 'Enabled' })] };
      const computed = compute(parts, 'a', { dialect });
      const { ipv4 } = computed.model;
      expect(programmed(ipv4, route('10.245.1.0/26', near)).decision).toBe('reject');
      expect(programmed(ipv4, route('10.244.1.0/26', far)).decision).toBe('reject');
      expect(programmed(ipv4, route('10.244.1.0/26', near))).toMatchObject({
        decision: 'accept',
        route: { tunnel: null },
      });
      expect(problemIds(computed)).toEqual(['tunnel-unsupported', 'tunnel-unsupported']);
    }
  });

  it('leaves out what Felix programs although the node has no IPv4 address, unlike Calico', () => {
    const none = { nodes: [node('a', null, { v6: 'fd00::1/64' })], pools: [vxlan] };
    expect(programmed(four(none), route('192.168.1.0/26')).decision).toBe('reject');
    expect(programmed(four(none, asCalico), route('192.168.1.0/26')).decision).toBe('accept');
  });

  it('takes a bare address for a subnet of its own, as Calico does', () => {
    const bare = { nodes: [node('a', '10.0.0.1')], pools: [vxlan] };
    for (const options of [{}, asCalico])
      expect(programmed(four(bare, options), route('192.168.1.0/26')).decision).toBe('reject');
  });

  it('has the metric that the priority stands for, and wins when it is better than normal', () => {
    const family = four({});
    expect(programmed(family, route('10.99.0.0/24', { localPref: 100 })).route).toMatchObject({
      metric: 2_147_483_547,
      preference: 100,
    });
    expect(programmed(family, route('10.99.0.0/24')).route).toMatchObject({ metric: 1024, preference: 100 });
    expect(programmed(family, route('10.99.0.0/24', { localPref: NORMAL + 512 })).route).toMatchObject({
      metric: 512,
      preference: 200,
    });
    expect(programmed(family, workload('10.99.0.0/24', { metric: 7 })).route).toMatchObject({
      metric: 7,
      preference: 100,
    });
    expect(programmed(family, route('10.99.0.0/24', { localPref: 3_000_000_000 })).route.metric).toBe(0);
  });

  it('leaves to Felix what is reached through WireGuard, on nodes that use it', () => {
    const secured = [
      node('a', '10.0.0.1/24', { wireguardIpv4: '192.168.9.1' }),
      node('b', '10.0.0.2/24', { wireguardIpv4: '192.168.9.2' }),
      node('c', '10.0.0.3/24'),
    ];
    const decision = (family: FamilyModel, nextHop: string | null) =>
      programmed(family, route('10.99.0.0/24', { nextHop })).decision;
    const family = four({ nodes: secured });
    expect(decision(family, '10.0.0.2')).toBe('reject');
    expect(decision(family, '10.0.0.3')).toBe('accept');
    expect(decision(family, null)).toBe('accept');
    expect(decision(model({ nodes: secured }, 'c').ipv4, '10.0.0.2')).toBe('accept');
  });

  it('never holds the networks of interfaces with BIRD 2, which would export them', () => {
    const device = route('10.0.0.0/24', { source: 'device' });
    expect(programmed(four({}, { dialect: 'bird2' }), device).decision).toBe('reject');
    expect(programmed(four({}), device).decision).toBe('accept');
  });

  it('knows no tunnels in IPv6', () => {
    const parts = {
      nodes,
      pools: [pool('s', 'fd10::/64')],
      configs: [config({ programClusterRoutes: 'Enabled' })],
    };
    const { ipv6 } = model(parts);
    expect(decide(ipv6.kernelFilter.body, [], route('fd10::/80'))).toMatchObject({
      decision: 'accept',
      route: { tunnel: null },
    });
  });
});

describe('static routes', () => {
  const prefixes = (parts: Parts, options: Partial<ModelOptions> = {}) =>
    four(parts, options).staticRoutes.map(({ prefix, via }) => (via === null ? prefix : `${prefix} ${via}`));

  it('are blackholes for blocks of this node, but not for single addresses', () => {
    const blocks = [
      block('a', '192.168.1.0/26'),
      block('a', '192.168.2.1/32'),
      block('a', '192.168.3.0/26', 'pending'),
    ];
    expect(prefixes({ blocks })).toEqual(['192.168.1.0/26']);
  });

  it('end when a block is being released, unless Calico is asked for', () => {
    const blocks = [block('a', '192.168.1.0/26', 'pendingDeletion')];
    expect(prefixes({ blocks })).toEqual([]);
    expect(prefixes({ blocks }, asCalico)).toEqual(['192.168.1.0/26']);
  });

  it('are those of the pod CIDRs with host-local addresses', () => {
    const parts = {
      nodes: [node('a', '10.0.0.1/24', { podCidrs: ['fd10::/64', '10.244.1.0/24'] })],
      blocks: [block('a', '192.168.1.0/26')],
    };
    expect(prefixes(parts, { usePodCidr: true })).toEqual(['10.244.1.0/24']);
    expect(model(parts, 'a', { usePodCidr: true }).ipv6.staticRoutes).toMatchObject([
      { prefix: 'fd10::/64' },
    ]);
  });

  it('lead to peers behind a gateway, for sessions that this node has', () => {
    const peers = [
      peer('far', { peerAddress: '198.51.100.1', asNumber: 65_001, reachableBy: '10.0.0.254' }),
      peer('me', { peerAddress: '10.0.0.1', asNumber: 64_512, reachableBy: '10.0.0.254' }),
      peer('other', { node: 'b', peerAddress: '198.51.100.2', asNumber: 65_001, reachableBy: '10.0.0.254' }),
    ];
    expect(prefixes({ peers })).toEqual(['198.51.100.1/32 10.0.0.254']);
    expect(prefixes({ peers }, asCalico).sort()).toEqual([
      '10.0.0.1/32 10.0.0.254',
      '10.0.0.2/32 10.0.0.254',
      '198.51.100.1/32 10.0.0.254',
    ]);
  });

  it("lead to a node's peers although it has no address itself, when Calico is asked for", () => {
    const to = (name: string, reachableBy: string, more = {}) =>
      peer(name, { peerAddress: '198.51.100.1', asNumber: 65_001, reachableBy, ...more });
    const addressless = { nodes: [node('a', null, { v6: 'fd00::1/64' })] };
    const peers = [to('b', '10.0.0.252', { node: 'a' }), to('c', '10.0.0.253'), to('d', '10.0.0.254')];
    expect(prefixes({ ...addressless, peers })).toEqual([]);
    expect(prefixes({ ...addressless, peers }, asCalico)).toEqual(['198.51.100.1/32 10.0.0.253']);
  });
});
