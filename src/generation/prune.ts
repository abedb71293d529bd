import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { CacheFs } from './fs.ts';
import { errnoOf, guardFs } from './fs-errors.ts';
import { generationName, type Layout, PRUNE_PREFIX } from './layout.ts';
import { choosePrunable } from './prune-choice.ts';
import { acknowledgedGenerations, type CacheState } from './state.ts';
import { listInventory } from './switch.ts';
import type { Generation } from './types.ts';
import { isRefusal, readStamp } from './verify.ts';

export interface PruneDeps {
  readonly fs: CacheFs;
  readonly layout: Layout;
  readonly state: CacheState;
  /** What the store knows `current` to be: spares reading its stamp. */
  readonly current: Generation | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Removes old generations, oldest first, and returns their numbers. See `Store.prune`. */
export async function pruneGenerations(
  deps: PruneDeps,
  keep: number,
  protect: readonly number[],
): Promise<readonly number[]> {
  const { fs, layout, state, now } = deps;
  const { numbers, linked } = await listInventory(fs, layout);
  // The usual run, with nothing to remove, ends here.
  if (numbers.length <= Math.max(1, keep)) return [];
  const directoryOf = (number: number): string => join(layout.generations, generationName(number));
  const candidates = await Promise.all(
    // A directory's own time is that of its last file, the stamp: no need to parse stamps to learn the age.
    numbers.map(async (number) => ({
      number,
      createdAt: (await fs.facts(directoryOf(number)))?.mtimeMs ?? now,
    })),
  );
  const parent = parentOf(deps, linked);
  const kept = [linked, parent, state.pin?.generation, ...acknowledgedGenerations(state), ...protect];
  const chosen = choosePrunable(candidates, {
    keep: Math.max(1, keep),
    protect: new Set(kept.filter((number) => typeof number === 'number')),
    now,
  });
  for (const number of chosen) await removeGeneration(fs, layout, directoryOf(number));
  return chosen;
}

function parentOf({ layout, current }: PruneDeps, linked: number | null): number | null {
  if (linked === null) return null;
  if (current?.number === linked) return current.stamp.parent;
  const found = readStamp(join(layout.generations, generationName(linked)));
  return isRefusal(found) ? null : found.stamp.parent;
}

/** Renamed first: half a generation must never be seen under a generation's name. */
async function removeGeneration(fs: CacheFs, layout: Layout, directory: string): Promise<void> {
  const going = join(layout.generations, `${PRUNE_PREFIX}${randomBytes(6).toString('hex')}`);
  await guardFs('cache', 'remove', directory, async () => {
    try {
      await fs.rename(directory, going);
    } catch (error) {
      // A directory from an image layer cannot be renamed on overlayfs, only removed.
      if (errnoOf(error) !== 'EXDEV') throw error;
      await fs.remove(directory);
      return;
    }
    await fs.remove(going);
  });
}
