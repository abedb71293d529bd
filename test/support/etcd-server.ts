import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EtcdBinary } from './binaries.ts';
import type { Certificate } from './certs.ts';
import { DaemonProcess } from './daemon-process.ts';
import { EtcdClient, type EtcdClientOptions } from './etcd-client.ts';
import { freePorts } from './ports.ts';
import { makeDir, removeDir } from './tmp.ts';
import { until } from './wait.ts';

export interface EtcdTls {
  /** Path of the certificate of the authority that both sides trust. */
  readonly ca: string;
  readonly server: Certificate;
  /** Demand a client certificate signed by `ca`. */
  readonly clientAuth?: boolean;
}

export interface EtcdOptions {
  readonly tls?: EtcdTls;
  /** Kind of authentication tokens, for tests that call `client.enableAuth`. Default: simple ones that live 300 s. */
  readonly token?: { readonly kind: 'simple' | 'jwt'; readonly ttlSeconds: number };
  /** More arguments for etcd. */
  readonly args?: readonly string[];
  /**
   * A network namespace to run in, and the address to serve on there. `client` then goes through a Unix socket, which is
   * in no namespace. For an etcd that is alone.
   */
  readonly place?: { readonly netns: string; readonly address: string };
}

interface MemberSpec {
  readonly name: string;
  readonly port: number;
  readonly peerPort: number;
  /** `NAME=PEER URL` of every member. */
  readonly initialCluster: string;
}

/** A real etcd with a data directory of its own, on 127.0.0.1 if nothing else is said, alone or a member of a cluster. */
export class EtcdServer {
  readonly name: string;
  readonly port: number;
  /** Client URL, as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly client: EtcdClient;
  readonly #binary: EtcdBinary;
  readonly #options: EtcdOptions;
  readonly #spec: MemberSpec;
  readonly #dir: string;
  readonly #socket: string | undefined;
  #clusterToken = 'birdfeed-test';
  #process: DaemonProcess;

  private constructor(binary: EtcdBinary, options: EtcdOptions, spec: MemberSpec, dir: string) {
    this.name = spec.name;
    this.port = spec.port;
    const host = options.place?.address ?? '127.0.0.1';
    this.url = `${options.tls === undefined ? 'http' : 'https'}://${host}:${spec.port}`;
    this.#socket = options.place === undefined ? undefined : join(dir, 'client.sock');
    this.client = new EtcdClient(this.url, {
      ...clientOptions(options.tls),
      ...(this.#socket === undefined ? {} : { socketPath: this.#socket }),
    });
    this.#binary = binary;
    this.#options = options;
    this.#spec = spec;
    this.#dir = dir;
    this.#process = this.#launch();
  }

  /** Starts one etcd and waits until it serves. */
  static async start(binary: EtcdBinary, options: EtcdOptions = {}): Promise<EtcdServer> {
    const [server] = await EtcdServer.startCluster(binary, 1, options);
    return server as EtcdServer;
  }

  /** Starts a cluster of `size` members and waits until each of them serves. */
  static async startCluster(
    binary: EtcdBinary,
    size: number,
    options: EtcdOptions = {},
  ): Promise<EtcdServer[]> {
    for (let attempt = 1; ; attempt += 1) {
      const servers = await EtcdServer.#launchCluster(binary, size, options);
      try {
        await Promise.all(servers.map((server) => server.#ready()));
        return servers;
      } catch (error) {
        const portTaken = servers.some((server) => server.output.includes('address already in use'));
        await Promise.all(servers.map((server) => server.close()));
        if (!portTaken || attempt === 3) throw error;
      }
    }
  }

  static async #launchCluster(binary: EtcdBinary, size: number, options: EtcdOptions): Promise<EtcdServer[]> {
    const ports = await freePorts(2 * size);
    const members = Array.from({ length: size }, (_, index) => ({
      name: `member${index + 1}`,
      port: ports[2 * index] as number,
      peerPort: ports[2 * index + 1] as number,
    }));
    const initialCluster = members.map((m) => `${m.name}=http://127.0.0.1:${m.peerPort}`).join(',');
    const dirs = await Promise.all(members.map(() => makeDir('bfe')));
    return members.map(
      (m, index) => new EtcdServer(binary, options, { ...m, initialCluster }, dirs[index] as string),
    );
  }

  get pid(): number {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  /** What etcd printed since its last start: warnings and errors. */
  get output(): string {
    return this.#process.output;
  }

  kill9(): Promise<void> {
    return this.#process.end('SIGKILL');
  }

  stop(): Promise<void> {
    return this.#process.end('SIGTERM');
  }

  /** Stops the process in place (SIGSTOP): connections stay open, nothing answers, the kernel goes on accepting. */
  pause(): Promise<void> {
    return this.#process.pause();
  }

  resume(): void {
    this.#process.signal('SIGCONT');
  }

  /** Saves what it holds now, and returns the path of the snapshot. Goes away with {@link close}. */
  async snapshot(): Promise<string> {
    const path = join(this.#dir, `snapshot-${randomUUID()}`);
    await this.#etcdctl('--endpoints', this.url, 'snapshot', 'save', path);
    return path;
  }

  /** Starts a single etcd again on what a snapshot holds: the revision goes back to where it was then. */
  async restore(snapshot: string): Promise<void> {
    await this.kill9();
    const data = join(this.#dir, 'data');
    await rm(data, { recursive: true, force: true });
    const peerUrl = `http://127.0.0.1:${this.#spec.peerPort}`;
    await this.#etcdctl(
      ...['snapshot', 'restore', snapshot, '--data-dir', data, '--name', this.name],
      ...['--initial-cluster', this.#spec.initialCluster, '--initial-cluster-token', this.#clusterToken],
      ...['--initial-advertise-peer-urls', peerUrl],
    );
    await this.restart();
  }

  async #etcdctl(...args: readonly string[]): Promise<void> {
    await promisify(execFile)(this.#binary.etcdctl, args, { env: { ...process.env, ETCDCTL_API: '3' } });
  }

  /**
   * Starts it on the same ports, killing what still runs. `wipe` empties the data directory first: the revision begins at
   * 1 again. With an unchanged `clusterToken` a wiped single server has the cluster id it had before, with another one
   * a new id. A wiped member of a larger cluster does not find back in by itself.
   */
  async restart(options: { wipe?: boolean; clusterToken?: string } = {}): Promise<void> {
    await this.kill9();
    if (options.wipe) await rm(join(this.#dir, 'data'), { recursive: true, force: true });
    this.#clusterToken = options.clusterToken ?? this.#clusterToken;
    this.#process = this.#launch();
    await this.#ready();
  }

  /** Ends it and removes its data. */
  async close(): Promise<void> {
    await this.kill9();
    await removeDir(this.#dir);
  }

  #launch(): DaemonProcess {
    const { name, peerPort, initialCluster } = this.#spec;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    const args = [
      ...['--name', name, '--data-dir', join(this.#dir, 'data')],
      ...['--listen-client-urls', this.#listen(), '--advertise-client-urls', this.url],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', initialCluster, '--initial-cluster-token', this.#clusterToken],
      ...['--logger', 'zap', '--log-level', 'warn'],
      ...this.#tokenArguments(),
      ...tlsArguments(this.#options.tls),
      ...(this.#options.args ?? []),
    ];
    const { place } = this.#options;
    // etcd cannot listen on a socket that an earlier one has left.
    if (this.#socket !== undefined) rmSync(this.#socket, { force: true });
    return new DaemonProcess(this.#binary.etcd, args, place === undefined ? {} : { netns: place.netns });
  }

  #listen(): string {
    return this.#socket === undefined ? this.url : `${this.url},unix://${this.#socket}`;
  }

  #tokenArguments(): string[] {
    const { token } = this.#options;
    if (token === undefined) return [];
    if (token.kind === 'simple')
      return ['--auth-token', 'simple', '--auth-token-ttl', String(token.ttlSeconds)];
    const [publicKey, privateKey] = [join(this.#dir, 'jwt-public.pem'), join(this.#dir, 'jwt-private.pem')];
    // Kept over restarts, as an operator's keys are: tokens handed out before stay good.
    if (!existsSync(privateKey)) writeJwtKeys(publicKey, privateKey);
    const settings = `pub-key=${publicKey},priv-key=${privateKey},sign-method=RS256,ttl=${token.ttlSeconds}s`;
    return ['--auth-token', `jwt,${settings}`];
  }

  /** A linearizable read is answered only when there is a leader; that authentication refuses it counts as an answer. */
  async #ready(): Promise<void> {
    const answers = () =>
      this.client.revision().then(
        () => true,
        (error: Error) => /with 40[013]/.test(error.message),
      );
    await this.#process.ready(answers, 30_000);
  }
}

/** The member that leads now. */
export async function leaderOf(members: readonly EtcdServer[]): Promise<EtcdServer> {
  return until(
    async () => {
      for (const member of members) {
        if (member.isRunning && (await member.client.isLeader().catch(() => false))) return member;
      }
      return undefined;
    },
    { timeout: 20_000, every: 50, what: 'a leader' },
  );
}

function writeJwtKeys(publicKey: string, privateKey: string): void {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  writeFileSync(publicKey, pair.publicKey);
  writeFileSync(privateKey, pair.privateKey);
}

function tlsArguments(tls: EtcdTls | undefined): string[] {
  if (tls === undefined) return [];
  const { cert, key } = tls.server;
  const server = ['--cert-file', cert, '--key-file', key, '--trusted-ca-file', tls.ca];
  return tls.clientAuth ? [...server, '--client-cert-auth'] : server;
}

/** The test's own client shows the server's certificate, which is good for both sides. */
function clientOptions(tls: EtcdTls | undefined): EtcdClientOptions {
  if (tls === undefined) return {};
  const [ca, cert, key] = [tls.ca, tls.server.cert, tls.server.key].map((path) => readFileSync(path));
  return { tls: { ca: ca as Buffer, cert: cert as Buffer, key: key as Buffer } };
}
