import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calicoKey, kubernetesKey } from '../../../../src/datastore/keys.ts';
import { modelOptions } from '../../../../src/model/bgp/options.ts';
import { type CalicoProducerOptions, createCalicoProducer } from '../../../../src/model/bgp/producer.ts';
import type { Session } from '../../../../src/model/bgp/types.ts';
import type { ProducerResult } from '../../../../src/model/types.ts';
import { createTree, type Tree } from '../../../../src/tree/tree.ts';
import {
  calicoBlock,
  calicoConfiguration,
  calicoNode,
  calicoPeer,
  calicoPool,
  type Stored,
} from '../../../support/calico.ts';

const ROOT = { prefix: '/calico' };

/** A tree of one mount, in which everything may be read, or only what is named. */
function treeOf(entries: readonly Stored[], open: readonly string[] = [ROOT.prefix]): Tree {
  const tree = createTree();
  tree.declare(open);
  tree.applySnapshot(ROOT, entries.map(entry));
  return tree;
}

function entry([key, value]: Stored) {
  return { key, value, revision: 1 };
}

function put(tree: Tree, stored: Stored): void {
  tree.applyChanges(ROOT, [{ type: 'put', entry: entry(stored) }]);
}

function remove(tree: Tree, key: string): void {
  tree.applyChanges(ROOT, [{ type: 'delete', key }]);
}

function producer(options: Partial<CalicoProducerOptions> = {}) {
  return createCalicoProducer({
    nodeName: 'a',
    model: modelOptions('bird2'),
    lastGood: new Map(),
    ...options,
  });
}

function secret(name: string, data: Readonly<Record<string, string>>): Stored {
  const metadata = { name, namespace: 'kube-system' };
  return [
    kubernetesKey('Secret', 'kube-system', name),
    JSON.stringify({ kind: 'Secret', metadata, stringData: data }),
  ];
}

const names = (result: ProducerResult) => result.sessions.map(({ name }) => name);
const ids = (result: ProducerResult) => result.problems.map(({ id }) => id);
const sessions = (result: ProducerResult) => {
  const { ipv4, ipv6 } = result.context as { ipv4: { sessions: Session[] }; ipv6: { sessions: Session[] } };
  return [...ipv4.sessions, ...ipv6.sessions];
};

const a = calicoNode('a', { v4: '10.0.0.1/24' });
const b = calicoNode('b', { v4: '10.0.0.2/24' });
const withPassword = calicoPeer('p', {
  peerIP: '10.0.0.9',
  asNumber: 65_001,
  password: { secretKeyRef: { name: 's', key: 'k' } },
});
const meshOff = calicoConfiguration({ nodeToNodeMeshEnabled: false });

describe('the calico producer', () => {
  it('gives templates the settings and both families of the node', () => {
    const result = producer().compute(treeOf([a, b]), undefined);
    expect(Object.keys(result.context)).toEqual(['node', 'ipv4', 'ipv6']);
    expect(names(result)).toEqual(['Mesh_10_0_0_2']);
  });

  it('reports an object it cannot use and goes on without it', () => {
    const bad = calicoPeer('bad', { peerIP: 'nowhere', asNumber: 65_001 });
    const result = producer().compute(treeOf([a, b, bad]), undefined);
    expect(names(result)).toEqual(['Mesh_10_0_0_2']);
    expect(result.problems).toMatchObject([
      { id: 'resource-invalid', subject: 'BGPPeer/bad', field: 'spec.peerIP' },
    ]);
  });

  it('counts what the guard compares, and keeps the lists while they are the same', () => {
    const tree = treeOf([a, b, calicoPool('x', '192.168.0.0/16')]);
    const made = producer();
    const first = made.compute(tree, undefined);
    expect(first.census).toMatchObject({
      nodeName: 'a',
      nodePresent: true,
      address4: '10.0.0.1',
      address6: null,
      kinds: { Node: ['a', 'b'], BGPPeer: [], IPPool: ['x'] },
    });
    put(tree, calicoNode('b', { v4: '10.0.0.3/24' }));
    const second = made.compute(tree, first);
    expect(second.census!.kinds['Node']).toBe(first.census!.kinds['Node']);
    remove(tree, calicoKey('Node', 'a'));
    expect(made.compute(tree, second).census).toMatchObject({ nodePresent: false, kinds: { Node: ['b'] } });
  });

  it('asks for what sessions need, and for nothing else', () => {
    const plain = producer().compute(treeOf([a, b]), undefined);
    expect(plain.interests).toEqual({ secrets: [], services: false, endpointStatus: false });
    const result = producer().compute(treeOf([a, withPassword]), undefined);
    expect(result.interests.secrets).toEqual(['kube-system/s']);
    expect(result.mounts).toContainEqual({
      prefix: kubernetesKey('Secret', 'kube-system', 's'),
      required: false,
    });
  });

  it('reads what it asks for as soon as it is open, whether or not it asked before', () => {
    const entries = [a, meshOff, withPassword, secret('s', { k: 'hush' })];
    const required = producer().mounts.map(({ prefix }) => prefix);
    const closed = treeOf(entries, required);
    const made = producer();
    const before = made.compute(closed, undefined);
    expect([names(before), ids(before)]).toEqual([[], ['password-missing']]);
    closed.declare([...required, kubernetesKey('Secret', 'kube-system', 's')]);
    expect(sessions(made.compute(closed, before))[0]!.password).toBe('hush');
    expect(sessions(producer().compute(closed, undefined))[0]!.password).toBe('hush');
  });
});

describe('the password of a Secret that is gone', () => {
  const entries = [a, meshOff, withPassword, secret('s', { k: 'hush' })];

  it('stays in use, and is said to', () => {
    const tree = treeOf(entries);
    const made = producer();
    const first = made.compute(tree, undefined);
    expect(ids(first)).toEqual([]);
    remove(tree, kubernetesKey('Secret', 'kube-system', 's'));
    const second = made.compute(tree, first);
    expect(sessions(second)).toEqual(sessions(first));
    expect(ids(second)).toEqual(['secret-absent']);
    put(tree, calicoNode('b', { v4: '10.0.0.2/24' }));
    const third = made.compute(tree, second);
    expect(sessions(third)[0]!.password).toBe('hush');
    put(tree, secret('s', { k: 'new' }));
    const fourth = made.compute(tree, third);
    expect(sessions(fourth)[0]!.password).toBe('new');
    expect(ids(fourth)).toEqual([]);
  });

  it('stays in use over a restart', () => {
    const { lastGood } = producer().compute(treeOf(entries), undefined);
    const result = producer({ lastGood }).compute(treeOf([a, meshOff, withPassword]), undefined);
    expect(sessions(result)[0]!.password).toBe('hush');
    expect(result.lastGood).toEqual(lastGood);
  });

  it('is forgotten when nobody needs it', () => {
    const tree = treeOf(entries);
    const made = producer();
    const first = made.compute(tree, undefined);
    expect(first.lastGood.size).toBe(1);
    remove(tree, calicoKey('BGPPeer', 'p'));
    expect(made.compute(tree, first).lastGood.size).toBe(0);
  });

  it('is not used when the Secret is there without it', () => {
    const tree = treeOf(entries);
    const made = producer();
    const first = made.compute(tree, undefined);
    put(tree, secret('s', { other: 'x' }));
    const second = made.compute(tree, first);
    expect([names(second), ids(second)]).toEqual([[], ['password-missing']]);
  });
});

describe('the digest of what resets a session', () => {
  const digest = (...entries: readonly Stored[]) =>
    producer().compute(treeOf([a, meshOff, ...entries]), undefined).sessions[0]!.hardDigest;
  const tor = (more: object = {}) => calicoPeer('p', { peerIP: '10.0.0.9', asNumber: 65_001, ...more });
  const withSecret = (password: string) => digest(withPassword, secret('s', { k: password }));

  it('changes with password, timers, source address and AS', () => {
    const plain = digest(tor());
    expect(digest(tor({ keepaliveTime: '5s' }))).not.toBe(plain);
    expect(digest(tor({ maxRestartTime: '5s' }))).not.toBe(plain);
    expect(digest(tor({ sourceAddress: 'None' }))).not.toBe(plain);
    expect(digest(tor({ asNumber: 65_002 }))).not.toBe(plain);
    expect(withSecret('one')).not.toBe(withSecret('two'));
    expect(withSecret('one')).not.toBe(plain);
  });

  it('stays with filters, and with the next hop except in BIRD 1.6', () => {
    expect(digest(tor({ filters: ['gone'] }))).toBe(digest(tor()));
    expect(digest(tor({ nextHopMode: 'Self' }))).toBe(digest(tor()));
    const of16 = (...entries: readonly Stored[]) =>
      producer({ model: modelOptions('bird1') }).compute(treeOf([a, meshOff, ...entries]), undefined)
        .sessions[0]!.hardDigest;
    expect(of16(tor({ nextHopMode: 'Self' }))).not.toBe(of16(tor()));
  });

  it('is the same in every process', () => {
    expect(withSecret('one')).toBe(withSecret('one'));
  });
});

/** Keys and values to put into a tree, with few different values, so that things come, change and go. */
const changes = fc.array(
  fc.oneof(
    fc
      .record({
        n: fc.constantFrom('a', 'b', 'c'),
        host: fc.constantFrom(1, 2, 3),
        as: fc.constantFrom(undefined, 65_001),
        rr: fc.boolean(),
      })
      .map(({ n, host, as, rr }) =>
        calicoNode(n, {
          v4: `10.0.0.${host}/24`,
          v6: `fd00::${host}/64`,
          ...(rr
            ? { labels: { rr: 'true' }, bgp: { routeReflectorClusterID: '244.0.0.1', asNumber: as } }
            : { bgp: { asNumber: as } }),
        }),
      ),
    fc.constantFrom(
      withPassword,
      calicoPeer('p', { peerIP: '10.0.0.2', asNumber: 64_512 }),
      calicoPeer('p', { peerIP: 'nowhere' }),
      calicoPeer('q', { nodeSelector: '!has(rr)', peerSelector: 'has(rr)' }),
      calicoPeer('q', { peerSelector: 'all()', filters: ['f'] }),
      meshOff,
      calicoConfiguration({ listenPort: 178, serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] }),
      calicoConfiguration({ listenPort: 500 }, 'node.b'),
      calicoPool('x', '192.168.0.0/16'),
      calicoPool('x', '192.168.0.0/16', { ipipMode: 'Always' }),
      calicoBlock('a', '192.168.1.0/26'),
      secret('s', { k: 'hush' }),
    ),
    fc.constantFrom(
      ...['a', 'b', 'c'].map((name) => calicoKey('Node', name)),
      ...['p', 'q'].map((name) => calicoKey('BGPPeer', name)),
      calicoKey('BGPConfiguration', 'default'),
      calicoKey('IPPool', 'x'),
    ),
  ),
  { minLength: 3, maxLength: 12 },
);

it('a result with the previous one equals one without, for any history', () => {
  fc.assert(
    fc.property(changes, (history) => {
      const tree = treeOf([]);
      const made = producer();
      let result: ProducerResult | undefined;
      for (const change of history) {
        if (typeof change === 'string') remove(tree, change);
        else put(tree, change);
        // What was good before stands in for what is bad now, and is an explicit input.
        const lastGood = result?.lastGood ?? new Map();
        result = made.compute(tree, result);
        const fresh = producer({ lastGood: new Map([...lastGood, ...result.lastGood]) }).compute(
          tree,
          undefined,
        );
        if (!isDeepStrictEqual(result, fresh)) expect(result).toStrictEqual(fresh);
      }
    }),
    { numRuns: 100 },
  );
}, 30_000);
