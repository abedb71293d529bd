import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesPrefix } from '../../../src/datastore/keys.ts';
import { Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import { load } from '../../support/kube/load.mjs';
import { type KubeCluster, requireCluster } from '../../support/kube-cluster.ts';
import { until } from '../../support/wait.ts';
import { BIRD2, birdsHave, currentFiles, type Host, hostArgs, makeHost, startBirds } from '../app/support.ts';

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start();
});
afterAll(() => cluster?.close());

const ADDRESS = 'projectcalico.org/IPv4Address';
const meshNode = (number: number): object => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: `n${number}`, annotations: { [ADDRESS]: `10.0.0.${number}/24` } },
});
const resource = (kind: string, name: string, spec: object): object => ({
  kind,
  apiVersion: 'projectcalico.org/v3',
  metadata: { name },
  spec,
});
const MESH = [1, 2, 3].map(meshNode);

/** As Calico's manifests say it: by the environment. */
const env = (): Record<string, string> => ({
  DATASTORE_TYPE: 'kubernetes',
  KUBECONFIG: cluster.api.kubeconfig(),
});

async function startFed(resources: readonly object[]) {
  await load(cluster.api.client, resources);
  const host = await makeHost(BIRD2);
  const birds = await startBirds(host);
  const birdfeed = await Birdfeed.start(hostArgs(host), { cache: host.cache, env: env() });
  const { generation } = await birdfeed.settled();
  return { host, birds, birdfeed, generation };
}

const rendered = (host: Host): string =>
  currentFiles(host)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

describe('a running birdfeed', () => {
  it('follows a cluster step by step, and BIRD follows it', async () => {
    const { host, birds, birdfeed } = await startFed(MESH);
    const { client } = cluster.api;
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3']);
    await client.post('/api/v1/nodes', meshNode(4));
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_10_0_0_4']);
    await client.patch('/api/v1/nodes/n3', { metadata: { annotations: { [ADDRESS]: '10.0.0.33/24' } } });
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_33', 'Mesh_10_0_0_4']);
    await client.delete('/api/v1/nodes/n4');
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_33']);
    const peer = resource('BGPPeer', 'rack', { peerSelector: "rack == 'a'" });
    const off = resource('BGPConfiguration', 'default', { nodeToNodeMeshEnabled: false });
    const path = '/apis/crd.projectcalico.org/v1';
    await client.post(`${path}/bgppeers`, { ...peer, apiVersion: 'crd.projectcalico.org/v1' });
    await client.post(`${path}/bgpconfigurations`, { ...off, apiVersion: 'crd.projectcalico.org/v1' });
    await client.patch('/api/v1/nodes/n2', { metadata: { labels: { rack: 'a' } } });
    await birdsHave(birds, ['Global_10_0_0_2']);
    await birdfeed.settled();
    expect(rendered(host)).toContain('Global_10_0_0_2');
  });

  it('keeps the sessions while its own Node is gone, and then there without its address', async () => {
    const { birds, birdfeed } = await startFed(MESH);
    const { client } = cluster.api;
    const all = ['Mesh_10_0_0_2', 'Mesh_10_0_0_3'];
    await birdsHave(birds, all);
    const isHeld = () => birdfeed.reaches('held', ({ config }) => config.state === 'held');
    await client.delete('/api/v1/nodes/n1');
    await isHeld();
    // kubelet registers the Node; calico-node writes the address when it comes to it.
    await client.post('/api/v1/nodes', { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n1' } });
    const key = '/calico/resources/v3/projectcalico.org/nodes';
    const { mounts } = await birdfeed.status();
    const before = mounts.find(({ prefix }) => prefix === key)?.revision ?? 0;
    await client.patch('/api/v1/nodes/n1', { metadata: { labels: { a: 'b' } } });
    await birdfeed.reaches('the Node read', (status) => {
      return (status.mounts.find(({ prefix }) => prefix === key)?.revision ?? 0) > before;
    });
    const status = await isHeld();
    expect(status).toMatchObject({ data: { state: 'fresh' }, bird: { state: 'applied' } });
    await birdsHave(birds, all);
    await client.patch('/api/v1/nodes/n1', { metadata: { annotations: { [ADDRESS]: '10.0.0.1/24' } } });
    const { generation } = await birdfeed.settled();
    expect(generation?.number).toBe(1);
    await birdsHave(birds, all);
  });

  it('keeps the sessions while the API server is away, and says so', async () => {
    const { birds, birdfeed } = await startFed(MESH);
    await cluster.api.kill9();
    const { generation } = await birdfeed.reaches('stale', ({ data }) => data.state === 'stale');
    expect(generation?.number).toBe(1);
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3']);
    await cluster.api.restart();
    await birdfeed.settled({ timeout: 40_000 });
    await cluster.api.client.delete('/api/v1/nodes/n3');
    await birdsHave(birds, ['Mesh_10_0_0_2']);
  });

  it('reads Secrets and Services only when they are asked for, and one that is forbidden holds up nothing', async () => {
    const { host, birdfeed } = await startFed(MESH);
    const mounted = async (): Promise<string[]> =>
      (await birdfeed.status()).mounts.map(({ prefix }) => prefix);
    expect((await mounted()).filter((prefix) => prefix.includes('/kubernetes/'))).toEqual([]);
    const secret = (name: string, text: string): object => ({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name, namespace: 'kube-system' },
      stringData: { k: text },
    });
    const peer = (name: string, ip: string, of: string): object =>
      resource('BGPPeer', name, {
        peerIP: ip,
        asNumber: 65001,
        password: { secretKeyRef: { name: of, key: 'k' } },
      });
    const peers = [peer('a', '192.0.2.1', 'bgp-secrets'), peer('b', '192.0.2.2', 'not-ours')];
    const ranges = resource('BGPConfiguration', 'default', { serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] });
    const secrets = [secret('bgp-secrets', 'one'), secret('not-ours', 'two')];
    await load(cluster.api.client, [...MESH, ranges, ...peers, ...secrets]);
    await until(() => rendered(host).includes('password "one"'), { timeout: 15_000 });
    await until(() => rendered(host).includes('route 10.96.0.0/12 blackhole'));
    expect(rendered(host)).not.toContain('192.0.2.2 ');
    const { mounts, data } = await birdfeed.status();
    const forbidden = mounts.find(({ prefix }) => prefix.endsWith('/secrets/kube-system/not-ours'));
    expect(forbidden?.error).toContain('does not let birdfeed read what it needs');
    expect(data.state).toBe('fresh');
    expect(mounts.map(({ prefix }) => prefix)).toContain(kubernetesPrefix('Service'));
    await load(cluster.api.client, [...MESH, ranges, ...peers, secret('bgp-secrets', 'three')]);
    await until(() => rendered(host).includes('password "three"'), { timeout: 15_000 });
  });
});

describe('--onetime', () => {
  it('renders from Kubernetes, and without an API server ends in time', async () => {
    await load(cluster.api.client, MESH);
    const host = await makeHost(BIRD2);
    const args = ['--onetime', ...hostArgs(host), '--reload', 'none', '--cache', host.cache];
    const done = await runBirdfeed(args, { env: env() });
    expect([done.code, rendered(host).match(/Mesh_\S+/g)]).toEqual([0, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3']]);
    const nowhere = { ...env(), K8S_API_ENDPOINT: 'https://127.0.0.1:1' };
    const failed = await runBirdfeed([...args, '--wait', '1s', '--require-fresh'], { env: nowhere });
    expect(failed.code).toBe(75);
  });

  it('takes Services from Kubernetes where the rest is in etcd', async () => {
    const { client: etcd } = cluster.etcd;
    const stored = (kind: string, plural: string, name: string, spec: object): Promise<unknown> =>
      etcd.put(
        `/calico/resources/v3/projectcalico.org/${plural}/${name}`,
        JSON.stringify({ kind, apiVersion: 'projectcalico.org/v3', metadata: { name }, spec }),
      );
    await stored('Node', 'nodes', 'n1', { bgp: { ipv4Address: '10.0.0.1/24' } });
    await stored('BGPConfiguration', 'bgpconfigurations', 'default', {
      serviceExternalIPs: [{ cidr: '203.0.113.9/32' }],
    });
    const spec = { type: 'LoadBalancer', ports: [{ port: 80 }], externalIPs: ['203.0.113.9'] };
    const web = { kind: 'Service', apiVersion: 'v1', metadata: { name: 'web', namespace: 'default' }, spec };
    await load(cluster.api.client, [web]);
    const host = await makeHost(BIRD2);
    const args = ['--onetime', ...hostArgs(host), '--reload', 'none', '--cache', host.cache];
    const done = await runBirdfeed([...args, '--etcd-endpoints', cluster.etcd.url], {
      env: { ...env(), DATASTORE_TYPE: 'etcdv3' },
    });
    expect(done.code).toBe(0);
    expect(rendered(host)).toContain('203.0.113.9/32');
  });
});
