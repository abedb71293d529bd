import { nextDifference, sameElements } from '../../core/same.ts';

/**
 * What a computation keeps for the next one. Values are reused by identity only: a remembered value is given back when
 * the very same inputs come again, so a computation with memory always equals one without.
 */
export interface Memory {
  readonly values: Map<string, Remembered>;
  readonly namedMaps: Map<string, NamedMap<unknown>>;
  readonly parts: Map<string, Part>;
}

interface Remembered {
  readonly inputs: readonly unknown[];
  readonly value: unknown;
}

interface Named {
  readonly name: string;
}

/** A part of a computation, and its own memory. */
interface Part extends Remembered {
  readonly memory: Memory;
}

/** What a function gave for each of some things that have names: nodes, mostly. */
interface NamedMap<T> {
  readonly items: readonly Named[];
  readonly inputs: readonly unknown[];
  /** One per item. */
  readonly values: readonly (T | null)[];
  /** Those that are not null, in the order of items. */
  readonly found: readonly T[];
}

/** Reads the memory of the last computation and writes that of the next; what is not asked for again is forgotten. */
export interface Recall {
  /** `make()`, or what it gave last time under this name if all inputs are the very same. */
  value<T>(name: string, inputs: readonly unknown[], make: () => T): T;
  /** `made`, sharing every part that is as it was last time. */
  same<T>(name: string, made: T): T;
  /** `made`, or the object of last time if all its fields are the very same. */
  fields<T extends object>(name: string, made: T): T;
  /** As `value`, for an array whose elements are remembered elsewhere: the same array while its elements are the same. */
  list<T>(name: string, inputs: readonly unknown[], make: () => readonly T[]): readonly T[];
  /**
   * The non-null results of `make` over things that are sorted by name. It may depend on its item and on `inputs` only:
   * it is called for items that are new objects, and for all when an input is. The array is the same object while its
   * elements are.
   */
  perNamed<N extends Named, T>(
    name: string,
    items: readonly N[],
    inputs: readonly unknown[],
    make: (item: N) => T | null,
  ): readonly T[];
  /**
   * `make()`, which remembers in the recall that it is given; or what it gave last time under this name if all inputs are the
   * very same. Then nothing within is asked for one by one, and all of it stays remembered.
   */
  part<T>(name: string, inputs: readonly unknown[], make: (recall: Recall) => T): T;
  readonly next: Memory;
}

export function recall(previous: Memory | undefined): Recall {
  const next: Memory = { values: new Map(), namedMaps: new Map(), parts: new Map() };
  const changedSince = onceForEach(changedAt);
  return {
    next,
    value<T>(name: string, inputs: readonly unknown[], make: () => T): T {
      // Asked for before in this computation, or kept from the last one.
      const known = next.values.get(name) ?? previous?.values.get(name);
      if (known !== undefined && sameElements(known.inputs, inputs)) {
        next.values.set(name, known);
        return known.value as T;
      }
      const value = reuse(known?.value, make());
      next.values.set(name, { inputs, value });
      return value;
    },
    same<T>(name: string, made: T): T {
      const value = reuse(previous?.values.get(name)?.value, made);
      next.values.set(name, { inputs: [], value });
      return value;
    },
    fields<T extends object>(name: string, made: T): T {
      const known = previous?.values.get(name)?.value as T | undefined;
      const kept =
        known !== undefined && sameElements(Object.values(known), Object.values(made)) ? known : made;
      next.values.set(name, { inputs: [], value: kept });
      return kept;
    },
    list<T>(name: string, inputs: readonly unknown[], make: () => readonly T[]): readonly T[] {
      const known = previous?.values.get(name) as
        | { inputs: readonly unknown[]; value: readonly T[] }
        | undefined;
      if (known !== undefined && sameElements(known.inputs, inputs)) {
        next.values.set(name, known);
        return known.value;
      }
      const made = make();
      const value = known !== undefined && sameElements(known.value, made) ? known.value : made;
      next.values.set(name, { inputs, value });
      return value;
    },
    perNamed<N extends Named, T>(
      name: string,
      items: readonly N[],
      inputs: readonly unknown[],
      make: (item: N) => T | null,
    ): readonly T[] {
      const known = previous?.namedMaps.get(name) as NamedMap<T> | undefined;
      const result = mapNamed(known, items, inputs, make, changedSince);
      next.namedMaps.set(name, result);
      return result.found;
    },
    part<T>(name: string, inputs: readonly unknown[], make: (recall: Recall) => T): T {
      const known = previous?.parts.get(name);
      if (known !== undefined && sameElements(known.inputs, inputs)) {
        next.parts.set(name, known);
        return known.value as T;
      }
      const own = recall(known?.memory);
      const value = make(own);
      next.parts.set(name, { inputs, value, memory: own.next });
      return value;
    },
  };
}

function mapNamed<N extends Named, T>(
  previous: NamedMap<T> | undefined,
  items: readonly N[],
  inputs: readonly unknown[],
  make: (item: N) => T | null,
  changedSince: typeof changedAt,
): NamedMap<T> {
  if (previous !== undefined && sameElements(previous.inputs, inputs)) {
    if (previous.items === items) return previous;
    const patched = patchNamed(previous, items, make, changedSince);
    if (patched !== null) return patched;
    return renewNamed(previous, true, items, inputs, make);
  }
  return renewNamed(previous, false, items, inputs, make);
}

/** The usual change: the same names, few new objects. Null if it is another one. */
function patchNamed<N extends Named, T>(
  previous: NamedMap<T>,
  items: readonly N[],
  make: (item: N) => T | null,
  changedSince: typeof changedAt,
): NamedMap<T> | null {
  const { values: old, inputs, found } = previous;
  const changed = changedSince(previous.items, items);
  if (changed === null) return null;
  let values: (T | null)[] | null = null;
  for (const i of changed) {
    const value = reuse(old[i], make(items[i]!));
    if (value === old[i]) continue;
    values ??= old.slice();
    values[i] = value;
  }
  if (values === null) return { items, inputs, values: old, found };
  return { items, inputs, values, found: present(values) };
}

/** The indexes of items that are new objects, or null where names come and go. */
function changedAt(before: readonly Named[], items: readonly Named[]): readonly number[] | null {
  if (items.length !== before.length) return null;
  const changed: number[] = [];
  for (let i = nextDifference(items, before, 0); i < items.length; i = nextDifference(items, before, i + 1)) {
    if (before[i]!.name !== items[i]!.name) return null;
    changed.push(i);
  }
  return changed;
}

/** Most of what is made per item is made of the same items, that were the same ones before. */
function onceForEach(find: typeof changedAt): typeof changedAt {
  const found = new Map<readonly Named[], { before: readonly Named[]; changed: readonly number[] | null }>();
  return (before, items) => {
    const known = found.get(items);
    if (known?.before === before) return known.changed;
    const changed = find(before, items);
    found.set(items, { before, changed });
    return changed;
  };
}

function renewNamed<N extends Named, T>(
  previous: NamedMap<T> | undefined,
  sameInputs: boolean,
  items: readonly N[],
  inputs: readonly unknown[],
  make: (item: N) => T | null,
): NamedMap<T> {
  if (previous === undefined) {
    const values = items.map((item) => make(item));
    return { items, inputs, values, found: present(values) };
  }
  const values: (T | null)[] = new Array(items.length);
  let at = 0;
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i]!;
    let before = previous.items[at];
    // Names are compared only where something came or went.
    while (before !== undefined && before !== item && before.name < item.name) {
      at += 1;
      before = previous.items[at];
    }
    if (before === undefined || (before !== item && before.name !== item.name)) {
      values[i] = make(item);
      continue;
    }
    const value = previous.values[at]!;
    values[i] = before === item && sameInputs ? value : reuse(value, make(item));
    at += 1;
  }
  const found = present(values);
  const kept = sameElements(previous.found, found) ? previous.found : found;
  return { items, inputs, values, found: kept };
}

function present<T>(values: readonly (T | null)[]): readonly T[] {
  const found: T[] = [];
  for (const value of values) if (value !== null) found.push(value);
  return found;
}

/**
 * `next`, with every part that equals the corresponding part of `previous` replaced by that very object. For plain data
 * (objects, arrays, scalars) only; anything else is compared by identity. Elements of an array that have a `name` correspond
 * by name, so that one more in front does not renew those behind it; other elements correspond by index.
 */
export function reuse<T>(previous: unknown, next: T): T {
  if (Object.is(previous, next)) return next;
  if (!isPlain(previous) || !isPlain(next) || Array.isArray(previous) !== Array.isArray(next)) return next;
  if (Array.isArray(next)) return reuseArray(previous as unknown as readonly unknown[], next) as T;
  const before = previous as Readonly<Record<string, unknown>>;
  const after = next as Readonly<Record<string, unknown>>;
  if (before['name'] !== after['name']) return next;
  const keys = Object.keys(after);
  let same = keys.length === Object.keys(before).length;
  // Not put together key by key: V8 would keep it as a hash table, of many times the size.
  const merged: Record<string, unknown> = { ...after };
  for (const key of keys) {
    merged[key] = reuse(before[key], after[key]);
    if (!Object.is(merged[key], before[key]) || !Object.hasOwn(before, key)) same = false;
  }
  return (same ? previous : merged) as T;
}

function reuseArray(previous: readonly unknown[], next: readonly unknown[]): readonly unknown[] {
  let same = previous.length === next.length;
  let byName: ReadonlyMap<unknown, unknown> | undefined;
  const merged = next.map((value, index) => {
    let before = previous[index];
    if (!Object.is(before, value) && nameOf(value) !== undefined && nameOf(before) !== nameOf(value)) {
      byName ??= new Map(previous.map((element) => [nameOf(element), element]));
      before = byName.get(nameOf(value));
    }
    const result = reuse(before, value);
    if (!Object.is(result, previous[index])) same = false;
    return result;
  });
  return same ? previous : merged;
}

function nameOf(value: unknown): unknown {
  return isPlain(value) ? (value as Readonly<Record<string, unknown>>)['name'] : undefined;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype;
}
