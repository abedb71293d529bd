import { createHash } from 'node:crypto';
import { covers } from '../../core/prefix.ts';
import {
  blockPrefix,
  type CalicoKind,
  calicoPrefix,
  type KubernetesKind,
  kubernetesPrefix,
} from '../keys.ts';

/** Calico's API groups, with the version of each that is read. */
export const CALICO_GROUPS = ['crd.projectcalico.org/v1', 'projectcalico.org/v3'] as const;
export type CalicoGroup = (typeof CALICO_GROUPS)[number];

/** What one list and one watch cover. */
export interface Collection {
  readonly kind: CalicoKind | KubernetesKind | 'BlockAffinity';
  /** `core`, `calico` (whichever group is in use), or a group of Kubernetes with its version. */
  readonly group: 'core' | 'calico' | 'discovery.k8s.io/v1';
  /** As in URLs. */
  readonly plural: string;
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Annotations and labels are all that is needed: the answers are a fraction of the objects. */
  readonly metadataOnly?: true;
}

export interface CollectionOptions {
  /** Pod CIDRs are in the Nodes' specs. */
  readonly usePodCidr: boolean;
}

/**
 * What has to be listed and watched for all keys at and below a mount's prefix, as narrowly as the API can be asked.
 * Secrets are never read over all namespaces; a mount that is wide enough to have them in it goes without. Empty when
 * nothing in a Kubernetes datastore has such keys.
 */
export function collectionsFor(prefix: string, options: CollectionOptions): readonly Collection[] {
  return [...blocksFor(prefix), ...calicoFor(prefix, options), ...kubernetesFor(prefix)];
}

const CALICO_PLURALS = {
  BGPPeer: 'bgppeers',
  BGPConfiguration: 'bgpconfigurations',
  BGPFilter: 'bgpfilters',
  IPPool: 'ippools',
} as const;

function calicoFor(prefix: string, { usePodCidr }: CollectionOptions): readonly Collection[] {
  const node: Collection = {
    kind: 'Node',
    group: 'core',
    plural: 'nodes',
    ...(usePodCidr ? {} : { metadataOnly: true }),
  };
  const others = Object.entries(CALICO_PLURALS).map(
    ([kind, plural]): Collection => ({ kind: kind as CalicoKind, group: 'calico', plural }),
  );
  return [node, ...others].flatMap((collection) => {
    const below = restOf(prefix, calicoPrefix(collection.kind as CalicoKind));
    if (below === null || below.length > 1) return [];
    return [named(collection, below[0])];
  });
}

const KUBERNETES: readonly Collection[] = [
  { kind: 'Service', group: 'core', plural: 'services' },
  {
    kind: 'EndpointSlice',
    group: 'discovery.k8s.io/v1',
    plural: 'endpointslices',
    // One without a service is nobody's.
    labelSelector: 'kubernetes.io/service-name',
  },
  { kind: 'Secret', group: 'core', plural: 'secrets' },
];

function kubernetesFor(prefix: string): readonly Collection[] {
  return KUBERNETES.flatMap((collection) => {
    const below = restOf(prefix, kubernetesPrefix(collection.kind as KubernetesKind));
    if (below === null || below.length > 2) return [];
    const [namespace, name] = below;
    if (namespace === undefined) return collection.kind === 'Secret' ? [] : [collection];
    return [named({ ...collection, namespace }, name)];
  });
}

/**
 * Block affinities of one node have a label with the hash of its name. Those that an older Calico has written have none:
 * a second watch is for these, and silent where there are none.
 */
function blocksFor(prefix: string): readonly Collection[] {
  const below = restOf(prefix, blockPrefix());
  if (below === null) return [];
  const all: Collection = { kind: 'BlockAffinity', group: 'calico', plural: 'blockaffinities' };
  const [node] = below;
  if (node === undefined) return [all];
  return [`${HOST_LABEL}=${hostHash(node)}`, `!${HOST_LABEL}`].map((labelSelector) => ({
    ...all,
    labelSelector,
  }));
}

const HOST_LABEL = 'projectcalico.org/hostname-hash';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** SHA3-256 of the name in base 32 without padding, as libcalico-go's `hashHostnameForLabel` writes it. */
export function hostHash(name: string): string {
  const bits = [...createHash('sha3-256').update(name).digest()]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

function named(collection: Collection, name: string | undefined): Collection {
  return name === undefined ? collection : { ...collection, fieldSelector: `metadata.name=${name}` };
}

/** The segments of `prefix` below `base`; none when it is `base` or wider; null when the two have nothing in common. */
function restOf(prefix: string, base: string): readonly string[] | null {
  if (covers(prefix, base)) return [];
  return covers(base, prefix) ? prefix.slice(base.length + 1).split('/') : null;
}

export interface Page {
  readonly limit: number;
  readonly continue?: string;
}

/** Path and query of one page of a list. Without a resource version: the newest state, never an API server's old one. */
export function listPath(
  collection: Collection,
  group: CalicoGroup,
  { limit, continue: token }: Page,
): string {
  return pathOf(collection, group, { limit: limit > 0 ? limit : undefined, continue: token });
}

/** Path and query of a watch that goes on after `resourceVersion`. */
export function watchPath(
  collection: Collection,
  group: CalicoGroup,
  resourceVersion: string,
  timeoutSeconds: number,
): string {
  return pathOf(collection, group, {
    watch: 'true',
    resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds,
  });
}

function pathOf(
  { group, plural, namespace, fieldSelector, labelSelector }: Collection,
  calicoGroup: CalicoGroup,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const root = group === 'core' ? '/api/v1' : `/apis/${group === 'calico' ? calicoGroup : group}`;
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ fieldSelector, labelSelector, ...query }))
    if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return `${root}${within}/${plural}${text === '' ? '' : `?${text}`}`;
}

/** The `Accept` header: whole objects, or their metadata. */
export function acceptOf({ metadataOnly }: Collection, what: 'list' | 'watch'): string {
  if (metadataOnly !== true) return 'application/json';
  const kind = what === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

/** `apiVersion` of the objects, which items of a list do not always have. */
export function apiVersionOf({ group }: Collection, calicoGroup: CalicoGroup): string {
  if (group === 'core') return 'v1';
  return group === 'calico' ? calicoGroup : group;
}
