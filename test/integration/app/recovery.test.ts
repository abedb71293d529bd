import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, calicoPeer, fillEtcd, meshNode } from '../../support/calico.ts';
import { canMakeCertificates, createCa } from '../../support/certs.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import { canMount, mount, smallDisk } from '../generation/support.ts';
import {
  BIRD2,
  birdsHave,
  type Endpoint,
  etcdArgs,
  type Host,
  hostArgs,
  makeHost,
  onetime,
  ownTemplate,
  shippedTemplate,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());
beforeEach(() => fillEtcd(etcd.client, calicoMesh(3)));

const NO_RELOAD = ['--reload', 'none'];
const MESH = ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3'];

/** What a BIRD that starts now reads: which generation, and all its bytes. */
function served({ cache }: Host) {
  const link = readlinkSync(join(cache, 'current'));
  const names = readdirSync(join(cache, link)).sort();
  return { link, files: names.map((name) => [name, readFileSync(join(cache, link, name), 'utf8')]) };
}

async function publish(host: Host, from: Endpoint = etcd, more: readonly string[] = []): Promise<void> {
  expect(await onetime(host, from, [...NO_RELOAD, ...more])).toMatchObject({ code: 0 });
}

const degraded = (birdfeed: Birdfeed) =>
  birdfeed.reaches('degraded', ({ config }) => config.state === 'degraded');

describe('what is wrong with the input leaves the last good generation as it is, and ends when it is mended:', () => {
  it('a template that fails on new data', async () => {
    const host = await makeHost(BIRD2);
    const good = shippedTemplate('bird.conf.njk');
    const fails = `${good}{% if ipv4.sessions.length > 2 %}{{ node.nosuch.name }}{% endif %}\n`;
    const confdir = ownTemplate(host, 'bird.conf.njk', fails);
    const birdfeed = await startBirdfeed(host, etcd, [...NO_RELOAD, '--confdir', confdir]);
    await birdfeed.settled();
    const before = served(host);
    await etcd.client.put(...meshNode(4));
    const line = fails.trimEnd().split('\n').length;
    expect((await degraded(birdfeed)).config.reason).toMatch(
      new RegExp(`^bird\\.conf\\.njk:${line}:\\d+: .*nosuch`),
    );
    expect(served(host)).toEqual(before);
    ownTemplate(host, 'bird.conf.njk', good);
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2, sessions: 6 } });
  });

  it('a resource that does not validate, over a restart too', async () => {
    const host = await makeHost(BIRD2);
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 65001 }));
    const first = await startBirdfeed(host, etcd, NO_RELOAD);
    await first.settled();
    const before = served(host);
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 'many' }));
    expect((await degraded(first)).config.reason).toMatch(/^BGPPeer\/tor: .*asNumber/);
    expect(served(host)).toEqual(before);
    await first.kill9();
    const once = await onetime(host, etcd, NO_RELOAD);
    expect(once.code).toBe(0);
    expect(once.logs.find(({ level }) => level === 'warn')?.['reason']).toMatch(/^BGPPeer\/tor: .*asNumber/);
    expect(served(host)).toEqual(before);
    const second = await startBirdfeed(host, etcd, NO_RELOAD);
    await degraded(second);
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 65001 }));
    expect(await second.settled()).toMatchObject({ generation: { number: 1 } });
  });

  it('a fixture that is half-written at the start, which is not a deletion', async () => {
    const host = await makeHost(BIRD2);
    const folder = join(host.directory, 'fixtures');
    mkdirSync(folder);
    writeFileSync(join(folder, 'nodes.yaml'), meshNode(1)[1]);
    const peers = join(folder, 'peers.yaml');
    const whole = ['172.16.0.1', '172.16.0.2']
      .map((peerIP) => calicoPeer(peerIP, { peerIP, asNumber: 65001 })[1])
      .join('\n---\n');
    writeFileSync(peers, whole);
    const args = [...hostArgs(host), ...NO_RELOAD, '--fixtures', folder];
    const once = (wait: string) => runBirdfeed([...args, '--onetime', '--wait', wait, '--cache', host.cache]);
    expect(await once('20s')).toMatchObject({ code: 0 });
    const before = served(host);
    writeFileSync(peers, whole.slice(0, -20));
    const stays = /peers\.yaml:\d+:\d+: .*; generation 1 stays until the file can be read or is deleted$/;
    const result = await once('5s');
    expect(result.code).toBe(65);
    expect(result.logs.at(-1)?.['reason']).toMatch(stays);
    expect(served(host)).toEqual(before);
    const birdfeed = await Birdfeed.start(args, { cache: host.cache });
    expect((await degraded(birdfeed)).config.reason).toMatch(stays);
    expect(served(host)).toEqual(before);
    writeFileSync(peers, whole);
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 1 }, counters: { published: 0 } });
    // From now on it has a last good content.
    writeFileSync(peers, whole.slice(0, -20));
    expect((await degraded(birdfeed)).config.reason).toMatch(/: .*; its last good content stays in use$/);
    expect(served(host)).toEqual(before);
    rmSync(peers);
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2, sessions: 0 } });
  });
});

describe('what is wrong with the disk leaves the last good generation as it is, and ends by itself:', () => {
  async function hostOnDisk() {
    const disk = await smallDisk(512);
    const host = { ...(await makeHost(BIRD2)), cache: join(disk, 'cache') };
    await publish(host);
    await etcd.client.put(...meshNode(4));
    return { host, disk };
  }

  it.runIf(canMount())('no space at the start', async () => {
    const { host, disk } = await hostOnDisk();
    const before = served(host);
    const { bavail, bsize } = statfsSync(disk);
    // The state still fits, a generation does not.
    writeFileSync(join(disk, 'ballast'), Buffer.alloc((bavail - 2) * bsize));
    const birdfeed = await startBirdfeed(host, etcd, NO_RELOAD);
    const { config, generation } = await degraded(birdfeed);
    expect(config.reason).toMatch(/^cannot \w+ .*cache\/.*: ENOSPC; the file system is full: free space$/);
    expect(generation?.number).toBe(1);
    expect(served(host)).toEqual(before);
    rmSync(join(disk, 'ballast'));
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2, sessions: 6 } });
  });

  it.runIf(canMount())('mounted read-only: the watch ends with 73, too', async () => {
    const { host, disk } = await hostOnDisk();
    const before = served(host);
    await mount(disk, '-o', 'remount,ro');
    const args = [...hostArgs(host), ...etcdArgs(etcd), '--cache', host.cache, ...NO_RELOAD];
    const ended = await runBirdfeed(args);
    expect(ended.code).toBe(73);
    expect(ended.stderr).toMatch(/^birdfeed: .*cache\/lock: EROFS; .* read-only: mount it writable\n$/);
    expect(served(host)).toEqual(before);
    await mount(disk, '-o', 'remount,rw');
    await publish(host);
    expect(served(host).link).toBe('generations/00000002');
  });

  it('a cache that its user may not read: the watch ends with 77, too', async () => {
    const host = await makeHost(BIRD2);
    await publish(host);
    const before = served(host);
    chmodSync(host.cache, 0o000);
    const args = [...hostArgs(host), ...etcdArgs(etcd), '--cache', host.cache, ...NO_RELOAD];
    const ended = await runBirdfeed(args, { unprivileged: true });
    chmodSync(host.cache, 0o750);
    expect(ended.code).toBe(77);
    expect(ended.stderr).toMatch(
      /^birdfeed: .*cache\/lock: EACCES; give the user .* read and write access\n$/,
    );
    expect(served(host)).toEqual(before);
  });
});

describe('what is wrong with BIRD leaves the last good generation as it is, and ends by itself:', () => {
  it('a missing binary with --syntax-check required', async () => {
    const host = await makeHost(BIRD2);
    await publish(host);
    const before = served(host);
    await etcd.client.put(...meshNode(4));
    const binary = join(host.directory, 'bird');
    const args = [...NO_RELOAD, '--wait', '5s', '--syntax-check', 'required', '--bird-binary', binary];
    const reason = `not checked: there is no program ${binary} (--bird-binary), and no BIRD to ask; --syntax-check required publishes nothing unchecked`;
    const once = await onetime(host, etcd, args);
    expect(once.code).toBe(65);
    expect(once.logs.at(-1)).toMatchObject({ code: 'BF_CHECK_UNAVAILABLE', reason });
    const birdfeed = await startBirdfeed(host, etcd, args);
    expect((await degraded(birdfeed)).config.reason).toBe(reason);
    expect(served(host)).toEqual(before);
    symlinkSync(host.flavour.binary.bird, binary);
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2 } });
  });

  it('a control socket that we may not use', async () => {
    const host = await makeHost(BIRD2);
    const birds = await startBirds(host);
    const [socket] = host.sockets as [string];
    chmodSync(socket, 0o000);
    const { uid, gid } = { uid: process.getuid?.(), gid: process.getgid?.() };
    const message = new RegExp(
      `not permitted to use BIRD's control socket ${socket} \\(owner ${uid}, group ${gid}, mode 0000; we are uid ${uid}.*: add us to group ${gid}, or start BIRD with -g`,
    );
    const once = await onetime(host, etcd, ['--wait', '8s'], { unprivileged: true });
    expect(once.code).toBe(77);
    expect(once.logs.at(-1)).toMatchObject({ code: 'BF_BIRD_PERMISSION' });
    expect(once.logs.at(-1)?.['reason']).toMatch(message);
    const before = served(host);
    const birdfeed = await startBirdfeed(host, etcd, [], { unprivileged: true });
    const unknown = await birdfeed.reaches('fresh, BIRD unknown', ({ data, bird }) => {
      return data.state === 'fresh' && bird.state === 'unknown' && bird.reason !== null;
    });
    expect(unknown.bird.reason).toMatch(message);
    expect((await birdfeed.get('/readyz')).code).toBe(503);
    await birdsHave(birds, []);
    chmodSync(socket, 0o600);
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 1 } });
    await birdsHave(birds, MESH);
    expect(served(host)).toEqual(before);
  });
});

describe('what is wrong with the way into etcd leaves the last good generation as it is, and ends by itself:', () => {
  it('a user that etcd does not know', async () => {
    const locked = await EtcdServer.start(etcdBinary);
    onTestFinished(() => locked.close());
    await fillEtcd(locked.client, calicoMesh(3));
    const host = await makeHost(BIRD2);
    await publish(host, locked);
    const before = served(host);
    await locked.client.enableAuth('root-secret');
    const birdfeed = await startBirdfeed(host, locked, [
      ...NO_RELOAD,
      ...['--etcd-username', 'late', '--etcd-password', 'hush-hush'],
    ]);
    const status = await birdfeed.reaches('a reason', ({ data }) => data.reason !== null);
    expect(status.headline).toBe('cached');
    expect(status.data.reason).toBe(
      `etcd at ${locked.url} refused the user "late": unknown user or wrong password (--etcd-username, --etcd-password)`,
    );
    expect(served(host)).toEqual(before);
    await locked.client.addReader('late', 'hush-hush', '/calico/');
    expect(await birdfeed.settled({ timeout: 60_000 })).toMatchObject({ generation: { number: 1 } });
    expect(JSON.stringify([status, birdfeed.logs])).not.toContain('hush-hush');
  });

  it.runIf(canMakeCertificates())('a CA file that is missing, then wrong, then right', async () => {
    const [ours, theirs] = [await testDir(), await testDir()];
    const [right, wrong] = [await createCa(ours), await createCa(theirs)];
    const server = await right.issue('server');
    const secured = await EtcdServer.start(etcdBinary, { tls: { ca: right.ca, server } });
    onTestFinished(() => secured.close());
    await fillEtcd(secured.client, calicoMesh(3));
    const host = await makeHost(BIRD2);
    const file = join(host.directory, 'ca.pem');
    // etcd with a --trusted-ca-file demands a certificate of its clients.
    const { cert, key } = await right.issue('client');
    const tls = ['--etcd-ca-file', file, '--etcd-cert-file', cert, '--etcd-key-file', key];
    const birdfeed = await startBirdfeed(host, secured, [...NO_RELOAD, ...tls]);
    const because = (text: string) =>
      birdfeed.reaches(text, ({ data }) => data.state === 'starting' && data.reason?.includes(text), {
        timeout: 40_000,
      });
    await because(`cannot read ${file} (--etcd-ca-file)`);
    copyFileSync(wrong.ca, file);
    await because(
      `the certificate of etcd at ${secured.url} is not signed by the CA in ${file} (--etcd-ca-file)`,
    );
    expect(existsSync(join(host.cache, 'current'))).toBe(false);
    copyFileSync(right.ca, file);
    expect(await birdfeed.settled({ timeout: 60_000 })).toMatchObject({ generation: { number: 1 } });
  });
});
