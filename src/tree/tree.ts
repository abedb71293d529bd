import { BirdfeedError } from '../core/errors.ts';
import { covers, forEachPrefixOf, normalPrefix } from '../core/prefix.ts';
import { diffSnapshots, sortedEntries } from './diff.ts';
import {
  currentEntries,
  entriesBelow,
  firstEntries,
  noteChange,
  type Subtree,
  uniqueSorted,
} from './subtree.ts';
import type { Change, Entry, TreeView } from './types.ts';

/** A part of the tree that one source fills. Structurally the datastore's Mount. */
export interface MountPoint {
  readonly prefix: string;
}

/**
 * The key tree: the union of what the mounts delivered. Mounts may nest; a key belongs to the mount with the longest
 * prefix that covers it, so a snapshot of `/calico` never removes what a mount below it delivered.
 *
 * The three writing functions return the keys that really changed, sorted; a put of the value that is already there
 * keeps the old Entry object and counts as nothing.
 */
export interface Tree extends TreeView {
  /** Sets what may be read: the union of the prefixes that resources and the model watch. Replaces the last call's. */
  declare(prefixes: readonly string[]): void;
  /** Makes everything that belongs to the mount equal to `entries` (any order). */
  applySnapshot(mount: MountPoint, entries: readonly Entry[]): readonly string[];
  applyChanges(mount: MountPoint, changes: readonly Change[]): readonly string[];
  /** Drops a mount with all its keys. A mount around it brings its own keys of that range with its next snapshot. */
  unmount(mount: MountPoint): readonly string[];
}

export function createTree(): Tree {
  return new KeyTree();
}

class KeyTree implements Tree {
  readonly #byKey = new Map<string, Entry>();
  readonly #lookup = (key: string): Entry | undefined => this.#byKey.get(key);
  readonly #mounts = new Set<string>();
  readonly #root: Subtree = { version: 0, entries: [], pending: [] };
  /** Every prefix that was asked for, with its array. The root is always there: new ones are cut out of it. */
  readonly #subtrees = new Map<string, Subtree>([['', this.#root]]);
  #declared = new Set<string>();
  /** Grows with every change of a key: the source of all versions. */
  #counter = 0;

  get(key: string): Entry | undefined {
    if (!this.#isDeclared(key)) throw undeclared(key);
    return this.#byKey.get(key);
  }

  range(prefix: string): readonly Entry[] {
    return currentEntries(this.#readable(prefix), this.#lookup);
  }

  version(prefix: string): number {
    return this.#readable(prefix).version;
  }

  declare(prefixes: readonly string[]): void {
    this.#declared = new Set(prefixes.map(normalPrefix));
    for (const prefix of this.#subtrees.keys()) {
      if (prefix !== '' && !this.#isDeclared(prefix)) this.#subtrees.delete(prefix);
    }
    for (const prefix of this.#declared) this.#subtreeAt(prefix);
  }

  applySnapshot(mount: MountPoint, entries: readonly Entry[]): readonly string[] {
    const prefix = this.#enter(mount);
    const sorted = sortedEntries(entries);
    requireAllInside(prefix, sorted);
    const owned = this.#belongsTo(prefix);
    const before = this.#ownEntries(prefix, owned);
    if (owned === null && before.length === 0) return this.#fill(prefix, sorted);
    const after = owned === null ? sorted : sorted.filter((entry) => owned(entry.key));
    return this.#applyAll(diffSnapshots(before, after));
  }

  applyChanges(mount: MountPoint, changes: readonly Change[]): readonly string[] {
    const prefix = this.#enter(mount);
    const owned = this.#belongsTo(prefix);
    for (const change of changes) requireInside(prefix, keyOf(change));
    const own = owned === null ? changes : changes.filter((change) => owned(keyOf(change)));
    return uniqueSorted(this.#applyAll(own));
  }

  unmount({ prefix }: MountPoint): readonly string[] {
    const mount = normalPrefix(prefix);
    if (!this.#mounts.has(mount)) return [];
    const gone = this.#ownEntries(mount, this.#belongsTo(mount));
    this.#mounts.delete(mount);
    return this.#applyAll(gone.map(({ key }) => ({ type: 'delete', key })));
  }

  #isDeclared(prefix: string): boolean {
    let found = false;
    forEachPrefixOf(prefix, (covering) => {
      found ||= this.#declared.has(covering);
    });
    return found;
  }

  #readable(prefix: string): Subtree {
    const normal = normalPrefix(prefix);
    if (!this.#isDeclared(normal)) throw undeclared(prefix);
    return this.#subtreeAt(normal);
  }

  #subtreeAt(prefix: string): Subtree {
    const known = this.#subtrees.get(prefix);
    if (known !== undefined) return known;
    // The counter and not the version of the last change below, which nobody recorded: it may only ever grow.
    const entries = entriesBelow(currentEntries(this.#root, this.#lookup), prefix);
    const created: Subtree = { version: this.#counter, entries, pending: [] };
    this.#subtrees.set(prefix, created);
    return created;
  }

  #enter({ prefix }: MountPoint): string {
    const mount = normalPrefix(prefix);
    this.#mounts.add(mount);
    return mount;
  }

  /** The test for "belongs to `mount`"; null for a mount with none inside it, to which all belongs that is below. */
  #belongsTo(mount: string): ((key: string) => boolean) | null {
    const nested = [...this.#mounts].some((other) => other !== mount && covers(mount, other));
    return nested ? (key) => this.#ownerOf(key) === mount : null;
  }

  #ownerOf(key: string): string | undefined {
    let owner: string | undefined;
    forEachPrefixOf(key, (prefix) => {
      if (this.#mounts.has(prefix)) owner = prefix;
    });
    return owner;
  }

  #ownEntries(mount: string, owned: ((key: string) => boolean) | null): readonly Entry[] {
    const below = currentEntries(this.#subtreeAt(mount), this.#lookup);
    return owned === null ? below : below.filter((entry) => owned(entry.key));
  }

  /** All that is below `prefix`, where nothing is yet; sorted. Returns the keys. Ten thousand at once are usual at the start. */
  #fill(prefix: string, entries: readonly Entry[]): readonly string[] {
    const keys = entries.map(({ key }) => key);
    for (const entry of entries) this.#byKey.set(entry.key, entry);
    this.#counter += entries.length;
    for (const [at, subtree] of this.#subtrees) {
      if (covers(prefix, at)) firstEntries(subtree, entriesBelow(entries, at), this.#counter);
      else if (covers(at, prefix))
        for (const key of keys) noteChange(subtree, key, this.#counter, this.#lookup);
    }
    return keys;
  }

  /** Returns the keys that changed, in the order of the changes. */
  #applyAll(changes: Iterable<Change>): readonly string[] {
    const changed: string[] = [];
    // Neighbours share their folder, so its subtrees are looked up once per folder and not once per key.
    let folder = '\0';
    let covering: readonly Subtree[] = [];
    for (const change of changes) {
      if (!this.#store(change)) continue;
      const key = keyOf(change);
      changed.push(key);
      this.#counter += 1;
      const slash = Math.max(key.lastIndexOf('/'), 0);
      if (slash !== folder.length || !key.startsWith(folder)) {
        folder = key.slice(0, slash);
        covering = this.#subtreesCovering(folder);
      }
      for (const subtree of covering) noteChange(subtree, key, this.#counter, this.#lookup);
      const own = key === folder ? undefined : this.#subtrees.get(key);
      if (own !== undefined) noteChange(own, key, this.#counter, this.#lookup);
    }
    return changed;
  }

  /** Whether something changed. */
  #store(change: Change): boolean {
    if (change.type === 'delete') return this.#byKey.delete(change.key);
    const { entry } = change;
    if (this.#byKey.get(entry.key)?.value === entry.value) return false;
    this.#byKey.set(entry.key, entry);
    return true;
  }

  #subtreesCovering(key: string): readonly Subtree[] {
    const covering: Subtree[] = [];
    forEachPrefixOf(key, (prefix) => {
      const subtree = this.#subtrees.get(prefix);
      if (subtree !== undefined) covering.push(subtree);
    });
    return covering;
  }
}

function undeclared(what: string): BirdfeedError {
  return new BirdfeedError('BF_INTERNAL', `${what} was read, but nothing declared that it is to be watched`, {
    details: { key: what },
  });
}

function keyOf(change: Change): string {
  return change.type === 'put' ? change.entry.key : change.key;
}

/** As {@link requireInside}, for entries in order: between two keys below `mount/` there are only such. */
function requireAllInside(mount: string, entries: readonly Entry[]): void {
  const isBelow = (entry: Entry | undefined): boolean => entry?.key.startsWith(`${mount}/`) === true;
  if (isBelow(entries[0]) && isBelow(entries.at(-1))) return;
  for (const { key } of entries) requireInside(mount, key);
}

/** A source that delivers keys outside its mount would overwrite another's: a bug that must not pass silently. */
function requireInside(mount: string, key: string): void {
  if (covers(mount, key)) return;
  throw new BirdfeedError('BF_INTERNAL', `key ${key} was delivered for ${mount}, but lies outside it`, {
    details: { key, mount },
  });
}
