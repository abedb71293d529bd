import type { BirdfeedError } from '../core/errors.ts';
import type { Change, Entry } from '../tree/types.ts';

/**
 * A part of the key space that is listed and watched as one. The tree is a union of mounts; each has its own
 * position and health. A required mount must be synced before anything is rendered; an optional one never blocks.
 */
export interface Mount {
  /** Absolute key prefix, without a trailing slash; covers the key itself and everything below `prefix/`. */
  readonly prefix: string;
  readonly required: boolean;
}

/** Where a mount stands. Compared to notice a datastore that was wiped or restored. */
export interface Position {
  /** etcd cluster id, Kubernetes kube-system UID, fixture directory: whatever changes when the store is another one. */
  readonly datastoreId: string;
  /** Monotonic within one datastoreId; 0 where the source has no such thing. */
  readonly revision: number;
}

/** Why a whole snapshot was delivered. `regressed`: revision or datastore id went back, so the guard looks closely. */
export type SnapshotReason = 'initial' | 'reconnect' | 'compacted' | 'regressed' | 'periodic';

/**
 * What a source says. For each mount: first a snapshot (whole, from one revision), then changes in order; a later
 * snapshot replaces everything below the prefix. `page` announces entries of a snapshot that is still being read, so
 * that parsing can be spread over the pages; it changes nothing in the tree. `lost` means that the mount may be behind
 * from now on; `connected` or a snapshot ends that.
 */
export type SourceEvent =
  | { readonly type: 'page'; readonly mount: Mount; readonly entries: readonly Entry[] }
  | {
      readonly type: 'snapshot';
      readonly mount: Mount;
      readonly entries: readonly Entry[];
      readonly position: Position;
      readonly reason: SnapshotReason;
    }
  | {
      readonly type: 'changes';
      readonly mount: Mount;
      readonly changes: readonly Change[];
      readonly position: Position;
    }
  | { readonly type: 'connected'; readonly mount: Mount; readonly position: Position }
  | { readonly type: 'lost'; readonly mount: Mount; readonly error: BirdfeedError }
  /** Something about the data itself that a user must know (a fixture file that does not parse), cleared by an empty list. */
  | { readonly type: 'problems'; readonly mount: Mount; readonly problems: readonly BirdfeedError[] };

/**
 * A datastore. `run` delivers events to `emit` until `signal` aborts and then resolves; it never rejects because the
 * store is unreachable (it reports `lost` and retries with back-off). Events are emitted synchronously in order.
 */
export interface Source {
  /** `etcd`, `kubernetes`, `fixtures`, `env`, `files`: goes into the stamp. */
  readonly kind: string;
  /** For messages: endpoints or directory, without secrets. */
  readonly description: string;
  run(mounts: readonly Mount[], emit: (event: SourceEvent) => void, signal: AbortSignal): Promise<void>;
  /** Asks for a full relist of every mount, e.g. to re-test a held generation. May be called at any time. */
  relist(): void;
}
