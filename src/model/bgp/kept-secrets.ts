import { kubernetesKey } from '../../datastore/keys.ts';
import type { TreeView } from '../../tree/types.ts';
import { parseStored } from '../calico/parse.ts';
import type { Cluster, SecretResource } from '../calico/types.ts';
import type { Interests, Problem } from '../types.ts';

/**
 * Secrets are read on demand, often from another place than the rest, so one that is away says little: its sessions keep
 * the last good password, over restarts too. (One that is there without the password is taken at its word.)
 */
export interface KeptSecrets {
  /** The cluster with last good versions standing in for Secrets that are needed and away. */
  readonly cluster: Cluster;
  /** Stored text of each Secret that is needed, or of its last good version: key → text. */
  readonly texts: ReadonlyMap<string, string>;
  /** `NAMESPACE/NAME` of those stood in for. */
  readonly absent: readonly string[];
  readonly read: Cluster;
}

export const NO_SECRETS: Pick<KeptSecrets, 'texts'> = { texts: new Map() };

/** `earlier` is what an earlier process left; what this one has seen counts more. */
export function keepSecrets(
  view: TreeView,
  cluster: Cluster,
  interests: Interests,
  before: Pick<KeptSecrets, 'texts'> & Partial<KeptSecrets>,
  earlier: ReadonlyMap<string, string>,
): KeptSecrets {
  const texts = new Map<string, string>();
  const standIns: SecretResource[] = [];
  for (const reference of interests.secrets) {
    const slash = reference.indexOf('/');
    const key = kubernetesKey('Secret', reference.slice(0, slash), reference.slice(slash + 1));
    const entry = view.get(key);
    if (entry !== undefined) {
      if (cluster.secrets.get(reference)?.origin.lastGood === false) texts.set(key, entry.value);
      continue;
    }
    const text = before.texts.get(key) ?? earlier.get(key);
    if (text === undefined) continue;
    const parsed = parseStored('Secret', key, text, true);
    if (parsed.outcome !== 'resource') continue;
    texts.set(key, text);
    standIns.push(parsed.resource as SecretResource);
  }
  const absent = standIns.map(({ origin }) => origin.name);
  const same = before.read === cluster && before.absent?.join() === absent.join();
  if (same) return { cluster: before.cluster!, texts, absent, read: cluster };
  if (standIns.length === 0) return { cluster, texts, absent, read: cluster };
  const secrets = new Map([
    ...cluster.secrets,
    ...standIns.map((secret) => [secret.origin.name, secret] as const),
  ]);
  return { cluster: { ...cluster, secrets }, texts, absent, read: cluster };
}

export function secretProblems({ absent }: KeptSecrets): readonly Problem[] {
  return absent.map((reference) => ({
    severity: 'warning',
    id: 'secret-absent',
    subject: `Secret/${reference}`,
    field: null,
    message: 'it does not exist or cannot be read; the last good passwords in it are used',
  }));
}
