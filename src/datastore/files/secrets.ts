import { BirdfeedError } from '../../core/errors.ts';
import { kubernetesKey } from '../keys.ts';
import type { Source } from '../types.ts';
import { createDirectorySource, type DirectorySourceOptions } from './directory-source.ts';
import type { Assembled, FileReader } from './file-set.ts';
import { isLeftover, isVolumeInternal } from './names.ts';

export interface SecretsDirectoryOptions extends DirectorySourceOptions {
  /** Namespace of what lies in NAME/KEY. Default `kube-system`, where Calico looks for BGP passwords. */
  readonly defaultNamespace?: string;
}

/**
 * Secrets from a directory, as Secret volumes mount them: `NAMESPACE/NAME/KEY` or `NAME/KEY`, one file per key, whose
 * bytes are the value just as they are. They appear as Secrets of the key space, values in base64, for nodes where BIRD's
 * passwords do not come from the Kubernetes API.
 */
export function createSecretsDirectorySource(directory: string, options: SecretsDirectoryOptions): Source {
  return createDirectorySource<string>(
    {
      kind: 'files',
      path: directory,
      accepts: { entry: (name) => !isVolumeInternal(name) && !isLeftover(name), file: () => true },
      reader: secretsReader(directory, options.defaultNamespace ?? 'kube-system'),
      whenMissing: 'lost',
    },
    options,
  );
}

/** Pure: the Secrets that a directory's files make. */
export function secretsReader(directory: string, defaultNamespace: string): FileReader<string> {
  return {
    parse: (_path, bytes) => bytes.toString('base64'),
    assemble: (files) => assembleSecrets(files, directory, defaultNamespace),
  };
}

function assembleSecrets(
  files: ReadonlyMap<string, string>,
  directory: string,
  defaultNamespace: string,
): Assembled {
  const secrets = new Map<string, { namespace: string; name: string; data: Record<string, string> }>();
  const problems: BirdfeedError[] = [];
  for (const [path, data] of files) {
    const parts = path.split('/');
    const [namespace, name, item] = parts.length === 2 ? [defaultNamespace, ...parts] : parts;
    if (namespace === undefined || name === undefined || item === undefined || parts.length > 3) {
      problems.push(misplaced(directory, path));
      continue;
    }
    const key = kubernetesKey('Secret', namespace, name);
    const secret = secrets.get(key) ?? { namespace, name, data: {} };
    secret.data[item] = data;
    secrets.set(key, secret);
  }
  const values = [...secrets].map(([key, { namespace, name, data }]): [string, string] => [
    key,
    JSON.stringify({ kind: 'Secret', apiVersion: 'v1', metadata: { name, namespace }, data }),
  ]);
  return { values: new Map(values), problems };
}

function misplaced(directory: string, path: string): BirdfeedError {
  return new BirdfeedError(
    'BF_FIXTURE_INVALID',
    `${directory}/${path} is not at NAMESPACE/NAME/KEY or NAME/KEY and is left out; mount each Secret at ${directory}/NAME`,
    { details: { file: `${directory}/${path}` } },
  );
}
