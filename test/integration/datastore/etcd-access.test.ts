import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { EtcdOptions } from '../../../src/datastore/etcd/options.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { type Certificate, createCa, type TestCa } from '../../support/certs.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { Follower } from './etcd-follower.ts';

const binary = requireBinary(binaries.etcd34, 'etcd34');

describe('a login', () => {
  async function start(
    token: 'simple' | 'jwt',
    ttlSeconds = 300,
  ): Promise<{ etcd: EtcdServer; proxy: FaultProxy; url: string }> {
    const etcd = await EtcdServer.start(binary, { token: { kind: token, ttlSeconds } });
    const proxy = await FaultProxy.start(etcd.port);
    onTestFinished(async () => {
      await proxy.close();
      await etcd.close();
    });
    return { etcd, proxy, url: `http://127.0.0.1:${proxy.port}` };
  }

  it.each(['simple', 'jwt'] as const)(
    'with a %s token is renewed when it runs out, for the watch too',
    async (kind) => {
      const { etcd, proxy, url } = await start(kind, 2);
      await etcd.client.enableAuth('root-pw');
      await etcd.client.addReader('app', 'app-pw', '/a');
      await etcd.client.put('/a/1', 'one');
      const follower = new Follower({ endpoints: [url], username: 'app', password: 'app-pw' }, ['/a']);
      await follower.reads('/a/1', 'one');
      // Longer than the token lives; an open stream is not touched by that.
      const waited = performance.now();
      await until(() => performance.now() - waited > 3_500, { timeout: 5_000 });
      await etcd.client.put('/a/1', 'two');
      await follower.reads('/a/1', 'two');
      expect(follower.all('lost')).toEqual([]);
      follower.source.relist();
      await until(() => follower.all('snapshot').length === 2);
      proxy.cut();
      await follower.next('connected');
      await etcd.client.put('/a/1', 'three');
      await follower.reads('/a/1', 'three');
      expect(new Set(follower.all('lost').map(({ error }) => error.code))).toEqual(
        new Set(['BF_DATASTORE_UNREACHABLE']),
      );
    },
  );

  it('with a wrong password is reported once and tried again', async () => {
    const { etcd, url } = await start('simple');
    await etcd.client.enableAuth('root-pw');
    const follower = new Follower({ endpoints: [url], username: 'app', password: 'app-pw' }, ['/a']);
    const { error } = await follower.next('lost');
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_AUTH',
      `etcd at ${url} refused the user "app": unknown user or wrong password (--etcd-username, --etcd-password)`,
    ]);
    const refused = performance.now();
    await until(() => performance.now() - refused > 1_500, { timeout: 3_000 });
    expect(follower.all('lost')).toHaveLength(1);
    await etcd.client.put('/a/1', 'one');
    await etcd.client.addReader('app', 'app-pw', '/a');
    await follower.reads('/a/1', 'one');
  });

  it('without the right to read a mount names what is missing', async () => {
    const { etcd, url } = await start('simple');
    await etcd.client.enableAuth('root-pw');
    await etcd.client.addReader('app', 'app-pw', '/other');
    const follower = new Follower({ endpoints: [url], username: 'app', password: 'app-pw' }, ['/a']);
    const { error } = await follower.next('lost');
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_AUTH',
      expect.stringContaining('read permission'),
    ]);
  });

  it('that is missing is asked for', async () => {
    const { etcd, url } = await start('simple');
    await etcd.client.enableAuth('root-pw');
    const follower = new Follower({ endpoints: [url] }, ['/a']);
    const { error } = await follower.next('lost');
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_AUTH',
      `etcd at ${url} demands a login: give --etcd-username and --etcd-password`,
    ]);
  });

  it('is not needed while authentication is off, and used once it is on', async () => {
    const { etcd, proxy, url } = await start('simple');
    await etcd.client.put('/a/1', 'one');
    const follower = new Follower({ endpoints: [url], username: 'root', password: 'root-pw' }, ['/a']);
    await follower.reads('/a/1', 'one');
    expect(follower.all('lost')).toEqual([]);
    await etcd.client.enableAuth('root-pw');
    proxy.cut();
    await follower.next('connected');
    await etcd.client.put('/a/1', 'two');
    await follower.reads('/a/1', 'two');
  });
});

describe('TLS', () => {
  let dir: string;
  let ca: TestCa;
  let otherCa: TestCa;
  let client: Certificate;
  let stranger: Certificate;
  let etcd: EtcdServer;
  let mutual: EtcdServer;

  beforeAll(async () => {
    dir = await makeDir('bft');
    const otherDir = await makeDir('bft');
    ca = await createCa(dir);
    otherCa = await createCa(otherDir);
    const server = await ca.issue('server');
    client = await ca.issue('client');
    stranger = await otherCa.issue('stranger');
    // With a trusted CA, etcd demands client certificates whether it is told to or not.
    etcd = await EtcdServer.start(binary, { tls: { ca: ca.ca, server }, args: ['--trusted-ca-file', ''] });
    mutual = await EtcdServer.start(binary, { tls: { ca: ca.ca, server, clientAuth: true } });
  });
  afterAll(async () => {
    await Promise.all([etcd.close(), mutual.close()]);
    await Promise.all([dir, join(otherCa.ca, '..')].map(removeDir));
  });

  const mine = () => ({ certFile: client.cert, keyFile: client.key });

  it('works with a CA file, and with a client certificate', async () => {
    await etcd.client.put('/a/1', 'one');
    await mutual.client.put('/a/1', 'one');
    // Megabytes take their time on a busy machine.
    const timings = { callMs: 10_000, deadMs: 30_000 };
    const plain = new Follower({ endpoints: [etcd.url], tls: { caFile: ca.ca }, timings }, ['/a']);
    const tls = { caFile: ca.ca, ...mine() };
    const both = new Follower({ endpoints: [mutual.url], tls, timings }, ['/a']);
    for (const [follower, server] of [
      [plain, etcd],
      [both, mutual],
    ] as const) {
      await follower.reads('/a/1', 'one');
      // Larger than a window of HTTP/2 and a record of TLS.
      const large = 'x'.repeat(1_400_000);
      for (let at = 0; at < 6; at += 1) await server.client.put(`/a/large/${at}`, large);
      await follower.reads('/a/large/5', large);
      follower.source.relist();
      await until(() => follower.all('snapshot').length === 2);
      await server.client.put('/a/1', 'two');
      await follower.reads('/a/1', 'two');
      expect(follower.all('lost').map(({ error }) => error.message)).toEqual([]);
    }
  });

  const lossWith = async (options: EtcdOptions) => {
    const follower = new Follower(options, ['/a']);
    const { error } = await follower.next('lost');
    // The cause stays the same from try to try: told once.
    const started = performance.now();
    await until(() => performance.now() - started > 1_200, { timeout: 3_000 });
    expect(follower.all('lost').map((event) => event.error.message)).toEqual([error.message]);
    return error;
  };

  it('says which CA file does not fit', async () => {
    const error = await lossWith({ endpoints: [etcd.url], tls: { caFile: otherCa.ca } });
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringContaining(
        `the certificate of etcd at ${etcd.url} is not signed by the CA in ${otherCa.ca} (--etcd-ca-file)`,
      ),
    ]);
  });

  it('says that a CA file is missing', async () => {
    const error = await lossWith({ endpoints: [etcd.url] });
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringContaining('give its CA with --etcd-ca-file'),
    ]);
  });

  it('says that a client certificate is demanded', async () => {
    const error = await lossWith({ endpoints: [mutual.url], tls: { caFile: ca.ca } });
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringContaining(
        `etcd at ${mutual.url} demands a client certificate: give --etcd-cert-file and --etcd-key-file`,
      ),
    ]);
  });

  it('says that the client certificate was refused', async () => {
    const tls = { caFile: ca.ca, certFile: stranger.cert, keyFile: stranger.key };
    const error = await lossWith({ endpoints: [mutual.url], tls });
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringContaining(`refused the client certificate in ${stranger.cert} (--etcd-cert-file)`),
    ]);
  });

  it('says that the certificate is for another name', async () => {
    // 127.0.0.2 is this machine, too, but the certificate does not say so.
    const url = etcd.url.replace('127.0.0.1', '127.0.0.2');
    const proxy = createServer((socket) => {
      const server = connect(etcd.port, '127.0.0.1');
      socket
        .on('error', () => server.destroy())
        .pipe(server.on('error', () => socket.destroy()))
        .pipe(socket);
    }).listen(etcd.port, '127.0.0.2');
    await once(proxy, 'listening');
    onTestFinished(() => void proxy.close());
    const error = await lossWith({ endpoints: [url], tls: { caFile: ca.ca } });
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringContaining('is for another name'),
    ]);
  });

  it('says when http:// or https:// is the wrong one', async () => {
    const plain = await EtcdServer.start(binary);
    onTestFinished(() => plain.close());
    const wrongHttps = await lossWith({
      endpoints: [plain.url.replace('http:', 'https:')],
      tls: { caFile: ca.ca },
    });
    expect([wrongHttps.code, wrongHttps.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringContaining('write http://'),
    ]);
    const wrongHttp = await lossWith({ endpoints: [etcd.url.replace('https:', 'http:')] });
    expect([wrongHttp.code, wrongHttp.message]).toEqual([
      'BF_DATASTORE_UNREACHABLE',
      expect.stringContaining('write https://'),
    ]);
  });

  it('takes files that are put right while it runs', async () => {
    await mutual.client.put('/a/1', 'one');
    const files = {
      caFile: join(dir, 'run-ca.pem'),
      certFile: join(dir, 'run.pem'),
      keyFile: join(dir, 'run-key.pem'),
    };
    const follower = new Follower({ endpoints: [mutual.url], tls: files }, ['/a']);
    const { error } = await follower.next('lost');
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_TLS',
      expect.stringMatching(/^cannot read .*run.*\.pem \(--etcd-/),
    ]);
    await writeFile(files.caFile, 'not PEM');
    await copyFile(stranger.cert, files.certFile);
    await copyFile(client.key, files.keyFile);
    await until(() =>
      follower
        .all('lost')
        .some((event) => event.error.message === `${files.caFile} (--etcd-ca-file) is no PEM file`),
    );
    await copyFile(ca.ca, files.caFile);
    await until(() =>
      follower.all('lost').some((event) => event.error.message.includes('do not go together')),
    );
    await copyFile(client.cert, files.certFile);
    await follower.reads('/a/1', 'one');
  });

  it('takes a new CA and certificate at the next connection', async () => {
    const files = {
      caFile: join(dir, 'rot-ca.pem'),
      certFile: join(dir, 'rot.pem'),
      keyFile: join(dir, 'rot-key.pem'),
    };
    await copyFile(ca.ca, files.caFile);
    await copyFile(client.cert, files.certFile);
    await copyFile(client.key, files.keyFile);
    const proxy = await FaultProxy.start(mutual.port);
    onTestFinished(() => proxy.close());
    const follower = new Follower({ endpoints: [`https://127.0.0.1:${proxy.port}`], tls: files }, ['/a']);
    await follower.next('snapshot');
    const other = await EtcdServer.start(binary, {
      tls: { ca: otherCa.ca, server: stranger, clientAuth: true },
    });
    onTestFinished(() => other.close());
    await other.client.put('/a/other', 'x');
    proxy.target = other.port;
    proxy.cut();
    await until(() => follower.all('lost').some((event) => event.error.code === 'BF_DATASTORE_TLS'));
    await copyFile(otherCa.ca, files.caFile);
    await copyFile(stranger.cert, files.certFile);
    await copyFile(stranger.key, files.keyFile);
    await follower.reads('/a/other', 'x');
  });
});
