import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Computation, computeNode } from '../../../../src/model/bgp/compute.ts';
import { compatOptions, modelOptions } from '../../../../src/model/bgp/options.ts';
import type { Cluster } from '../../../../src/model/calico/types.ts';
import {
  allSessions,
  block,
  cluster,
  compute,
  config,
  endpointStatus,
  filter,
  node,
  peer,
  pool,
  rule,
  secret,
  service,
  slice,
} from './support.ts';

const NAMES = ['a', 'b', 'c', 'd'] as const;
const PEERS = ['p', 'p-1', 'p1', 'q'] as const;

/** Clusters whose parts are drawn from few variants, so that two of them have many parts in common. */
const nodeOf = (name: string, index: number) =>
  fc
    .record({
      host: fc.constantFrom(index, index, index, 7),
      v6: fc.boolean(),
      clusterId: fc.constantFrom(null, null, '244.0.0.1'),
      asNumber: fc.constantFrom(null, 65_001),
      rr: fc.boolean(),
      wireguardIpv4: fc.constantFrom(null, `192.168.9.${index}`),
    })
    .map(({ host, v6, rr, ...rest }) =>
      node(name, `10.0.0.${host}/24`, {
        ...rest,
        labels: rr ? { rr: '' } : {},
        ...(v6 ? { v6: `fd00::${index}/64` } : {}),
      }),
    );

const peerOf = (name: string) =>
  fc
    .record(
      {
        node: fc.constantFrom(null, 'a', 'b'),
        peerAddress: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.9', 'fd00::2'),
        peerPort: fc.constantFrom(null, 179, 180),
        asNumber: fc.constantFrom(null, 64_512, 65_001),
        filters: fc.constantFrom([], ['f'], ['f', 'gone']),
        password: fc.constantFrom(null, { name: 's', key: 'k' }),
        reachableBy: fc.constantFrom(null, '10.0.0.254'),
        reversePeering: fc.constantFrom('Auto' as const, 'Manual' as const),
        localAsNumber: fc.constantFrom(null, 65_001),
      },
      { requiredKeys: ['peerAddress'] },
    )
    .map((spec) => peer(name, spec));

const selecting = (name: string) =>
  fc
    .record({
      nodeSelector: fc.constantFrom(null, 'has(rr)', '!has(rr)'),
      peerSelector: fc.constantFrom('all()', 'has(rr)'),
      keepaliveTime: fc.constantFrom(null, 5),
      filters: fc.constantFrom([], ['f'], ['gone'], ['g', 'f']),
      password: fc.constantFrom(null, null, { name: 's', key: 'k' }),
      reachableBy: fc.constantFrom(null, '10.0.0.254'),
      reversePeering: fc.constantFrom('Auto' as const, 'Auto' as const, 'Manual' as const),
    })
    .map((spec) => peer(name, spec));

const ofWorkloads = (name: string) =>
  fc
    .record({
      node: fc.constantFrom(null, 'a'),
      asNumber: fc.constantFrom(null, 64_900),
      filters: fc.constantFrom([], ['f']),
      password: fc.constantFrom(null, { name: 's', key: 'k' }),
    })
    .map((spec) => peer(name, { ...spec, localWorkloadSelector: 'all()' }));

/** One name for all kinds, so that a BGPPeer changes its kind. */
const anyPeer = (name: string) => fc.oneof(peerOf(name), selecting(name), ofWorkloads(name));

const configOf = fc
  .record({
    meshEnabled: fc.constantFrom(null, false),
    listenPort: fc.constantFrom(null, 178),
    meshPassword: fc.constantFrom(null, { name: 's', key: 'k' }),
    serviceClusterIPs: fc.constantFrom(null, ['10.96.0.0/12']),
    bindMode: fc.constantFrom(null, 'NodeIP' as const),
    programClusterRoutes: fc.constantFrom(null, 'Enabled' as const),
  })
  .map((spec) => config(spec));

const clusters = fc
  .record({
    nodes: fc.tuple(...NAMES.map((name, i) => fc.option(nodeOf(name, i + 1), { freq: 6 }))),
    peers: fc.tuple(...PEERS.map((name) => fc.option(anyPeer(name)))),
    configs: fc.tuple(
      fc.option(configOf),
      fc.option(fc.constantFrom(180, 500).map((listenPort) => config({ node: 'b', listenPort }))),
    ),
    statuses: fc.tuple(
      fc.option(fc.constantFrom(endpointStatus('p', '192.168.1.5'), endpointStatus('p-1', '10.0.0.2'))),
      fc.option(fc.constantFrom(endpointStatus('p', '192.168.1.6', 'fd00::6'), endpointStatus('q', null))),
    ),
    filters: fc.tuple(
      fc.option(fc.constant(filter('g', { importV4: [rule()], exportV6: [rule()] }))),
      fc.option(
        fc.constantFrom(
          filter('f', { importV4: [rule()] }),
          filter('f', { exportV4: [rule({ peerType: 'iBGP' })] }),
        ),
      ),
    ),
    pools: fc.tuple(
      fc.option(
        fc.constantFrom(pool('x', '192.168.0.0/16'), pool('x', '192.168.0.0/16', { ipipMode: 'Always' })),
      ),
    ),
    blocks: fc.tuple(fc.option(fc.constant(block('a', '192.168.1.0/26')))),
    services: fc.tuple(fc.option(fc.constant(service('svc', { clusterIPs: ['10.96.0.7'] })))),
    slices: fc.tuple(fc.option(fc.constant(slice('svc', [{ nodeName: 'a', ready: true }])))),
    secrets: fc.tuple(fc.option(fc.constantFrom(secret('s', { k: 'hush' }), secret('s', { k: 'whisper' })))),
  })
  .map((parts) => {
    const given = Object.entries(parts).map(([key, list]) => [key, list.filter((item) => item !== null)]);
    return Object.fromEntries(given) as Parameters<typeof cluster>[0];
  });

/** Parts of a cluster that change together; the others stay the very same objects. */
const GROUPS = [
  'node',
  'node',
  'peer',
  'peer',
  'peers',
  'filters',
  'secrets',
  'nodeConfigs',
  'defaultConfig',
  'pools',
  'endpointStatuses',
  'services',
] as const;

/** What changes when one group, or one node or BGPPeer, is taken from another cluster. */
function changed(
  now: Cluster,
  from: Parameters<typeof cluster>[0],
  group: (typeof GROUPS)[number],
  at: number,
): Partial<Cluster> {
  const other = cluster(from);
  if (group === 'peer') return { peers: exchanged(now.peers, other.peers, PEERS[at]!) };
  if (group !== 'node') return { [group]: other[group] };
  const nodes = exchanged(now.nodes, other.nodes, NAMES[at]!);
  const { nodeByName, nodesByAddress } = cluster({ nodes });
  return { nodes, nodeByName, nodesByAddress };
}

/** `now` with the one of this name as it is in `other`, which may have none. */
function exchanged<T extends { readonly name: string }>(
  now: readonly T[],
  other: readonly T[],
  name: string,
): readonly T[] {
  const kept = now.filter((one) => one.name !== name);
  const taken = other.filter((one) => one.name === name);
  return [...kept, ...taken].sort((a, b) => (a.name < b.name ? -1 : 1));
}

describe('a computation with the previous one', () => {
  it('equals one without, for any two clusters and any node', () => {
    const options = modelOptions('bird1-calico');
    fc.assert(
      fc.property(
        fc.array(clusters, { minLength: 2, maxLength: 4 }),
        fc.constantFrom(...NAMES),
        (sequence, name) => {
          let previous: Computation | undefined;
          for (const parts of sequence) {
            const indexed = cluster(parts);
            previous = computeNode(indexed, name, options, previous);
            const fresh = computeNode(cluster(parts), name, options);
            // Much faster than toStrictEqual, which is left to say what differs.
            const made = [previous.model, previous.interests];
            const wanted = [fresh.model, fresh.interests];
            if (!isDeepStrictEqual(made, wanted)) expect(made).toStrictEqual(wanted);
          }
        },
      ),
      { numRuns: 60 },
    );
  }, 30_000);

  it.each([
    modelOptions('bird1-calico'),
    modelOptions('bird2', { compat: compatOptions(true), passiveOrder: 'numeric' }),
  ])(
    'equals one without when one thing changes at a time ($dialect)',
    (options) => {
      const step = fc.record({
        from: clusters,
        of: fc.constantFrom(...GROUPS),
        at: fc.nat(NAMES.length - 1),
      });
      fc.assert(
        fc.property(
          clusters,
          fc.array(step, { minLength: 2, maxLength: 8 }),
          fc.constantFrom(...NAMES),
          (first, steps, name) => {
            let now = cluster(first);
            let previous = computeNode(now, name, options);
            for (const { from, of, at } of steps) {
              now = { ...now, ...changed(now, from, of, at) };
              previous = computeNode(now, name, options, previous);
              const fresh = computeNode(now, name, options);
              const made = [previous.model, previous.interests];
              const wanted = [fresh.model, fresh.interests];
              if (!isDeepStrictEqual(made, wanted)) expect(made).toStrictEqual(wanted);
            }
          },
        ),
        { numRuns: 100 },
      );
    },
    30_000,
  );

  it('gives every session a name of its own, over both families', () => {
    fc.assert(
      fc.property(clusters, fc.constantFrom(...NAMES), (parts, name) => {
        const names = allSessions(compute(parts, name)).map((session) => session.name);
        expect(new Set(names).size).toBe(names.length);
      }),
      { numRuns: 60 },
    );
  });

  it('never has a node peer with itself or reflect to an external peer', () => {
    fc.assert(
      fc.property(clusters, fc.constantFrom(...NAMES), (parts, name) => {
        const computed = compute(parts, name);
        for (const session of allSessions(computed)) {
          expect([computed.model.ipv4.address, computed.model.ipv6.address]).not.toContain(session.address);
          if (session.clusterId !== null) expect(session.internal).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same objects when the same things are read again', () => {
    const parts = {
      nodes: [node('a', '10.0.0.1/24'), node('b', '10.0.0.2/24')],
      pools: [pool('x', '192.168.0.0/16')],
    };
    const first = compute(parts);
    const again = computeNode(cluster(structuredClone(parts)), 'a', modelOptions('bird1'), first);
    expect(again.model).toBe(first.model);
    expect(again.interests).toBe(first.interests);
  });

  it('renews one session of many when one node changes', () => {
    const nodes = Array.from({ length: 50 }, (_, i) => node(`n${i + 10}`, `10.0.0.${i + 1}/24`));
    const first = compute({ nodes }, 'n10');
    const changed = nodes.with(5, node('n15', '10.0.0.6/24', { asNumber: 65_001 }));
    const next = computeNode(cluster({ nodes: changed }), 'n10', modelOptions('bird1'), first);
    const fresh = next.model.ipv4.sessions.filter((session, i) => session !== first.model.ipv4.sessions[i]);
    expect(fresh.map(({ address, asNumber }) => [address, asNumber])).toEqual([['10.0.0.6', 65_001]]);
    expect(next.model.ipv4.functions).toBe(first.model.ipv4.functions);
    expect(next.model.settings).toBe(first.model.settings);
  });
});

function tenThousand(changed: number): Cluster {
  const nodes = Array.from({ length: 10_000 }, (_, i) =>
    node(`n${String(i).padStart(5, '0')}`, `10.${i >> 8}.${i & 255}.1/16`, {
      asNumber: i === changed ? 65_001 : null,
    }),
  );
  return cluster({ nodes });
}

it('one changed node of 10,000 costs a small part of computing all of them', () => {
  const base = tenThousand(-1);
  const options = modelOptions('bird2');
  let started = performance.now();
  let previous = computeNode(base, 'n00000', options);
  const all = performance.now() - started;
  const times: number[] = [];
  for (let round = 1; round <= 9; round += 1) {
    const nodes = base.nodes.with(round * 100, { ...base.nodes[round * 100]!, asNumber: 65_001 });
    started = performance.now();
    previous = computeNode({ ...base, nodes }, 'n00000', options, previous);
    times.push(performance.now() - started);
    expect(previous.model.ipv4.sessions[round * 100 - 1]!.asNumber).toBe(65_001);
  }
  expect(Math.min(...times)).toBeLessThan(all / 3);
});
