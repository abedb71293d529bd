import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtureReader } from '../../../src/datastore/fixtures/reader.ts';
import {
  blockPrefix,
  calicoKey,
  calicoPrefix,
  endpointStatusPrefix,
  kubernetesPrefix,
} from '../../../src/datastore/keys.ts';
import { createDefinitions, load, readResources } from '../../support/kube/load.mjs';
import { type KubeCluster, OLD_GROUP, requireCluster } from '../../support/kube-cluster.ts';
import { KubeFollower } from '../../support/kube-follower.ts';
import { until } from '../../support/wait.ts';
import { worldOf } from '../../unit/model/parity/support.ts';

const GOLDEN = fileURLToPath(new URL('../../golden/', import.meta.url));
const KINDS = (['Node', 'BGPPeer', 'BGPConfiguration', 'BGPFilter', 'IPPool'] as const).map(calicoPrefix);
const SERVICES = [kubernetesPrefix('Service'), kubernetesPrefix('EndpointSlice')];

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  // The goldens' Services have addresses of these.
  cluster = await required.start({ args: ['--service-cluster-ip-range', '10.96.0.0/12,fd11::/112'] });
});
afterAll(() => cluster?.close());

/** What Kubernetes cannot hold as etcd can, so that another result is right. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'bad-objects': 'an annotation that makes no sense counts as unset, and the API server refuses some names',
};

/** The keys and values of a golden's input, as etcd has them. */
function storedOf(golden: string): ReadonlyMap<string, string> {
  const reader = fixtureReader();
  const file = reader.parse('input.yaml', readFileSync(join(GOLDEN, golden, 'input.yaml')));
  return reader.assemble(new Map([['input.yaml', file]])).values;
}

/** Goldens say of a Service only what matters; the API server wants ports, and Local only for what is reached from outside. */
function asServersWant(resource: Record<string, unknown>): object {
  if (resource['kind'] !== 'Service') return resource;
  const spec = resource['spec'] as { type?: string; externalTrafficPolicy?: string };
  const isInside = spec.type === 'ClusterIP' && spec.externalTrafficPolicy === 'Local';
  return { ...resource, spec: { ports: [{ port: 80 }], ...spec, ...(isInside ? { type: 'NodePort' } : {}) } };
}

describe('what the model makes of a cluster', () => {
  it.each(readdirSync(GOLDEN).filter((name) => DIFFERENT[name] === undefined))(
    'is the same from Kubernetes as from etcd: %s',
    async (golden) => {
      const stored = storedOf(golden);
      const resources = readResources(join(GOLDEN, golden, 'input.yaml'));
      await load(cluster.api.client, resources.map(asServersWant));
      const secrets = [...stored.keys()].filter((key) => key.startsWith(kubernetesPrefix('Secret')));
      const access = { kubeconfig: cluster.api.adminKubeconfig };
      const prefixes = [...KINDS, blockPrefix('a'), ...SERVICES, ...secrets];
      const follower = new KubeFollower({ access }, prefixes);
      await until(() => follower.all('snapshot').length === prefixes.length);
      await follower.stop();
      // Files of status, which Felix writes on the host, are in no API.
      const files = [...stored].filter(([key]) => key.startsWith(endpointStatusPrefix()));
      const values = { ...follower.contents, ...Object.fromEntries(files) };
      for (const dialect of ['bird1', 'bird2'] as const) {
        const ours = worldOf(values, { nodeName: 'a', dialect });
        const etcds = worldOf(Object.fromEntries(stored), { nodeName: 'a', dialect });
        expect(ours.files()).toEqual(etcds.files());
        expect(ours.problemIds).toEqual(etcds.problemIds);
      }
    },
  );
});

describe('a change', () => {
  it('of every kind arrives, and so does its end', async () => {
    await load(cluster.api.client, []);
    const access = { kubeconfig: cluster.api.kubeconfig() };
    const prefixes = [...KINDS, blockPrefix('n1'), ...SERVICES];
    const follower = new KubeFollower({ access }, prefixes);
    await until(() => follower.all('snapshot').length === prefixes.length);
    const before = Object.keys(follower.contents);
    await load(cluster.api.client, EVERYTHING);
    await until(() => Object.keys(follower.contents).length === before.length + EVERYTHING.length, {
      timeout: 10_000,
    });
    expect(JSON.parse(follower.contents[calicoKey('Node', 'n1')] ?? '')).toMatchObject({
      metadata: { labels: { rack: 'kubernetes' } },
      spec: { bgp: { ipv4Address: '10.0.0.1/24', asNumber: 64999, routeReflectorClusterID: '1.0.0.1' } },
    });
    await load(cluster.api.client, []);
    await until(() => Object.keys(follower.contents).join() === before.join(), { timeout: 10_000 });
    expect(follower.all('lost')).toEqual([]);
  });

  it('that is a heartbeat is none', async () => {
    await load(cluster.api.client, EVERYTHING);
    const follower = new KubeFollower({ access: { kubeconfig: cluster.api.kubeconfig() } }, KINDS);
    await until(() => follower.all('snapshot').length === KINDS.length);
    const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
    await cluster.api.client.patch('/api/v1/nodes/n1/status', { status: { conditions: [condition] } });
    await cluster.api.client.patch('/api/v1/nodes/n1', { metadata: { labels: { rack: 'another' } } });
    await follower.holds(calicoKey('Node', 'n1'), (value) => value?.includes('another') === true);
    expect(follower.all('changes')).toHaveLength(1);
  });
});

describe('a kind that is not defined yet', () => {
  it('is read as soon as it is', async () => {
    const { client } = cluster.api;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bgpfilters.crd.projectcalico.org';
    await client.delete(path);
    await until(() =>
      client.get(path).then(
        () => false,
        () => true,
      ),
    );
    const prefix = calicoPrefix('BGPFilter');
    const follower = new KubeFollower({ access: { kubeconfig: cluster.api.kubeconfig() } }, [prefix]);
    expect((await follower.next('snapshot')).entries).toEqual([]);
    await createDefinitions(client, OLD_GROUP);
    await load(client, [resource('BGPFilter', 'f', {})]);
    await follower.holds(calicoKey('BGPFilter', 'f'), (value) => value !== undefined);
  });
});

const resource = (kind: string, name: string, spec: object, labels: object = {}): object => ({
  kind,
  apiVersion: 'projectcalico.org/v3',
  metadata: { name, labels },
  spec,
});

const EVERYTHING: readonly object[] = [
  {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name: 'n1',
      labels: { rack: 'kubernetes' },
      annotations: {
        'projectcalico.org/IPv4Address': '10.0.0.1/24',
        'projectcalico.org/ASNumber': '64999',
        'projectcalico.org/RouteReflectorClusterID': '1.0.0.1',
        'projectcalico.org/labels': '{"rack":"annotation"}',
      },
    },
  },
  resource('BGPPeer', 'p1', { peerIP: '192.0.2.1', asNumber: 65001 }),
  resource('BGPConfiguration', 'default', { asNumber: 64512 }),
  resource('BGPConfiguration', 'node.n1', { listenPort: 1179 }),
  resource('BGPFilter', 'f1', { exportV4: [{ action: 'Accept' }] }),
  resource('IPPool', 'pool', { cidr: '10.244.0.0/16' }),
  resource('BlockAffinity', 'n1-10-244-1-0-26', {
    node: 'n1',
    cidr: '10.244.1.0/26',
    state: 'confirmed',
    deleted: false,
  }),
  {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: { ports: [{ port: 80 }], clusterIP: '10.96.0.80' },
  },
  {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.1.5'], nodeName: 'n1', conditions: { ready: true } }],
    ports: [],
  },
];
