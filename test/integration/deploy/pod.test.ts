import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, skipSuite } from '../../support/binaries.ts';
import { birdCommand } from '../../support/bird-daemon.ts';
import { calicoConfiguration, calicoMesh, fillEtcd, meshNode } from '../../support/calico.ts';
import { canMakeCertificates, createCa } from '../../support/certs.ts';
import type { DaemonProcess } from '../../support/daemon-process.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { birdfeedImage, birdImage } from '../../support/image.ts';
import { podOf, readManifests } from '../../support/manifests.ts';
import { canRunPods, type Image, Pod, type PodSpec } from '../../support/pod.ts';
import { freePort } from '../../support/ports.ts';
import { makeDir, removeDir, testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
const birdBinary = requireBinary(binaries.bird217, 'bird217');
if (!canRunPods()) skipSuite('containers cannot be run here (needs root and mount namespaces)');
if (!canMakeCertificates()) skipSuite('openssl is missing');

/** Each container starts a Node or two, and every look at the status one more. */
const LONG = { timeout: 180_000 };

const MESH = ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3'];

let shared: string;
let image: Image;
let etcd: EtcdServer;
let certificates: Record<string, string>;
let port: number;

beforeAll(async () => {
  shared = await makeDir('bf-pod');
  image = birdfeedImage(shared);
  const { ca, issue } = await createCa(shared);
  const [server, client] = [await issue('etcd'), await issue('birdfeed')];
  etcd = await EtcdServer.start(etcdBinary, { tls: { ca, server, clientAuth: true } });
  const text = (path: string) => readFileSync(path, 'utf8');
  certificates = { 'etcd-ca': text(ca), 'etcd-cert': text(client.cert), 'etcd-key': text(client.key) };
});
afterAll(async () => {
  await etcd?.close();
  await removeDir(shared);
});
beforeEach(async () => {
  port = await freePort();
  if (!etcd.isRunning) await etcd.restart();
  await fillEtcd(etcd.client, calicoMesh(3));
  await etcd.client.put(
    ...calicoConfiguration({ nodeMeshPassword: { secretKeyRef: { name: 'bgp-passwords', key: 'mesh' } } }),
  );
});

/** What deploy/kubernetes/etcd.yaml makes on the node n1 whose disk is `dir`, with a port that is free here. */
function podOn(dir: string): Pod {
  const spec = JSON.stringify(podOf(readManifests('etcd.yaml'))).replaceAll('9568', String(port));
  return new Pod(JSON.parse(spec) as PodSpec, {
    dir,
    images: { 'registry.example/birdfeed:0.1.0': image, 'registry.example/bird:2': birdImage(birdBinary) },
    nodeName: 'n1',
    objects: { 'calico-etcd-secrets': certificates, 'bgp-passwords': { mesh: 'a password' } },
    env: { ETCD_ENDPOINTS: etcd.url },
  });
}

function started(pod: Pod, name: string): DaemonProcess {
  const container = pod.start(name);
  onTestFinished(() => container.end('SIGKILL'));
  return container;
}

const show = (pod: Pod, command: string) =>
  birdCommand(join(pod.volume('socket'), 'bird.ctl'), command, 5_000);

async function birdHas(pod: Pod, sessions: readonly string[]): Promise<void> {
  await until(
    async () => {
      const { text } = await show(pod, 'show protocols');
      expect(text.match(/^(Mesh|Node|Global)_\S+/gm)?.sort()).toEqual([...sessions].sort());
      return true;
    },
    { timeout: 60_000, what: 'the sessions' },
  );
}

const becomesReady = (pod: Pod) =>
  until(() => pod.probe('birdfeed', 'readinessProbe'), { timeout: 60_000, what: 'the pod to be ready' });

it('gives BIRD a configuration before it starts, is ready, and passes changes on', LONG, async () => {
  const pod = podOn(await testDir('bf-node'));
  await pod.init();
  // Made for root by the kubelet, given away by the first container, and no password is for everybody to read.
  const { uid, gid, mode } = statSync(pod.volume('cache'));
  expect([uid, gid, mode & 0o777]).toEqual([65532, 65532, 0o750]);
  const file = join(pod.volume('cache'), 'current', 'bird.conf');
  expect(readFileSync(file, 'utf8')).toContain('password "a password"');
  expect(statSync(file).mode & 0o777).toBe(0o640);
  started(pod, 'bird');
  await birdHas(pod, MESH);
  started(pod, 'birdfeed');
  await becomesReady(pod);
  expect(await pod.probe('birdfeed', 'livenessProbe')).toBe(true);
  await etcd.client.put(...meshNode(4));
  await birdHas(pod, [...MESH, 'Mesh_10_0_0_4', 'Mesh_fd00__4']);
  const { output } = await pod.exec('birdfeed', ['birdfeed', 'status']);
  expect(output).toMatch(/^fresh .*\n(.*\n)*bird +applied /);
});

it(
  'comes up from the cache of the node while the datastore is down, and is not ready before it is back',
  LONG,
  async () => {
    const dir = await testDir('bf-node');
    await podOn(dir).init();
    await etcd.stop();
    const pod = podOn(dir);
    await pod.init();
    const [, birdfeed] = [started(pod, 'bird'), started(pod, 'birdfeed')];
    await birdHas(pod, MESH);
    await until(() => pod.probe('birdfeed', 'livenessProbe'), { timeout: 60_000 });
    await until(
      async () => (await pod.exec('birdfeed', ['birdfeed', 'status'])).output.startsWith('cached'),
      {
        timeout: 60_000,
      },
    );
    expect(await pod.probe('birdfeed', 'readinessProbe')).toBe(false);
    await etcd.restart();
    await becomesReady(pod);
    // From now on an outage does not take it out of service again.
    await etcd.stop();
    await until(async () => (await pod.exec('birdfeed', ['birdfeed', 'status'])).output.startsWith('stale'), {
      timeout: 60_000,
    });
    expect(await pod.probe('birdfeed', 'readinessProbe')).toBe(true);
    expect(birdfeed.isRunning).toBe(true);
  },
);

it(
  'does not start BIRD without a configuration: the init container tells the kubelet to try again',
  LONG,
  async () => {
    await etcd.stop();
    const pod = podOn(await testDir('bf-node'));
    await expect(pod.init()).rejects.toThrow(/birdfeed-once ended with 75/);
  },
);

it('ends BIRD so that it comes back by graceful restart, and birdfeed in order', LONG, async () => {
  const dir = await testDir('bf-node');
  const pod = podOn(dir);
  await pod.init();
  const bird = started(pod, 'bird');
  const birdfeed = started(pod, 'birdfeed');
  await becomesReady(pod);
  const { command } = pod.container('bird').lifecycle!.preStop!.exec;
  expect(await pod.exec('bird', command)).toMatchObject({
    code: 0,
    output: expect.stringContaining('raceful restart'),
  });
  await bird.ended();
  expect(bird.exit).toBe(0);
  birdfeed.signal('SIGTERM');
  await birdfeed.ended();
  expect(birdfeed.exit).toBe(0);
  const next = podOn(dir);
  started(next, 'bird');
  await until(async () =>
    (await show(next, 'show status')).text.includes('Graceful restart recovery in progress'),
  );
});
