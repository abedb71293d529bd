import type { Position, SnapshotReason } from '../types.ts';
import type { Witness } from './decode.ts';
import type { KeyRange } from './ranges.ts';

/** What a read before a list or watch found. */
export interface Head {
  readonly datastoreId: string;
  readonly revision: number;
  /** Grows with every election; a wiped or restored store begins again. */
  readonly term: number;
  /** What etcd says of our witness; `unknown` when there is none, or its revision was compacted away. */
  readonly witness: 'confirmed' | 'denied' | 'unknown';
}

/**
 * What has been delivered from which store, as values: per range where the watch goes on, per mount where it stands.
 * A new value for every step.
 */
export interface Held {
  readonly datastoreId: string;
  readonly term: number;
  /** First revision not delivered yet, per range. */
  readonly next: readonly number[];
  /** Newest revision delivered, per mount. */
  readonly revisions: readonly number[];
  readonly witness: Witness | undefined;
}

export function heldAfterList(
  head: Head,
  ranges: readonly KeyRange[],
  mounts: number,
  witness: Witness | undefined,
): Held {
  return {
    datastoreId: head.datastoreId,
    term: head.term,
    next: ranges.map(() => head.revision + 1),
    revisions: Array.from({ length: mounts }, () => head.revision),
    witness,
  };
}

/**
 * After everything of a range up to `revision` has been delivered. The resume point follows the last event, never the
 * head of the store that responses carry: while a watcher catches up, that is far ahead of what was delivered.
 */
export function heldAfter(
  held: Held,
  range: number,
  mount: number,
  delivered: { readonly revision: number; readonly witness?: Witness | undefined },
): Held {
  const { revision } = delivered;
  return {
    ...held,
    next: raised(held.next, range, revision + 1),
    revisions: raised(held.revisions, mount, revision),
    witness: delivered.witness ?? held.witness,
  };
}

export function positionOf(held: Held, mount: number): Position {
  return { datastoreId: held.datastoreId, revision: held.revisions[mount] ?? 0 };
}

/** Whether the store at `head` is not the one that `held` came from, or an older state of it. */
export function wentBack(held: Held, head: Head): boolean {
  if (head.datastoreId !== held.datastoreId) return true;
  if (head.witness === 'denied') return true;
  return head.revision < Math.max(...held.next) - 1 || head.term < held.term;
}

/** The reason of a process's first snapshot of a mount, given where an earlier process left it. */
export function firstReason(last: Position | undefined, head: Head): SnapshotReason {
  if (last === undefined) return 'initial';
  const same = last.datastoreId === head.datastoreId && head.revision >= last.revision;
  return same ? 'initial' : 'regressed';
}

/** The same, with one number raised; numbers never fall, since a late notice must not move a resume point back. */
function raised(numbers: readonly number[], index: number, to: number): readonly number[] {
  if ((numbers[index] ?? 0) >= to) return numbers;
  return numbers.with(index, to);
}
