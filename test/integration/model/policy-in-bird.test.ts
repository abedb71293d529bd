import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { computeNode } from '../../../src/model/bgp/compute.ts';
import { filterFunction } from '../../../src/model/bgp/filters.ts';
import { compatOptions, modelOptions } from '../../../src/model/bgp/options.ts';
import type { PolicyFunction, Statement } from '../../../src/model/bgp/policy.ts';
import type { BgpFilterRule } from '../../../src/model/calico/types.ts';
import { createEngine } from '../../../src/render/engine.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { decide, type Route, route } from '../../support/policy-interpreter.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { block, cluster, config, filter, node, pool, rule } from '../../unit/model/bgp/support.ts';

/**
 * Policies as data and as text mean the same: random ones are rendered, and a real BIRD runs them over its routes
 * (`show route all filter NAME`) beside the interpreter. All routes there are static ones.
 */
const SEED = 20_260_101;
const TEMPLATES = fileURLToPath(new URL('../../../templates/', import.meta.url));
const dir = await makeDir('bfpol');
afterAll(() => removeDir(dir));
await writeFile(
  join(dir, 'policies.njk'),
  `{% import "policy.njk" as policy %}
router id 10.0.0.1;
protocol device { }
{% for f in functions %}{{ policy.definition(f) }}{% endfor %}
{% for f in filters %}{{ policy.filter(f) }}{% endfor %}
protocol static origin {
{{ channel }}
{% for line in routes %}{{ line }}
{% endfor %}
}
`,
);
const engine = createEngine({ templateDirs: [dir, TEMPLATES] });

interface Policy {
  readonly name: string;
  readonly body: readonly Statement[];
}

interface Dialect {
  readonly bird: 'bird16' | 'bird20' | 'bird217' | 'bird31';
  readonly channel: string;
  /** BIRD 1.6 gives static routes no AS path before they meet a BGP session, so nothing can be prepended to it. */
  readonly hasPath: boolean;
}

const DIALECTS: readonly Dialect[] = [
  { bird: 'bird16', channel: '', hasPath: false },
  { bird: 'bird20', channel: '  ipv4;', hasPath: true },
  { bird: 'bird217', channel: '  ipv4;', hasPath: true },
  { bird: 'bird31', channel: '  ipv4;', hasPath: true },
];

const networks = fc.constantFrom(
  ...[
    '10.1.0.0/16',
    '10.1.2.0/24',
    '10.1.2.3/32',
    '10.1.128.0/17',
    '10.2.0.0/16',
    '10.2.3.0/26',
    '10.0.0.0/8',
    '172.16.0.0/16',
  ],
  ...['192.168.1.0/26', '192.168.1.5/32', '192.168.2.9/32', '10.96.0.7/32'],
);
const LOCAL_PREFS = [null, 100, 2_147_482_623, 2_147_482_624, 2_147_483_135, 2_147_483_647, 3_000_000_000];
const METRICS = [null, 0, 512, 1_023, 1_024, 2_147_483_647, 3_000_000_000];
const communities = fc.constantFrom('1:2', '65000:7', '1:2:3', '4200000000:1:9');

function arbitraryRoute(hasPath: boolean): fc.Arbitrary<Route> {
  const given = {
    localPref: fc.constantFrom(...LOCAL_PREFS),
    metric: fc.constantFrom(...METRICS),
    communities: fc.uniqueArray(communities, { maxLength: 2 }),
    asPath: hasPath ? fc.array(fc.constantFrom(1, 2, 65_001), { maxLength: 3 }) : fc.constant([]),
  };
  return fc
    .tuple(networks, fc.record(given))
    .map(([net, more]) => route(net, { source: 'static', interface: '', preference: 200, ...more }));
}

function arbitraryRule(hasPath: boolean): fc.Arbitrary<BgpFilterRule> {
  const community = communities.map((text) => text.split(':').map(Number));
  const operation = fc.oneof(
    community.map((parts) => ({ type: 'addCommunity' as const, community: parts })),
    fc.constantFrom(100, 512, 2_000).map((priority) => ({ type: 'setPriority' as const, priority })),
    ...(hasPath ? [fc.constant({ type: 'prependAsPath' as const, asNumbers: [65_001, 2] })] : []),
  );
  const network = fc.record({
    cidr: fc.constantFrom('10.1.0.0/16', '10.0.0.0/8', '10.2.0.0/16'),
    matchOperator: fc.constantFrom('Equal' as const, 'NotEqual' as const, 'In' as const, 'NotIn' as const),
    prefixLength: fc.constantFrom(null, { min: 24, max: 26 }, { min: null, max: 24 }, { min: 32, max: null }),
  });
  return fc
    .record({
      network: fc.option(network),
      source: fc.constantFrom(null, null, 'RemotePeers' as const),
      interface: fc.constantFrom(null, null, 'eth*', '*'),
      peerType: fc.constantFrom(null, null, 'eBGP' as const, 'iBGP' as const),
      community: fc.option(community, { freq: 2 }),
      asPathPrefix: hasPath ? fc.constantFrom(null, null, [1], [1, 2]) : fc.constant(null),
      priority: fc.constantFrom(null, null, 512, 1_024),
      action: fc.constantFrom('Accept' as const, 'Reject' as const),
      operations: fc.array(operation, { maxLength: 2 }),
    })
    .map(({ network: match, action, operations, ...more }) =>
      rule({ ...more, ...match, action, operations: action === 'Accept' ? operations : [] }),
    );
}

/** Route line of the static protocol; attributes are set as a filter would. */
function routeLine({ net, localPref, metric, communities: held, asPath }: Route): string {
  const set = [
    ...(localPref === null ? [] : [`bgp_local_pref = ${localPref};`]),
    ...(metric === null ? [] : [`krt_metric = ${metric};`]),
    ...held.map((text) => {
      const list = text.split(':').length === 2 ? 'bgp_community' : 'bgp_large_community';
      return `${list}.add((${text.split(':').join(', ')}));`;
    }),
    ...asPath.toReversed().map((asNumber) => `bgp_path.prepend(${asNumber});`),
  ];
  return `  route ${net} blackhole { ${set.join(' ')} };`;
}

type Outcome = Pick<Route, 'localPref' | 'metric' | 'preference' | 'asPath'> & {
  readonly communities: readonly string[];
};

/** What BIRD shows of the routes that a filter accepts, by network. Attribute names differ between 1.6, 2.x and 3.x. */
function accepted(lines: readonly string[]): ReadonlyMap<string, Outcome> {
  const shown = new Map<string, Outcome>();
  let net = '';
  for (const line of lines.map((text) => text.replace(/^\d{4}[- ]| (?=\S)/, ''))) {
    const head = /^(\d+\.\d+\.\d+\.\d+\/\d+)\s.*\((\d+)\)/.exec(line);
    if (head !== null) {
      net = head[1]!;
      shown.set(net, {
        localPref: null,
        metric: null,
        preference: Number(head[2]),
        asPath: [],
        communities: [],
      });
    }
    const attribute = /^\s*(?:BGP\.|bgp_|Kernel\.|krt_)(\w+):\s*(.*)$/i.exec(line);
    const known = shown.get(net);
    if (attribute !== null && known !== undefined)
      shown.set(net, withAttribute(known, attribute[1]!, attribute[2]!));
  }
  return shown;
}

function withAttribute(known: Outcome, name: string, text: string): Outcome {
  switch (name) {
    case 'local_pref':
      return { ...known, localPref: Number(text) };
    case 'metric':
      return { ...known, metric: Number(text) };
    case 'path':
    case 'as_path':
      return {
        ...known,
        asPath: text
          .split(/\s+/)
          .filter((part) => part !== '')
          .map(Number),
      };
    case 'community':
    case 'large_community': {
      const listed = [...text.matchAll(/\(([\d, ]+)\)/g)].map((match) =>
        match[1]!.replace(/ /g, '').replaceAll(',', ':'),
      );
      return { ...known, communities: [...known.communities, ...listed] };
    }
    default:
      return known;
  }
}

function expected(
  body: readonly Statement[],
  functions: readonly PolicyFunction[],
  routes: readonly Route[],
) {
  const outcomes = new Map<string, Outcome>();
  for (const given of routes) {
    const { decision, route: left } = decide(body, functions, given);
    const { localPref, metric, preference, asPath, communities: held } = left;
    if (decision === 'accept')
      outcomes.set(given.net, { localPref, metric, preference, asPath, communities: held });
  }
  return outcomes;
}

function sorted(outcomes: ReadonlyMap<string, Outcome>) {
  return [...outcomes]
    .map(([net, outcome]) => ({ net, ...outcome, communities: [...outcome.communities].sort() }))
    .sort((a, b) => (a.net < b.net ? -1 : 1));
}

/** Runs all policies over all routes in a real BIRD, and says where it and the interpreter part. */
async function differences(
  dialect: Dialect,
  functions: readonly PolicyFunction[],
  filters: readonly Policy[],
  routes: readonly Route[],
) {
  const lines = routes.map(routeLine);
  const text = engine.render('policies.njk', { functions, filters, routes: lines, channel: dialect.channel });
  const daemon = await BirdDaemon.start(binaries[dialect.bird]!, { config: text });
  try {
    const wrong: unknown[] = [];
    let seen = 0;
    for (const { name, body } of filters) {
      const reply = await daemon.cmd(`show route all filter ${name}`);
      const got = sorted(accepted(reply.lines));
      const want = sorted(expected(body, functions, routes));
      seen += got.length;
      if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push({ name, got, want, reply: reply.text });
    }
    // A reply that was not understood would look like a filter that rejects everything.
    expect(seen).toBeGreaterThan(filters.length);
    return wrong;
  } finally {
    await daemon.close();
  }
}

/** One route for each network, with attributes of every kind among them. */
function sampleRoutes(hasPath: boolean): readonly Route[] {
  const routes = fc.sample(arbitraryRoute(hasPath), { numRuns: 80, seed: SEED });
  return [...new Map(routes.map((given) => [given.net, given])).values()];
}

/** Single addresses in the block, in the pool and outside, each with every priority, and some networks. */
function priorityRoutes(hasPath: boolean): readonly Route[] {
  const addresses = ['192.168.1', '192.168.2', '10.99.0'].flatMap((base) =>
    LOCAL_PREFS.flatMap((localPref, i) =>
      METRICS.map((metric, j) => {
        const more = { interface: '', preference: 200, localPref, metric };
        return route(`${base}.${i * METRICS.length + j}/32`, { source: 'static', ...more });
      }),
    ),
  );
  return [...addresses, ...sampleRoutes(hasPath).filter(({ net }) => !net.endsWith('/32'))];
}

describe.each(DIALECTS)('in $bird a policy means what it says as data', (dialect) => {
  requireBinary(binaries[dialect.bird], dialect.bird);

  it('for BGPFilters of any rules', async () => {
    const lists = fc.sample(fc.array(arbitraryRule(dialect.hasPath), { minLength: 1, maxLength: 4 }), {
      numRuns: 60,
      seed: SEED,
    });
    const functions = lists.map(
      (rules, i) =>
        filterFunction(filter(`f${i}`, { importV4: rules }), 'import', 4, compatOptions(i % 5 === 0))!,
    );
    const filters = functions.flatMap(({ name, takesInternal }, i) =>
      [true, false].map(
        (internal): Policy => ({
          name: `t${i}_${internal}`,
          body: [
            { type: 'call', name, internal: takesInternal ? internal : null },
            { type: 'set-number', attribute: 'preference', value: 77 },
            { type: 'accept', comment: null },
          ],
        }),
      ),
    );
    expect(await differences(dialect, functions, filters, sampleRoutes(dialect.hasPath))).toEqual([]);
  });

  it.each([true, false])('for everything that a node does (as Calico: %s)', async (asCalico) => {
    const everything = cluster({
      nodes: [
        node('a', '10.0.0.1/24', { wireguardIpv4: '192.168.9.1' }),
        node('b', '10.0.0.2/24', { wireguardIpv4: '192.168.9.2' }),
      ],
      pools: [
        pool('p', '192.168.0.0/16'),
        pool('q', '10.2.0.0/16', { disableBgpExport: true }),
        pool('v', '172.16.0.0/16', { vxlanMode: 'Always' }),
      ],
      blocks: [block('a', '192.168.1.0/26')],
      configs: [
        config({
          serviceClusterIPs: ['10.96.0.0/12'],
          prefixAdvertisements: [{ cidr: '192.168.0.0/16', communities: ['65000:7', '4200000000:1:9'] }],
        }),
      ],
    });
    const options = modelOptions('bird2', { compat: compatOptions(asCalico) });
    const { functions, filters, kernelFilter } = computeNode(everything, 'a', options).model.ipv4;
    expect(
      await differences(dialect, functions, [...filters, kernelFilter], priorityRoutes(dialect.hasPath)),
    ).toEqual([]);
  });
});
