import { BirdfeedError } from '../../core/errors.ts';
import { covers } from '../../core/prefix.ts';
import type { Change, Entry } from '../../tree/types.ts';
import { type ConvertOptions, convertObject } from './convert.ts';
import { isObject, type JsonObject, objectAt, textAt } from './shape.ts';

export interface ContentsOptions {
  /** Keys elsewhere are left out. */
  readonly prefix: string;
  readonly kind: string;
  readonly convert: ConvertOptions;
}

/** What a collection holds, as entries of the key space: objects in, changes out. No I/O. */
export class Contents {
  readonly #options: ContentsOptions;
  /** By namespace and name, since a key may move when its object changes. */
  #entries = new Map<string, Entry>();
  #faults = new Map<string, BirdfeedError>();

  constructor(options: ContentsOptions) {
    this.#options = options;
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Objects that make no entry although they should. */
  get faults(): readonly BirdfeedError[] {
    return [...this.#faults.values()];
  }

  find(key: string): Entry | undefined {
    return this.entries.find((entry) => entry.key === key);
  }

  /** A new list begins: `put` fills it, and `keep` makes it the content. */
  begin(): { put(object: JsonObject, apiVersion: string): Entry | null; keep(): void } {
    const next = new Contents(this.#options);
    return {
      put: (object, apiVersion) => next.#put(object, apiVersion),
      keep: () => {
        this.#entries = next.#entries;
        this.#faults = next.#faults;
      },
    };
  }

  /** An object was added or changed. No change when what it means is the same as before. */
  put(object: JsonObject, apiVersion: string): readonly Change[] {
    const before = this.#entries.get(idOf(object));
    const entry = this.#put(object, apiVersion);
    if (entry === null) return before === undefined ? [] : [{ type: 'delete', key: before.key }];
    if (before?.key === entry.key && before.value === entry.value) {
      this.#entries.set(idOf(object), before);
      return [];
    }
    const gone: Change[] =
      before === undefined || before.key === entry.key ? [] : [{ type: 'delete', key: before.key }];
    return [...gone, { type: 'put', entry }];
  }

  delete(object: JsonObject): readonly Change[] {
    const id = idOf(object);
    const before = this.#entries.get(id);
    this.#entries.delete(id);
    this.#faults.delete(id);
    return before === undefined ? [] : [{ type: 'delete', key: before.key }];
  }

  #put(object: JsonObject, apiVersion: string): Entry | null {
    const id = idOf(object);
    const { kind, prefix, convert } = this.#options;
    const conversion = convertObject({ ...object, kind, apiVersion }, convert);
    this.#faults.delete(id);
    if (conversion.type === 'entry' && covers(prefix, conversion.key)) {
      const entry = { key: conversion.key, value: conversion.value, revision: revisionOf(object) };
      this.#entries.set(id, entry);
      return entry;
    }
    this.#entries.delete(id);
    if (conversion.type === 'invalid') this.#faults.set(id, fault(kind, id, conversion.reason));
    return null;
  }
}

/** The number in `metadata.resourceVersion`, which grows over all objects of a cluster; 0 when it is none. */
export function revisionOf(object: JsonObject): number {
  const revision = Number(textAt(objectAt(object, 'metadata'), 'resourceVersion'));
  return Number.isSafeInteger(revision) ? revision : 0;
}

function idOf(object: JsonObject): string {
  const metadata = objectAt(object, 'metadata');
  return `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;
}

function fault(kind: string, id: string, reason: string): BirdfeedError {
  const name = id.replace(/^\//, '');
  return new BirdfeedError('BF_RESOURCE_INVALID', `${kind} ${name} in Kubernetes ${reason} and is left out`, {
    details: { kind, name },
  });
}

/** The objects of a list, or null when this is no list. An empty one may come as null. */
export function itemsOf(list: JsonObject): readonly JsonObject[] | null {
  const items = list['items'] ?? [];
  const isList = textAt(list, 'kind').endsWith('List') && Array.isArray(items);
  return isList && items.every(isObject) ? items : null;
}
