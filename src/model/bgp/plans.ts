import type { BgpFilterResource, BgpPeerResource, Cluster, Family, SecretKeyRef } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import { policyNames } from './export-policy.ts';
import { type Direction, filterCall } from './filters.ts';
import type { Recall } from './memory.ts';
import type { ModelOptions } from './options.ts';
import { type Password, resolvePassword } from './passwords.ts';
import { accept, call, type PolicyFilter, reject, type Statement } from './policy.ts';
import type { PeerPlan, Policies } from './sessions.ts';

/** The policies of sessions without BGPFilters: filters that are defined once per family. */
export function defaultPolicies(family: Family): BothPolicies {
  const names = policyNames(family);
  const shared: PolicyFilter = { name: names.importFilter, body: importBody([], family) };
  const to = (name: string, internal: boolean): Policies => ({
    import: shared,
    export: { name, body: exportBody([], internal, family) },
  });
  return { internal: to(names.exportInternal, true), external: to(names.exportExternal, false) };
}

function importBody(calls: readonly Statement[], family: Family): readonly Statement[] {
  return [...calls, call(policyNames(family).raisePreference), accept];
}

function exportBody(calls: readonly Statement[], internal: boolean, family: Family): readonly Statement[] {
  const names = policyNames(family);
  return [call(names.setPriority), ...calls, call(names.exportToPeers, internal), reject];
}

/** The policies of sessions of either kind. */
export interface BothPolicies {
  readonly internal: Policies;
  readonly external: Policies;
}

/**
 * The policies of these BGPPeers, by the names of their BGPFilters: BGPPeers with the same filters have the same policies,
 * of which there are far fewer.
 */
export function policiesByFilters(
  peers: readonly BgpPeerResource[],
  cluster: Cluster,
  family: Family,
  options: ModelOptions,
  recall: Recall,
): ReadonlyMap<string, BothPolicies> {
  const defaults = recall.value('defaults', [], () => defaultPolicies(family));
  const byFilters = new Map<string, BothPolicies>([[filtersKey([]), defaults]]);
  for (const { filters: names } of peers) {
    const key = filtersKey(names);
    if (byFilters.has(key)) continue;
    const filters = names.map((name) => cluster.filters.get(name) ?? null);
    const both = recall.value(key, [options, ...filters], () => ({
      internal: policies(filters, true, family, defaults.internal, options),
      external: policies(filters, false, family, defaults.external, options),
    }));
    byFilters.set(key, both);
  }
  return byFilters;
}

function filtersKey(names: readonly string[]): string {
  return names.length === 0 ? '' : JSON.stringify(names);
}

/** A BGPPeer with its references resolved, for one family. */
export function peerPlan(
  peer: BgpPeerResource,
  policies: ReadonlyMap<string, BothPolicies>,
  cluster: Cluster,
  options: ModelOptions,
): PeerPlan {
  return {
    name: peer.name,
    peer,
    password: resolvePassword(cluster, passwordRef(peer), options.secretsNamespace),
    ...policies.get(filtersKey(peer.filters))!,
  };
}

function policies(
  filters: readonly (BgpFilterResource | null)[],
  internal: boolean,
  family: Family,
  defaults: Policies,
  options: ModelOptions,
): Policies {
  const lost = filters.includes(null) && !options.compat.missingFilterFailsOpen;
  const calls = (direction: Direction): readonly Statement[] =>
    filters
      .filter((filter) => filter !== null)
      .map((filter) => filterCall(filter, direction, family, internal))
      .filter((statement) => statement !== null);
  const one = (direction: Direction): PolicyFilter => {
    if (lost)
      return { name: null, body: [{ type: 'reject', comment: 'A BGPFilter of this peer is missing.' }] };
    const statements = calls(direction);
    if (statements.length === 0) return defaults[direction];
    if (direction === 'import') return { name: null, body: importBody(statements, family) };
    return { name: null, body: exportBody(statements, internal, family) };
  };
  return { import: one('import'), export: one('export') };
}

/** Sessions with workloads have no password. */
export function passwordRef(peer: BgpPeerResource): SecretKeyRef | null {
  return peer.localWorkloadSelector === null ? peer.password : null;
}

/** What is wrong with a BGPPeer that has sessions. */
export function planProblems(
  cluster: Cluster,
  peer: BgpPeerResource,
  options: ModelOptions,
): readonly Problem[] {
  const password = resolvePassword(cluster, passwordRef(peer), options.secretsNamespace);
  return [
    ...filterProblems(cluster, peer, options),
    ...openPassword(`BGPPeer/${peer.name}`, 'spec.password', password, options),
  ];
}

function filterProblems(cluster: Cluster, peer: BgpPeerResource, options: ModelOptions): readonly Problem[] {
  const consequence = options.compat.missingFilterFailsOpen
    ? 'it is skipped'
    : 'sessions of this peer exchange no routes until there is';
  return peer.filters
    .filter((name) => !cluster.filters.has(name))
    .map((name) => ({
      severity: 'error',
      id: 'filter-missing',
      subject: `BGPPeer/${peer.name}`,
      field: 'spec.filters',
      message: `there is no usable BGPFilter ${JSON.stringify(name)}; ${consequence}`,
    }));
}

/** Said where Calico's behaviour is asked for; otherwise the sessions are withheld, which is said elsewhere. */
export function openPassword(
  subject: string,
  field: string,
  { fault, detail }: Password,
  { compat }: ModelOptions,
): readonly Problem[] {
  if (fault !== 'password-missing' || !compat.missingPasswordOpensSession) return [];
  return [
    {
      severity: 'warning',
      id: fault,
      subject,
      field,
      message: `${detail}; sessions are opened without a password`,
    },
  ];
}
