import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { calicoKey, calicoPrefix } from '../../../src/datastore/keys.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { load } from '../../support/kube/load.mjs';
import { type KubeCluster, requireCluster } from '../../support/kube-cluster.ts';
import { KubeFollower, QUICK } from '../../support/kube-follower.ts';
import { until } from '../../support/wait.ts';

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start();
});
afterAll(() => cluster?.close());
beforeEach(() => load(cluster.api.client, []));

const NODES = calicoPrefix('Node');
const PEERS = calicoPrefix('BGPPeer');

async function proxied(): Promise<{ proxy: FaultProxy; access: { kubeconfig: string } }> {
  const proxy = await FaultProxy.start(cluster.api.port);
  onTestFinished(() => proxy.close());
  const server = `https://127.0.0.1:${proxy.port}`;
  return { proxy, access: { kubeconfig: cluster.api.kubeconfig(undefined, server) } };
}

const direct = (): { kubeconfig: string } => ({ kubeconfig: cluster.api.kubeconfig() });

async function listed(follower: KubeFollower, count: number): Promise<void> {
  await until(() => follower.all('snapshot').length === count, { timeout: 10_000 });
}

/** Sets the address of a node, which is created if it is not there. */
async function setAddress(name: string, address: string): Promise<void> {
  const annotations = { 'projectcalico.org/IPv4Address': address };
  const { client } = cluster.api;
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, annotations } };
  await client.patch(`/api/v1/nodes/${name}`, body).catch(() => client.post('/api/v1/nodes', body));
}

/** The follower has each node that the API server has, with its address. */
async function converges(follower: KubeFollower, timeout = 15_000): Promise<void> {
  const { items } = (await cluster.api.client.get('/api/v1/nodes')) as {
    items: { metadata: { name: string; annotations: Record<string, string> } }[];
  };
  const expected = items.map(({ metadata: { name, annotations } }) => [
    calicoKey('Node', name),
    annotations['projectcalico.org/IPv4Address'],
  ]);
  const has = (): boolean => {
    const nodes = Object.entries(follower.contents).filter(([key]) => key.startsWith(`${NODES}/`));
    const addresses = new Map(
      nodes.map(([key, value]) => [key, JSON.parse(value).spec.bgp?.ipv4Address as string | undefined]),
    );
    return nodes.length === expected.length && expected.every(([key = '', at]) => addresses.get(key) === at);
  };
  await until(has, { timeout, every: 50, what: `${expected.length} nodes` });
}

describe('an API server', () => {
  it('that is killed and comes back is taken up again', async () => {
    const follower = new KubeFollower({ access: direct() }, [NODES, PEERS]);
    await listed(follower, 2);
    await setAddress('n1', '10.0.0.1/24');
    await converges(follower);
    const killed = performance.now();
    await cluster.api.kill9();
    await follower.next('lost', NODES, 0, 1_000);
    expect(performance.now() - killed).toBeLessThan(1_000);
    await until(() => follower.all('lost').some(({ error }) => /ECONNREFUSED/.test(error.message)));
    await cluster.api.restart();
    await setAddress('n1', '10.0.0.2/24');
    await setAddress('n2', '10.0.0.3/24');
    await converges(follower);
    expect(follower.all('snapshot').every(({ reason }) => reason !== 'regressed')).toBe(true);
  });

  it('that stops in place is noticed, and nothing is lost when it goes on', async () => {
    const follower = new KubeFollower({ access: direct() }, [NODES, PEERS]);
    await listed(follower, 2);
    const stopped = performance.now();
    await cluster.api.pause();
    onTestFinished(() => cluster.api.resume());
    const { error } = await follower.next('lost', NODES, 0, 5_000);
    expect(error.code).toBe('BF_DATASTORE_UNREACHABLE');
    expect(performance.now() - stopped).toBeLessThan((QUICK.pingMs ?? 0) * 2 + (QUICK.deadMs ?? 0) + 500);
    await until(() =>
      follower.all('lost').some(({ error: { message } }) => /no answer within/.test(message)),
    );
    cluster.api.resume();
    await setAddress('n1', '10.0.0.1/24');
    await converges(follower);
    expect(follower.all('snapshot', NODES)).toHaveLength(1);
  });

  it('may come up after the source', async () => {
    const { proxy, access } = await proxied();
    await proxy.setMode('refuse');
    await setAddress('n1', '10.0.0.1/24');
    const follower = new KubeFollower({ access }, [NODES]);
    const { error } = await follower.next('lost');
    expect(error.message).toBe(
      `cannot use the Kubernetes API at https://127.0.0.1:${proxy.port}: connect ECONNREFUSED 127.0.0.1:${proxy.port}`,
    );
    await proxy.setMode('pass');
    await converges(follower, 3_000);
    expect(follower.all('snapshot').map(({ reason }) => reason)).toEqual(['initial']);
  });

  it('forgets the history that a watch needs: everything is listed', async () => {
    const { proxy, access } = await proxied();
    const follower = new KubeFollower({ access }, [NODES]);
    await listed(follower, 1);
    await proxy.setMode('refuse');
    await follower.next('lost');
    for (const number of [1, 2, 3]) await setAddress(`n${number}`, `10.0.0.${number}/24`);
    // Its memory of events begins with the state that it finds.
    await cluster.api.restart();
    await setAddress('n1', '10.0.0.9/24');
    await proxy.setMode('pass');
    await converges(follower);
    expect(
      follower
        .all('snapshot')
        .slice(1)
        .map(({ reason }) => reason),
    ).not.toContain('regressed');
  });
});

describe('a connection', () => {
  it('that is cut anywhere loses nothing', async () => {
    for (const bytes of [0, 60, 500, 2_000, 8_000, 30_000]) {
      const { proxy, access } = await proxied();
      const follower = new KubeFollower({ access }, [NODES, PEERS]);
      await listed(follower, 2);
      proxy.cutAfter(bytes);
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => setAddress(`n${at}`, `10.0.${(bytes % 250) + 1}.${at + 1}/24`)),
      );
      await converges(follower);
      expect(follower.all('snapshot')).toHaveLength(2);
      await follower.stop();
    }
  });

  it('that is cut again and again while nodes change loses nothing', async () => {
    const { proxy, access } = await proxied();
    const follower = new KubeFollower({ access }, [NODES]);
    await listed(follower, 1);
    for (let turn = 1; turn <= 8; turn += 1) {
      await Promise.all(
        Array.from({ length: 10 }, (_, at) => setAddress(`n${at}`, `10.${turn}.0.${at + 1}/24`)),
      );
      proxy.cut();
      await cluster.api.client.delete(`/api/v1/nodes/n${turn % 10}`);
    }
    await converges(follower);
  });

  it('that swallows everything is noticed, and taken up again', async () => {
    const { proxy, access } = await proxied();
    const follower = new KubeFollower({ access }, [NODES, PEERS]);
    await listed(follower, 2);
    await proxy.setMode('freeze');
    const { error } = await follower.next('lost', NODES, 0, 5_000);
    expect(error.message).toContain('it has been silent for 1.5 s');
    await setAddress('n1', '10.0.0.1/24');
    await proxy.setMode('pass');
    await converges(follower);
    expect(follower.all('snapshot')).toHaveLength(2);
  });

  it('is one for all kinds, and none is left behind', async () => {
    const { proxy, access } = await proxied();
    const follower = new KubeFollower({ access }, [NODES, PEERS, calicoPrefix('IPPool')]);
    await listed(follower, 3);
    expect(proxy.counters).toMatchObject({ accepted: 1, open: 1 });
    for (let turn = 0; turn < 3; turn += 1) {
      const before = follower.events.length;
      proxy.cut();
      await until(() => follower.all('connected', '', before).length === 3);
    }
    await until(() => proxy.counters.open === 1);
    await follower.stop();
    await until(() => proxy.counters.open === 0);
  });
});

describe('a storm of changes', () => {
  it('ends in what is there', async () => {
    const { access } = await proxied();
    const follower = new KubeFollower({ access }, [NODES]);
    await listed(follower, 1);
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let turn = 0; turn < 60; turn += 1)
          await setAddress(`n${writer}-${turn % 5}`, `10.${writer}.${turn}.1/24`);
      }),
    );
    await converges(follower, 5_000);
    expect(follower.all('lost')).toEqual([]);
    expect(follower.all('snapshot')).toHaveLength(1);
  });
});
