import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockPrefix, calicoKey, calicoPrefix } from '../../../src/datastore/keys.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { SIDECAR } from '../../support/kube-api-server.ts';
import { type KubeCluster, requireCluster } from '../../support/kube-cluster.ts';
import { KubeFollower } from '../../support/kube-follower.ts';
import { until } from '../../support/wait.ts';

/** Run it by itself to see the figures of docs/kubernetes.md; it prints them. */
const NODES = Number(process.env['BIRDFEED_TEST_NODES'] ?? 200);

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start();
  await inParallel(NODES, (number) => cluster.api.client.post('/api/v1/nodes', node(number)));
}, 120_000);
afterAll(() => cluster?.close());

async function inParallel(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) await work(number);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** With the labels, annotations, conditions and images that the nodes of clusters have. */
function node(number: number): object {
  const name = `node-${String(number).padStart(5, '0')}`;
  const address = `10.${number >> 8}.${number & 255}.1`;
  const labels = ['arch', 'os', 'hostname'].map((label) => [`kubernetes.io/${label}`, name]);
  const images = Array.from({ length: 40 }, (_, at) => ({
    names: [
      `registry.example/team/image-${at}@sha256:${'0'.repeat(64)}`,
      `registry.example/team/image-${at}:1.0`,
    ],
    sizeBytes: 123_456_789,
  }));
  const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
    type,
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  }));
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      labels: { ...Object.fromEntries(labels), 'topology.kubernetes.io/zone': 'zone-a' },
      annotations: {
        'projectcalico.org/IPv4Address': `${address}/16`,
        'projectcalico.org/IPv4IPIPTunnelAddr': address,
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    status: { images, conditions },
  };
}

const PREFIXES = [
  ...(['Node', 'BGPPeer', 'BGPConfiguration', 'BGPFilter', 'IPPool'] as const).map(calicoPrefix),
  blockPrefix('node-00000'),
];

it('a sidecar costs an API server little', async () => {
  const proxy = await FaultProxy.start(cluster.api.port);
  const server = `https://127.0.0.1:${proxy.port}`;
  const calls = (): number => cluster.audit().filter(({ user }) => user.username === SIDECAR.name).length;
  try {
    const follower = new KubeFollower(
      { access: { kubeconfig: cluster.api.kubeconfig(SIDECAR, server) } },
      PREFIXES,
    );
    await until(() => follower.all('snapshot').length === PREFIXES.length, { timeout: 20_000 });
    const watches = PREFIXES.length + 1;
    // Identity, API groups, one list for each kind and 500 nodes, one watch for each.
    const expected = 2 + 2 * watches + Math.ceil(NODES / 500) - 1;
    await until(() => calls() >= expected, { timeout: 20_000 });
    const start = { requests: calls(), bytes: proxy.counters.fromServer };
    const name = 'node-00001';
    const heartbeat = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await cluster.api.client.patch(`/api/v1/nodes/${name}/status`, heartbeat);
    await until(() => proxy.counters.fromServer > start.bytes + 200);
    const afterHeartbeat = proxy.counters.fromServer;
    await cluster.api.client.patch(`/api/v1/nodes/${name}`, { metadata: { labels: { rack: 'a' } } });
    await follower.holds(calicoKey('Node', name), (value) => value?.includes('"rack"') === true);
    const whole = JSON.stringify(await cluster.api.client.get(`/api/v1/nodes/${name}`)).length;
    const figures = {
      nodes: NODES,
      connections: proxy.counters.accepted,
      'requests at the start': start.requests,
      'watches open': watches,
      'bytes at the start': start.bytes,
      'bytes at the start, per node': Math.round(start.bytes / NODES),
      'bytes of one heartbeat or change of a node': afterHeartbeat - start.bytes,
      'bytes of a whole Node object, for comparison': whole,
    };
    console.log(
      Object.entries(figures)
        .map(([what, value]) => `${what}: ${value}`)
        .join('\n'),
    );
    expect(figures.connections).toBe(1);
    expect(start.requests).toBe(expected);
    expect(figures['bytes at the start, per node']).toBeLessThan(whole / 5);
    expect(figures['bytes of one heartbeat or change of a node']).toBeLessThan(whole / 2);
  } finally {
    await proxy.close();
  }
});
