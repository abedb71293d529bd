import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { skipSuite } from './binaries.ts';
import { type Certificate, createCa, type TestCa } from './certs.ts';
import { DaemonProcess } from './daemon-process.ts';
import type { EtcdServer } from './etcd-server.ts';
import { KubeClient } from './kube/client.mjs';
import { freePort } from './ports.ts';
import { makeDir, removeDir } from './tmp.ts';
import { until } from './wait.ts';

const BUILD = fileURLToPath(new URL('kube-apiserver/build.sh', import.meta.url));

/**
 * The path of the kube-apiserver that `test/support/kube-apiserver` pins. Builds nothing: where it has not been built, the
 * file or suite being collected is skipped, and the reason says how.
 */
export function requireKubeApiServer(): string {
  const { status, stdout, stderr } = spawnSync(BUILD, ['--built'], { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  skipSuite(`kube-apiserver is missing: ${stderr.trim()}`, false);
  return 'missing-kube-apiserver';
}

/** A user of the API server, with a token. */
export interface KubeUser {
  readonly name: string;
  readonly token: string;
  readonly groups: readonly string[];
}

const ADMIN: KubeUser = { name: 'admin', token: 'admin-token', groups: ['system:masters'] };
/** As a service account: known to all, allowed nothing by itself. */
export const SIDECAR: KubeUser = {
  name: 'system:serviceaccount:kube-system:birdfeed',
  token: 'birdfeed-token',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};

export interface KubeOptions {
  readonly args?: readonly string[];
}

/** A real kube-apiserver on 127.0.0.1, with its data in an etcd under a prefix of its own, and RBAC. */
export class KubeApiServer {
  readonly port: number;
  readonly url: string;
  readonly ca: TestCa;
  /** As an administrator. */
  readonly client: KubeClient;
  readonly #binary: string;
  readonly #etcd: EtcdServer;
  readonly #dir: string;
  readonly #serving: Certificate;
  readonly #options: KubeOptions;
  readonly #prefix = `/registry-${randomBytes(4).toString('hex')}`;
  #process: DaemonProcess;

  private constructor(parts: {
    binary: string;
    etcd: EtcdServer;
    dir: string;
    ca: TestCa;
    serving: Certificate;
    port: number;
    options: KubeOptions;
  }) {
    this.port = parts.port;
    this.url = `https://127.0.0.1:${parts.port}`;
    this.ca = parts.ca;
    this.#binary = parts.binary;
    this.#etcd = parts.etcd;
    this.#dir = parts.dir;
    this.#serving = parts.serving;
    this.#options = parts.options;
    this.client = new KubeClient({ url: this.url, ca: readFileSync(parts.ca.ca), token: ADMIN.token });
    this.#process = this.#launch();
  }

  /** Starts one and waits until it serves, RBAC's own roles included. */
  static async start(binary: string, etcd: EtcdServer, options: KubeOptions = {}): Promise<KubeApiServer> {
    const dir = await makeDir('bfk');
    const ca = await createCa(dir);
    const serving = await ca.issue('kube-apiserver');
    writeServiceAccountKeys(dir);
    const users = [ADMIN, SIDECAR].map(
      ({ name, token, groups }) => `${token},${name},uid-of-${token},"${groups.join(',')}"`,
    );
    writeFileSync(join(dir, 'tokens.csv'), `${users.join('\n')}\n`, { mode: 0o600 });
    const server = new KubeApiServer({ binary, etcd, dir, ca, serving, port: await freePort(), options });
    try {
      await server.#ready();
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  get output(): string {
    return this.#process.output;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Writes a kubeconfig and returns its path. `server` instead of this one's address: a proxy in front of it. */
  kubeconfig(user: KubeUser = SIDECAR, server = this.url): string {
    const file = join(this.#dir, `kubeconfig-${user.token}-${new URL(server).port}`);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority': this.ca.ca } }],
      users: [{ name: 'test', user: { token: user.token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  /** That of somebody who may do everything. */
  get adminKubeconfig(): string {
    return this.kubeconfig(ADMIN);
  }

  kill9(): Promise<void> {
    return this.#process.end('SIGKILL');
  }

  pause(): Promise<void> {
    return this.#process.pause();
  }

  resume(): void {
    this.#process.signal('SIGCONT');
  }

  /** Starts it again on the same port and data. */
  async restart(): Promise<void> {
    await this.kill9();
    this.#process = this.#launch();
    await this.#ready();
  }

  async close(): Promise<void> {
    this.client.close();
    await this.kill9();
    await removeDir(this.#dir);
  }

  #launch(): DaemonProcess {
    const at = (name: string): string => join(this.#dir, name);
    return new DaemonProcess(this.#binary, [
      ...['--etcd-servers', this.#etcd.url, '--etcd-prefix', this.#prefix],
      ...['--bind-address', '127.0.0.1', '--secure-port', String(this.port), '--cert-dir', this.#dir],
      ...['--tls-cert-file', this.#serving.cert, '--tls-private-key-file', this.#serving.key],
      ...['--client-ca-file', this.ca.ca, '--token-auth-file', at('tokens.csv')],
      ...['--authorization-mode', 'RBAC', '--anonymous-auth=false'],
      ...['--service-account-issuer', 'https://kubernetes.default.svc'],
      ...['--service-account-key-file', at('sa.pub'), '--service-account-signing-key-file', at('sa.key')],
      ...['--service-cluster-ip-range', '10.96.0.0/12,fd00:96::/112'],
      // Nobody reaches this server through a Service, and no controller manager is there for accounts and tokens.
      ...['--endpoint-reconciler-type', 'none', '--disable-admission-plugins', 'ServiceAccount'],
      ...(this.#options.args ?? []),
    ]);
  }

  async #ready(): Promise<void> {
    const answers = (): Promise<boolean> =>
      this.client.get('/readyz').then(
        () => true,
        () => false,
      );
    await this.#process.ready(answers, 60_000);
    await until(() => this.client.get('/api/v1/namespaces/kube-system'), { timeout: 30_000, every: 50 });
  }
}

function writeServiceAccountKeys(dir: string): void {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  writeFileSync(join(dir, 'sa.pub'), publicKey);
  writeFileSync(join(dir, 'sa.key'), privateKey, { mode: 0o600 });
}
