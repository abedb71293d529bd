import { sameElements } from '../../core/same.ts';
import { parseKey } from '../../datastore/keys.ts';
import type { Entry } from '../../tree/types.ts';
import { type Parsed, parseStored, parseValue } from './parse.ts';
import type { Quarantined, ResourceByKind, ResourceKind } from './types.ts';

/**
 * Entries that were parsed ahead, see {@link prepare}, by key. Each is used once; what is never read has to be cleared. Not
 * a WeakMap by entry: ten thousand of those keep the garbage collector busy.
 */
export type ParseCache = Map<string, { readonly entry: Entry; readonly parsed: Parsed }>;

/** Stored texts of last good versions, by key. */
export type LastGoodTexts = ReadonlyMap<string, string>;

/** What one kind's entries came to. Arrays are the same objects as before while their elements are. */
export interface Slot<K extends ResourceKind> {
  readonly kind: K;
  /** Sorted by key. */
  readonly entries: readonly Entry[];
  /** One per entry. */
  readonly states: readonly State<K>[];
  /** What counts: good resources and last good versions that stand in for bad ones, in key order. */
  readonly resources: readonly ResourceByKind[K][];
  readonly quarantined: readonly Quarantined[];
}

interface State<K extends ResourceKind> {
  readonly resource: ResourceByKind[K] | null;
  readonly quarantined: Quarantined | null;
  /** The stored text behind `resource` where that is a last good version. */
  readonly lastGoodText: string | null;
}

/** A resource that came (`before` null), went (`after` null) or changed. */
export interface ResourceChange<R> {
  readonly before: R | null;
  readonly after: R | null;
}

/**
 * Parses entries ahead, page by page, so that reading the cluster after a large snapshot does not block for long. Keys
 * of no kind are skipped.
 */
export function prepare(entries: readonly Entry[], cache: ParseCache): void {
  for (const entry of entries) {
    const key = parseKey(entry.key);
    if (key !== null) cache.set(entry.key, { entry, parsed: parseValue(key, entry.key, entry.value) });
  }
}

export function emptySlot<K extends ResourceKind>(kind: K): Slot<K> {
  return { kind, entries: [], states: [], resources: [], quarantined: [] };
}

export interface SlotUpdate<K extends ResourceKind> {
  readonly slot: Slot<K>;
  readonly changes: readonly ResourceChange<ResourceByKind[K]>[];
}

/**
 * The slot of `entries`. An Entry object that was there before keeps its parsed object. For a value that is bad now, the
 * last good version is the one that counted before, or else the text in `lastGood`; a key that went and came again
 * starts anew. `entries` and those of `previous` are sorted by key.
 */
export function updateSlot<K extends ResourceKind>(
  previous: Slot<K>,
  entries: readonly Entry[],
  lastGood: LastGoodTexts,
  cache: ParseCache | undefined,
): SlotUpdate<K> {
  if (entries === previous.entries) return { slot: previous, changes: [] };
  const states: State<K>[] = new Array(entries.length);
  const changes: ResourceChange<ResourceByKind[K]>[] = [];
  const gone = (state: State<K>) => {
    if (state.resource !== null) changes.push({ before: state.resource, after: null });
  };
  let at = 0;
  for (let i = 0; i < entries.length; i += 1) {
    const entry = entries[i]!;
    let before = previous.entries[at];
    if (before !== entry) {
      for (; before !== undefined && before.key < entry.key; before = previous.entries[at]) {
        gone(previous.states[at]!);
        at += 1;
      }
    }
    const known = before?.key === entry.key ? previous.states[at]! : null;
    if (known !== null) at += 1;
    if (known !== null && before === entry) {
      states[i] = known;
      continue;
    }
    const text = known === null ? (lastGood.get(entry.key) ?? null) : lastGoodText(known, before!);
    const state = readState(previous.kind, entry, known, text, cache);
    states[i] = state;
    const was = known?.resource ?? null;
    if (was !== state.resource) changes.push({ before: was, after: state.resource });
  }
  for (; at < previous.entries.length; at += 1) gone(previous.states[at]!);
  return { slot: collect(previous, entries, states, changes), changes };
}

function lastGoodText<K extends ResourceKind>(known: State<K>, entry: Entry): string | null {
  if (known.quarantined !== null) return known.lastGoodText;
  return known.resource === null ? null : entry.value;
}

function readState<K extends ResourceKind>(
  kind: K,
  entry: Entry,
  known: State<K> | null,
  text: string | null,
  cache: ParseCache | undefined,
): State<K> {
  const ahead = cache?.get(entry.key);
  const parsed = ahead?.entry === entry ? ahead.parsed : parseStored(kind, entry.key, entry.value);
  cache?.delete(entry.key);
  if (parsed.outcome !== 'quarantined')
    return { resource: resourceOf<K>(parsed), quarantined: null, lastGoodText: null };
  const { quarantined } = parsed;
  if (text === null) return { resource: null, quarantined, lastGoodText: null };
  // Still bad, in another way perhaps: the object that stands in stays the same one.
  const standIn =
    known !== null && known.quarantined !== null
      ? known.resource
      : resourceOf<K>(parseStored(kind, entry.key, text, true));
  if (standIn === null) return { resource: null, quarantined, lastGoodText: null };
  return { resource: standIn, quarantined: { ...quarantined, lastGoodUsed: true }, lastGoodText: text };
}

/** `parseStored` returns a resource of the kind that it was asked for. */
function resourceOf<K extends ResourceKind>(parsed: Parsed): ResourceByKind[K] | null {
  return parsed.outcome === 'resource' ? (parsed.resource as ResourceByKind[K]) : null;
}

function collect<K extends ResourceKind>(
  previous: Slot<K>,
  entries: readonly Entry[],
  states: readonly State<K>[],
  changes: readonly unknown[],
): Slot<K> {
  const resources: ResourceByKind[K][] = [];
  const quarantined: Quarantined[] = [];
  for (const state of states) {
    if (state.resource !== null) resources.push(state.resource);
    if (state.quarantined !== null) quarantined.push(state.quarantined);
  }
  return {
    kind: previous.kind,
    entries,
    states,
    resources: changes.length === 0 ? previous.resources : resources,
    quarantined: keepSame(previous.quarantined, quarantined),
  };
}

/** `previous` if it has the very same elements as `next`. */
export function keepSame<T>(previous: readonly T[], next: readonly T[]): readonly T[] {
  return sameElements(previous, next) ? previous : next;
}
