import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, skipSuite } from '../../support/binaries.ts';
import { canMakeCertificates, createCa, readCertificate } from '../../support/certs.ts';
import { EtcdClient } from '../../support/etcd-client.ts';
import { EtcdServer, leaderOf } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

describe.each(['etcd34', 'etcd35'] as const)('%s', (key) => {
  const binary = requireBinary(binaries[key], key);
  let etcd: EtcdServer;
  beforeAll(async () => {
    etcd = await EtcdServer.start(binary);
  });
  afterAll(() => etcd?.close());

  it('stores, lists and deletes', async () => {
    await etcd.client.put('/a/1', 'één');
    await etcd.client.txn([{ put: ['/a/2', '2'] }, { put: ['/b', '3'] }, { del: '/none' }]);
    expect(await etcd.client.get('/a/1')).toBe('één');
    expect([...(await etcd.client.list('/a/'))]).toEqual([
      ['/a/1', 'één'],
      ['/a/2', '2'],
    ]);
    await etcd.client.delPrefix('/a/');
    expect([...(await etcd.client.list('')).keys()]).toEqual(['/b']);
  });

  it('is served by the etcdctl of the same release', async () => {
    await etcd.client.put('/ctl', 'yes');
    const { stdout } = await promisify(execFile)(binary.etcdctl, ['--endpoints', etcd.url, 'get', '/ctl'], {
      env: { ...process.env, ETCDCTL_API: '3' },
    });
    expect(stdout).toBe('/ctl\nyes\n');
  });

  it('takes more keys than one transaction may hold', async () => {
    await etcd.client.putAll(Array.from({ length: 300 }, (_, index) => [`/many/${index}`, 'x'] as const));
    expect((await etcd.client.list('/many/')).size).toBe(300);
  });

  it('keeps data, port and ids over kill -9, and loses them when wiped', async () => {
    await etcd.client.put('/kept', '1');
    const [clusterId, revision] = [await etcd.client.clusterId(), await etcd.client.revision()];
    await etcd.kill9();
    await expect(etcd.client.get('/kept')).rejects.toThrow('ECONNREFUSED');
    await etcd.restart();
    expect(await etcd.client.get('/kept')).toBe('1');
    expect([await etcd.client.clusterId(), await etcd.client.revision()]).toEqual([clusterId, revision]);

    await etcd.restart({ wipe: true });
    expect([await etcd.client.clusterId(), await etcd.client.revision()]).toEqual([clusterId, 1]);
    await etcd.restart({ wipe: true, clusterToken: 'another' });
    expect(await etcd.client.clusterId()).not.toBe(clusterId);
  });

  it('does not answer while paused and goes on afterwards', async () => {
    await etcd.client.put('/p', '1');
    await etcd.pause();
    onTestFinished(() => etcd.resume());
    let answered = false;
    const reading = etcd.client.get('/p').then((value) => {
      answered = true;
      return value;
    });
    await expect(until(() => answered, { timeout: 300 })).rejects.toThrow('gave up');
    etcd.resume();
    expect(await reading).toBe('1');
  });

  it('compacts history away', async () => {
    const old = await etcd.client.put('/c', '1');
    await etcd.client.put('/c', '2');
    await etcd.client.compact();
    await expect(etcd.client.compact(old)).rejects.toThrow('compacted');
  });
});

describe('etcd with authentication', () => {
  const binary = requireBinary(binaries.etcd34, 'etcd34');

  it.each(['simple', 'jwt'] as const)(
    'hands out %s tokens that run out, and refuses strangers',
    async (kind) => {
      const etcd = await EtcdServer.start(binary, { token: { kind, ttlSeconds: 1 } });
      onTestFinished(() => etcd.close());
      await etcd.client.enableAuth('secret');
      await etcd.client.addReader('reader', 'secret2', '/calico/');
      await etcd.client.put('/calico/a', '1');
      await expect(new EtcdClient(etcd.url).get('/calico/a')).rejects.toThrow('user name is empty');
      const first = etcd.client.token;
      await until(
        async () => {
          await etcd.client.get('/calico/a');
          return etcd.client.token !== first;
        },
        { timeout: 10_000, every: 2_500 },
      );
      await etcd.restart();
      expect(await etcd.client.get('/calico/a')).toBe('1');
    },
  );
});

describe('etcd with TLS', () => {
  const binary = requireBinary(binaries.etcd34, 'etcd34');
  if (!canMakeCertificates()) skipSuite('certificates cannot be made here (needs openssl)');

  it('demands a client certificate of the same authority', async () => {
    const authority = await createCa(await testDir());
    const server = await authority.issue('server');
    const etcd = await EtcdServer.start(binary, { tls: { ca: authority.ca, server, clientAuth: true } });
    onTestFinished(() => etcd.close());
    await etcd.client.put('/tls', '1');
    expect(await etcd.client.get('/tls')).toBe('1');

    const { cert: ca } = await readCertificate({ cert: authority.ca, key: server.key });
    await expect(new EtcdClient(etcd.url, { tls: { ca } }).get('/tls')).rejects.toThrow(
      /alert|ECONNRESET|EPIPE/,
    );
    const stranger = await createCa(await testDir());
    const other = await readCertificate(await stranger.issue('stranger'));
    await expect(new EtcdClient(etcd.url, { tls: { ca, ...other } }).get('/tls')).rejects.toThrow(
      /alert|ECONNRESET|EPIPE/,
    );
    await expect(new EtcdClient(etcd.url).get('/tls')).rejects.toThrow();
  });
});

describe('an etcd cluster of three', () => {
  const binary = requireBinary(binaries.etcd34, 'etcd34');

  it('survives the loss of its leader', async () => {
    const members = await EtcdServer.startCluster(binary, 3);
    onTestFinished(async () => void (await Promise.all(members.map((member) => member.close()))));
    await members[0]?.client.put('/shared', '1');
    const leader = await leaderOf(members);
    await leader.kill9();
    const rest = members.filter((member) => member !== leader);
    expect(await leaderOf(rest)).not.toBe(leader);
    await until(async () => (await rest[0]?.client.get('/shared')) === '1', { timeout: 10_000, every: 100 });
    await leader.restart();
    expect(await leader.client.get('/shared')).toBe('1');
  });
});
