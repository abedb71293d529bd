import { covers } from '../../core/prefix.ts';
import type { Mount } from '../../datastore/types.ts';
import type { Entry, TreeView } from '../../tree/types.ts';
import type { Interests, Problem, Producer, ProducerResult } from '../types.ts';
import { KEY_FUNCTIONS } from './functions.ts';
import type { CheckValue, ValueFinding } from './schema.ts';
import { createKeyStore, type KeyPair } from './store.ts';

/** The problem that tells that a resource has fewer keys than its `min_keys`; the guard holds it back. */
export const MIN_KEYS_PROBLEM = 'min-keys';
export const VALUE_INVALID_PROBLEM = 'value-invalid';

/** A key of a resource; structurally the configuration's ResourceKey. */
export interface DeclaredKey {
  /** In the datastore, normal form. */
  readonly path: string;
  /** As templates see it, normal form. */
  readonly name: string;
}

export interface KeysProducerOptions {
  /** The resource, for messages: its conf.d file. */
  readonly resource: string;
  readonly keys: readonly DeclaredKey[];
  readonly minKeys: number | null;
  readonly check: CheckValue;
  /** Texts kept for what was quarantined when the process last ended: datastore key → text. */
  readonly lastGood: ReadonlyMap<string, string>;
}

export interface KeysResult extends ProducerResult {
  /** How many keys templates see: those that are fine, and last good versions. */
  readonly keyCount: number;
  readonly minKeys: number | null;
}

/** The producer of plain confd resources: templates see the declared keys, through confd's functions, and nothing else. */
export interface KeysProducer extends Producer {
  compute(view: TreeView, previous: ProducerResult | undefined): KeysResult;
}

/** What the next run needs to know of this one. */
interface Memory {
  readonly ranges: readonly (readonly Entry[])[];
  readonly usedLastGood: ReadonlyMap<string, string>;
}

const NOTHING: Interests = { secrets: [], services: false, endpointStatus: false };

export function createKeysProducer(options: KeysProducerOptions): KeysProducer {
  const keys = withoutCovered(options.keys);
  const mounts: readonly Mount[] = keys.map((key) => ({ prefix: key.path, required: true }));
  const memories = new WeakMap<ProducerResult, Memory>();
  // One for each key: with `/a` and `//a` the same entry has two names.
  const readers = keys.map(() => entryReader(options.check));

  function compute(view: TreeView, previous: ProducerResult | undefined): KeysResult {
    const ranges = keys.map((key) => view.range(key.path));
    const memory = previous === undefined ? undefined : memories.get(previous);
    if (memory?.ranges.every((range, i) => range === ranges[i])) return previous as KeysResult;
    const pairs: KeyPair[] = [];
    const problems: Problem[] = [];
    const usedLastGood = new Map<string, string>();
    for (const [index, key] of keys.entries()) {
      const readEntry = readers[index]!;
      for (const entry of ranges[index]!) {
        const { pair, finding } = readEntry(entry, nameOf(key, entry));
        if (finding === null) {
          pairs.push(pair);
          continue;
        }
        const text = lastGoodText(entry, pair.Key, readEntry, memory);
        if (text !== undefined) {
          usedLastGood.set(entry.key, text);
          pairs.push(standIn(entry, pair.Key, text));
        }
        problems.push(invalid(entry, finding, text !== undefined));
      }
    }
    if (keys.length > 1) pairs.sort((a, b) => (a.Key < b.Key ? -1 : 1));
    const result = resultOf(pairs, problems, usedLastGood);
    memories.set(result, { ranges, usedLastGood });
    return result;
  }

  /** The text that was last good, if it is good for the schema of today. */
  function lastGoodText(
    entry: Entry,
    name: string,
    readEntry: ReadEntry,
    memory: Memory | undefined,
  ): string | undefined {
    const before = memory === undefined ? undefined : entryIn(memory.ranges, entry.key);
    const wasGood = before !== undefined && readEntry(before, name).finding === null;
    const kept = memory === undefined ? options.lastGood : memory.usedLastGood;
    const text = wasGood ? before.value : kept.get(entry.key);
    return text !== undefined && options.check(name, text) === null ? text : undefined;
  }

  const standIns = new WeakMap<Entry, KeyPair>();
  function standIn(entry: Entry, name: string, text: string): KeyPair {
    const known = standIns.get(entry);
    if (known?.Value === text && known.Key === name) return known;
    const pair = { Key: name, Value: text };
    standIns.set(entry, pair);
    return pair;
  }

  function resultOf(
    pairs: readonly KeyPair[],
    problems: Problem[],
    lastGood: ReadonlyMap<string, string>,
  ): KeysResult {
    const { minKeys, resource } = options;
    if (minKeys !== null && pairs.length < minKeys)
      problems.push(tooFewKeys(resource, pairs.length, minKeys));
    const store = createKeyStore(
      pairs,
      keys.map((key) => key.name),
    );
    return {
      context: Object.fromEntries(
        KEY_FUNCTIONS.map((definition) => [definition.name, definition.bind(store)]),
      ),
      problems,
      interests: NOTHING,
      mounts,
      sessions: [],
      census: null,
      lastGood,
      keyCount: pairs.length,
      minKeys,
    };
  }

  return { name: 'keys', mounts, compute };
}

type ReadEntry = (entry: Entry, name: string) => CheckedPair;

interface CheckedPair {
  readonly pair: KeyPair;
  readonly finding: ValueFinding | null;
}

/** Pairs and verdicts by entry: an unchanged entry keeps its pair, and is not checked again. */
function entryReader(check: CheckValue): ReadEntry {
  const known = new WeakMap<Entry, CheckedPair>();
  return (entry, name) => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const read = { pair: { Key: name, Value: entry.value }, finding: check(name, entry.value) };
    known.set(entry, read);
    return read;
  };
}

/** A key below another one brings nothing new. */
function withoutCovered(keys: readonly DeclaredKey[]): DeclaredKey[] {
  const isAbsolute = (key: DeclaredKey): boolean => key.name.startsWith('//');
  return keys.filter(
    (key, index) =>
      !keys.some((other, at) => {
        if (isAbsolute(key) !== isAbsolute(other) || !covers(other.name, key.name)) return false;
        return other.name !== key.name || at < index;
      }),
  );
}

function nameOf(key: DeclaredKey, entry: Entry): string {
  return key.name + entry.key.slice(key.path.length) || '/';
}

function entryIn(ranges: readonly (readonly Entry[])[], key: string): Entry | undefined {
  for (const range of ranges) {
    let [low, high] = [0, range.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (range[middle]!.key < key) low = middle + 1;
      else high = middle;
    }
    if (range[low]?.key === key) return range[low];
  }
  return undefined;
}

function invalid(entry: Entry, { field, message }: ValueFinding, lastGoodUsed: boolean): Problem {
  const used = lastGoodUsed ? 'its last good version is used' : 'it is left out';
  const where = field === null ? '' : `${field} `;
  return {
    severity: 'error',
    id: VALUE_INVALID_PROBLEM,
    subject: entry.key,
    field,
    message: `${where}${message}; ${used}`,
  };
}

function tooFewKeys(resource: string, count: number, minKeys: number): Problem {
  const message = `${count} keys, min_keys asks for ${minKeys}; nothing is published`;
  return { severity: 'error', id: MIN_KEYS_PROBLEM, subject: resource, field: 'min_keys', message };
}
