import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { calicoPrefix } from '../../../src/datastore/keys.ts';
import { createCa } from '../../support/certs.ts';
import { SIDECAR } from '../../support/kube-api-server.ts';
import { type KubeCluster, requireCluster } from '../../support/kube-cluster.ts';
import { KubeFollower } from '../../support/kube-follower.ts';
import { testDir } from '../../support/tmp.ts';

const required = requireCluster();
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start();
});
afterAll(() => cluster?.close());

const NODES = calicoPrefix('Node');

interface Parts {
  readonly cluster?: object;
  readonly user: object;
}

async function kubeconfig(dir: string, { user, ...parts }: Parts): Promise<string> {
  const file = join(dir, 'kubeconfig');
  const { url, ca } = cluster.api;
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': ca.ca, ...parts.cluster } }],
    users: [{ name: 'c', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function firstLoss(access: Parts): Promise<{ code: string; message: string }> {
  const file = await kubeconfig(await testDir(), access);
  const follower = new KubeFollower({ access: { kubeconfig: file } }, [NODES]);
  const { error } = await follower.next('lost');
  return { code: error.code, message: error.message };
}

describe('a real API server', () => {
  it('lets in who has a token in a file, also one that is right only later', async () => {
    const dir = await testDir();
    writeFileSync(join(dir, 'token'), 'wrong');
    const file = await kubeconfig(dir, { user: { tokenFile: 'token' } });
    const follower = new KubeFollower({ access: { kubeconfig: file } }, [NODES]);
    const { error } = await follower.next('lost');
    expect(error.message).toContain('does not accept the credentials');
    writeFileSync(join(dir, 'token'), `${SIDECAR.token}\n`);
    await follower.next('snapshot');
  });

  it('lets in who has a client certificate, and says who that is', async () => {
    const { cert, key } = await cluster.api.ca.issue('somebody');
    const { code, message } = await firstLoss({ user: { 'client-certificate': cert, 'client-key': key } });
    expect(code).toBe('BF_DATASTORE_AUTH');
    expect(message).toContain('User "somebody" cannot list resource "nodes"');
  });

  it('lets in who has a plugin', async () => {
    const dir = await testDir();
    const status = { token: SIDECAR.token, expirationTimestamp: '2036-01-01T00:00:00Z' };
    const answer = JSON.stringify({ kind: 'ExecCredential', status });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [answer] };
    const file = await kubeconfig(dir, { user: { exec } });
    await new KubeFollower({ access: { kubeconfig: file } }, [NODES]).next('snapshot');
  });

  it('is reached through a proxy', async () => {
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      const [, port] = (request.url ?? '').split(':');
      const upstream = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [socket, upstream]) end.on('error', () => {});
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => {
      proxy.close();
      proxy.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const user = { token: SIDECAR.token };
    const file = await kubeconfig(await testDir(), { cluster: { 'proxy-url': url }, user });
    const follower = new KubeFollower({ access: { kubeconfig: file } }, [NODES]);
    await follower.next('snapshot');
    expect(asked[0]).toBe(`127.0.0.1:${cluster.api.port}`);
    expect(follower.all('lost')).toEqual([]);
  });

  it('is not believed without the CA that signed its certificate', async () => {
    const { ca } = await createCa(await testDir());
    const user = { token: SIDECAR.token };
    const { code, message } = await firstLoss({ cluster: { 'certificate-authority': ca }, user });
    expect(code).toBe('BF_DATASTORE_TLS');
    expect(message).toMatch(/is not signed by the CA of the kubeconfig/);
    const file = await kubeconfig(await testDir(), {
      cluster: { 'certificate-authority': ca },
      user,
    });
    const right = { kubeconfig: file, caFile: cluster.api.ca.ca };
    await new KubeFollower({ access: right }, [NODES]).next('snapshot');
    const trusting = { kubeconfig: await insecure(user), insecure: true };
    await new KubeFollower({ access: trusting }, [NODES]).next('snapshot');
  });

  it('is found by the next address when the first one is dead', async () => {
    const access = {
      kubeconfig: cluster.api.kubeconfig(),
      servers: ['https://127.0.0.1:1', cluster.api.url],
    };
    await new KubeFollower({ access, random: () => 0 }, [NODES]).next('snapshot', '', 0, 2_000);
  });
});

async function insecure(user: object): Promise<string> {
  const dir = await testDir();
  const file = await kubeconfig(dir, { user });
  const config = JSON.parse(readFileSync(file, 'utf8'));
  delete config.clusters[0].cluster['certificate-authority'];
  writeFileSync(file, JSON.stringify(config));
  return file;
}
