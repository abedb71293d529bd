import type { BgpFilterResource, BgpFilterRule, Family, FilterOperation } from '../calico/types.ts';
import { filterFunctionName } from './names.ts';
import type { CompatOptions } from './options.ts';
import {
  accept,
  COMPLEMENT_BASE,
  call,
  type Match,
  not,
  type PolicyFunction,
  reject,
  type Statement,
  when,
} from './policy.ts';

export type Direction = 'import' | 'export';

/** The function for one direction and family of a BGPFilter; null when it has no rules there. */
export function filterFunction(
  filter: BgpFilterResource,
  direction: Direction,
  family: Family,
  compat: CompatOptions,
): PolicyFunction | null {
  const rules = rulesOf(filter, direction, family);
  if (rules.length === 0) return null;
  return {
    name: filterFunctionName(filter.name, direction, family),
    takesInternal: rules.some((rule) => rule.peerType !== null),
    comment: `BGPFilter ${filter.name}, ${direction}`,
    body: rules.flatMap((rule) => ruleStatements(rule, family, compat)),
  };
}

/** The call of that function from a session's policy. */
export function filterCall(
  filter: BgpFilterResource,
  direction: Direction,
  family: Family,
  internal: boolean,
): Statement | null {
  const rules = rulesOf(filter, direction, family);
  if (rules.length === 0) return null;
  const takesInternal = rules.some((rule) => rule.peerType !== null);
  return call(filterFunctionName(filter.name, direction, family), takesInternal ? internal : null);
}

function rulesOf(filter: BgpFilterResource, direction: Direction, family: Family): readonly BgpFilterRule[] {
  if (direction === 'import') return family === 4 ? filter.importV4 : filter.importV6;
  return family === 4 ? filter.exportV4 : filter.exportV6;
}

function ruleStatements(rule: BgpFilterRule, family: Family, compat: CompatOptions): readonly Statement[] {
  const conditions = ruleConditions(rule, family, compat);
  const body = [...rule.operations.flatMap(operationStatements), rule.action === 'Accept' ? accept : reject];
  return conditions.length === 0 ? body : [when(conditions, body)];
}

function ruleConditions(rule: BgpFilterRule, family: Family, compat: CompatOptions): readonly Match[] {
  const all: Match[] = [];
  if (rule.peerType !== null)
    all.push(rule.peerType === 'iBGP' ? { type: 'internal' } : not({ type: 'internal' }));
  if (rule.cidr !== null) all.push(networkCondition(rule, rule.cidr, family, compat));
  if (rule.source === 'RemotePeers') all.push({ type: 'source', source: 'bgp' });
  if (rule.interface !== null) all.push({ type: 'interface', pattern: rule.interface });
  if (rule.community !== null) all.push({ type: 'community', community: rule.community });
  if (rule.asPathPrefix !== null) all.push({ type: 'as-path-prefix', asNumbers: rule.asPathPrefix });
  if (rule.priority !== null)
    all.push({
      type: 'number',
      attribute: 'local-pref',
      operator: '=',
      value: COMPLEMENT_BASE - rule.priority,
    });
  return all;
}

/**
 * Calico prints `net = [set]` for Equal with a prefix length, which BIRD takes for a comparison of unlike things: always
 * false. What it must have meant is membership in that set.
 */
function networkCondition(rule: BgpFilterRule, cidr: string, family: Family, compat: CompatOptions): Match {
  const negated = rule.matchOperator === 'NotEqual' || rule.matchOperator === 'NotIn';
  const equal = rule.matchOperator === 'Equal' || rule.matchOperator === 'NotEqual';
  const range = rule.prefixLength;
  if (range !== null && equal && compat.equalNeverMatchesRange) return { type: 'constant', value: negated };
  const ranged = range !== null && (range.min !== null || range.max !== null);
  if (!ranged) return negate(negated, { type: equal ? 'net-equal' : 'net-within', prefix: cidr });
  return negate(negated, { type: 'net-range', prefix: cidr, ...lengthRange(rule, cidr, family) });
}

function negate(negated: boolean, match: Match): Match {
  return negated ? not(match) : match;
}

function lengthRange(rule: BgpFilterRule, cidr: string, family: Family): { min: number; max: number } {
  const bits = family === 4 ? 32 : 128;
  const own = Number(cidr.slice(cidr.indexOf('/') + 1));
  return {
    min: Math.max(own, rule.prefixLength?.min ?? own),
    max: Math.min(bits, rule.prefixLength?.max ?? bits),
  };
}

function operationStatements(operation: FilterOperation): readonly Statement[] {
  switch (operation.type) {
    case 'addCommunity':
      return [{ type: 'add-community', community: operation.community }];
    case 'prependAsPath':
      // Each prepend goes in front of the one before, so the last number listed is prepended first.
      return operation.asNumbers.toReversed().map((asNumber) => ({ type: 'prepend-as', asNumber }));
    case 'setPriority':
      return [{ type: 'set-number', attribute: 'local-pref', value: COMPLEMENT_BASE - operation.priority }];
  }
}
