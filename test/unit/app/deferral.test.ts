import { describe, expect, it } from 'vitest';
import { compareSessions } from '../../../src/app/changes.ts';
import { createDeferral, type Deferral, splayDelay } from '../../../src/app/deferral.ts';
import { keepSessions } from '../../../src/model/bgp/keep-sessions.ts';
import { reflectorHalf } from '../../../src/model/bgp/reflectors.ts';
import { createSummarise } from '../../../src/model/bgp/summary.ts';
import type { NodeModel } from '../../../src/model/bgp/types.ts';
import type { Cluster, NodeResource } from '../../../src/model/calico/types.ts';
import type { SessionSummary } from '../../../src/model/types.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { cluster, compute, config, filter, node, peer, rule, secret } from '../model/bgp/support.ts';

const SPLAY = 60_000;
/** BIRD 1.6 took up to 9.5 s to bring back a session that was reset. */
const RECOVERY = 9_500;

/** Nodes with and without a cluster id, all clients peer with all reflectors, by password. */
function fleet(
  reflectors: readonly (readonly [name: string, clusterId: string])[],
  clients: readonly string[],
) {
  const nodes: NodeResource[] = [
    ...reflectors.map(([name, clusterId], i) =>
      node(name, `10.1.0.${i + 1}/16`, { clusterId, labels: { rr: '' } }),
    ),
    ...clients.map((name, i) => node(name, `10.1.${1 + (i >> 7)}.${(i & 127) + 1}/16`)),
  ];
  const make = (password: string, more: Partial<Parameters<typeof cluster>[0]> = {}): Cluster =>
    cluster({
      nodes: nodes.sort((a, b) => (a.name < b.name ? -1 : 1)),
      peers: [peer('rr', { peerSelector: 'has(rr)', password: { name: 's', key: 'k' } })],
      secrets: [secret('s', { k: password })],
      ...more,
    });
  return { names: nodes.map(({ name }) => name), make };
}

/** One node as the product has it: the model of what is served, and what waits. */
class Simulated {
  readonly name: string;
  readonly #deferral: Deferral;
  readonly #summarise = createSummarise('bird2');
  #served: NodeModel;
  /** When sessions were reset, and how many. */
  readonly resets: { readonly at: number; readonly names: readonly string[] }[] = [];

  constructor(name: string, clock: FakeClock, first: Cluster, more: { splay?: number; grace?: number } = {}) {
    this.name = name;
    const { splay: splayHardMs = SPLAY, grace: removalGraceMs = 0 } = more;
    this.#deferral = createDeferral({ clock, nodeName: name, splayHardMs, removalGraceMs });
    this.#served = compute(first, name).model;
  }

  get model(): NodeModel {
    return this.#served;
  }

  get sessions(): readonly SessionSummary[] {
    return this.#summarise(this.#served);
  }

  /** Looks at the data; returns when it wants to look again. */
  look(data: Cluster, clock: FakeClock): number | null {
    const { model } = compute(data, this.name);
    const served = this.sessions;
    const next = this.#summarise(model);
    const census = {
      nodeName: this.name,
      nodePresent: true,
      address4: model.ipv4.address,
      address6: null,
      kinds: { Node: data.nodes.map(({ name }) => name) },
    };
    const half = () => reflectorHalf(data, this.name);
    const deferred = this.#deferral.decide({ served, servedModel: this.#served, next, census, half });
    this.#served = deferred.dueInMs === null ? model : keepSessions(model, this.#served, deferred);
    const { reset } = compareSessions(served, this.sessions);
    if (reset.length > 0) this.resets.push({ at: clock.monotonic(), names: reset });
    return deferred.dueInMs;
  }
}

describe('--splay-hard over a fleet', () => {
  const clients = Array.from({ length: 40 }, (_, i) => `worker-${i}`);
  it.each([
    [
      'of one cluster id',
      [
        ['rr-a', '10.0.0.1'],
        ['rr-b', '10.0.0.1'],
      ],
    ],
    [
      'with a cluster id each',
      [
        ['rr-a', '10.0.0.1'],
        ['rr-b', '10.0.0.2'],
      ],
    ],
    [
      'in two pairs',
      [
        ['a', '10.0.0.1'],
        ['b', '10.0.0.2'],
        ['c', '10.0.0.1'],
        ['d', '10.0.0.2'],
      ],
    ],
  ] as const)(
    'never resets both reflectors %s at once, nor soon after one another',
    async (_, reflectors) => {
      const { names, make } = fleet(reflectors, clients);
      const clock = new FakeClock();
      const [before, after] = [make('one'), make('two')];
      const nodes = names.map((name) => new Simulated(name, clock, before));
      const due = nodes.map((each) => each.look(after, clock)!);
      expect(nodes.every(({ resets }) => resets.length === 0)).toBe(true);
      for (const [wait, each] of due.map((wait, i) => [wait, nodes[i]!] as const).sort(([a], [b]) => a - b)) {
        const now = clock.monotonic();
        if (wait > now) await clock.advance(wait - now);
        each.look(after, clock);
      }
      expect(nodes.map(({ resets }) => resets.length)).toEqual(nodes.map(() => 1));
      const at = new Map(nodes.map(({ name, resets }) => [name, resets[0]!.at]));
      for (const [a, ofA] of reflectors) {
        for (const [b, ofB] of reflectors) {
          const isPair = a < b && (ofA === ofB || reflectors.length === 2);
          if (isPair) expect(Math.abs(at.get(a)! - at.get(b)!)).toBeGreaterThan(RECOVERY);
        }
      }
      // The clients are spread over the whole time: at no moment are more than a third of them without their sessions.
      const times = clients.map((name) => at.get(name)!);
      const most = Math.max(
        ...times.map((t) => times.filter((other) => other >= t && other < t + RECOVERY).length),
      );
      expect(most).toBeLessThan(clients.length / 3);
      expect(Math.max(...times)).toBeLessThan(SPLAY);
    },
  );

  it('keeps the halves of the reflectors apart, whatever their names are', () => {
    for (let i = 0; i < 2_000; i += 1) {
      const first = splayDelay(`node-${i}`, 0, SPLAY);
      const second = splayDelay(`node-${i + 1}`, 1, SPLAY);
      expect(second - first).toBeGreaterThanOrEqual(SPLAY / 4);
      expect(second).toBeLessThan(SPLAY);
    }
  });

  it('has every node come to the same halves', () => {
    const { make } = fleet(
      [
        ['b', '10.0.0.1'],
        ['a', '10.0.0.1'],
        ['c', '10.0.0.1'],
      ],
      ['w'],
    );
    const data = make('one');
    expect(['a', 'b', 'c', 'w'].map((name) => reflectorHalf(data, name))).toEqual([0, 1, 0, null]);
  });
});

describe('while hard changes wait', () => {
  const { make } = fleet([['rr-a', '10.0.0.1']], ['w1', 'w2']);
  const old = make('one');

  it('what is soft does not', () => {
    const clock = new FakeClock();
    const rr = new Simulated('rr-a', clock, old);
    const policy = filter('f', { exportV4: [rule({ cidr: '10.9.0.0/16' })] });
    const data = make('two', {
      nodes: [...old.nodes, node('w3', '10.1.1.9/16')],
      peers: [peer('rr', { peerSelector: 'has(rr)', password: { name: 's', key: 'k' }, filters: ['f'] })],
      filters: [policy],
    });
    expect(rr.look(data, clock)).toBeGreaterThan(0);
    expect(rr.resets).toEqual([]);
    // A new session comes with the new password, those that are there keep theirs.
    const passwords = rr.model.ipv4.sessions.map(({ provenance, password }) => [provenance.node, password]);
    expect(passwords.sort()).toEqual([
      ['w1', 'one'],
      ['w2', 'one'],
      ['w3', 'two'],
    ]);
    expect(rr.model.ipv4.functions.map(({ name }) => name).join()).toContain('f');
  });

  it('a change that is taken back was none', async () => {
    const clock = new FakeClock();
    const rr = new Simulated('rr-a', clock, old);
    const wait = rr.look(make('two'), clock)!;
    await clock.advance(wait / 2);
    expect(rr.look(old, clock)).toBeNull();
    // The next one has the whole of its own time.
    expect(rr.look(make('three'), clock)).toBe(wait);
    expect(rr.resets).toEqual([]);
  });

  it('what resets every session of the node keeps all of it waiting', () => {
    const clock = new FakeClock();
    const rr = new Simulated('rr-a', clock, old);
    const data = make('one', { configs: [config({ asNumber: 65_000 })] });
    expect(rr.look(data, clock)).toBeGreaterThan(0);
    expect(rr.model.settings.asNumber).toBe(64_512);
  });

  it('without the option nothing waits', () => {
    const clock = new FakeClock();
    const rr = new Simulated('rr-a', clock, old, { splay: 0 });
    expect(rr.look(make('two'), clock)).toBeNull();
    expect(rr.resets).toHaveLength(1);
  });
});

describe('--peer-removal-grace', () => {
  const GRACE = { splay: 0, grace: 60_000 };
  const mesh = (names: readonly string[], more: Partial<Parameters<typeof cluster>[0]> = {}) =>
    cluster({ nodes: names.map((name, i) => node(name, `10.0.0.${i + 1}/24`)), ...more });
  const names = (each: Simulated) => each.sessions.map(({ name }) => name);

  it('keeps the session with a node that vanished, for that long', async () => {
    const clock = new FakeClock();
    const a = new Simulated('a', clock, mesh(['a', 'b', 'c']), GRACE);
    const without = mesh(['a', 'b']);
    expect(a.look(without, clock)).toBe(60_000);
    expect(names(a)).toEqual(['Mesh_10_0_0_2', 'Mesh_10_0_0_3']);
    await clock.advance(59_999);
    expect(a.look(without, clock)).toBe(1);
    await clock.advance(1);
    expect(a.look(without, clock)).toBeNull();
    expect(names(a)).toEqual(['Mesh_10_0_0_2']);
  });

  it('does not touch the session when the node comes back meanwhile', async () => {
    const clock = new FakeClock();
    const a = new Simulated('a', clock, mesh(['a', 'b', 'c']), GRACE);
    a.look(mesh(['a', 'b']), clock);
    await clock.advance(30_000);
    expect(a.look(mesh(['a', 'b', 'c']), clock)).toBeNull();
    expect(a.resets).toEqual([]);
    expect(names(a)).toEqual(['Mesh_10_0_0_2', 'Mesh_10_0_0_3']);
  });

  it('is not for sessions that go because of a value that is there', () => {
    const clock = new FakeClock();
    const a = new Simulated('a', clock, mesh(['a', 'b', 'c']), GRACE);
    expect(a.look(mesh(['a', 'b', 'c'], { configs: [config({ meshEnabled: false })] }), clock)).toBeNull();
    expect(names(a)).toEqual([]);
  });
});
