import { nextTurn } from '../core/clock.ts';
import type { Entry, TreeView } from '../tree/types.ts';

/** How many entries the first part has: little, since code that has never run is slow. */
const FIRST = 100;
/** How many more than the one before a part has, but for very large trees: every part costs some work on all that it holds. */
const STEPS = { least: 100, most: 600 };
const PARTS = { least: 32, most: 64 };
/** Milliseconds that the work on a part should take; the steps are made shorter and longer for it. */
const AIM = 40;

/**
 * Calls `work` with larger and larger parts of a tree, all smaller than the whole, and lets the event loop turn in between.
 * What then works on the whole, and remembers what it made of the part before, blocks the loop for a step and not for
 * hundreds of milliseconds. The parts are of the tree as it is now, so that no entry comes and goes on the way. All parts have
 * the keys for which `isAlwaysThere` says so. Short ranges come first and stay as they are while the long ones grow: what
 * is worked out of thousands of nodes needs the few resources that are for all of them. `work` may be asynchronous.
 */
export async function growingParts(
  view: TreeView,
  prefixes: readonly string[],
  isAlwaysThere: (key: string) => boolean,
  work: (part: TreeView) => void | Promise<void>,
): Promise<void> {
  const ranges = new Map<string, Placed>();
  let size = 0;
  for (const [prefix, entries] of shortestFirst(prefixes.map((prefix) => [prefix, view.range(prefix)]))) {
    ranges.set(prefix, { entries, before: size });
    size += entries.length;
  }
  let step = FIRST;
  for (let count = FIRST; count < size; count += step) {
    // First of all: the tree has just been filled in this very turn.
    await nextTurn();
    const start = performance.now();
    await work(partOf(view, ranges, count, isAlwaysThere));
    step = nextStep(step, performance.now() - start, size);
  }
  if (size > FIRST) await nextTurn();
}

function nextStep(step: number, took: number, size: number): number {
  const least = Math.max(STEPS.least, size / PARTS.most);
  const most = Math.max(STEPS.most, size / PARTS.least);
  const fitting = step * Math.min(2, Math.max(0.5, AIM / took));
  return Math.ceil(Math.min(most, Math.max(least, fitting)));
}

/** A range, and how many entries come before it. */
interface Placed {
  readonly entries: readonly Entry[];
  readonly before: number;
}

type Range = readonly [prefix: string, entries: readonly Entry[]];

function shortestFirst(ranges: readonly Range[]): readonly Range[] {
  return [...ranges].sort(([, a], [, b]) => a.length - b.length);
}

function partOf(
  view: TreeView,
  ranges: ReadonlyMap<string, Placed>,
  count: number,
  isAlwaysThere: (key: string) => boolean,
): TreeView {
  return {
    range(prefix) {
      const placed = ranges.get(prefix);
      if (placed === undefined) return view.range(prefix);
      return firstOf(placed.entries, count - placed.before, isAlwaysThere);
    },
    get: (key) => view.get(key),
    version: (prefix) => view.version(prefix),
  };
}

function firstOf(
  entries: readonly Entry[],
  count: number,
  isAlwaysThere: (key: string) => boolean,
): readonly Entry[] {
  if (entries.length <= count) return entries;
  return entries.filter(({ key }, index) => index < count || isAlwaysThere(key));
}
