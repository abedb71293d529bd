import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockPrefix, calicoKey, endpointStatusKey, kubernetesKey } from '../../../../src/datastore/keys.ts';
import {
  type CalicoScope,
  type ClusterReading,
  calicoMounts,
  type ReadOptions,
  readCluster,
} from '../../../../src/model/calico/cluster.ts';
import { type ParseCache, prepare } from '../../../../src/model/calico/slot.ts';
import type { Cluster } from '../../../../src/model/calico/types.ts';
import { createTree, type Tree } from '../../../../src/tree/tree.ts';
import type { Entry } from '../../../../src/tree/types.ts';

const SCOPE: CalicoScope = {
  nodeName: 'n1',
  usePodCidr: false,
  interests: { secrets: ['ns/tor'], services: true, endpointStatus: true },
};
const ROOT = { prefix: '/calico' };

function block(cidr: string, node = 'n1'): string {
  return `${blockPrefix(node)}/ipv${cidr.includes(':') ? 6 : 4}/block/${cidr.replace('/', '-')}`;
}

/** A tree in which exactly the scope's mounts may be read. */
function treeOf(values: Readonly<Record<string, unknown>>, scope = SCOPE): Tree {
  const tree = createTree();
  tree.declare(calicoMounts(scope).map(({ prefix }) => prefix));
  tree.applySnapshot(
    ROOT,
    Object.entries(values).map(([key, value]) => entry(key, value)),
  );
  return tree;
}

function entry(key: string, value: unknown): Entry {
  return { key, value: typeof value === 'string' ? value : JSON.stringify(value), revision: 1 };
}

function put(tree: Tree, key: string, value: unknown): void {
  tree.applyChanges(ROOT, [{ type: 'put', entry: entry(key, value) }]);
}

function remove(tree: Tree, key: string): void {
  tree.applyChanges(ROOT, [{ type: 'delete', key }]);
}

function read(tree: Tree, options: ReadOptions = {}, scope = SCOPE): ClusterReading {
  return readCluster(tree, scope, options);
}

const node = (ipv4Address: string, ipv6Address = '') => ({ spec: { bgp: { ipv4Address, ipv6Address } } });
const pool = (cidr: string) => ({ spec: { cidr } });
const peer = (peerIP: string) => ({ spec: { peerIP } });

const NODE = (name: string) => calicoKey('Node', name);
const POOL = (name: string) => calicoKey('IPPool', name);
const PEER = (name: string) => calicoKey('BGPPeer', name);

const FULL = {
  [NODE('n2')]: node('10.0.0.2/24', 'fd00::2/64'),
  [NODE('n1')]: node('10.0.0.1/24'),
  [calicoKey('BGPConfiguration', 'default')]: { spec: { asNumber: 64_500 } },
  [calicoKey('BGPConfiguration', 'node.n1')]: { spec: { listenPort: 180 } },
  [PEER('tor')]: peer('10.0.0.254'),
  [calicoKey('BGPFilter', 'f')]: { spec: { importV4: [{ action: 'Reject' }] } },
  [POOL('b')]: pool('10.2.0.0/16'),
  [POOL('a')]: pool('192.168.0.0/16'),
  [block('10.2.64.0/26')]: '',
  [block('10.2.192.0/26')]: { state: 'confirmed' },
  [block('10.2.0.0/26', 'n2')]: '',
  [kubernetesKey('Service', 'ns', 'web')]: { spec: { clusterIP: '10.96.0.1' } },
  [kubernetesKey('EndpointSlice', 'ns', 'web-1')]: { addressType: 'IPv4' },
  [kubernetesKey('Secret', 'ns', 'tor')]: { data: { password: 'eA==' } },
  [kubernetesKey('Secret', 'ns', 'unrelated')]: { data: { password: 'eA==' } },
  [endpointStatusKey('pod1')]: { bgpPeerName: 'tor', ipv4Nets: ['10.2.64.1/32'] },
};

describe('mounts', () => {
  it('are Calico and this node, and what somebody asked for as optional ones', () => {
    expect(calicoMounts(SCOPE)).toEqual([
      { prefix: '/calico/resources/v3/projectcalico.org/nodes', required: true },
      { prefix: '/calico/resources/v3/projectcalico.org/bgppeers', required: true },
      { prefix: '/calico/resources/v3/projectcalico.org/bgpconfigurations', required: true },
      { prefix: '/calico/resources/v3/projectcalico.org/bgpfilters', required: true },
      { prefix: '/calico/resources/v3/projectcalico.org/ippools', required: true },
      { prefix: '/calico/ipam/v2/host/n1', required: true },
      { prefix: '/calico/resources/v3/kubernetes/services', required: false },
      { prefix: '/calico/resources/v3/kubernetes/endpointslices', required: false },
      { prefix: '/calico/resources/v3/kubernetes/secrets/ns/tor', required: false },
      { prefix: '/calico/endpoint-status', required: false },
    ]);
  });

  it('leave out block affinities where blocks are pod CIDRs, and what nobody asked for', () => {
    const scope = {
      nodeName: 'n1',
      usePodCidr: true,
      interests: { secrets: [], services: false, endpointStatus: false },
    };
    expect(calicoMounts(scope)).toHaveLength(5);
    // Reading anything else would throw, since only the mounts are declared.
    const { cluster } = read(treeOf(FULL, scope), {}, scope);
    expect(cluster.blocks).toEqual([]);
    expect(cluster.services).toEqual([]);
    expect(cluster.secrets.size).toBe(0);
    expect(cluster.endpointStatuses).toEqual([]);
    expect(cluster.nodes).toHaveLength(2);
  });
});

describe('a cluster', () => {
  it('has everything, sorted and indexed', () => {
    const { cluster } = read(treeOf(FULL));
    expect(cluster.nodes.map(({ name }) => name)).toEqual(['n1', 'n2']);
    expect(cluster.nodeByName.get('n2')).toBe(cluster.nodes[1]);
    expect([...cluster.nodesByAddress.keys()]).toEqual(['10.0.0.1', '10.0.0.2', 'fd00::2']);
    expect(cluster.nodesByAddress.get('fd00::2')).toEqual([cluster.nodes[1]]);
    expect(cluster.peers.map(({ name }) => name)).toEqual(['tor']);
    expect(cluster.defaultConfig?.asNumber).toBe(64_500);
    expect([...cluster.nodeConfigs.keys()]).toEqual(['n1']);
    expect([...cluster.filters.keys()]).toEqual(['f']);
    expect(cluster.pools.map(({ cidr }) => cidr)).toEqual(['10.2.0.0/16', '192.168.0.0/16']);
    expect(cluster.blocks.map(({ cidr }) => cidr)).toEqual(['10.2.192.0/26', '10.2.64.0/26']);
    expect(cluster.services.map(({ name }) => name)).toEqual(['web']);
    expect(cluster.endpointSlices.map(({ name }) => name)).toEqual(['web-1']);
    expect([...cluster.secrets.keys()]).toEqual(['ns/tor']);
    expect(cluster.endpointStatuses.map(({ bgpPeerName }) => bgpPeerName)).toEqual(['tor']);
    expect(cluster.quarantined).toEqual([]);
  });

  it('is empty for an empty tree', () => {
    const { cluster, lastGood } = read(treeOf({}));
    expect(cluster).toMatchObject({ nodes: [], defaultConfig: null, quarantined: [] });
    expect(cluster.nodeByName.size).toBe(0);
    expect(lastGood.size).toBe(0);
  });

  it('lists every node of an address, however it is spelled', () => {
    const tree = treeOf({
      [NODE('b')]: node('', 'FD00:0::1/64'),
      [NODE('a')]: node('', 'fd00::1/64'),
      [NODE('c')]: node('10.0.0.1'),
    });
    const first = read(tree);
    expect(first.cluster.nodesByAddress.get('fd00::1')?.map(({ name }) => name)).toEqual(['a', 'b']);
    put(tree, NODE('a'), node('10.0.0.1'));
    const second = read(tree, { previous: first });
    expect(second.cluster.nodesByAddress.get('fd00::1')?.map(({ name }) => name)).toEqual(['b']);
    expect(second.cluster.nodesByAddress.get('10.0.0.1')?.map(({ name }) => name)).toEqual(['a', 'c']);
    // The older cluster is not touched.
    expect(first.cluster.nodesByAddress.get('fd00::1')?.map(({ name }) => name)).toEqual(['a', 'b']);
    remove(tree, NODE('b'));
    expect(read(tree, { previous: second }).cluster.nodesByAddress.has('fd00::1')).toBe(false);
  });

  it('takes the pool whose name sorts first when two have one CIDR, and says so', () => {
    const tree = treeOf({
      [POOL('b')]: pool('10.0.0.0/8'),
      [POOL('a')]: pool('10.0.0.9/8'),
      [POOL('c')]: pool('10.1.0.0/16'),
    });
    const first = read(tree);
    expect(first.cluster.pools.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(first.cluster.quarantined).toEqual([
      {
        kind: 'IPPool',
        name: 'b',
        key: POOL('b'),
        field: 'spec.cidr',
        message: `${POOL('b')}: spec.cidr: 10.0.0.0/8 is already that of IPPool a, whose name sorts first`,
        reason: 'conflict',
        lastGoodUsed: false,
      },
    ]);
    expect(first.lastGood.size).toBe(0);
    remove(tree, POOL('a'));
    const second = read(tree, { previous: first });
    expect(second.cluster.pools.map(({ name }) => name)).toEqual(['b', 'c']);
    expect(second.cluster.quarantined).toEqual([]);
  });

  it('leaves out a block that is being deleted', () => {
    const { cluster } = read(treeOf({ [block('10.2.0.0/26')]: { state: 'confirmed', deleted: 'true' } }));
    expect(cluster.blocks).toEqual([]);
    expect(cluster.quarantined).toEqual([]);
  });
});

describe('what did not change', () => {
  it('is the very same object, up to the whole cluster', () => {
    const tree = treeOf(FULL);
    const first = read(tree);
    const second = read(tree, { previous: first });
    expect(second.cluster).toBe(first.cluster);
    expect(second.lastGood).toBe(first.lastGood);
    put(tree, kubernetesKey('Secret', 'ns', 'unrelated'), { data: {} });
    expect(read(tree, { previous: second }).cluster).toBe(first.cluster);
  });

  it.each<[string, unknown, (keyof Cluster)[]]>([
    [NODE('n2'), node('10.0.0.3/24', 'fd00::2/64'), ['nodes', 'nodeByName', 'nodesByAddress']],
    [PEER('tor'), peer('10.0.0.253'), ['peers']],
    [calicoKey('BGPConfiguration', 'default'), {}, ['defaultConfig']],
    [calicoKey('BGPConfiguration', 'node.n1'), {}, ['nodeConfigs']],
    [calicoKey('BGPFilter', 'f'), {}, ['filters']],
    [POOL('a'), pool('10.9.0.0/16'), ['pools']],
    [block('10.2.64.0/26'), { state: 'pending' }, ['blocks']],
    [kubernetesKey('Service', 'ns', 'web'), {}, ['services']],
    [kubernetesKey('EndpointSlice', 'ns', 'web-1'), {}, ['endpointSlices']],
    [kubernetesKey('Secret', 'ns', 'tor'), {}, ['secrets']],
    [endpointStatusKey('pod1'), {}, ['endpointStatuses']],
  ])('stays when %s changes', (key, value, changed) => {
    const tree = treeOf(FULL);
    const first = read(tree);
    put(tree, key, value);
    const { cluster } = read(tree, { previous: first });
    const fields = Object.keys(cluster) as (keyof Cluster)[];
    expect(fields.filter((field) => cluster[field] !== first.cluster[field])).toEqual(changed);
    expect(cluster.nodes[0]).toBe(first.cluster.nodes[0]);
  });

  it('stays when only metadata that is not read changes, except for the resource itself', () => {
    const tree = treeOf(FULL);
    const first = read(tree);
    put(tree, NODE('n2'), { ...node('10.0.0.2/24', 'fd00::2/64'), status: { heartbeat: 1 } });
    const { cluster } = read(tree, { previous: first });
    expect(cluster.nodes).not.toBe(first.cluster.nodes);
    expect(cluster.nodes).toEqual(first.cluster.nodes);
  });
});

describe('a bad object', () => {
  const key = PEER('tor');
  const bad = peer('10.0.0.300');

  it('is left out alone and named', () => {
    const { cluster, lastGood } = read(treeOf({ ...FULL, [PEER('bad')]: bad }));
    expect(cluster.peers.map(({ name }) => name)).toEqual(['tor']);
    expect(cluster.quarantined).toMatchObject([
      { kind: 'BGPPeer', name: 'bad', field: 'spec.peerIP', lastGoodUsed: false },
    ]);
    expect(lastGood.size).toBe(0);
  });

  it('is stood in for by its last good version, until it is mended', () => {
    const tree = treeOf(FULL);
    const first = read(tree);
    put(tree, key, bad);
    const second = read(tree, { previous: first });
    const [standIn] = second.cluster.peers;
    expect(standIn).toEqual({
      ...first.cluster.peers[0],
      origin: { ...first.cluster.peers[0]!.origin, lastGood: true },
    });
    expect(second.cluster.quarantined).toMatchObject([{ name: 'tor', lastGoodUsed: true }]);
    expect([...second.lastGood]).toEqual([[key, JSON.stringify(peer('10.0.0.254'))]]);

    put(tree, key, 'not JSON');
    const third = read(tree, { previous: second });
    expect(third.cluster.peers).toBe(second.cluster.peers);
    expect(third.cluster.quarantined).toMatchObject([{ field: null, lastGoodUsed: true }]);
    expect(third.lastGood).toBe(second.lastGood);

    put(tree, key, peer('10.0.0.9'));
    const fourth = read(tree, { previous: third });
    expect(fourth.cluster.peers).toMatchObject([{ peerAddress: '10.0.0.9', origin: { lastGood: false } }]);
    expect(fourth.cluster.quarantined).toEqual([]);
    expect(fourth.lastGood.size).toBe(0);
  });

  it('is stood in for by the stored text from before a restart', () => {
    const text = JSON.stringify(peer('10.0.0.7'));
    const { cluster, lastGood } = read(treeOf({ [key]: bad }), {
      lastGood: new Map([
        [key, text],
        [PEER('gone'), text],
      ]),
    });
    expect(cluster.peers).toMatchObject([{ peerAddress: '10.0.0.7', origin: { lastGood: true } }]);
    expect([...lastGood]).toEqual([[key, text]]);
  });

  it('is left out when the text from before a restart is no good either', () => {
    const { cluster, lastGood } = read(treeOf({ [key]: bad }), { lastGood: new Map([[key, '{}']]) });
    expect(cluster.peers).toEqual([]);
    expect(cluster.quarantined).toMatchObject([{ lastGoodUsed: false }]);
    expect(lastGood.size).toBe(0);
  });

  it('is forgotten when its key is deleted, together with its last good version', () => {
    const tree = treeOf(FULL);
    const before = new Map([[key, JSON.stringify(peer('10.0.0.7'))]]);
    const first = read(tree, { lastGood: before });
    put(tree, key, bad);
    const second = read(tree, { lastGood: before, previous: first });
    // What this process saw counts more than what was kept from before.
    expect(second.cluster.peers).toMatchObject([{ peerAddress: '10.0.0.254' }]);
    remove(tree, key);
    const third = read(tree, { lastGood: before, previous: second });
    expect(third.cluster).toMatchObject({ peers: [], quarantined: [] });
    expect(third.lastGood.size).toBe(0);
    put(tree, key, bad);
    const fourth = read(tree, { lastGood: before, previous: third });
    expect(fourth.cluster.peers).toEqual([]);
    expect(fourth.lastGood.size).toBe(0);
  });

  it('of a kind that has a meaningless version before has none', () => {
    const status = endpointStatusKey('pod1');
    const tree = treeOf({ [status]: {} });
    const first = read(tree);
    put(tree, status, { bgpPeerName: 'tor', ipv4Nets: ['bad'] });
    const second = read(tree, { previous: first });
    expect(second.cluster.endpointStatuses).toEqual([]);
    expect(second.lastGood.size).toBe(0);
  });

  it('keeps the node in the index under its last good address', () => {
    const tree = treeOf(FULL);
    const first = read(tree);
    put(tree, NODE('n2'), node('10.0.0.300'));
    const { cluster } = read(tree, { previous: first });
    expect(cluster.nodesByAddress.get('10.0.0.2')).toEqual([cluster.nodeByName.get('n2')]);
    expect(cluster.nodeByName.get('n2')?.origin.lastGood).toBe(true);
  });
});

describe('a change of scope', () => {
  it('follows the node name', () => {
    const tree = treeOf(FULL);
    const first = read(tree);
    const scope = { ...SCOPE, nodeName: 'n2' };
    tree.declare(calicoMounts(scope).map(({ prefix }) => prefix));
    const { cluster } = readCluster(tree, scope, { previous: first });
    expect(cluster.blocks.map(({ cidr }) => cidr)).toEqual(['10.2.0.0/26']);
    expect(cluster.nodes).toBe(first.cluster.nodes);
  });

  it('follows interests', () => {
    const tree = treeOf(FULL);
    const first = read(tree);
    const scope = { ...SCOPE, interests: { secrets: [], services: false, endpointStatus: false } };
    const { cluster } = readCluster(tree, scope, { previous: first });
    expect(cluster.secrets.size).toBe(0);
    expect(cluster.services).toEqual([]);
  });
});

it('does not use what was parsed ahead of an entry that is no longer there', () => {
  const tree = treeOf(FULL);
  const [first] = tree.range(calicoMounts(SCOPE)[0]!.prefix);
  const parsed: ParseCache = new Map();
  prepare([{ ...first!, value: '{"kind":"Node","metadata":{"name":"other"},"spec":{}}' }], parsed);
  expect(read(tree, { parsed }).cluster).toEqual(read(tree).cluster);
  expect(parsed.size).toBe(0);
});

it('uses entries that were parsed ahead, once', () => {
  const tree = treeOf(FULL);
  const entries = tree.range(calicoMounts(SCOPE)[0]!.prefix);
  const parsed: ParseCache = new Map();
  prepare([...entries, entry('/elsewhere', 'not JSON')], parsed);
  const ahead = parsed.get(entries[0]!.key)!.parsed;
  const { cluster } = read(tree, { parsed });
  expect(ahead).toEqual({ outcome: 'resource', resource: cluster.nodes[0] });
  expect((ahead as { resource: unknown }).resource).toBe(cluster.nodes[0]);
  expect(parsed.size).toBe(0);
  expect(cluster).toEqual(read(tree).cluster);
});

const keys = [...Object.keys(FULL), POOL('c'), NODE('n0'), NODE('n3'), PEER('x'), NODE('a/b')];
const values = [
  '',
  '{}',
  'bad',
  '{"spec":{"cidr":"10.2.0.0/16","peerIP":"10.0.0.9","bgp":{"ipv4Address":"10.0.0.1/24"}}}',
  '{"spec":{"cidr":1,"peerIP":1,"bgp":1}}',
  '{"deleted":true,"state":"pending"}',
];
const change = fc.tuple(fc.constantFrom(...keys), fc.option(fc.constantFrom(...values), { nil: null }));

it('comes out the same, step by step or all at once', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }), (steps) => {
      const tree = treeOf(FULL);
      let reading = read(tree);
      for (const step of steps) {
        for (const [key, value] of step) {
          if (value === null) remove(tree, key);
          else put(tree, key, value);
        }
        const before = structuredClone([...reading.cluster.nodesByAddress]);
        const next = read(tree, { previous: reading });
        const atOnce = read(tree, { lastGood: next.lastGood });
        expect(next.cluster).toEqual(atOnce.cluster);
        expect(next.lastGood).toEqual(atOnce.lastGood);
        expect([...next.cluster.nodesByAddress]).toEqual([...atOnce.cluster.nodesByAddress]);
        expect([...next.cluster.filters]).toEqual([...atOnce.cluster.filters]);
        expect([...reading.cluster.nodesByAddress]).toEqual(before);
        reading = next;
      }
    }),
    { numRuns: 150 },
  );
});
