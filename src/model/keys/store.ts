import { BirdfeedError } from '../../core/errors.ts';
import { covers, normalPrefix } from '../../core/prefix.ts';
import { didYouMean } from '../../core/suggest.ts';
import { compileGlob } from './glob.ts';

/** A key and its value, with Go's names, since templates see it. The same object while the entry is the same. */
export interface KeyPair {
  /** Without the resource's prefix. */
  readonly Key: string;
  readonly Value: string;
}

/** What a template can read: the keys its resource declares and nothing else, sorted by name. */
export interface KeyStore {
  readonly size: number;
  get(name: string): KeyPair;
  find(name: string): KeyPair | undefined;
  gets(pattern: string): readonly KeyPair[];
  /** Names of the immediate children; with `foldersOnly` those that have children themselves. */
  children(name: string, foldersOnly: boolean): readonly string[];
}

/**
 * `pairs` is sorted by name without doubles. `declared` are the names of the resource's keys, for messages. `remembered`
 * holds results of `gets` for exactly these pairs, so that a list is the same object while nothing changed.
 */
export function createKeyStore(
  pairs: readonly KeyPair[],
  declared: readonly string[],
  remembered: Map<string, readonly KeyPair[]> = new Map(),
): KeyStore {
  const find = (name: string): KeyPair | undefined => {
    const pair = pairs[lowerBound(pairs, name)];
    return pair?.Key === name ? pair : undefined;
  };
  const gets = (pattern: string): readonly KeyPair[] => {
    const glob = compileGlob(pattern);
    return pairsBelow(pairs, normalPrefix(glob.folder)).filter((pair) => glob.matches(pair.Key));
  };
  return {
    size: pairs.length,
    find,
    get(name) {
      const pair = find(name);
      if (pair === undefined) throw missingKey(name, pairs, declared);
      return pair;
    },
    gets(pattern) {
      const known = remembered.get(pattern);
      if (known !== undefined) return known;
      const found = gets(pattern);
      remembered.set(pattern, found);
      return found;
    },
    children(name, foldersOnly) {
      const folder = normalPrefix(name);
      const names = new Set<string>();
      for (const { Key } of pairsBelow(pairs, folder)) {
        if (Key === folder) {
          if (!foldersOnly) names.add(Key.slice(Key.lastIndexOf('/') + 1));
          continue;
        }
        const [child = '', ...below] = Key.slice(folder.length + 1).split('/');
        if (!foldersOnly || below.length > 0) names.add(child);
      }
      return [...names].sort();
    },
  };
}

/** Those at or below `folder`, sorted. */
function pairsBelow(pairs: readonly KeyPair[], folder: string): readonly KeyPair[] {
  if (folder === '') return pairs;
  // The key itself and what is below it need not be neighbours: `/a-b` sorts between `/a` and `/a/b`.
  const own = pairs[lowerBound(pairs, folder)];
  const below = pairs.slice(lowerBound(pairs, `${folder}/`), lowerBound(pairs, `${folder}0`)); // `0` follows `/`
  return own?.Key === folder ? [own, ...below] : below;
}

function lowerBound(pairs: readonly KeyPair[], name: string): number {
  let [low, high] = [0, pairs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (pairs[middle]!.Key < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function missingKey(name: string, pairs: readonly KeyPair[], declared: readonly string[]): BirdfeedError {
  const shown = JSON.stringify(name);
  if (!declared.some((key) => covers(key, name)) && name.startsWith('/')) {
    const list = declared.map((key) => JSON.stringify(key === '' ? '/' : key)).join(', ');
    const message = `key ${shown} is not among the resource's keys (${list || 'it has none'})`;
    return new BirdfeedError('BF_KEY_MISSING', message, { details: { key: name } });
  }
  const candidates = pairs.slice(0, 10_000).map((pair) => pair.Key);
  const hint = candidates.includes(`/${name}`)
    ? `; did you mean ${JSON.stringify(`/${name}`)}?`
    : didYouMean(name, candidates);
  return new BirdfeedError('BF_KEY_MISSING', `key ${shown} does not exist${hint}`, {
    details: { key: name },
  });
}
