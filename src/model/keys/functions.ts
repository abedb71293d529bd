import { byText } from '../../core/order.ts';
import type { KeyStore } from './store.ts';

/** A function on the resource's keys, as confd has it. */
export interface KeyFunction {
  readonly name: string;
  readonly signature: string;
  readonly doc: string;
  bind(store: KeyStore): (...args: unknown[]) => unknown;
}

export const KEY_FUNCTIONS: readonly KeyFunction[] = [
  {
    name: 'get',
    signature: 'get(key)',
    doc: 'The pair of a key: an object with Key and Value. A missing key is an error.',
    bind: (store) => (key) => store.get(text(key, 'the key')),
  },
  {
    name: 'gets',
    signature: 'gets(pattern)',
    doc: 'The pairs whose whole key matches, sorted by key. `*` and `?` never match a slash; `[a-z]` is a class. No match gives an empty list.',
    bind: (store) => (pattern) => store.gets(text(pattern, 'the pattern')),
  },
  {
    name: 'getv',
    signature: 'getv(key, default)',
    doc: 'The value of a key. A missing key is an error unless there is a default.',
    bind:
      (store) =>
      (key, ...fallback) => {
        const name = text(key, 'the key');
        if (fallback.length > 0) return store.find(name)?.Value ?? fallback[0];
        return store.get(name).Value;
      },
  },
  {
    name: 'getvs',
    signature: 'getvs(pattern)',
    doc: 'The values of the matching keys, sorted by value: they are not in the order of gets().',
    bind: (store) => (pattern) =>
      store
        .gets(text(pattern, 'the pattern'))
        .map((pair) => pair.Value)
        .sort(byText),
  },
  {
    name: 'exists',
    signature: 'exists(key)',
    doc: 'Whether there is a key of exactly this name; false for a folder.',
    bind: (store) => (key) => store.find(text(key, 'the key')) !== undefined,
  },
  {
    name: 'ls',
    signature: 'ls(path)',
    doc: 'The names directly below a path, sorted. If the path is itself a key, its last part is among them.',
    bind: (store) => (path) => store.children(text(path, 'the path'), false),
  },
  {
    name: 'lsdir',
    signature: 'lsdir(path)',
    doc: 'The names directly below a path that have something below them, sorted.',
    bind: (store) => (path) => store.children(text(path, 'the path'), true),
  },
];

export const KEY_FUNCTION_NAMES: readonly string[] = KEY_FUNCTIONS.map((definition) => definition.name);

function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new Error(
    `${what} must be text, not ${value === null || value === undefined ? value : `a ${typeof value}`}`,
  );
}
