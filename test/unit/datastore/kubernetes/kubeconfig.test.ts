import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkAccess, openLogin } from '../../../../src/datastore/kubernetes/kubeconfig.ts';
import type { KubernetesAccess } from '../../../../src/datastore/kubernetes/options.ts';
import { KubeFollower, NO_ACCESS } from '../../../support/kube-follower.ts';
import { testDir } from '../../../support/tmp.ts';
import { until } from '../../../support/wait.ts';
import { failure, NODES, StandIn } from './stand-in.ts';

const NODE_KEYS = '/calico/resources/v3/projectcalico.org/nodes';
const access = (more: Partial<KubernetesAccess>): KubernetesAccess => ({ ...NO_ACCESS, ...more });

interface Parts {
  readonly name?: string;
  readonly server?: string;
  readonly cluster?: object;
  readonly user?: object;
  readonly current?: string;
}

function write(
  file: string,
  { name = 'a', server = 'https://api.example', current, ...parts }: Parts,
): string {
  const config = {
    'current-context': current ?? name,
    clusters: [{ name, cluster: { server, ...parts.cluster } }],
    users: [{ name, user: parts.user ?? {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function loginOf(kubeconfig: string, more: Partial<KubernetesAccess> = {}) {
  const login = await openLogin(access({ kubeconfig, ...more }), {});
  const [server] = login.servers;
  return { login, server, credentials: await login.credentials(server) };
}

describe('a kubeconfig', () => {
  it('says where the server is, and as whom we come', async () => {
    const dir = await testDir();
    const file = write(join(dir, 'config'), {
      server: 'https://rancher.example/k8s/clusters/c-1',
      cluster: { 'tls-server-name': 'other', 'insecure-skip-tls-verify': true },
      user: { token: 'secret', as: 'somebody' },
    });
    const { server, credentials } = await loginOf(file);
    expect(server.href).toBe('https://rancher.example/k8s/clusters/c-1');
    expect(credentials.headers).toEqual({ authorization: 'Bearer secret', 'impersonate-user': 'somebody' });
    expect(credentials.tls).toEqual({ servername: 'other', rejectUnauthorized: false });
    expect(credentials.proxy).toBeUndefined();
  });

  it('may be several files, of which the first with a name counts', async () => {
    const dir = await testDir();
    const first = write(join(dir, 'first'), {
      name: 'a',
      server: 'https://first.example',
      user: { token: 'one' },
    });
    const second = write(join(dir, 'second'), { name: 'b', server: 'https://second.example' });
    write(join(dir, 'third'), { name: 'a', server: 'https://third.example' });
    const files = [first, join(dir, 'absent'), second, join(dir, 'third')].join(':');
    expect((await loginOf(files)).server.origin).toBe('https://first.example');
    expect((await loginOf(files, { context: 'b' })).server.origin).toBe('https://second.example');
  });

  it('gives way to options', async () => {
    const dir = await testDir();
    const ca = join(dir, 'ca.pem');
    writeFileSync(ca, 'CERTIFICATE');
    const file = write(join(dir, 'config'), { cluster: { 'certificate-authority-data': 'eA==' } });
    const servers = ['https://one.example:6443', 'https://two.example:6443'];
    const { login, credentials } = await loginOf(file, { servers, caFile: ca });
    expect(login.servers.map(({ origin }) => origin)).toEqual(servers);
    expect(String(credentials.tls.ca)).toBe('CERTIFICATE');
  });

  it('has a token in a file beside it, which may end in a newline', async () => {
    const dir = await testDir();
    writeFileSync(join(dir, 'token'), 'one\n');
    const file = write(join(dir, 'config'), { user: { tokenFile: 'token' } });
    expect((await loginOf(file)).credentials.headers).toEqual({ authorization: 'Bearer one' });
  });

  it('has a name and a password', async () => {
    const file = write(join(await testDir(), 'config'), { user: { username: 'u', password: 'p' } });
    expect((await loginOf(file)).credentials.headers).toEqual({
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
    });
  });

  it('has a proxy', async () => {
    const file = write(join(await testDir(), 'config'), {
      cluster: { 'proxy-url': 'http://proxy.example:1' },
    });
    expect((await loginOf(file)).credentials.proxy).toBeDefined();
  });

  it('has a plugin beside it, which learns how to answer', async () => {
    const dir = await testDir();
    const seen = join(dir, 'seen');
    const answer = { kind: 'ExecCredential', status: { token: 'of-a-plugin' } };
    const script = `#!/bin/sh\nprintf %s "$KUBERNETES_EXEC_INFO" > ${seen}\necho '${JSON.stringify(answer)}'\n`;
    mkdirSync(join(dir, 'bin'));
    writeFileSync(join(dir, 'bin/plugin'), script, { mode: 0o755 });
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, command: 'bin/plugin', provideClusterInfo: true };
    const file = write(join(dir, 'config'), { user: { exec } });
    expect((await loginOf(file)).credentials.headers).toEqual({ authorization: 'Bearer of-a-plugin' });
    expect(JSON.parse(readFileSync(seen, 'utf8'))).toMatchObject({
      kind: 'ExecCredential',
      apiVersion,
      spec: { interactive: false, cluster: { server: 'https://api.example' } },
    });
  });

  it.each([
    ['is not there', () => 'absent', /^cannot read the kubeconfig .*absent: ENOENT/],
    ['is no YAML', (dir: string) => text(join(dir, 'c'), '{'), /^cannot read the kubeconfig .*c: /],
    [
      'lacks its context',
      (dir: string) => write(join(dir, 'c'), { current: 'x' }),
      /has no complete context "x": give one with --k8s-context$/,
    ],
    [
      'has a plugin that fails',
      (dir: string) =>
        write(join(dir, 'c'), {
          user: { exec: { command: 'sh', args: ['-c', 'echo no login >&2; exit 3'], env: [] } },
        }),
      /^no credentials for the Kubernetes API: the credential plugin sh failed: no login$/,
    ],
    [
      'has a token file that is gone',
      (dir: string) => write(join(dir, 'c'), { user: { tokenFile: '/nonexistent/token' } }),
      /^no credentials for the Kubernetes API: credentials cannot be read: ENOENT.*token/,
    ],
  ])('that %s is reported', async (_what, make, message) => {
    const dir = await testDir();
    const file = make(dir);
    await expect(loginOf(file)).rejects.toMatchObject({
      code: 'BF_DATASTORE_AUTH',
      message: expect.stringMatching(message),
    });
  });
});

function text(file: string, content: string): string {
  writeFileSync(file, content);
  return file;
}

describe('in a pod', () => {
  it('the service account is who we are', async () => {
    const dir = await testDir();
    writeFileSync(join(dir, 'token'), 'of-the-pod');
    writeFileSync(join(dir, 'ca.crt'), 'CERTIFICATE');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00:96::1', KUBERNETES_SERVICE_PORT: '443' };
    const login = await openLogin(NO_ACCESS, env, dir);
    expect(login.servers.map(({ href }) => href)).toEqual(['https://[fd00:96::1]/']);
    const { headers, tls } = await login.credentials(login.servers[0]);
    expect(headers).toEqual({ authorization: 'Bearer of-the-pod' });
    expect(String(tls.ca)).toBe('CERTIFICATE');
  });
});

describe('options that make no sense', () => {
  it.each([
    [{}, /^no Kubernetes cluster is given/],
    [{ servers: ['api.example'] }, /^"api.example" is no address of a Kubernetes API server/],
    [{ servers: ['https://api.example'], certFile: 'c' }, /needs both --k8s-cert-file and --k8s-key-file$/],
  ])('are refused at once: %j', (given, message) => {
    const check = (): void => checkAccess(access(given), { HOME: '/nonexistent' });
    expect(check).toThrow(message);
    expect(check).toThrow(expect.objectContaining({ code: 'BF_USAGE' }));
  });
});

describe('credentials that change', () => {
  it('are read again when the server no longer accepts those of before', async () => {
    const api = await StandIn.start();
    const dir = await testDir();
    let good = 'Bearer one';
    api.answer = ({ headers }) => (headers.authorization === good ? undefined : failure(401, 'Unauthorized'));
    writeFileSync(join(dir, 'token'), 'one');
    const kubeconfig = write(join(dir, 'config'), { server: api.url, user: { tokenFile: 'token' } });
    const follower = new KubeFollower({ access: { kubeconfig } }, [NODE_KEYS]);
    await until(() => api.watches.length === 1);
    good = 'Bearer two';
    writeFileSync(join(dir, 'token'), 'two');
    api.put(NODES, 'n1');
    api.watchOf(NODES)?.end();
    await until(() => api.callsTo(NODES).at(-1)?.headers.authorization === 'Bearer two');
    await until(() => Object.keys(follower.contents).length === 1);
  });

  it('are reported when they are not accepted, and tried again', async () => {
    const api = await StandIn.start();
    let isKnown = false;
    api.answer = () => (isKnown ? undefined : failure(401, 'Unauthorized'));
    const follower = new KubeFollower({ access: { servers: [api.url] } }, [NODE_KEYS]);
    const { error } = await follower.next('lost');
    expect([error.code, error.message]).toEqual([
      'BF_DATASTORE_AUTH',
      `the Kubernetes API at ${api.url} does not accept the credentials (token, client certificate or exec plugin): Unauthorized it is`,
    ]);
    isKnown = true;
    await follower.next('snapshot');
  });
});

/** The client package takes its time when it is loaded from its files. */
const PATIENT = { timeout: 20_000 };

describe('several API servers', () => {
  it('are tried in turn', async () => {
    const [one, two] = [await StandIn.start(), await StandIn.start()];
    const servers = [one.url, two.url];
    const follower = new KubeFollower({ access: { servers }, random: () => 0 }, [NODE_KEYS]);
    await until(() => one.watches.length === 1, PATIENT);
    one.close();
    await until(() => two.watches.length === 1, PATIENT);
    two.put(NODES, 'n1');
    await until(() => Object.keys(follower.contents).length === 1);
  });
});
