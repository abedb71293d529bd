import { describe, expect, it } from 'vitest';
import { filterFunction } from '../../../../src/model/bgp/filters.ts';
import { compatOptions } from '../../../../src/model/bgp/options.ts';
import type { BgpFilterRule } from '../../../../src/model/calico/types.ts';
import { decide, type Route, route } from '../../../support/policy-interpreter.ts';
import { compute, config, filter, node, onlySession, peer, problemIds, rule } from './support.ts';

function run(rules: readonly Partial<BgpFilterRule>[], given: Route, internal = false, asCalico = false) {
  const made = filterFunction(
    filter('f', { importV4: rules.map(rule) }),
    'import',
    4,
    compatOptions(asCalico),
  )!;
  return decide(made.body, [], given, internal);
}

const accepts = (rules: readonly Partial<BgpFilterRule>[], net: string, more: Partial<Route> = {}) =>
  run(rules, route(net, more)).decision === 'accept';

describe('a rule of a BGPFilter', () => {
  it('without conditions decides about everything', () => {
    expect(accepts([{ action: 'Accept' }], '10.0.0.0/8')).toBe(true);
    expect(accepts([{ action: 'Reject' }, { action: 'Accept' }], '10.0.0.0/8')).toBe(false);
  });

  it.each([
    ['Equal', ['10.1.0.0/16'], ['10.1.0.0/24', '10.0.0.0/8', '10.2.0.0/16']],
    ['In', ['10.1.0.0/16', '10.1.2.0/24', '10.1.2.3/32'], ['10.0.0.0/8', '10.2.0.0/16']],
    ['NotEqual', ['10.1.0.0/24', '10.0.0.0/8'], ['10.1.0.0/16']],
    ['NotIn', ['10.0.0.0/8', '10.2.0.0/16'], ['10.1.0.0/16', '10.1.2.0/24']],
  ] as const)('with %s matches networks', (matchOperator, yes, no) => {
    const rules = [{ cidr: '10.1.0.0/16', matchOperator }];
    for (const net of yes) expect(accepts(rules, net)).toBe(true);
    for (const net of no) expect(accepts(rules, net)).toBe(false);
  });

  it('limits the length of the prefix, from that of its network to the longest', () => {
    const within = (prefixLength: BgpFilterRule['prefixLength']) => [
      { cidr: '10.1.0.0/16', matchOperator: 'In' as const, prefixLength },
    ];
    expect(accepts(within({ min: 24, max: 26 }), '10.1.2.0/24')).toBe(true);
    expect(accepts(within({ min: 24, max: 26 }), '10.1.2.0/23')).toBe(false);
    expect(accepts(within({ min: 24, max: 26 }), '10.1.2.0/27')).toBe(false);
    expect(accepts(within({ min: null, max: 20 }), '10.1.0.0/16')).toBe(true);
    expect(accepts(within({ min: 8, max: null }), '10.0.0.0/8')).toBe(false);
    expect(accepts(within({ min: 8, max: null }), '10.1.2.3/32')).toBe(true);
  });

  it('with Equal and a length takes the networks meant, where Calico matches nothing', () => {
    const prefixLength = { min: 24, max: 24 };
    const equal = [{ cidr: '10.1.0.0/16', matchOperator: 'Equal' as const, prefixLength }];
    const notEqual = [{ cidr: '10.1.0.0/16', matchOperator: 'NotEqual' as const, prefixLength }];
    expect(accepts(equal, '10.1.2.0/24')).toBe(true);
    expect(accepts(notEqual, '10.1.2.0/24')).toBe(false);
    expect(run(equal, route('10.1.2.0/24'), false, true).decision).toBe('reject');
    expect(run(notEqual, route('10.1.2.0/24'), false, true).decision).toBe('accept');
  });

  it('with Equal and lengths of which none is given is about the network alone, where Calico matches nothing', () => {
    const equal = [
      { cidr: '10.1.0.0/16', matchOperator: 'Equal' as const, prefixLength: { min: null, max: null } },
    ];
    expect(accepts(equal, '10.1.0.0/16')).toBe(true);
    expect(accepts(equal, '10.1.2.0/24')).toBe(false);
    expect(run(equal, route('10.1.0.0/16'), false, true).decision).toBe('reject');
  });

  it('matches source, interface, community, AS path and priority', () => {
    expect(accepts([{ source: 'RemotePeers' }], '10.0.0.0/8')).toBe(true);
    expect(accepts([{ source: 'RemotePeers' }], '10.0.0.0/8', { source: 'static' })).toBe(false);
    expect(accepts([{ interface: 'eth*' }], '10.0.0.0/8', { interface: 'eth1' })).toBe(true);
    expect(accepts([{ interface: 'eth*' }], '10.0.0.0/8', { interface: 'cali1' })).toBe(false);
    expect(accepts([{ community: [1, 2] }], '10.0.0.0/8', { communities: ['1:2'] })).toBe(true);
    expect(accepts([{ community: [1, 2, 3] }], '10.0.0.0/8', { communities: ['1:2'] })).toBe(false);
    expect(accepts([{ asPathPrefix: [1, 2] }], '10.0.0.0/8', { asPath: [1, 2, 3] })).toBe(true);
    expect(accepts([{ asPathPrefix: [1, 2] }], '10.0.0.0/8', { asPath: [2, 1] })).toBe(false);
    expect(accepts([{ priority: 512 }], '10.0.0.0/8', { localPref: 2_147_483_647 - 512 })).toBe(true);
    expect(accepts([{ priority: 512 }], '10.0.0.0/8')).toBe(false);
  });

  it('needs all of its conditions', () => {
    const both = [{ source: 'RemotePeers' as const, community: [1, 2] }];
    expect(accepts(both, '10.0.0.0/8', { communities: ['1:2'] })).toBe(true);
    expect(accepts(both, '10.0.0.0/8', { communities: ['1:2'], source: 'static' })).toBe(false);
  });

  it('for one kind of peer asks what kind the session is', () => {
    const rules = [{ peerType: 'iBGP' as const }];
    expect(run(rules, route('10.0.0.0/8'), true).decision).toBe('accept');
    expect(run(rules, route('10.0.0.0/8'), false).decision).toBe('reject');
  });

  it('changes the route in the order of its operations, prepending as listed', () => {
    const operations = [
      { type: 'addCommunity', community: [1, 2] },
      { type: 'prependAsPath', asNumbers: [65_001, 65_002] },
      { type: 'setPriority', priority: 100 },
    ] as const;
    const { route: changed } = run([{ operations }], route('10.0.0.0/8', { asPath: [7] }));
    expect(changed).toMatchObject({
      communities: ['1:2'],
      asPath: [65_001, 65_002, 7],
      localPref: 2_147_483_647 - 100,
    });
  });
});

describe('the filters of a BGPPeer', () => {
  const nodes = [node('a', '10.0.0.1/24')];
  const configs = [config({ meshEnabled: false })];
  const computed = (filters: readonly string[], asCalico = false, more: Parameters<typeof filter>[1] = {}) =>
    compute(
      {
        nodes,
        configs,
        peers: [peer('p', { peerAddress: '10.0.0.9', asNumber: 65_001, filters })],
        filters: [
          filter('one', {
            importV4: [rule({ cidr: '10.1.0.0/16', matchOperator: 'In', action: 'Reject' })],
            ...more,
          }),
          filter('two', { importV4: [rule({ cidr: '10.1.0.0/16', matchOperator: 'In' })] }),
          filter('unused', { importV4: [rule()] }),
        ],
      },
      'a',
      { compat: compatOptions(asCalico) },
    );
  const imports = (c: ReturnType<typeof computed>, net: string) =>
    decide(onlySession(c).import.body, c.model.ipv4.functions, route(net)).decision;

  it('are asked in their order', () => {
    expect(imports(computed(['one', 'two']), '10.1.2.0/24')).toBe('reject');
    expect(imports(computed(['two', 'one']), '10.1.2.0/24')).toBe('accept');
  });

  it('let through what they do not decide about', () => {
    expect(imports(computed(['one']), '10.9.0.0/16')).toBe('accept');
  });

  it('are defined only where a session uses them, and only for directions that have rules', () => {
    const names = computed(['one', 'two']).model.ipv4.functions.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('bgp_'))).toEqual([
      'bgp_one_importFilterV4',
      'bgp_two_importFilterV4',
    ]);
    expect(computed(['one']).model.ipv6.functions.filter(({ name }) => name.startsWith('bgp_'))).toEqual([]);
  });

  it('that do not exist leave the session up without routes, unless Calico is asked for', () => {
    const closed = computed(['one', 'gone']);
    expect(imports(closed, '10.9.0.0/16')).toBe('reject');
    expect(onlySession(closed).export.body).toMatchObject([{ type: 'reject' }]);
    expect(problemIds(closed)).toEqual(['filter-missing']);
    const open = computed(['one', 'gone'], true);
    expect(imports(open, '10.9.0.0/16')).toBe('accept');
    expect(imports(open, '10.1.2.0/24')).toBe('reject');
    expect(problemIds(open)).toEqual(['filter-missing']);
  });

  it('are not applied to mesh sessions', () => {
    const c = compute({
      nodes: [...nodes, node('b', '10.0.0.2/24')],
      filters: [filter('one', { importV4: [rule({ action: 'Reject' })] })],
    });
    expect(decide(onlySession(c).import.body, c.model.ipv4.functions, route('10.9.0.0/16')).decision).toBe(
      'accept',
    );
  });
});
