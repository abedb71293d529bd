import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelDialect } from '../../../src/model/bgp/options.ts';
import {
  accept,
  call,
  type Match,
  not,
  type PolicyFunction,
  reject,
  type Statement,
  when,
} from '../../../src/model/bgp/policy.ts';
import type { FamilyModel } from '../../../src/model/bgp/types.ts';
import { binaries, requireBinary, requireNamespaces } from '../../support/binaries.ts';
import { decide, type Route } from '../../support/policy-interpreter.ts';
import { goodOf, mixtures } from '../../unit/model/parity/mixtures.ts';
import { worldOf } from '../../unit/model/parity/support.ts';
import { BirdLab, type Feed, type Flavour, gatewayOn, type TestFilter } from './bird-lab.ts';
import { feedAround } from './route-feed.ts';

requireNamespaces();
const bird16 = requireBinary(binaries.bird16, 'bird16');
const bird20 = requireBinary(binaries.bird20, 'bird20');

const FLAVOURS: readonly (readonly [string, Flavour])[] = [
  ['BIRD 1.6.8, IPv4', { binary: bird16, isOne: true, family: 4 }],
  ['BIRD 1.6.8, IPv6', { binary: bird16, isOne: true, family: 6 }],
  ['BIRD 2.0.12, IPv4', { binary: bird20, isOne: false, family: 4 }],
  ['BIRD 2.0.12, IPv6', { binary: bird20, isOne: false, family: 6 }],
];

/** Random clusters per BIRD. */
const WORLDS = 6;

/** Networks, next hops and so on of a family. */
const OF = {
  4: {
    net: (n: number, length: number) => `10.${n}.0.0/${length}`,
    host: (n: number) => `10.${n}.0.7/32`,
    hop: (n: number) => `10.99.0.${n}`,
    far: '172.30.0.1',
    links: '10.99.0.0/24',
    bits: 32,
  },
  6: {
    net: (n: number, length: number) => `fd10:${n}::/${length}`,
    host: (n: number) => `fd10:${n}::7/128`,
    hop: (n: number) => `fd99::${n}`,
    far: 'fd77::1',
    links: 'fd99::/64',
    bits: 128,
  },
} as const;

function feedOf(family: 4 | 6): Feed {
  const { net, host, hop, far } = OF[family];
  const length = family === 4 ? 16 : 32;
  return {
    static: [
      { net: net(1, length), target: 'blackhole', set: '' },
      { net: net(1, length + 4), target: 'blackhole', set: 'krt_metric = 512;' },
      {
        net: host(1),
        target: `via ${gatewayOn('cali1', family)}`,
        set: 'krt_metric = 1024; bgp_local_pref = 7;',
      },
      {
        net: host(2),
        target: `via ${gatewayOn('tunl9', family)}`,
        set: 'bgp_community.add((65000,1)); krt_metric = 4000000000;',
      },
      {
        net: host(3),
        target: `via ${gatewayOn('vxlan.calico', family)}`,
        set: 'bgp_large_community.add((1,2,3));',
      },
      {
        net: host(4),
        target: `via ${gatewayOn('bpfout.cali', family)}`,
        set: 'bgp_local_pref = 3000000000;',
      },
    ],
    bgp: [
      { net: net(2, length), set: `bgp_next_hop = ${hop(3)};` },
      { net: net(2, length + 1), set: `bgp_next_hop = ${far}; bgp_local_pref = 2147482623;` },
      { net: host(5), set: 'bgp_local_pref = 2147483135; bgp_community.add((65000,1));' },
      { net: host(6), set: 'bgp_local_pref = 3000000000; bgp_community.add((64999,1));' },
      { net: host(7), set: 'bgp_path.prepend(65002); bgp_path.prepend(65001);' },
      {
        net: host(8),
        set: 'bgp_path.prepend(65002); bgp_community.add((64999,2)); bgp_large_community.add((1,2,3));',
      },
      { net: net(9, length), set: 'bgp_community.add((64999,3)); bgp_local_pref = 0;' },
    ],
    kernel: [
      { net: host(10), device: 'cali1', metric: 512 },
      { net: host(11), device: 'tunl9', metric: 1024 },
      { net: net(1, length + 8), device: 'cali1', metric: 77 },
    ],
  };
}

function matchesOf(family: 4 | 6): readonly Match[] {
  const { net, host, hop, links } = OF[family];
  const length = family === 4 ? 16 : 32;
  return [
    { type: 'net-equal', prefix: net(1, length) },
    { type: 'net-within', prefix: net(1, length) },
    { type: 'net-within-any', prefixes: [net(2, length), host(5)] },
    { type: 'net-range', prefix: net(1, length), min: length + 2, max: length + 8 },
    { type: 'net-range', prefix: net(1, length), min: length, max: length },
    { type: 'constant', value: true },
    { type: 'constant', value: false },
    ...(['bgp', 'device', 'static', 'inherit'] as const).map((source): Match => ({ type: 'source', source })),
    ...['cali1', 'cali*', '*.calico', '*.cali', 't?nl9', '*', 'nope'].map(
      (pattern): Match => ({ type: 'interface', pattern }),
    ),
    { type: 'community', community: [65_000, 1] },
    { type: 'community', community: [1, 2, 3] },
    { type: 'as-path-prefix', asNumbers: [65_001] },
    { type: 'as-path-prefix', asNumbers: [65_001, 65_002] },
    { type: 'as-path-prefix', asNumbers: [65_002] },
    { type: 'defined', attribute: 'local-pref' },
    { type: 'defined', attribute: 'metric' },
    ...(['=', '<', '>'] as const).flatMap((operator): Match[] => [
      { type: 'number', attribute: 'local-pref', operator, value: 2_147_482_623 },
      { type: 'number', attribute: 'metric', operator, value: 1024 },
    ]),
    { type: 'next-hop-in-list', addresses: [hop(3), hop(4)] },
    { type: 'next-hop-within', prefix: links },
  ];
}

/** What the model negates. */
const NEGATED: ReadonlySet<Match['type']> = new Set(['net-equal', 'net-within', 'net-range', 'defined']);

const BEST = when([{ type: 'number', attribute: 'metric', operator: '<', value: 1024 }], [accept], {
  otherwise: [reject],
});
const FUNCTIONS: readonly PolicyFunction[] = [
  {
    name: 'plain',
    takesInternal: false,
    comment: 'Decides about some.',
    body: [when([{ type: 'source', source: 'bgp' }], [accept])],
  },
  {
    name: 'by_kind',
    takesInternal: true,
    comment: 'Depends on its argument.',
    body: [when([{ type: 'internal' }], [reject]), when([not({ type: 'internal' })], [accept])],
  },
];

const STATEMENTS: Readonly<Record<string, readonly Statement[]>> = {
  accept: [accept],
  reject: [reject],
  nothing: [],
  otherwise: [when([{ type: 'source', source: 'static' }], [accept], { otherwise: [BEST] })],
  nested: [
    when(
      [{ type: 'defined', attribute: 'metric' }],
      [when([{ type: 'source', source: 'bgp' }], [reject]), accept],
    ),
  ],
  both: [
    when([{ type: 'source', source: 'static' }, not({ type: 'defined', attribute: 'metric' })], [accept]),
  ],
  set_metric: [{ type: 'set-number', attribute: 'metric', value: 99 }, BEST],
  set_preference: [{ type: 'set-number', attribute: 'preference', value: 200 }, accept],
  set_local_pref: [{ type: 'set-number', attribute: 'local-pref', value: 4_294_967_295 }, accept],
  complement_metric: [
    when(
      [{ type: 'defined', attribute: 'local-pref' }],
      [{ type: 'set-complement', attribute: 'metric', of: 'local-pref' }],
    ),
    accept,
  ],
  complement_local_pref: [
    when(
      [{ type: 'defined', attribute: 'metric' }],
      [{ type: 'set-complement', attribute: 'local-pref', of: 'metric' }],
    ),
    accept,
  ],
  add_community: [
    { type: 'add-community', community: [65_000, 9] },
    { type: 'add-community', community: [65_000, 1] },
    accept,
  ],
  add_large: [{ type: 'add-community', community: [4_294_967_295, 0, 7] }, accept],
  prepend: [
    { type: 'prepend-as', asNumber: 65_010 },
    { type: 'prepend-as', asNumber: 4_200_000_000 },
    accept,
  ],
  call: [call('plain'), reject],
  call_internal: [call('by_kind', true), accept],
  call_external: [call('by_kind', false), reject],
};

function touchesPath(body: readonly Statement[], functions: readonly PolicyFunction[]): boolean {
  const text = JSON.stringify(body);
  if (/"(as-path-prefix|prepend-as)"/.test(text)) return true;
  return functions.some(
    ({ name, body: inner }) => text.includes(JSON.stringify(name)) && touchesPath(inner, functions),
  );
}

/** What counts of a route after a policy, in one order. */
function outcome({ localPref, metric, preference, communities, asPath }: Route) {
  return { localPref, metric, preference, communities: [...communities].sort(), asPath };
}

/** Runs filters in BIRD and by the interpreter, and compares both for every route. */
async function compare(
  lab: BirdLab,
  functions: readonly PolicyFunction[],
  filters: readonly TestFilter[],
  feed: Feed,
) {
  const { routes, after } = await lab.run(functions, filters, feed);
  let decided = 0;
  // A pipe of 1.6 gives on the metric that a route of the kernel came with, whatever the filter set.
  const isHidden = ({ source }: Route): boolean => lab.flavour.isOne && source === 'inherit';
  for (const { name, body } of filters) {
    for (const route of routes) {
      // A session of 1.6 gives every route a path before it filters; a pipe does not, and asking for it is an error.
      if (lab.flavour.isOne && route.source !== 'bgp' && touchesPath(body, functions)) continue;
      const found = after.get(name)?.get(route.net);
      const { decision, route: changed } = decide(body, functions, route);
      const shown = (given: Route) => ({
        ...outcome(given),
        ...(isHidden(route) ? { metric: 'hidden' } : {}),
      });
      const said = found === undefined ? 'reject' : shown(found);
      const expected = decision === 'reject' ? 'reject' : shown(changed);
      expect(said, `${name} of ${JSON.stringify(body)}\nfor ${JSON.stringify(route)}`).toEqual(expected);
      decided += 1;
    }
  }
  return { routes, decided };
}

/** Of many random clusters those with most to decide about. */
function clustersOf(family: 4 | 6, dialect: ModelDialect): readonly FamilyModel[] {
  const models = fc.sample(mixtures, { numRuns: 40 * WORLDS, seed: 7 + family }).map((values) => {
    const world = worldOf(goodOf(values), { dialect });
    return family === 4 ? world.ipv4 : world.ipv6;
  });
  return models
    .map((model) => ({ model, size: JSON.stringify([model.functions, model.sessions]).length }))
    .sort((a, b) => b.size - a.size)
    .slice(0, WORLDS)
    .map(({ model }) => model);
}

describe.each(FLAVOURS)('policies in %s', (_name, flavour) => {
  let lab: BirdLab;
  beforeAll(async () => {
    lab = await BirdLab.open(flavour);
  });
  afterAll(() => lab?.close());

  it('do to every kind of route what they are meant to, by every kind of match and statement', async () => {
    const { family } = flavour;
    const filters = [
      ...matchesOf(family).flatMap((match, index) => [
        { name: `match${index}`, body: [when([match], [accept]), reject] },
        { name: `unless${index}`, body: [when([match], [reject]), accept] },
        ...(NEGATED.has(match.type)
          ? [{ name: `not${index}`, body: [when([not(match)], [accept]), reject] }]
          : []),
      ]),
      ...Object.entries(STATEMENTS).map(([name, body]) => ({ name: `do_${name}`, body })),
    ];
    const feed = feedOf(family);
    const { routes, decided } = await compare(lab, FUNCTIONS, filters, feed);
    expect(new Set(routes.map(({ source }) => source))).toEqual(
      new Set(['bgp', 'device', 'static', 'inherit']),
    );
    expect(decided).toBeGreaterThan(filters.length * 15);
  });

  it('of random clusters do what the model means', async () => {
    const { family, isOne } = flavour;
    let decided = 0;
    for (const model of clustersOf(family, isOne ? 'bird1' : 'bird2')) {
      const own = model.sessions.flatMap((session) => [session.import, session.export]);
      const filters = [
        ...model.filters,
        model.kernelFilter,
        ...own
          .filter(({ name }) => name === null)
          .map(({ body }, index) => ({ name: `session${index}`, body })),
      ];
      decided += (await compare(lab, model.functions, filters, feedAround(model))).decided;
    }
    expect(decided).toBeGreaterThan(WORLDS * 60);
  });
});
