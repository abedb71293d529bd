import { sha256 } from '../core/digest.ts';
import { byText } from '../core/order.ts';
import type { SnapshotReason } from '../datastore/types.ts';
import type { Census } from '../model/types.ts';
import { canonicalJson } from './canonical.ts';
import type { Stamp } from './types.ts';

/** What the last good generation was made from. */
export interface Baseline {
  readonly address4: string | null;
  readonly address6: string | null;
  readonly counts: Readonly<Record<string, number>>;
  /** Names by kind; null after a restart, when only the stamp's counts are left. */
  readonly names: Readonly<Record<string, readonly string[]>> | null;
}

export interface GuardOptions {
  /** `regressed` when any snapshot since the last good generation was: the doubt stays until something passes. */
  readonly reason: SnapshotReason;
  /** Which part of a kind may vanish at once, 0 to 1. Default 0.5. */
  readonly share?: number;
  /** Fewer than this many of a kind are never a mass. Default 3. */
  readonly floor?: number;
  /** Digests of held losses that the operator approved. */
  readonly approved?: ReadonlySet<string>;
}

export type HoldId =
  | 'empty-tree'
  | 'regressed-loss'
  | 'mass-removal'
  | 'node-missing'
  | 'address-lost'
  | 'min-keys';

export interface HoldReason {
  readonly id: HoldId;
  /** Resource kind, or address family; null where it concerns everything. */
  readonly subject: string | null;
  readonly before: number;
  readonly after: number;
  /** Names of what is gone, sorted, all of them; empty where only counts are known. */
  readonly gone: readonly string[];
  /** One line for people. */
  readonly message: string;
}

export type GuardVerdict =
  | { readonly verdict: 'pass'; readonly approved: string | null }
  | {
      readonly verdict: 'hold';
      readonly reasons: readonly HoldReason[];
      /** Names this very loss, for `birdfeed approve`. */
      readonly digest: string;
    };

/** The kinds whose mass removal tears down routing. A vanished filter or affinity is an ordinary change. */
const MASS_KINDS = ['Node', 'BGPPeer', 'IPPool'];

const PASS: GuardVerdict = { verdict: 'pass', approved: null };

export function baselineOfCensus(census: Census): Baseline {
  const { address4, address6, kinds } = census;
  return { address4, address6, counts: mapValues(kinds, (names) => names.length), names: kinds };
}

/** Null for a generation that had nothing to guard. */
export function baselineOfStamp(stamp: Stamp): Baseline | null {
  return stamp.census === null ? null : { ...stamp.census, names: null };
}

/** The part of a census that goes into a stamp. */
export function stampedCensus(census: Census): NonNullable<Stamp['census']> {
  const { address4, address6, counts } = baselineOfCensus(census);
  return { address4, address6, counts };
}

/**
 * Whether the next input may replace what the last good generation was made from. Only the absence of data is ever
 * suspicious: sessions are not looked at, so whatever goes because of a value that is present (mesh off, a selector, a
 * cluster id) passes. Without a last good generation there is nothing to lose.
 */
export function judge(previous: Baseline | null, next: Census, options: GuardOptions): GuardVerdict {
  if (previous === null) return PASS;
  const losses = lossesByKind(previous, next);
  const empty = emptyTree(previous, next);
  const reasons =
    empty !== null
      ? [empty]
      : [
          ...(options.reason === 'regressed' ? losses.map(asRegressedLoss) : []),
          ...losses.filter((loss) => isMass(loss, options)).map(asMassRemoval),
          ...nodeReasons(previous, next),
        ];
  return decide(reasons, options.approved);
}

export interface KeyCounts {
  /** How many keys the last good generation was made from; null without one. */
  readonly previous: number | null;
  readonly next: number;
  /**
   * The resource's `min_keys`; null when it sets none. A number is a demand, so it also holds the very first
   * generation, and 0 says that no keys at all are fine.
   */
  readonly minKeys: number | null;
}

/** The guard of a resource without a model: its number of keys. */
export function judgeKeys(keys: KeyCounts, approved?: ReadonlySet<string>): GuardVerdict {
  const { previous, next, minKeys } = keys;
  const before = previous ?? 0;
  const reason = (id: HoldId, message: string): HoldReason => ({
    id,
    subject: null,
    before,
    after: next,
    gone: [],
    message,
  });
  if (minKeys !== null && next < minKeys) {
    return decide([reason('min-keys', `${next} keys, min_keys asks for ${minKeys}`)], approved);
  }
  if (minKeys === null && next === 0 && before > 0) {
    return decide([reason('empty-tree', `all ${before} keys are gone`)], approved);
  }
  return PASS;
}

interface Loss {
  readonly kind: string;
  readonly before: number;
  readonly after: number;
  readonly lost: number;
  readonly gone: readonly string[];
}

function lossesByKind(previous: Baseline, next: Census): readonly Loss[] {
  const losses = Object.keys(previous.counts)
    .sort(byText)
    .map((kind) => lossOf(kind, previous, next.kinds[kind] ?? []));
  return losses.filter((loss) => loss.lost > 0);
}

function lossOf(kind: string, previous: Baseline, now: readonly string[]): Loss {
  const before = previous.counts[kind] ?? 0;
  const known = previous.names?.[kind];
  if (known === undefined) {
    return { kind, before, after: now.length, lost: Math.max(0, before - now.length), gone: [] };
  }
  const present = new Set(known === now ? [] : now);
  const gone = known === now ? [] : known.filter((name) => !present.has(name)).sort(byText);
  return { kind, before, after: now.length, lost: gone.length, gone };
}

function isMass(loss: Loss, { share = 0.5, floor = 3 }: GuardOptions): boolean {
  return MASS_KINDS.includes(loss.kind) && loss.lost >= floor && loss.lost > share * loss.before;
}

function asMassRemoval(loss: Loss): HoldReason {
  const { kind, lost, before, after, gone } = loss;
  return {
    id: 'mass-removal',
    subject: kind,
    before,
    after,
    gone,
    message: `${lost} of ${before} ${kind} vanished at once`,
  };
}

function asRegressedLoss(loss: Loss): HoldReason {
  const { kind, lost, before, after, gone } = loss;
  const message = `the datastore went back in time and lacks ${lost} of ${before} ${kind}`;
  return { id: 'regressed-loss', subject: kind, before, after, gone, message };
}

function emptyTree(previous: Baseline, next: Census): HoldReason | null {
  const before = sum(Object.values(previous.counts));
  const after = sum(Object.values(next.kinds).map((names) => names.length));
  if (before === 0 || after > 0) return null;
  const message = `the datastore has none of the ${before} resources any more`;
  return { id: 'empty-tree', subject: null, before, after, gone: [], message };
}

function nodeReasons(previous: Baseline, next: Census): readonly HoldReason[] {
  const base = { before: 1, after: 0, gone: [] };
  if (!next.nodePresent) {
    const message = `this node (${next.nodeName}) is no longer in the datastore`;
    return [{ ...base, id: 'node-missing', subject: next.nodeName, message }];
  }
  const lost = (family: 4 | 6, address: string): HoldReason => ({
    ...base,
    id: 'address-lost',
    subject: `IPv${family}`,
    gone: [address],
    message: `this node (${next.nodeName}) no longer has an IPv${family} address; it was ${address}`,
  });
  return [
    ...(previous.address4 !== null && next.address4 === null ? [lost(4, previous.address4)] : []),
    ...(previous.address6 !== null && next.address6 === null ? [lost(6, previous.address6)] : []),
  ];
}

/**
 * The digest covers what is lost and nothing else: an approval stays good while unrelated things change, and does not
 * cover one name more than the operator saw.
 */
function decide(reasons: readonly HoldReason[], approved: ReadonlySet<string> | undefined): GuardVerdict {
  if (reasons.length === 0) return PASS;
  const digest = sha256(
    canonicalJson(
      reasons.map(({ id, subject, before, after, gone }) =>
        gone.length > 0 ? { id, subject, gone } : { id, subject, before, after },
      ),
    ),
  );
  return approved?.has(digest) ? { verdict: 'pass', approved: digest } : { verdict: 'hold', reasons, digest };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, fn: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fn(value)]));
}
