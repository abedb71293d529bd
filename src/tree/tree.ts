import { BirdfeedError } from '../core/errors.ts';
import { covers, forEachPrefixOf, normalPrefix } from '../core/prefix.ts';
import { diffSnapshots, sortedEntries } from './diff.ts';
import { currentEntries, entriesBelow, noteChange, type Subtree, uniqueSorted } from './subtree.ts';
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
  const byKey = new Map<string, Entry>();
  const lookup = (key: string) => byKey.get(key);
  const mounts = new Set<string>();
  let declared = new Set<string>();
  const root: Subtree = { version: 0, entries: [], pending: [] };
  /** Every prefix that was asked for, with its array. The root is always there: new ones are cut out of it. */
  const subtrees = new Map<string, Subtree>([['', root]]);
  let counter = 0;

  function isDeclared(prefix: string): boolean {
    let found = false;
    forEachPrefixOf(prefix, (covering) => {
      found ||= declared.has(covering);
    });
    return found;
  }

  function subtreeAt(prefix: string): Subtree {
    const known = subtrees.get(prefix);
    if (known !== undefined) return known;
    // The counter and not the version of the last change below, which nobody recorded: it may only ever grow.
    const entries = entriesBelow(currentEntries(root, lookup), prefix);
    const created: Subtree = { version: counter, entries, pending: [] };
    subtrees.set(prefix, created);
    return created;
  }

  function readable(prefix: string): Subtree {
    const normal = normalPrefix(prefix);
    if (!isDeclared(normal)) throw undeclared(prefix);
    return subtreeAt(normal);
  }

  function ownerOf(key: string): string | undefined {
    let owner: string | undefined;
    forEachPrefixOf(key, (prefix) => {
      if (mounts.has(prefix)) owner = prefix;
    });
    return owner;
  }

  /** The test for "belongs to `mount`", which for a mount with none inside it costs nothing. */
  function belongsTo(mount: string): (key: string) => boolean {
    const nested = [...mounts].some((other) => other !== mount && covers(mount, other));
    return nested ? (key) => ownerOf(key) === mount : () => true;
  }

  function enter({ prefix }: MountPoint): string {
    const mount = normalPrefix(prefix);
    mounts.add(mount);
    return mount;
  }

  function coveringSubtrees(key: string): readonly Subtree[] {
    const covering: Subtree[] = [];
    forEachPrefixOf(key, (prefix) => {
      const subtree = subtrees.get(prefix);
      if (subtree !== undefined) covering.push(subtree);
    });
    return covering;
  }

  /** Whether something changed. */
  function store(change: Change): boolean {
    if (change.type === 'delete') return byKey.delete(change.key);
    const { entry } = change;
    if (byKey.get(entry.key)?.value === entry.value) return false;
    byKey.set(entry.key, entry);
    return true;
  }

  function applyAll(changes: Iterable<Change>): readonly string[] {
    const changed: string[] = [];
    // Neighbours share their folder, so its subtrees are looked up once per folder and not once per key.
    let folder = '\0';
    let covering: readonly Subtree[] = [];
    for (const change of changes) {
      if (!store(change)) continue;
      const key = keyOf(change);
      changed.push(key);
      counter += 1;
      const slash = Math.max(key.lastIndexOf('/'), 0);
      if (slash !== folder.length || !key.startsWith(folder)) {
        folder = key.slice(0, slash);
        covering = coveringSubtrees(folder);
      }
      for (const subtree of covering) noteChange(subtree, key, counter, lookup);
      const own = key === folder ? undefined : subtrees.get(key);
      if (own !== undefined) noteChange(own, key, counter, lookup);
    }
    return uniqueSorted(changed);
  }

  return {
    get(key) {
      if (!isDeclared(key)) throw undeclared(key);
      return byKey.get(key);
    },
    range: (prefix) => currentEntries(readable(prefix), lookup),
    version: (prefix) => readable(prefix).version,

    declare(prefixes) {
      declared = new Set(prefixes.map(normalPrefix));
      for (const prefix of subtrees.keys()) {
        if (prefix !== '' && !isDeclared(prefix)) subtrees.delete(prefix);
      }
      for (const prefix of declared) subtreeAt(prefix);
    },

    applySnapshot(mount, entries) {
      const prefix = enter(mount);
      for (const entry of entries) requireInside(prefix, entry.key);
      const owned = belongsTo(prefix);
      const before = ownEntries(prefix, owned);
      const after = sortedEntries(entries.filter((entry) => owned(entry.key)));
      return applyAll(diffSnapshots(before, after));
    },

    applyChanges(mount, changes) {
      const prefix = enter(mount);
      const owned = belongsTo(prefix);
      for (const change of changes) requireInside(prefix, keyOf(change));
      return applyAll(changes.filter((change) => owned(keyOf(change))));
    },

    unmount({ prefix }) {
      const mount = normalPrefix(prefix);
      if (!mounts.has(mount)) return [];
      const gone = ownEntries(mount, belongsTo(mount));
      mounts.delete(mount);
      return applyAll(gone.map(({ key }) => ({ type: 'delete', key })));
    },
  };

  function ownEntries(mount: string, owned: (key: string) => boolean): readonly Entry[] {
    const all = currentEntries(root, lookup);
    const below = mount === '' ? all : entriesBelow(all, mount);
    return below.filter((entry) => owned(entry.key));
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

/** A source that delivers keys outside its mount would overwrite another's: a bug that must not pass silently. */
function requireInside(mount: string, key: string): void {
  if (covers(mount, key)) return;
  throw new BirdfeedError('BF_INTERNAL', `key ${key} was delivered for ${mount}, but lies outside it`, {
    details: { key, mount },
  });
}
