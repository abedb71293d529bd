import { sortedBy } from '../../core/order.ts';
import {
  blockPrefix,
  calicoPrefix,
  endpointStatusPrefix,
  kubernetesKey,
  kubernetesPrefix,
} from '../../datastore/keys.ts';
import type { Mount } from '../../datastore/types.ts';
import type { Entry, TreeView } from '../../tree/types.ts';
import type { Interests } from '../types.ts';
import { EMPTY_NODE_INDEX, type NodeIndex, updateNodeIndex } from './node-index.ts';
import { emptySlot, keepSame, type LastGoodTexts, type ParseCache, type Slot, updateSlot } from './slot.ts';
import type { Cluster, IpPoolResource, Quarantined, ResourceByKind, ResourceKind } from './types.ts';

/** What is mounted and read. */
export interface CalicoScope {
  readonly nodeName: string;
  /** Blocks are the nodes' pod CIDRs (host-local IPAM), so that affinities are not read. */
  readonly usePodCidr: boolean;
  readonly interests: Interests;
}

type Slots = { readonly [K in ResourceKind]: Slot<K> };

export interface ClusterCache {
  readonly slots: Slots;
  readonly nodeIndex: NodeIndex;
  /** Keys with a text in `lastGood` that were deleted since: when they come again, that text is of no use. */
  readonly deleted: ReadonlySet<string>;
}

export interface ClusterReading {
  readonly cluster: Cluster;
  /** For the next reading only. */
  readonly cache: ClusterCache;
  /** Last good texts of what is quarantined now, to be kept over restarts. The same map while nothing in it changed. */
  readonly lastGood: LastGoodTexts;
}

export interface ReadOptions {
  /** Last good texts from before a restart; what this process has seen itself counts more. */
  readonly lastGood?: LastGoodTexts;
  /** The reading before this one. */
  readonly previous?: ClusterReading | undefined;
  /** Entries that `prepare` has parsed ahead. */
  readonly parsed?: ParseCache | undefined;
}

/**
 * Where the cluster is read from: required are Calico's resources and this node's block affinities; Services, Secrets
 * and endpoint statuses only when something asks for them, and they never block the rest.
 */
export function calicoMounts(scope: CalicoScope): readonly Mount[] {
  const required = (['Node', 'BGPPeer', 'BGPConfiguration', 'BGPFilter', 'IPPool'] as const).map(
    calicoPrefix,
  );
  if (!scope.usePodCidr) required.push(blockPrefix(scope.nodeName));
  const optional: string[] = [];
  if (scope.interests.services) optional.push(kubernetesPrefix('Service'), kubernetesPrefix('EndpointSlice'));
  optional.push(...scope.interests.secrets.map(secretKey));
  if (scope.interests.endpointStatus) optional.push(endpointStatusPrefix());
  return [
    ...required.map((prefix) => ({ prefix, required: true })),
    ...optional.map((prefix) => ({ prefix, required: false })),
  ];
}

/** `NAMESPACE/NAME` of a Secret as its key. */
function secretKey(reference: string): string {
  const slash = reference.indexOf('/');
  return kubernetesKey('Secret', reference.slice(0, slash), reference.slice(slash + 1));
}

/**
 * Reads the tree as a cluster. With the previous reading only what changed is parsed and indexed, and everything that
 * did not change is the very same object, up to the whole cluster; the result equals that of a reading without it, given
 * the `lastGood` it returned.
 */
export function readCluster(view: TreeView, scope: CalicoScope, options: ReadOptions = {}): ClusterReading {
  const { previous, parsed, lastGood = NO_TEXTS } = options;
  const before = previous?.cache ?? EMPTY_CACHE;
  const deleted = new Set(before.deleted);
  const usable = deleted.size === 0 ? lastGood : new Map([...lastGood].filter(([key]) => !deleted.has(key)));
  const update = <K extends ResourceKind>(kind: K, entries: readonly Entry[]) => {
    const result = updateSlot<K>(before.slots[kind] as Slot<K>, entries, usable, parsed);
    for (const { before: gone, after } of result.changes) {
      if (after === null && gone !== null && lastGood.has(gone.origin.key)) deleted.add(gone.origin.key);
    }
    return result;
  };
  const { services, endpointStatus } = scope.interests;
  const nodes = update('Node', view.range(calicoPrefix('Node')));
  const slots: Slots = {
    Node: nodes.slot,
    BGPConfiguration: update('BGPConfiguration', view.range(calicoPrefix('BGPConfiguration'))).slot,
    BGPPeer: update('BGPPeer', view.range(calicoPrefix('BGPPeer'))).slot,
    BGPFilter: update('BGPFilter', view.range(calicoPrefix('BGPFilter'))).slot,
    IPPool: update('IPPool', view.range(calicoPrefix('IPPool'))).slot,
    BlockAffinity: update('BlockAffinity', scope.usePodCidr ? NONE : view.range(blockPrefix(scope.nodeName)))
      .slot,
    Service: update('Service', services ? view.range(kubernetesPrefix('Service')) : NONE).slot,
    EndpointSlice: update('EndpointSlice', services ? view.range(kubernetesPrefix('EndpointSlice')) : NONE)
      .slot,
    Secret: update('Secret', secretEntries(view, scope, before.slots.Secret.entries)).slot,
    EndpointStatus: update('EndpointStatus', endpointStatus ? view.range(endpointStatusPrefix()) : NONE).slot,
  };
  const cache = { slots, nodeIndex: updateNodeIndex(before.nodeIndex, nodes.changes), deleted };
  return {
    cluster: assemble(cache, before, previous?.cluster ?? EMPTY_CLUSTER),
    cache,
    lastGood: lastGoodOf(slots, previous?.lastGood ?? NO_TEXTS),
  };
}

/** Secrets are mounted one by one, so they are read one by one. */
function secretEntries(view: TreeView, scope: CalicoScope, before: readonly Entry[]): readonly Entry[] {
  const entries = scope.interests.secrets.map(secretKey).flatMap((key) => view.get(key) ?? []);
  return keepSame(
    before,
    sortedBy(entries, (entry) => entry.key),
  );
}

function assemble(cache: ClusterCache, before: ClusterCache, old: Cluster): Cluster {
  const { slots, nodeIndex } = cache;
  /** `make()`, unless the resources of the kind are the same as before. */
  const derive = <K extends ResourceKind, T>(
    kind: K,
    was: T,
    make: (resources: readonly ResourceByKind[K][]) => T,
  ) => {
    const slot = slots[kind] as Slot<K>;
    return slot.resources === (before.slots[kind] as Slot<K>).resources ? was : make(slot.resources);
  };
  const cluster: Cluster = {
    nodes: slots.Node.resources,
    nodeByName: nodeIndex.byName,
    nodesByAddress: nodeIndex.byAddress,
    peers: slots.BGPPeer.resources,
    defaultConfig: slots.BGPConfiguration.resources.find(({ node }) => node === null) ?? null,
    nodeConfigs: derive('BGPConfiguration', old.nodeConfigs, (configs) =>
      byKey(
        old.nodeConfigs,
        configs.filter(({ node }) => node !== null),
        ({ node }) => node!,
      ),
    ),
    filters: derive('BGPFilter', old.filters, (filters) => byKey(old.filters, filters, ({ name }) => name)),
    pools: derive('IPPool', old.pools, (pools) => keepSame(old.pools, winningPools(pools))),
    blocks: derive('BlockAffinity', old.blocks, (blocks) =>
      keepSame(old.blocks, sortedBy(blocks, cidrKeyText)),
    ),
    services: slots.Service.resources,
    endpointSlices: slots.EndpointSlice.resources,
    secrets: derive('Secret', old.secrets, (secrets) =>
      byKey(old.secrets, secrets, ({ origin }) => origin.name),
    ),
    endpointStatuses: slots.EndpointStatus.resources,
    quarantined: quarantinedOf(cache, before, old.quarantined),
  };
  const fields = Object.keys(cluster) as (keyof Cluster)[];
  return fields.every((field) => cluster[field] === old[field]) ? old : cluster;
}

function byKey<T>(
  previous: ReadonlyMap<string, T>,
  items: readonly T[],
  key: (item: T) => string,
): ReadonlyMap<string, T> {
  return keepSameMap(previous, new Map(items.map((item) => [key(item), item])));
}

/** A network as Calico has it in keys: `10.0.0.0-26`. */
function cidrKeyText({ cidr }: { readonly cidr: string }): string {
  return cidr.replace('/', '-');
}

/** Of pools with one CIDR, the one whose name sorts first, as in Calico (conflictresolvingcacheproc.go). */
function winningPools(pools: readonly IpPoolResource[]): readonly IpPoolResource[] {
  const winners = new Map<string, IpPoolResource>();
  for (const pool of pools) if (!winners.has(pool.cidr)) winners.set(pool.cidr, pool);
  return sortedBy(winners.values(), cidrKeyText);
}

function losingPools(pools: readonly IpPoolResource[]): readonly Quarantined[] {
  const winners = new Map<string, IpPoolResource>();
  const losers: Quarantined[] = [];
  for (const pool of pools) {
    const winner = winners.get(pool.cidr);
    if (winner === undefined) winners.set(pool.cidr, pool);
    else losers.push(conflict(pool, winner));
  }
  return losers;
}

function conflict(
  { origin: { kind, name, key }, cidr }: IpPoolResource,
  winner: IpPoolResource,
): Quarantined {
  const message = `${key}: spec.cidr: ${cidr} is already that of IPPool ${winner.name}, whose name sorts first`;
  return { kind, name, key, field: 'spec.cidr', message, reason: 'conflict', lastGoodUsed: false };
}

function quarantinedOf(
  cache: ClusterCache,
  before: ClusterCache,
  old: readonly Quarantined[],
): readonly Quarantined[] {
  const kinds = Object.keys(cache.slots) as ResourceKind[];
  const same = kinds.every((kind) => cache.slots[kind].quarantined === before.slots[kind].quarantined);
  const pools = cache.slots.IPPool.resources;
  if (same && pools === before.slots.IPPool.resources) return old;
  const all = kinds.flatMap((kind) => cache.slots[kind].quarantined);
  return keepSame(old, [...all, ...losingPools(pools)]);
}

function lastGoodOf(slots: Slots, old: LastGoodTexts): LastGoodTexts {
  const texts = new Map<string, string>();
  for (const slot of Object.values(slots)) {
    if (slot.quarantined.length === 0) continue;
    for (const { quarantined, lastGoodText } of slot.states) {
      if (quarantined !== null && lastGoodText !== null) texts.set(quarantined.key, lastGoodText);
    }
  }
  return keepSameMap(old, texts);
}

/** `previous` if it maps the very same keys to the very same values as `next`. */
function keepSameMap<T>(
  previous: ReadonlyMap<string, T>,
  next: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  if (previous.size !== next.size) return next;
  return [...next].every(([key, value]) => previous.get(key) === value) ? previous : next;
}

const NONE: readonly Entry[] = [];
const NO_TEXTS: LastGoodTexts = new Map();

const EMPTY_CACHE: ClusterCache = {
  slots: {
    Node: emptySlot('Node'),
    BGPConfiguration: emptySlot('BGPConfiguration'),
    BGPPeer: emptySlot('BGPPeer'),
    BGPFilter: emptySlot('BGPFilter'),
    IPPool: emptySlot('IPPool'),
    BlockAffinity: emptySlot('BlockAffinity'),
    Service: emptySlot('Service'),
    EndpointSlice: emptySlot('EndpointSlice'),
    Secret: emptySlot('Secret'),
    EndpointStatus: emptySlot('EndpointStatus'),
  },
  nodeIndex: EMPTY_NODE_INDEX,
  deleted: new Set(),
};

const EMPTY_CLUSTER: Cluster = {
  nodes: [],
  nodeByName: EMPTY_NODE_INDEX.byName,
  nodesByAddress: EMPTY_NODE_INDEX.byAddress,
  peers: [],
  defaultConfig: null,
  nodeConfigs: new Map(),
  filters: new Map(),
  pools: [],
  blocks: [],
  services: [],
  endpointSlices: [],
  secrets: new Map(),
  endpointStatuses: [],
  quarantined: [],
};
