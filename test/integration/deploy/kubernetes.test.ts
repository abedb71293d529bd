import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, skipSuite } from '../../support/binaries.ts';
import { birdCommand } from '../../support/bird-daemon.ts';
import { canMakeCertificates } from '../../support/certs.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { birdfeedImage, birdImage } from '../../support/image.ts';
import { createDefinitions, load } from '../../support/kube/load.mjs';
import { KubeApiServer, requireKubeApiServer, SIDECAR } from '../../support/kube-api-server.ts';
import { type Manifest, podOf, readManifests } from '../../support/manifests.ts';
import { canRunPods, Pod, type PodSpec } from '../../support/pod.ts';
import { freePort } from '../../support/ports.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

const apiServer = requireKubeApiServer();
const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
if (!canMakeCertificates()) skipSuite('openssl is missing');

const PLURALS: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  ConfigMap: 'configmaps',
  DaemonSet: 'daemonsets',
  Deployment: 'deployments',
  PodDisruptionBudget: 'poddisruptionbudgets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ServiceAccount: 'serviceaccounts',
};

/** The path that an object is created at. */
function collectionOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${root}${within}/${PLURALS[kind]}`;
}

let etcd: EtcdServer;
let kube: KubeApiServer;
beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
  kube = await KubeApiServer.start(apiServer, etcd);
}, 120_000);
afterAll(async () => {
  await kube?.close();
  await etcd?.close();
});

describe.each(['kubernetes.yaml', 'etcd.yaml', 'route-reflector.yaml'])('%s', (file) => {
  it.each(readManifests(file).map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
    'has a %s that the API server takes as it is',
    async (_name, object) => {
      const created = await kube.client.post(
        `${collectionOf(object)}?dryRun=All&fieldValidation=Strict`,
        object,
      );
      expect(created).toMatchObject({ kind: object.kind, metadata: { name: object.metadata.name } });
    },
  );
});

it('would not take what it does not know', async () => {
  const [object] = readManifests('etcd.yaml').filter(({ kind }) => kind === 'DaemonSet');
  const wrong = { ...object!, spec: { ...(object!['spec'] as object), maxSurge: 1 } };
  const path = `${collectionOf(object!)}?dryRun=All&fieldValidation=Strict`;
  await expect(kube.client.post(path, wrong)).rejects.toThrow(/unknown field "spec.maxSurge"/);
});

describe('the pod of kubernetes.yaml, with the rights that it has there and no others', () => {
  const birdBinary = requireBinary(binaries.bird217, 'bird217');
  if (!canRunPods()) skipSuite('containers cannot be run here (needs root and mount namespaces)');

  const CALICO = 'projectcalico.org/v3';
  const node = (name: string, address: string) => ({
    apiVersion: CALICO,
    kind: 'Node',
    metadata: { name },
    spec: { bgp: { ipv4Address: `${address}/24` } },
  });

  const manifests = readManifests('kubernetes.yaml');
  beforeAll(async () => {
    await createDefinitions(kube.client, 'crd.projectcalico.org/v1');
    for (const object of manifests.filter(({ apiVersion }) => apiVersion.startsWith('rbac.')))
      await kube.client.post(collectionOf(object), object);
  });

  it('reads the cluster and the Secret that it may read, and is ready', { timeout: 180_000 }, async () => {
    const password = { secretKeyRef: { name: 'bgp-passwords', key: 'mesh' } };
    await load(kube.client, [
      node('n1', '10.0.0.1'),
      node('n2', '10.0.0.2'),
      {
        apiVersion: CALICO,
        kind: 'BGPConfiguration',
        metadata: { name: 'default' },
        spec: { nodeMeshPassword: password, serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bgp-passwords' },
        stringData: { mesh: 'a password' },
      },
    ]);
    const dir = await testDir('bf-node');
    const spec = JSON.stringify(podOf(manifests)).replaceAll('9568', String(await freePort()));
    const pod = new Pod(JSON.parse(spec) as PodSpec, {
      dir,
      images: {
        'registry.example/birdfeed:0.1.0': birdfeedImage(dir),
        'registry.example/bird:2': birdImage(birdBinary),
      },
      nodeName: 'n1',
      serviceAccount: {
        token: SIDECAR.token,
        ca: readFileSync(kube.ca.ca, 'utf8'),
        namespace: 'kube-system',
        server: kube.url,
      },
    });
    await pod.init();
    const [bird, birdfeed] = [pod.start('bird'), pod.start('birdfeed')];
    onTestFinished(async () => void (await Promise.all([bird.end('SIGKILL'), birdfeed.end('SIGKILL')])));
    await until(() => pod.probe('birdfeed', 'readinessProbe'), { timeout: 60_000 });
    const { text } = await birdCommand(join(pod.volume('socket'), 'bird.ctl'), 'show protocols', 5_000);
    expect(text).toContain('Mesh_10_0_0_2');
    expect(readFileSync(join(pod.volume('cache'), 'current/bird.conf'), 'utf8')).toContain(
      'password "a password"',
    );
    const annotations = { 'projectcalico.org/IPv4Address': '10.0.0.3/24' };
    await kube.client.post('/api/v1/nodes', {
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name: 'n3', annotations },
    });
    await until(
      async () => {
        const answer = await birdCommand(join(pod.volume('socket'), 'bird.ctl'), 'show protocols', 5_000);
        return answer.text.includes('Mesh_10_0_0_3');
      },
      { timeout: 60_000 },
    );
    expect(birdfeed.output).not.toMatch(/forbidden/i);
  });
});
