import type { Logger } from '../core/log.ts';
import { sortedBy } from '../core/order.ts';
import { covers } from '../core/prefix.ts';
import type { Mount, Position, SnapshotReason, Source, SourceEvent } from '../datastore/types.ts';
import type { MountStatus } from '../status/status.ts';
import type { Tree } from '../tree/tree.ts';
import type { Entry } from '../tree/types.ts';

/** The part of the tree that the feed writes. */
export type WritableTree = Pick<Tree, 'applySnapshot' | 'applyChanges'>;

export interface FeedInput {
  readonly source: Source;
  readonly mounts: readonly Mount[];
}

export interface FeedDeps {
  readonly tree: WritableTree;
  readonly log: Logger;
  /** Something was said about a mount; `snapshot` is set when it was a whole snapshot. */
  onMount(status: MountStatus, snapshot?: SnapshotReason): void;
  /** The tree changed, or the connection did: look again. */
  onChange(): void;
  /** Entries of a snapshot that is still being read, so that parsing is spread over its pages. */
  prepare(entries: readonly Entry[]): void;
  onProblems(source: Source, problems: Extract<SourceEvent, { type: 'problems' }>['problems']): void;
}

interface MountState {
  status: MountStatus;
  position: Position;
  /** The mount has delivered a snapshot at least once. */
  known: boolean;
}

/**
 * Runs the sources and keeps the tree and each mount's health. Knows nothing of what the keys mean.
 */
export interface Feed {
  run(signal: AbortSignal): Promise<void>;
  /** Every required one of these mounts has delivered a snapshot, so that what it holds may be rendered. */
  complete(mounts: readonly Mount[]): boolean;
  /** Every required one of these mounts is connected and up to date. */
  fresh(mounts: readonly Mount[]): boolean;
  /** The first reason why it is not fresh, for people; null when it is. */
  trouble(mounts: readonly Mount[]): string | null;
  positions(
    mounts: readonly Mount[],
  ): readonly { prefix: string; kind: string; datastoreId: string; revision: number }[];
  /** True since a snapshot came from a datastore that went back in time, until `settle()`. */
  suspect(): boolean;
  settle(): void;
  relist(): void;
}

/**
 * The mounts to open for all that sets and producers ask for: duplicates and what a wider one covers are left out, and
 * a mount is required when anything in it is.
 */
export function unionMounts(mounts: readonly Mount[]): readonly Mount[] {
  const widest = sortedBy(mounts, (mount) => mount.prefix);
  const union: Mount[] = [];
  for (const mount of widest) {
    const at = union.findIndex((wider) => covers(wider.prefix, mount.prefix));
    if (at < 0) union.push(mount);
    else if (mount.required && !union[at]!.required) union[at] = { ...union[at]!, required: true };
  }
  return union;
}

export function createFeed(inputs: readonly FeedInput[], deps: FeedDeps): Feed {
  const states = new Map<string, MountState>();
  for (const { source, mounts } of inputs) {
    for (const { prefix, required } of mounts) {
      const status = { prefix, kind: source.kind, required, synced: false, revision: 0, error: null };
      states.set(prefix, { status, position: { datastoreId: '', revision: 0 }, known: false });
    }
  }
  let regressed = false;

  function update(prefix: string, change: Partial<MountStatus>, snapshot?: SnapshotReason): void {
    const state = states.get(prefix)!;
    state.status = { ...state.status, ...change };
    deps.onMount(state.status, snapshot);
  }

  function advance(prefix: string, position: Position, snapshot?: SnapshotReason): void {
    const state = states.get(prefix)!;
    state.position = position;
    update(prefix, { synced: state.known, revision: position.revision, error: null }, snapshot);
  }

  function handle(source: Source, event: SourceEvent): void {
    const { prefix } = event.mount;
    switch (event.type) {
      case 'page':
        return deps.prepare(event.entries);
      case 'problems':
        return deps.onProblems(source, event.problems);
      case 'lost':
        update(prefix, { synced: false, error: event.error.message });
        deps.log.warn({ prefix, code: event.error.code, reason: event.error.message }, 'datastore lost');
        return deps.onChange();
      case 'connected':
        advance(prefix, event.position);
        return deps.onChange();
      case 'changes':
        advance(prefix, event.position);
        if (deps.tree.applyChanges(event.mount, event.changes).length > 0) deps.onChange();
        return;
      case 'snapshot':
        return takeSnapshot(event);
    }
  }

  function takeSnapshot({
    mount,
    entries,
    position,
    reason,
  }: Extract<SourceEvent, { type: 'snapshot' }>): void {
    deps.tree.applySnapshot(mount, entries);
    states.get(mount.prefix)!.known = true;
    if (reason === 'regressed') regressed = true;
    advance(mount.prefix, position, reason);
    const { revision } = position;
    deps.log.info({ prefix: mount.prefix, keys: entries.length, revision, reason }, 'datastore listed');
    deps.onChange();
  }

  /** The opened mounts that these lie in. */
  function opened(mounts: readonly Mount[]): MountState[] {
    return [...states.values()].filter(({ status }) =>
      mounts.some((mount) => covers(status.prefix, mount.prefix)),
    );
  }

  const required = (mounts: readonly Mount[]): MountState[] =>
    opened(mounts).filter(({ status }) => status.required);

  return {
    async run(signal) {
      await Promise.all(
        inputs.map(({ source, mounts }) => source.run(mounts, (event) => handle(source, event), signal)),
      );
    },
    complete: (mounts) => required(mounts).every((state) => state.known),
    fresh: (mounts) => required(mounts).every((state) => state.known && state.status.synced),
    trouble(mounts) {
      const late = required(mounts).find((state) => !state.status.synced);
      if (late === undefined) return null;
      return late.status.error ?? `waiting for the first answer of the datastore for ${late.status.prefix}`;
    },
    positions: (mounts) =>
      opened(mounts)
        .filter((state) => state.known)
        .map(({ status, position }) => ({ prefix: status.prefix, kind: status.kind, ...position })),
    suspect: () => regressed,
    settle() {
      regressed = false;
    },
    relist() {
      for (const { source } of inputs) source.relist();
    },
  };
}
