import { asNumber, each, FieldError, network, optional, orNull } from './fields.ts';
import { parseCommunity } from './scalars.ts';
import type { StoredValue } from './schemas/all.ts';
import type { BgpFilterResource, BgpFilterRule, Family, FilterOperation, Origin } from './types.ts';

type StoredRules = NonNullable<StoredValue<'BGPFilter'>['spec']>['importV4'];
type StoredRule = NonNullable<NonNullable<StoredRules>[number]>;
type StoredOperation = NonNullable<NonNullable<StoredRule['operations']>[number]>;

/** @throws FieldError also where a rule's fields contradict each other, by the rules of Calico's CRD. */
export function convertBgpFilter(stored: StoredValue<'BGPFilter'>, origin: Origin): BgpFilterResource {
  const spec = stored.spec ?? {};
  const rules = (list: StoredRules, field: string, family: Family) =>
    each(list, field, (rule: StoredRule, at) => convertRule(rule, at, family)) ?? [];
  return {
    origin,
    name: origin.name,
    importV4: rules(spec.importV4, 'spec.importV4', 4),
    exportV4: rules(spec.exportV4, 'spec.exportV4', 4),
    importV6: rules(spec.importV6, 'spec.importV6', 6),
    exportV6: rules(spec.exportV6, 'spec.exportV6', 6),
  };
}

function convertRule(stored: StoredRule, field: string, family: Family): BgpFilterRule {
  const action = orNull(stored.action);
  if (action === null) throw new FieldError(`${field}.action`, 'is missing: Accept or Reject');
  const operations = each(stored.operations, `${field}.operations`, convertOperation) ?? [];
  if (operations.length > 0 && action !== 'Accept')
    throw new FieldError(`${field}.operations`, 'are allowed only with action Accept');
  return {
    ...convertPrefixMatch(stored, field, family),
    source: orNull(stored.source),
    interface: orNull(stored.interface),
    peerType: orNull(stored.peerType),
    community: optional(stored.communities?.values?.[0], `${field}.communities.values[0]`, parseCommunity),
    asPathPrefix: asPath(stored.asPathPrefix, `${field}.asPathPrefix`),
    priority: orNull(stored.priority),
    action,
    operations,
  };
}

type PrefixMatch = Pick<BgpFilterRule, 'cidr' | 'matchOperator' | 'prefixLength'>;

function convertPrefixMatch(stored: StoredRule, field: string, family: Family): PrefixMatch {
  const cidr = network(stored.cidr, `${field}.cidr`, family);
  const matchOperator = orNull(stored.matchOperator);
  if (cidr !== null && matchOperator === null)
    throw new FieldError(
      `${field}.matchOperator`,
      'is missing: cidr needs one of Equal, NotEqual, In, NotIn',
    );
  if (cidr === null && matchOperator !== null)
    throw new FieldError(`${field}.cidr`, 'is missing: matchOperator needs it');
  if (!stored.prefixLength) return { cidr, matchOperator, prefixLength: null };
  if (cidr === null) throw new FieldError(`${field}.cidr`, 'is missing: prefixLength needs it');
  const prefixLength = { min: stored.prefixLength.min ?? null, max: stored.prefixLength.max ?? null };
  checkLengths(prefixLength, cidr, `${field}.prefixLength`, family);
  return { cidr, matchOperator, prefixLength };
}

/** BIRD refuses the whole file for a range of lengths that is empty, with the network's own length as the least. */
function checkLengths(
  range: { readonly min: number | null; readonly max: number | null },
  cidr: string,
  field: string,
  family: Family,
): void {
  const own = Number(cidr.slice(cidr.indexOf('/') + 1));
  const low = Math.max(own, range.min ?? own);
  const high = range.max ?? (family === 4 ? 32 : 128);
  if (high < low)
    throw new FieldError(`${field}.max`, `must be at least ${low} with cidr ${cidr}, not ${high}`);
}

/** Null for an empty list, which matches every path. */
function asPath(
  stored: readonly (number | string | null)[] | null | undefined,
  field: string,
): readonly number[] | null {
  const numbers = each(stored, field, (value: number | string, at) => requiredAsNumber(value, at));
  return numbers === null || numbers.length === 0 ? null : numbers;
}

function requiredAsNumber(value: number | string, field: string): number {
  const number = asNumber(value, field);
  if (number === null) throw new FieldError(field, 'is empty: an AS number is expected');
  return number;
}

function convertOperation(stored: StoredOperation, field: string): FilterOperation {
  const { addCommunity, prependASPath, setPriority } = stored;
  const given = [addCommunity, prependASPath, setPriority].filter((operation) => operation);
  if (given.length !== 1)
    throw new FieldError(field, 'must have exactly one of addCommunity, prependASPath, setPriority');
  if (addCommunity) {
    const community = optional(addCommunity.value, `${field}.addCommunity.value`, parseCommunity);
    return { type: 'addCommunity', community: required(community, `${field}.addCommunity.value`) };
  }
  if (prependASPath) {
    const asNumbers = asPath(prependASPath.prefix, `${field}.prependASPath.prefix`);
    return { type: 'prependAsPath', asNumbers: required(asNumbers, `${field}.prependASPath.prefix`) };
  }
  const priority = setPriority?.value ?? null;
  return { type: 'setPriority', priority: required(priority, `${field}.setPriority.value`) };
}

function required<T>(value: T | null, field: string): T {
  if (value === null) throw new FieldError(field, 'is missing');
  return value;
}
