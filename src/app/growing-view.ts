import { nextTurn } from '../core/clock.ts';
import type { Entry, TreeView } from '../tree/types.ts';

/** How many entries of each range the first part has: little, since code that has never run is slow. */
const FIRST = 100;
/** How many more than the one before a part has at most. */
const STEP = 600;
/** Every part costs some work on all that it holds, so there are not more of a larger tree. */
const MOST_PARTS = 32;

/**
 * Calls `work` with larger and larger parts of a tree, all smaller than the whole, and lets the event loop turn in between.
 * What then works on the whole, and remembers what it made of the part before, blocks the loop for a step and not for
 * hundreds of milliseconds. The parts are of the tree as it is now, so that no entry comes and goes on the way. All parts have
 * the keys for which `isAlwaysThere` says so. `work` may be asynchronous.
 */
export async function growingParts(
  view: TreeView,
  prefixes: readonly string[],
  isAlwaysThere: (key: string) => boolean,
  work: (part: TreeView) => void | Promise<void>,
): Promise<void> {
  const ranges = new Map(prefixes.map((prefix) => [prefix, view.range(prefix)]));
  const size = Math.max(...[...ranges.values()].map(({ length }) => length));
  const step = Math.max(STEP, Math.ceil(size / MOST_PARTS));
  for (let count = FIRST; count < size; count += Math.min(count, step)) {
    // First of all: the tree has just been filled in this very turn.
    await nextTurn();
    await work(
      partOf(view, (prefix) => firstOf(ranges.get(prefix) ?? view.range(prefix), count, isAlwaysThere)),
    );
  }
  if (size > FIRST) await nextTurn();
}

function partOf(view: TreeView, range: TreeView['range']): TreeView {
  return { range, get: (key) => view.get(key), version: (prefix) => view.version(prefix) };
}

function firstOf(
  entries: readonly Entry[],
  count: number,
  isAlwaysThere: (key: string) => boolean,
): readonly Entry[] {
  if (entries.length <= count) return entries;
  return entries.filter(({ key }, index) => index < count || isAlwaysThere(key));
}
