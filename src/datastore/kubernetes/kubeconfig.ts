import { existsSync, readFileSync } from 'node:fs';
import type { Agent, OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import { parse } from 'yaml';
import { sha256 } from '../../core/digest.ts';
import { BirdfeedError } from '../../core/errors.ts';
import type { KubernetesAccess } from './options.ts';
import { proxyFor } from './proxy.ts';
import { isObject, objectAt, textAt } from './shape.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Tls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'servername' | 'rejectUnauthorized'>;

/** What one request to an API server needs. */
export interface Credentials {
  /** `authorization`, and whom to impersonate. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Tls;
  /** Leads through the proxy, where one is to be used. */
  readonly proxy: Agent | undefined;
  /** Changes when certificates or keys do, which are shown once for each connection. */
  readonly fingerprint: string;
}

/** Who we are to which API servers. */
export interface Login {
  readonly servers: readonly [URL, ...URL[]];
  /** Reads files and runs plugins as needed. Throws BF_DATASTORE_AUTH or BF_DATASTORE_TLS. */
  credentials(server: URL): Promise<Credentials>;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Throws BF_USAGE when nothing says which cluster is meant, or an address makes no sense. */
export function checkAccess(access: KubernetesAccess, env: Environment): void {
  access.servers.forEach(parseServer);
  if ((access.certFile === null) !== (access.keyFile === null))
    throw usage('a client certificate for Kubernetes needs both --k8s-cert-file and --k8s-key-file');
  if (access.kubeconfig !== null || access.servers.length > 0 || env['KUBERNETES_SERVICE_HOST']) return;
  if (homeFile(env) === null)
    throw usage('no Kubernetes cluster is given: set --kubeconfig, or run in a pod with a service account');
}

/**
 * From a kubeconfig, else from the pod's service account, else from ~/.kube/config. Throws BF_DATASTORE_AUTH when a
 * kubeconfig cannot be read or has no usable context: that may change.
 */
export async function openLogin(
  access: KubernetesAccess,
  env: Environment,
  serviceAccount = SERVICE_ACCOUNT,
): Promise<Login> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const [cluster, user] = identityOf(access, env, serviceAccount, () => new KubeConfig());
  const servers = (access.servers.length > 0 ? access.servers : [cluster.server]).map(parseServer);
  const [first, ...others] = servers as [URL, ...URL[]];
  const configs = new Map<string, KubeConfig>();
  const configOf = (server: URL): KubeConfig => {
    const known = configs.get(server.href);
    if (known !== undefined) return known;
    const config = new KubeConfig();
    config.loadFromClusterAndUser(clusterAt(cluster, server, access, env), userWith(user, cluster, access));
    configs.set(server.href, config);
    return config;
  };
  return {
    servers: [first, ...others],
    credentials: (server) => credentialsOf(configOf(server), user),
  };
}

function identityOf(
  access: KubernetesAccess,
  env: Environment,
  serviceAccount: string,
  create: () => KubeConfig,
): [Cluster, User] {
  if (access.kubeconfig !== null) return fromFiles(access.kubeconfig.split(delimiter), access, create);
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (host) return fromPod(host, env['KUBERNETES_SERVICE_PORT'] ?? '443', serviceAccount);
  if (access.servers.length > 0)
    return [{ name: 'cluster', server: '', skipTLSVerify: false }, { name: 'user' }];
  return fromFiles([homeFile(env) ?? '~/.kube/config'], access, create);
}

function homeFile(env: Environment): string | null {
  const file = join(env['HOME'] ?? '/nonexistent', '.kube/config');
  return existsSync(file) ? file : null;
}

function fromPod(host: string, port: string, serviceAccount: string): [Cluster, User] {
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const config = { tokenFile: join(serviceAccount, 'token') };
  return [
    { name: 'pod', server, caFile: join(serviceAccount, 'ca.crt'), skipTLSVerify: false },
    { name: 'pod', authProvider: { name: 'tokenFile', config } },
  ];
}

/** As kubectl merges: of two entries of one name the first counts, and files that are not there are left out. */
function fromFiles(
  files: readonly string[],
  { context }: KubernetesAccess,
  create: () => KubeConfig,
): [Cluster, User] {
  const there = files.filter((file) => file !== '' && (files.length === 1 || existsSync(file)));
  if (there.length === 0) throw unusable(`none of the kubeconfig files ${files.join(delimiter)} is there`);
  const parts = there.map((file) => readFile(file, create));
  const merged = create();
  merged.loadFromOptions({
    clusters: parts.flatMap((part) => part.clusters),
    users: parts.flatMap((part) => part.users),
    contexts: parts.flatMap((part) => part.contexts),
    currentContext: context ?? parts.find((part) => part.currentContext)?.currentContext ?? '',
  });
  const [cluster, user] = [merged.getCurrentCluster(), merged.getCurrentUser()];
  if (cluster !== null && user !== null) return [cluster, user];
  const name = merged.currentContext;
  const what = name === '' ? 'has no current context' : `has no complete context ${JSON.stringify(name)}`;
  throw unusable(`${there.join(delimiter)} ${what}: give one with --k8s-context`);
}

function readFile(file: string, create: () => KubeConfig): KubeConfig {
  const config = create();
  try {
    config.loadFromFile(file);
    config.users = config.users.map((user) => completeUser(user, file));
  } catch (cause) {
    throw unusable(
      `cannot read the kubeconfig ${file}: ${cause instanceof Error ? cause.message : cause}`,
      cause,
    );
  }
  return config;
}

/** What the client package leaves out: a token in a file, and a plugin beside the kubeconfig. */
function completeUser(user: User, file: string): User {
  const absolute = (path: string): string => (isAbsolute(path) ? path : join(dirname(file), path));
  const tokenFile = textAt(rawUser(file, user.name), 'tokenFile');
  const withToken: User =
    tokenFile === '' || user.authProvider
      ? user
      : { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: absolute(tokenFile) } } };
  const command: unknown = user.exec?.command;
  if (typeof command !== 'string' || !command.includes('/')) return withToken;
  return { ...withToken, exec: { ...user.exec, command: absolute(command) } };
}

function rawUser(file: string, name: string): ReturnType<typeof objectAt> {
  const config: unknown = parse(readFileSync(file, 'utf8'));
  const users = isObject(config) && Array.isArray(config['users']) ? config['users'] : [];
  const found = users.filter(isObject).find((user) => textAt(user, 'name') === name);
  return objectAt(found ?? {}, 'user');
}

function clusterAt(cluster: Cluster, server: URL, access: KubernetesAccess, env: Environment): Cluster {
  const proxyUrl = cluster.proxyUrl ?? proxyFor(server, env);
  return {
    ...cluster,
    server: server.href,
    // The package refuses plain HTTP otherwise, where there is nothing to verify.
    skipTLSVerify: cluster.skipTLSVerify || access.insecure || server.protocol === 'http:',
    ...(access.caFile === null ? {} : { caFile: access.caFile }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
}

function userWith(user: User, cluster: Cluster, access: KubernetesAccess): User {
  return {
    ...user,
    ...(access.certFile === null ? {} : { certFile: access.certFile }),
    ...(access.keyFile === null ? {} : { keyFile: access.keyFile }),
    ...(user.exec ? { exec: withExecInfo(user.exec, cluster) } : {}),
  };
}

/** Plugins learn from KUBERNETES_EXEC_INFO which version of the protocol is spoken; the package does not set it. */
function withExecInfo(exec: User['exec'], cluster: Cluster): User['exec'] {
  const shown = {
    server: cluster.server,
    'insecure-skip-tls-verify': cluster.skipTLSVerify,
    'certificate-authority-data': cluster.caData,
  };
  const spec = { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: shown } : {}) };
  const info = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec };
  const env: unknown[] = Array.isArray(exec.env) ? exec.env : [];
  return { ...exec, env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }] };
}

async function credentialsOf(config: KubeConfig, user: User): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options).catch((cause: unknown) => {
    throw refused(user, cause);
  });
  const { ca, cert, key, passphrase, servername, rejectUnauthorized } = options;
  const tls = Object.fromEntries(
    Object.entries({ ca, cert, key, passphrase, servername, rejectUnauthorized }).filter(
      ([, value]) => value !== undefined && value !== null,
    ),
  ) as Tls;
  return {
    headers: plainHeaders((options.headers ?? {}) as OutgoingHttpHeaders, options.auth),
    tls,
    proxy: config.getCurrentCluster()?.proxyUrl ? (options.agent as Agent) : undefined,
    fingerprint: sha256(Buffer.from([ca, cert, key, servername, rejectUnauthorized].map(String).join('\n'))),
  };
}

/** A token file may end in a newline, which no header may. */
function plainHeaders(headers: OutgoingHttpHeaders, auth: string | null | undefined): Record<string, string> {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()]);
  const basic = auth ? [['authorization', `Basic ${Buffer.from(auth).toString('base64')}`]] : [];
  return Object.fromEntries([...all, ...basic]);
}

function refused(user: User, cause: unknown): BirdfeedError {
  const text = (cause instanceof Error ? cause.message : String(cause)).trim().split('\n')[0];
  const command: unknown = user.exec?.command;
  const what =
    typeof command === 'string' ? `the credential plugin ${command} failed` : 'credentials cannot be read';
  return new BirdfeedError('BF_DATASTORE_AUTH', `no credentials for the Kubernetes API: ${what}: ${text}`, {
    cause,
  });
}

function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw usage(`${JSON.stringify(text)} is no address of a Kubernetes API server: write https://HOST:6443`);
}

function usage(message: string): BirdfeedError {
  return new BirdfeedError('BF_USAGE', message);
}

function unusable(message: string, cause?: unknown): BirdfeedError {
  return new BirdfeedError('BF_DATASTORE_AUTH', message, { cause });
}
