import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { binaries, type EtcdBinary, requireBinary } from './binaries.ts';
import { EtcdServer } from './etcd-server.ts';
import { createDefinitions } from './kube/load.mjs';
import { KubeApiServer, type KubeOptions, requireKubeApiServer } from './kube-api-server.ts';
import { makeDir, removeDir } from './tmp.ts';

/** `crd.projectcalico.org/v1`, which most clusters have. */
export const OLD_GROUP = 'crd.projectcalico.org/v1';
export const NEW_GROUP = 'projectcalico.org/v3';

const RBAC = new URL('../../deploy/kubernetes/rbac.yaml', import.meta.url);

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

interface RbacObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

/** What deploy/kubernetes/rbac.yaml has. */
export function rbacObjects(): readonly RbacObject[] {
  return parseAllDocuments(readFileSync(RBAC, 'utf8')).map((document) => document.toJS() as RbacObject);
}

/** An etcd and an API server for a test file, with Calico's definitions and the rights of rbac.yaml for the sidecar. */
export interface KubeCluster {
  readonly etcd: EtcdServer;
  readonly api: KubeApiServer;
  /** The audit log of the API server, one event per request. */
  audit(): readonly AuditEvent[];
  close(): Promise<void>;
}

export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** Call at the top of a test file: it is skipped where a binary is missing. */
export function requireCluster(): { start(options?: ClusterOptions): Promise<KubeCluster> } {
  const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
  const apiBinary = requireKubeApiServer();
  return { start: (options = {}) => startCluster(etcdBinary, apiBinary, options) };
}

export interface ClusterOptions {
  /** Calico's API groups to define; default: the older one. */
  readonly groups?: readonly string[];
  /** More arguments of the API server. */
  readonly args?: readonly string[];
}

async function startCluster(
  etcdBinary: EtcdBinary,
  apiBinary: string,
  { groups = [OLD_GROUP], args = [] }: ClusterOptions,
): Promise<KubeCluster> {
  const dir = await makeDir('bfa');
  const [policy, log] = [join(dir, 'audit-policy.json'), join(dir, 'audit.log')];
  const rules = [{ level: 'Metadata', omitStages: ['ResponseStarted', 'ResponseComplete', 'Panic'] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  const options: KubeOptions = { args: ['--audit-policy-file', policy, '--audit-log-path', log, ...args] };
  const etcd = await EtcdServer.start(etcdBinary);
  const api = await KubeApiServer.start(apiBinary, etcd, options).catch(async (error: unknown) => {
    await etcd.close();
    throw error;
  });
  for (const group of groups) await createDefinitions(api.client, group);
  await grantRights(api);
  return {
    etcd,
    api,
    audit: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as AuditEvent),
    async close() {
      await api.close();
      await etcd.close();
      await removeDir(dir);
    },
  };
}

async function grantRights(api: KubeApiServer): Promise<void> {
  for (const object of rbacObjects()) {
    const { namespace } = object.metadata;
    const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
    await api.client.post(
      `/apis/rbac.authorization.k8s.io/v1${within}/${object.kind.toLowerCase()}s`,
      object,
    );
  }
}
