import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { covers } from '../core/prefix.ts';
import { endpointStatusPrefix, kubernetesPrefix } from '../datastore/keys.ts';
import type { Mount, Position, Source } from '../datastore/types.ts';
import type { FeedInput } from './feed.ts';

export interface SourceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where an earlier process stood, per mount prefix. */
  readonly lastPositions: Readonly<Record<string, Position>>;
}

export type DatastoreKind = 'etcd' | 'kubernetes' | 'fixtures' | 'env';

export function datastoreKind(options: Options): DatastoreKind {
  if (options.datastore !== 'auto') return options.datastore;
  return options.fixtures === null ? 'etcd' : 'fixtures';
}

/**
 * The sources for these mounts: the datastore, and beside it directories that stand in for what the datastore does not
 * have (Secrets, endpoint status), or the Kubernetes API. Each source's code is loaded only when it is used.
 */
export async function openSources(
  options: Options,
  mounts: readonly Mount[],
  deps: SourceDeps,
): Promise<readonly FeedInput[]> {
  const inputs: FeedInput[] = [];
  const statusDir = endpointStatusDir(options, deps.env);
  const isSecret = (mount: Mount): boolean =>
    options.secretsDir !== null && covers(kubernetesPrefix('Secret'), mount.prefix);
  const isStatus = (mount: Mount): boolean =>
    statusDir !== null && covers(endpointStatusPrefix(), mount.prefix);
  const secrets = mounts.filter(isSecret);
  const statuses = mounts.filter(isStatus);
  const others = mounts.filter((mount) => !isSecret(mount) && !isStatus(mount));
  const beside = others.filter((mount) => isBesideEtcd(mount, options, deps.env));
  const rest = others.filter((mount) => !beside.includes(mount));
  if (rest.length > 0) inputs.push({ source: await openDatastore(options, deps), mounts: rest });
  if (beside.length > 0) inputs.push({ source: await openKubernetes(options, deps), mounts: beside });
  if (secrets.length > 0) {
    const { createSecretsDirectorySource } = await import('../datastore/files/secrets.ts');
    const defaultNamespace = options.secretsNamespace;
    inputs.push({
      source: createSecretsDirectorySource(options.secretsDir!, { ...deps, defaultNamespace }),
      mounts: secrets,
    });
  }
  if (statuses.length > 0) {
    const { createEndpointStatusSource } = await import('../datastore/files/endpoint-status.ts');
    inputs.push({ source: createEndpointStatusSource(statusDir!, deps), mounts: statuses });
  }
  return inputs;
}

/** Services, EndpointSlices and Secrets are never in etcd: as Calico's, they come from Kubernetes where there is one. */
function isBesideEtcd({ prefix }: Mount, options: Options, env: SourceDeps['env']): boolean {
  const { kubeconfig, k8sApiEndpoint } = options;
  if (datastoreKind(options) !== 'etcd') return false;
  const kinds = (['Service', 'EndpointSlice', 'Secret'] as const).map((kind) => kubernetesPrefix(kind));
  const isKubernetes = kubeconfig !== null || k8sApiEndpoint !== null || !!env['KUBERNETES_SERVICE_HOST'];
  return isKubernetes && kinds.some((kind) => covers(kind, prefix));
}

async function openKubernetes(options: Options, deps: SourceDeps): Promise<Source> {
  const { createKubernetesSource } = await import('../datastore/kubernetes/source.ts');
  return createKubernetesSource(
    {
      access: {
        kubeconfig: options.kubeconfig,
        context: options.k8sContext,
        servers: options.k8sApiEndpoint ?? [],
        caFile: options.k8sCaFile,
        certFile: options.k8sCertFile,
        keyFile: options.k8sKeyFile,
        insecure: options.k8sInsecure,
      },
      apiGroup: options.calicoApiGroup,
      convert: { usePodCidr: options.usePodCidr, secretNamespace: options.secretsNamespace },
      lastPositions: deps.lastPositions,
      timings: { relistMs: options.relistInterval },
    },
    deps,
  );
}

function endpointStatusDir(options: Options, env: SourceDeps['env']): string | null {
  if (options.endpointStatusDir !== null) return options.endpointStatusDir;
  const prefix = env['CALICO_ENDPOINT_STATUS_PATH_PREFIX'];
  return prefix === undefined || prefix === '' ? null : join(prefix, 'endpoint-status');
}

async function openDatastore(options: Options, deps: SourceDeps): Promise<Source> {
  switch (datastoreKind(options)) {
    case 'fixtures': {
      if (options.fixtures === null)
        throw new BirdfeedError('BF_USAGE', '--datastore fixtures needs --fixtures DIR');
      const { createFixturesSource } = await import('../datastore/fixtures/source.ts');
      return createFixturesSource(options.fixtures, { ...deps, usePodCidr: options.usePodCidr });
    }
    case 'env': {
      const { createEnvSource } = await import('../datastore/env.ts');
      return createEnvSource(deps.env);
    }
    case 'kubernetes':
      return openKubernetes(options, deps);
    case 'etcd': {
      const { createEtcdSource } = await import('../datastore/etcd/source.ts');
      return createEtcdSource(
        {
          endpoints: options.etcdEndpoints,
          tls: {
            caFile: options.etcdCaFile ?? undefined,
            certFile: options.etcdCertFile ?? undefined,
            keyFile: options.etcdKeyFile ?? undefined,
          },
          username: options.etcdUsername ?? undefined,
          password: options.etcdPassword ?? undefined,
          lastPositions: deps.lastPositions,
          timings: { relistMs: options.relistInterval },
        },
        deps,
      );
    }
  }
}
