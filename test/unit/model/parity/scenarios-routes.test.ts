import { describe, expect, it } from 'vitest';
import { decide, type Route, route } from '../../../support/policy-interpreter.ts';
import {
  blockOf,
  calico,
  kubernetes,
  nodeAt,
  type Stored,
  type World,
  type WorldOptions,
  worldOf,
} from './support.ts';

/** Bugs that users of Calico have met: which routes go where. */

const NODE = nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' });
const REFLECTOR = nodeAt('n1', '10.0.0.1/24', { bgp: { routeReflectorClusterID: '244.0.0.1' } });
const POOL = calico('IPPool', 'pods', { cidr: '10.244.0.0/16' });
const cluster = (spec: object): Stored => calico('BGPConfiguration', 'default', spec);
const TOR = calico('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 65001 });

function service(name: string, spec: object, endpoints: readonly object[], more: object = {}): Stored {
  return {
    ...kubernetes('Service', name, { spec: { ipFamilies: ['IPv4'], ...spec }, ...more }),
    ...kubernetes('EndpointSlice', `${name}-1`, {
      metadata: { labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints,
    }),
  };
}

const HERE = [{ nodeName: 'n1', conditions: { ready: true } }];
const ELSEWHERE = [{ nodeName: 'n2', conditions: { ready: true } }];

function exported(world: World, given: Route, to: 'internal' | 'external' = 'external') {
  const { filters, functions } = world.ipv4;
  return decide(filters.find(({ name }) => name === `export_${to}4`)!.body, functions, given).decision;
}

/** By the session's own filter, which holds BGPFilters. */
function bySession(world: World, direction: 'import' | 'export', given: Route) {
  return decide(world.ipv4.sessions[0]![direction].body, world.ipv4.functions, given).decision;
}

function programmed(world: World, given: Route) {
  return decide(world.ipv4.kernelFilter.body, world.ipv4.functions, given).decision;
}

const routesOf = (world: World) => world.ipv4.staticRoutes.map(({ prefix }) => prefix);
const own = (net: string) => route(net, { source: 'static', interface: '' });
const workload = (net: string, more: Partial<Route> = {}) =>
  route(net, { source: 'inherit', interface: 'cali1', metric: 1024, ...more });
const learned = (net: string, more: Partial<Route> = {}) =>
  route(net, { source: 'bgp', interface: 'eth0', localPref: 100, nextHop: '10.0.0.2', ...more });

describe('blocks', () => {
  // projectcalico/calico#6867, #6001, #4471
  it.each([
    ['confirmed', true],
    ['', true],
    ['pending', false],
    ['pendingDeletion', false],
  ])('in the state "%s" are announced and black-holed: %s', (state, held) => {
    const world = worldOf({ ...NODE, ...POOL, ...blockOf('n1', '10.244.1.0/26', state) });
    expect(routesOf(world)).toEqual(held ? ['10.244.1.0/26'] : []);
    expect(exported(world, workload('10.244.1.5/32'))).toBe(held ? 'reject' : 'accept');
  });

  it('of other nodes are not this node’s', () => {
    const world = worldOf({ ...NODE, ...POOL, ...blockOf('n2', '10.244.1.0/26') });
    expect(routesOf(world)).toEqual([]);
  });

  // projectcalico/calico#3246, #4287, #1138
  it('of which addresses are borrowed: the borrower announces the address, and the owner takes it', () => {
    const values = { ...POOL, ...nodeAt('n1', '10.0.0.1/24'), ...nodeAt('n2', '10.0.0.2/24') };
    const borrower = worldOf({ ...values, ...blockOf('n1', '10.244.1.0/26') });
    expect(exported(borrower, workload('10.244.2.7/32'), 'internal')).toBe('accept');
    const owner = worldOf({ ...values, ...blockOf('n2', '10.244.2.0/26') }, { nodeName: 'n2' });
    const [session] = owner.ipv4.sessions;
    expect(decide(session!.import.body, owner.ipv4.functions, learned('10.244.2.7/32')).decision).toBe(
      'accept',
    );
    expect(programmed(owner, learned('10.244.2.7/32'))).toBe('accept');
  });

  // An unset metric is less than any number to BIRD.
  it('pass on no address of theirs because its route has no metric', () => {
    const world = worldOf({ ...NODE, ...POOL, ...blockOf('n1', '10.244.1.0/26') });
    for (const source of ['device', 'static', 'inherit'] as const)
      expect(exported(world, workload('10.244.1.5/32', { source, metric: null }))).toBe('reject');
    expect(exported(world, workload('10.244.1.5/32', { metric: 512 }))).toBe('accept');
  });

  it('and their blackholes are there in the family of each, single addresses excepted', () => {
    const world = worldOf({ ...NODE, ...blockOf('n1', 'fd00:10::/122'), ...blockOf('n1', '10.244.9.9/32') });
    expect(world.ipv6.staticRoutes.map(({ prefix }) => prefix)).toEqual(['fd00:10::/122']);
    expect(routesOf(world)).toEqual([]);
  });
});

describe('pools', () => {
  // projectcalico/calico#6704
  it('that are disabled take part in BGP as before; only disableBGPExport keeps them in', () => {
    const given = workload('10.244.3.0/26');
    const of = (spec: object) =>
      worldOf({ ...NODE, ...calico('IPPool', 'pods', { cidr: '10.244.0.0/16', ...spec }) });
    expect(exported(of({ disabled: true }), given)).toBe('accept');
    expect(exported(of({ disableBGPExport: true }), given)).toBe('reject');
    expect(exported(of({ disabled: true, disableBGPExport: true }), given)).toBe('reject');
    expect(of({ disabled: true }).text()).toBe(of({}).text());
  });

  it('that overlap: what is kept in by the smaller one stays in', () => {
    const world = worldOf({
      ...NODE,
      ...POOL,
      ...calico('IPPool', 'secret', { cidr: '10.244.128.0/17', disableBGPExport: true }),
    });
    expect(exported(world, workload('10.244.129.0/26'))).toBe('reject');
    expect(exported(world, workload('10.244.1.0/26'))).toBe('accept');
  });
});

describe('services', () => {
  const local = { type: 'LoadBalancer', clusterIP: '10.96.0.10', externalTrafficPolicy: 'Local' };

  // projectcalico/calico#2457
  it('ranges of theirs are announced as blackholes that never reach the kernel, nor do learned ones', () => {
    const world = worldOf({ ...NODE, ...cluster({ serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] }) });
    expect(routesOf(world)).toEqual(['10.96.0.0/12']);
    expect(exported(world, own('10.96.0.0/12'))).toBe('accept');
    expect(programmed(world, own('10.96.0.0/12'))).toBe('reject');
    expect(programmed(world, learned('10.96.0.10/32'))).toBe('reject');
    expect(programmed(world, learned('10.112.0.0/16'))).toBe('accept');
  });

  // projectcalico/calico#7558, #11607
  it('external addresses of theirs are announced from nodes with a ready endpoint only, and not programmed', () => {
    const range = cluster({ serviceExternalIPs: [{ cidr: '192.0.2.64/26' }] });
    const web = { ...local, externalIPs: ['192.0.2.70', '198.51.100.1'] };
    expect(routesOf(worldOf({ ...NODE, ...range, ...service('web', web, HERE) }))).toEqual([
      '192.0.2.64/26',
      '192.0.2.70/32',
    ]);
    for (const endpoints of [ELSEWHERE, [], [{ nodeName: 'n1', conditions: { ready: false } }]])
      expect(routesOf(worldOf({ ...NODE, ...range, ...service('web', web, endpoints) }))).toEqual([
        '192.0.2.64/26',
      ]);
    const world = worldOf({ ...NODE, ...range, ...service('web', web, HERE) });
    expect(programmed(world, own('192.0.2.70/32'))).toBe('reject');
  });

  // projectcalico/calico#6074, #9631, #8375, #11540
  it.each([
    ['Local', HERE, ['10.98.0.0/16', '10.98.0.9/32']],
    ['Local', ELSEWHERE, ['10.98.0.0/16']],
    ['Cluster', HERE, ['10.98.0.0/16']],
    ['Cluster', ELSEWHERE, ['10.98.0.0/16']],
  ])(
    'with traffic policy %s and endpoints %j are announced as %j',
    (externalTrafficPolicy, endpoints, routes) => {
      const ingress = { status: { loadBalancer: { ingress: [{ ip: '10.98.0.9' }] } } };
      const world = worldOf({
        ...NODE,
        ...cluster({ serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }] }),
        ...service('web', { ...local, externalTrafficPolicy }, endpoints, ingress),
      });
      expect(routesOf(world)).toEqual(routes);
    },
  );

  // projectcalico/calico#8162, #13341
  it('single addresses of theirs are passed on by a route reflector, for the configured ranges', () => {
    const ranges = cluster({
      serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }],
      serviceExternalIPs: [{ cidr: '192.0.2.64/26' }, { cidr: '192.0.2.1/32' }],
      serviceLoadBalancerAggregation: 'Disabled',
    });
    const world = worldOf({ ...REFLECTOR, ...ranges });
    for (const net of ['10.98.0.9/32', '192.0.2.70/32', '192.0.2.1/32'])
      expect(exported(world, learned(net), 'internal'), net).toBe('accept');
    expect(exported(world, learned('203.0.113.1/32'), 'internal')).toBe('reject');
  });

  // projectcalico/calico#3716, #5235, projectcalico/node#279
  it('single addresses of theirs are announced by those who have them only, where ranges are not announced', () => {
    const ranges = cluster({
      serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }],
      serviceExternalIPs: [{ cidr: '192.0.2.1/32' }],
      serviceLoadBalancerAggregation: 'Disabled',
    });
    const world = worldOf({ ...NODE, ...ranges });
    for (const net of ['10.98.0.9/32', '192.0.2.1/32'])
      expect(exported(world, learned(net)), net).toBe('reject');
  });

  // projectcalico/confd#314
  it('addresses of theirs on kube-ipvs interfaces are not taken in', () => {
    for (const dialect of ['bird1', 'bird2'] as const)
      expect(worldOf(NODE, { dialect }).text()).toMatch(/protocol direct \{[^}]*-"kube-ipvs\*"/);
  });
});

describe('peers', () => {
  const filtered = (spec: object, options: WorldOptions = {}) =>
    worldOf(
      {
        ...NODE,
        ...POOL,
        ...calico('BGPPeer', 'tor', { peerIP: '192.0.2.1', asNumber: 65001, filters: ['tor'] }),
        ...calico('BGPFilter', 'tor', spec),
      },
      options,
    );

  // projectcalico/calico#3810, projectcalico/confd#340: a top-of-rack switch needs a node's own routes only.
  it('are told what is learned as well, as by Calico, and a BGPFilter by source ends that', () => {
    const plain = worldOf({ ...NODE, ...POOL, ...TOR });
    expect(bySession(plain, 'export', learned('10.244.7.0/26'))).toBe('accept');
    const world = filtered({ exportV4: [{ action: 'Reject', source: 'RemotePeers' }] });
    expect(bySession(world, 'export', learned('10.244.7.0/26'))).toBe('reject');
    expect(bySession(world, 'export', own('10.244.7.0/26'))).toBe('accept');
  });

  // projectcalico/calico#1647: import all from any peer.
  it('are believed in everything, as by Calico, and a BGPFilter on import ends that', () => {
    const plain = worldOf({ ...NODE, ...POOL, ...TOR });
    expect(bySession(plain, 'import', learned('10.244.7.0/26'))).toBe('accept');
    const rules = [{ action: 'Accept', matchOperator: 'Equal', cidr: '0.0.0.0/0' }, { action: 'Reject' }];
    const world = filtered({ importV4: rules });
    expect(bySession(world, 'import', learned('10.244.7.0/26'))).toBe('reject');
    expect(bySession(world, 'import', learned('0.0.0.0/0'))).toBe('accept');
  });

  it('are told nothing that is in no pool, block or service range', () => {
    const world = worldOf({ ...NODE, ...POOL, ...TOR });
    for (const given of [
      learned('0.0.0.0/0'),
      own('172.16.0.0/12'),
      route('10.0.0.0/24', { source: 'device' }),
    ])
      expect(bySession(world, 'export', given)).toBe('reject');
  });

  it('with a BGPFilter of which the good version is lost to a bad one keep it', () => {
    const world = filtered({ importV4: [{ action: 'Reject' }] });
    world.change(calico('BGPFilter', 'tor', { importV4: [{ action: 'Rejct' }] }));
    expect(bySession(world, 'import', learned('10.244.7.0/26'))).toBe('reject');
    // One that was never good is as one that is missing: nothing passes.
    const never = filtered({ importV4: [{ action: 'Rejct' }] });
    expect(bySession(never, 'import', learned('0.0.0.0/0'))).toBe('reject');
    expect(bySession(never, 'export', own('10.244.7.0/26'))).toBe('reject');
  });
});

describe('the kernel', () => {
  it('is not given what Felix programs, whatever the encapsulation', () => {
    const given = learned('10.244.7.0/26');
    const of = (spec: object, program?: string) =>
      worldOf({
        ...NODE,
        ...calico('IPPool', 'pods', { cidr: '10.244.0.0/16', ...spec }),
        ...(program === undefined ? {} : cluster({ programClusterRoutes: program })),
      });
    expect(programmed(of({ vxlanMode: 'Always' }), given)).toBe('reject');
    expect(programmed(of({ vxlanMode: 'CrossSubnet' }, 'Enabled'), given)).toBe('reject');
    expect(programmed(of({ ipipMode: 'Always' }), given)).toBe('reject');
    expect(programmed(of({}), given)).toBe('accept');
    expect(programmed(of({}, 'Disabled'), given)).toBe('reject');
    expect(programmed(of({}, 'EnabledIPIPOnly'), given)).toBe('reject');
    expect(programmed(of({}, 'SomethingLater'), given)).toBe('accept');
  });
});
