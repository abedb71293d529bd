import { describe, expect, it } from 'vitest';
import { calicoKey, calicoPrefix, kubernetesKey, kubernetesPrefix } from '../../../../src/datastore/keys.ts';
import { KubeFollower, type KubeFollowerOptions } from '../../../support/kube-follower.ts';
import { until } from '../../../support/wait.ts';
import { type Call, failure, NODES, PEERS, StandIn } from './stand-in.ts';

const ALL_NODES = calicoPrefix('Node');
const ALL_PEERS = calicoPrefix('BGPPeer');
const nodeKey = (name: string): string => calicoKey('Node', name);
const peerKey = (name: string): string => calicoKey('BGPPeer', name);

function follow(
  api: StandIn,
  prefixes: readonly string[],
  options: Partial<KubeFollowerOptions> = {},
): KubeFollower {
  return new KubeFollower({ ...options, access: { servers: [api.url] } }, prefixes);
}

async function watching(api: StandIn, path: string, count = 1): Promise<void> {
  await until(() => api.watches.filter((watch) => watch.path === path).length === count);
}

const holds = (follower: KubeFollower, ...keys: readonly string[]): Promise<unknown> =>
  until(() => Object.keys(follower.contents).sort().join() === [...keys].sort().join());

describe('a list', () => {
  it('comes in pages, and the watch begins where it was made', async () => {
    const api = await StandIn.start();
    for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) api.put(NODES, name);
    const follower = follow(api, [ALL_NODES], { pageSize: 2 });
    await watching(api, NODES);
    expect(api.callsTo(NODES, false).map(({ query }) => query.toString())).toEqual([
      'limit=2',
      'limit=2&continue=2',
      'limit=2&continue=4',
    ]);
    expect(follower.all('page').map(({ entries }) => entries.length)).toEqual([2, 2, 1]);
    const [snapshot] = follower.all('snapshot');
    expect(snapshot?.entries.map(({ key }) => key)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5'].map(nodeKey));
    expect(snapshot?.position).toEqual({ datastoreId: 'uid-1', revision: 105 });
    expect(snapshot?.reason).toBe('initial');
    expect(api.callsTo(NODES, true)[0]?.query.get('resourceVersion')).toBe('105');
  });

  it('begins anew when its continuation has expired, and comes in one piece when that happens again', async () => {
    const api = await StandIn.start();
    for (const name of ['n1', 'n2', 'n3']) api.put(NODES, name);
    api.answer = ({ query }) => (query.has('continue') ? failure(410, 'Expired') : undefined);
    const follower = follow(api, [ALL_NODES], { pageSize: 2 });
    await holds(follower, ...['n1', 'n2', 'n3'].map(nodeKey));
    const lists = api.callsTo(NODES, false).map(({ query }) => query.toString());
    expect(lists.at(-1)).toBe('');
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it.each([
    ['an empty object', { body: {} }],
    ['a list without a position', { body: { kind: 'NodeList', metadata: {}, items: [] } }],
    ['a page of a proxy', { body: '<html>Welcome</html>' }],
    ['items that are none', { body: { kind: 'NodeList', metadata: { resourceVersion: '9' }, items: ['x'] } }],
  ])('is not %s', async (_what, answer) => {
    const api = await StandIn.start();
    api.put(NODES, 'n1');
    let isWrong = true;
    api.answer = ({ path }) => (path === NODES && isWrong ? answer : undefined);
    const follower = follow(api, [ALL_NODES]);
    const { error } = await follower.next('lost');
    expect(error.code).toBe('BF_DATASTORE_PROTOCOL');
    expect(follower.all('snapshot')).toHaveLength(0);
    isWrong = false;
    await holds(follower, nodeKey('n1'));
  });

  it('may be empty', async () => {
    const api = await StandIn.start();
    api.answer = ({ path, isWatch }) =>
      path === NODES && !isWatch
        ? { body: { kind: 'NodeList', metadata: { resourceVersion: '5' }, items: null } }
        : undefined;
    const follower = follow(api, [ALL_NODES]);
    expect((await follower.next('snapshot')).entries).toEqual([]);
  });
});

describe('a watch', () => {
  it('delivers what is added, changed and deleted, and nothing when the meaning is the same', async () => {
    const api = await StandIn.start();
    api.put(NODES, 'n1');
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    api.put(NODES, 'n2');
    // A heartbeat.
    api.put(NODES, 'n2', { status: { conditions: [{ lastHeartbeatTime: 'now' }] } });
    api.put(NODES, 'n1', {}, { labels: { a: 'b' } });
    api.remove(NODES, 'n2');
    await holds(follower, nodeKey('n1'));
    await follower.holds(nodeKey('n1'), (value) => value?.includes('"a":"b"') === true);
    const changes = follower.all('changes').flatMap((event) => event.changes);
    expect(changes.map(({ type }) => type)).toEqual(['put', 'put', 'delete']);
    expect(follower.all('changes').at(-1)?.position.revision).toBe(105);
  });

  it('is renewed at its end from its last event or bookmark, which nobody is told of', async () => {
    const api = await StandIn.start();
    api.put(NODES, 'n1');
    const follower = follow(api, [ALL_NODES], { timings: { watchMs: 100_000 }, random: () => 0.5 });
    await watching(api, NODES);
    api.put(NODES, 'n2');
    await holds(follower, nodeKey('n1'), nodeKey('n2'));
    api.watchOf(NODES)?.end();
    await until(() => api.callsTo(NODES, true).length === 2);
    await watching(api, NODES);
    api.bookmark(NODES);
    api.watchOf(NODES)?.end();
    await until(() => api.callsTo(NODES, true).length === 3);
    const watches = api.callsTo(NODES, true).map(({ query }) => query);
    expect(watches.map((query) => query.get('resourceVersion'))).toEqual(['101', '102', '103']);
    expect(watches.map((query) => query.get('timeoutSeconds'))).toEqual(['150', '150', '150']);
    expect(watches.every((query) => query.get('allowWatchBookmarks') === 'true')).toBe(true);
    expect(follower.all('lost')).toEqual([]);
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('resumes after a cut in the middle of a line, and loses nothing', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    api.put(NODES, 'n1');
    await holds(follower, nodeKey('n1'));
    const watch = api.watchOf(NODES);
    watch?.write('{"type":"ADDED","object":{"metadata":{"name":"n2","resour');
    watch?.cut();
    await follower.next('connected');
    expect(api.callsTo(NODES, true).at(-1)?.query.get('resourceVersion')).toBe('101');
    expect(follower.all('lost')).toHaveLength(1);
    expect(follower.all('snapshot')).toHaveLength(1);
    expect(Object.keys(follower.contents)).toEqual([nodeKey('n1')]);
  });

  it('takes events that are divided anywhere, also within a character', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    const object = { metadata: { name: 'n1', resourceVersion: '101', labels: { stadt: 'Köln' } } };
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    const at = bytes.indexOf('Köln') + 2;
    const watch = api.watchOf(NODES);
    watch?.write(bytes.subarray(0, at) as unknown as string);
    await until(() => new Promise((resolve) => setImmediate(() => resolve(true))));
    watch?.write(bytes.subarray(at) as unknown as string);
    await follower.holds(nodeKey('n1'), (value) => value?.includes('Köln') === true);
  });

  it.each([
    ['no JSON', 'internal error\n'],
    ['no event', '{"kind":"Status"}\n'],
    ['an unknown type', '{"type":"RENAMED","object":{"metadata":{"name":"n1"}}}\n'],
  ])('that sends a line which is %s is over, and everything is listed', async (_what, line) => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    api.watchOf(NODES)?.write(line);
    await until(() => follower.all('snapshot').length === 2);
    expect(follower.all('lost').map(({ error }) => error.code)).toEqual(['BF_DATASTORE_PROTOCOL']);
    expect(follower.all('snapshot')[1]?.reason).toBe('reconnect');
  });

  it('that is refused with 410 leads to a list at once, and is no loss', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    let isOld = true;
    api.answer = ({ isWatch }) => {
      if (!isWatch || !isOld) return undefined;
      isOld = false;
      return failure(410, 'Expired');
    };
    api.put(NODES, 'n1');
    api.watchOf(NODES)?.end();
    await until(() => follower.all('snapshot').length === 2);
    expect(follower.all('snapshot')[1]?.reason).toBe('compacted');
    expect(follower.all('lost')).toEqual([]);
  });

  it('that says 410 in an ERROR event leads to a list at once, with what came before it', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    api.put(NODES, 'n1');
    api.watchOf(NODES)?.send('ERROR', { kind: 'Status', code: 410, reason: 'Gone', message: 'too old' });
    await until(() => follower.all('snapshot').length === 2);
    expect(follower.all('changes')).toHaveLength(1);
    expect(follower.all('snapshot')[1]?.reason).toBe('compacted');
    expect(follower.all('lost')).toEqual([]);
  });

  it('that says something else in an ERROR event is lost, and resumed', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    api.watchOf(NODES)?.send('ERROR', { kind: 'Status', code: 500, message: 'etcd is slow' });
    const { error } = await follower.next('lost');
    expect(error.message).toContain('etcd is slow');
    await follower.next('connected');
    expect(follower.all('snapshot')).toHaveLength(1);
  });

  it('whose position the server does not have yet leads to a list', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    const causes = [{ reason: 'ResourceVersionTooLarge' }];
    api.answer = ({ isWatch }) =>
      isWatch && api.revision < 100 ? failure(504, 'Timeout', { details: { causes } }) : undefined;
    api.revision = 7;
    api.watchOf(NODES)?.cut();
    await until(() => follower.all('snapshot').length === 2);
    expect(follower.all('snapshot')[1]).toMatchObject({ reason: 'regressed', position: { revision: 7 } });
  });

  it('that is silent for too long is dead', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES], { timings: { idleMs: 200 } });
    const { error } = await follower.next('lost');
    expect(error.message).toBe(
      `cannot use the Kubernetes API at ${api.url}: a watch has been silent for 0.2 s`,
    );
    await follower.next('connected');
  });

  it('is left for a list when that is asked for, and from time to time', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES], { timings: { relistMs: 400 }, random: () => 0 });
    await watching(api, NODES);
    follower.source.relist();
    await until(() => follower.all('snapshot').length === 2);
    await until(() => follower.all('snapshot').length === 3);
    expect(follower.all('snapshot').map(({ reason }) => reason)).toEqual(['initial', 'periodic', 'periodic']);
    expect(follower.all('lost')).toEqual([]);
  });
});

describe('a server that has too much to do', () => {
  it('is left alone for as long as it asks for', async () => {
    const api = await StandIn.start();
    const times: number[] = [];
    api.answer = ({ path }) => {
      if (path !== NODES || times.push(performance.now()) > 1) return undefined;
      return { ...failure(429, 'TooManyRequests'), headers: { 'retry-after': '1' } };
    };
    const follower = follow(api, [ALL_NODES]);
    await follower.next('snapshot');
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(1_000);
    expect(follower.all('lost')[0]?.error.message).toContain('too much to do: TooManyRequests it is');
  });
});

describe('what may not be read', () => {
  it('is reported, tried again, and holds up nothing else', async () => {
    const api = await StandIn.start();
    api.put(NODES, 'n1');
    let isForbidden = true;
    api.answer = ({ path }) =>
      path.endsWith('/services') && isForbidden ? failure(403, 'Forbidden') : undefined;
    const services = kubernetesPrefix('Service');
    const follower = follow(api, [ALL_NODES], { optional: [services] });
    await holds(follower, nodeKey('n1'));
    const { error } = await follower.next('lost', services);
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_AUTH',
      `the Kubernetes API at ${api.url} does not let birdfeed read what it needs: Forbidden it is`,
    ]);
    expect(follower.all('lost', ALL_NODES)).toEqual([]);
    isForbidden = false;
    await follower.next('snapshot', services);
  });
});

describe('a kind that the server does not know', () => {
  it('is an empty list, told once, and read when it comes', async () => {
    const api = await StandIn.start();
    let isThere = false;
    api.answer = ({ path }) => (path === PEERS && !isThere ? failure(404, 'NotFound') : undefined);
    const follower = follow(api, [ALL_PEERS, ALL_NODES]);
    expect((await follower.next('snapshot', ALL_PEERS)).entries).toEqual([]);
    await until(() => api.callsTo(PEERS).length >= 3);
    expect(follower.all('snapshot', ALL_PEERS)).toHaveLength(1);
    expect(follower.all('lost')).toEqual([]);
    isThere = true;
    api.put(PEERS, 'p1', { spec: {} });
    await holds(follower, peerKey('p1'));
  });

  it('is not believed to be gone at once', async () => {
    const api = await StandIn.start();
    api.put(PEERS, 'p1', { spec: {} });
    const follower = follow(api, [ALL_PEERS]);
    await watching(api, PEERS);
    api.answer = ({ path }) => (path === PEERS ? failure(404, 'NotFound') : undefined);
    const started = performance.now();
    api.watchOf(PEERS)?.end();
    const { error } = await follower.next('lost');
    expect(error.message).toContain('status 404');
    expect(Object.keys(follower.contents)).toEqual([peerKey('p1')]);
    await until(() => follower.all('snapshot').at(-1)?.entries.length === 0);
    expect(performance.now() - started).toBeGreaterThanOrEqual(600);
  });

  it('may have moved to the other API group', async () => {
    const api = await StandIn.start();
    const newer = '/apis/projectcalico.org/v3/bgppeers';
    api.put(newer, 'p1', { spec: {} });
    api.answer = ({ path }) => (path === PEERS ? failure(404, 'NotFound') : undefined);
    const follower = follow(api, [ALL_PEERS]);
    await follower.next('snapshot');
    api.groups = ['projectcalico.org'];
    await holds(follower, peerKey('p1'));
  });
});

describe('a cluster', () => {
  it('that is another one than before is listed anew, as one that went back', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    api.uid = 'uid-2';
    // Nothing of HTTP/1.1 tells that the server is another one: its refusal ends the connection.
    api.answer = ({ isWatch }: Call) => (isWatch ? failure(401, 'Unauthorized') : undefined);
    api.watchOf(NODES)?.cut();
    await until(() => follower.all('snapshot').length === 2);
    expect(follower.all('snapshot')[1]).toMatchObject({
      reason: 'regressed',
      position: { datastoreId: 'uid-2' },
    });
  });

  it.each([
    ['the same cluster, further on', { datastoreId: 'uid-1', revision: 50 }, 'initial'],
    ['another cluster', { datastoreId: 'uid-0', revision: 50 }, 'regressed'],
    ['the same cluster, from a backup', { datastoreId: 'uid-1', revision: 500 }, 'regressed'],
    ['a cluster that nobody could name', { datastoreId: 'unknown', revision: 50 }, 'initial'],
  ])('is compared with what an earlier process left: %s', async (_what, last, reason) => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES], { lastPositions: { [ALL_NODES]: last } });
    expect((await follower.next('snapshot')).reason).toBe(reason);
  });

  it('whose name may not be read is known by its revisions alone', async () => {
    const api = await StandIn.start();
    api.answer = ({ path }) =>
      path === '/api/v1/namespaces/kube-system' ? failure(403, 'Forbidden') : undefined;
    const follower = follow(api, [ALL_NODES]);
    expect((await follower.next('snapshot')).position).toEqual({ datastoreId: 'unknown', revision: 100 });
  });
});

describe('mounts', () => {
  it('of a single Secret ask for that one alone', async () => {
    const api = await StandIn.start();
    const path = '/api/v1/namespaces/kube-system/secrets';
    api.put(path, 'bgp', { data: { k: 'b25l' } }, { namespace: 'kube-system' });
    const key = kubernetesKey('Secret', 'kube-system', 'bgp');
    const follower = follow(api, [], { optional: [key] });
    await holds(follower, key);
    expect(api.callsTo(path).map(({ query }) => query.get('fieldSelector'))).toEqual([
      'metadata.name=bgp',
      'metadata.name=bgp',
    ]);
  });

  it('of a node’s blocks take those with its label and those without any', async () => {
    const api = await StandIn.start();
    const path = '/apis/crd.projectcalico.org/v1/blockaffinities';
    const spec = (node: string, cidr: string) => ({
      spec: { node, cidr, state: 'confirmed', deleted: 'false' },
    });
    api.put(path, 'n1-a', spec('n1', '10.1.0.0/26'));
    api.put(path, 'n2-a', spec('n2', '10.2.0.0/26'));
    api.put(path, 'n1-b', spec('n1', '10.1'));
    const prefix = '/calico/ipam/v2/host/n1';
    const follower = follow(api, [prefix]);
    await holds(follower, `${prefix}/ipv4/block/10.1.0.0-26`);
    expect(follower.all('snapshot')).toHaveLength(1);
    expect(
      follower
        .all('problems')
        .at(-1)
        ?.problems.map(({ message }) => message),
    ).toContain('BlockAffinity n1-b in Kubernetes has no network in spec.cidr and is left out');
    const selectors = api.callsTo(path, false).map(({ query }) => query.get('labelSelector'));
    expect(selectors.sort()).toEqual([
      '!projectcalico.org/hostname-hash',
      expect.stringMatching(/^projectcalico\.org\/hostname-hash=[A-Z2-7]{52}$/),
    ]);
  });

  it('that nothing in Kubernetes has are empty', async () => {
    const api = await StandIn.start();
    const follower = follow(api, ['/myapp']);
    expect((await follower.next('snapshot')).entries).toEqual([]);
  });
});

describe('the end', () => {
  it('comes at once, and leaves no connection', async () => {
    const api = await StandIn.start();
    const follower = follow(api, [ALL_NODES, ALL_PEERS]);
    await watching(api, NODES);
    await watching(api, PEERS);
    expect(await follower.stop()).toBeLessThan(500);
    await until(() => api.watches.length === 0);
  });

  it('of a consumer ends the run, not the process', async () => {
    const api = await StandIn.start();
    api.put(NODES, 'n1');
    const follower = follow(api, [ALL_NODES]);
    await watching(api, NODES);
    follower.onEvent = () => {
      throw new TypeError('broken');
    };
    api.put(NODES, 'n2');
    await expect(follower.done).rejects.toThrow('broken');
  });
});
