import type { Logger } from '../core/log.ts';
import type { Mount, Position, SnapshotReason, Source, SourceEvent } from '../datastore/types.ts';
import type { MountStatus } from '../status/status.ts';
import type { Entry } from '../tree/types.ts';

/** The part of the tree that the feed writes. */
export interface WritableTree {
  applySnapshot(mount: Mount, entries: readonly Entry[]): boolean;
  applyChanges(mount: Mount, changes: Extract<SourceEvent, { type: 'changes' }>['changes']): boolean;
}

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
  /** Every required mount has delivered a snapshot, so that the tree may be rendered. */
  complete(): boolean;
  /** Every required mount is connected and up to date. */
  fresh(): boolean;
  /** The first reason why it is not fresh, for people; null when it is. */
  trouble(): string | null;
  positions(): readonly { prefix: string; kind: string; datastoreId: string; revision: number }[];
  /** True since a snapshot came from a datastore that went back in time, until `settle()`. */
  suspect(): boolean;
  settle(): void;
  relist(): void;
}

export function createFeed(inputs: readonly FeedInput[], deps: FeedDeps): Feed {
  const states = new Map<Mount, MountState>();
  for (const { source, mounts } of inputs) {
    for (const mount of mounts) {
      const status = {
        prefix: mount.prefix,
        kind: source.kind,
        required: mount.required,
        synced: false,
        revision: 0,
        error: null,
      };
      states.set(mount, { status, position: { datastoreId: '', revision: 0 }, known: false });
    }
  }
  let regressed = false;

  function update(mount: Mount, change: Partial<MountStatus>, snapshot?: SnapshotReason): void {
    const state = states.get(mount)!;
    state.status = { ...state.status, ...change };
    deps.onMount(state.status, snapshot);
  }

  function handle(source: Source, event: SourceEvent): void {
    switch (event.type) {
      case 'page':
        return deps.prepare(event.entries);
      case 'problems':
        return deps.onProblems(source, event.problems);
      case 'lost':
        update(event.mount, { synced: false, error: event.error.message });
        deps.log.warn(
          { prefix: event.mount.prefix, code: event.error.code, reason: event.error.message },
          'datastore lost',
        );
        return deps.onChange();
      case 'connected':
        advance(event.mount, event.position);
        return deps.onChange();
      case 'changes':
        advance(event.mount, event.position);
        if (deps.tree.applyChanges(event.mount, event.changes)) deps.onChange();
        return;
      case 'snapshot':
        deps.tree.applySnapshot(event.mount, event.entries);
        states.get(event.mount)!.known = true;
        if (event.reason === 'regressed') regressed = true;
        advance(event.mount, event.position, event.reason);
        deps.log.info(
          {
            prefix: event.mount.prefix,
            keys: event.entries.length,
            revision: event.position.revision,
            reason: event.reason,
          },
          'datastore listed',
        );
        return deps.onChange();
    }
  }

  function advance(mount: Mount, position: Position, snapshot?: SnapshotReason): void {
    const state = states.get(mount)!;
    state.position = position;
    update(mount, { synced: state.known, revision: position.revision, error: null }, snapshot);
  }

  const required = (): MountState[] => [...states.values()].filter((state) => state.status.required);

  return {
    async run(signal) {
      await Promise.all(
        inputs.map(({ source, mounts }) => source.run(mounts, (event) => handle(source, event), signal)),
      );
    },
    complete: () => required().every((state) => state.known),
    fresh: () => required().every((state) => state.known && state.status.synced),
    trouble() {
      const late = required().find((state) => !state.status.synced);
      if (late === undefined) return null;
      return late.status.error ?? `waiting for the first answer of the datastore for ${late.status.prefix}`;
    },
    positions: () =>
      [...states.values()]
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
