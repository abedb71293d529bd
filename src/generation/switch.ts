import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CacheFs } from './fs.ts';
import { errnoOf, fsError, guardFs } from './fs-errors.ts';
import { generationName, type Layout, LINK_PREFIX, parseGenerationName, parseLinkTarget } from './layout.ts';

/**
 * Makes `current` name generation `number`: a new link renamed over the old one, then made durable. The target is
 * relative, so that the cache may be mounted elsewhere in another container.
 */
export async function switchCurrent(fs: CacheFs, layout: Layout, number: number): Promise<void> {
  const link = join(layout.root, `${LINK_PREFIX}${randomBytes(6).toString('hex')}`);
  await guardFs('cache', 'switch', layout.current, async () => {
    await fs.symlink(`generations/${generationName(number)}`, link);
    try {
      await fs.rename(link, layout.current);
    } catch (error) {
      await fs.remove(link).catch(() => undefined);
      throw error;
    }
    await fs.syncDirectory(layout.root);
  });
}

// EINVAL: `current` is no link, but a directory that somebody made or mounted. Switching will say so.
const NOTHING_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EINVAL']);

/** What is on disk, by names alone. */
export interface Inventory {
  /** Numbers of sealed generations, ascending. */
  readonly numbers: readonly number[];
  /** The number that `current` names, whether or not it exists; null without a link of ours. */
  readonly linked: number | null;
}

/** Reads the names synchronously, for the start and for commands. A cache that does not exist is an empty one. */
export function takeInventory(layout: Layout): Inventory {
  const numbers = orNothing(() => readdirSync(layout.generations), [], layout.generations);
  const target = orNothing(() => readlinkSync(layout.current), '', layout.current);
  return { numbers: numbersIn(numbers), linked: parseLinkTarget(target) };
}

/** As {@link takeInventory}, for the publish path. */
export async function listInventory(fs: CacheFs, layout: Layout): Promise<Inventory> {
  const names = await guardFs('cache', 'list', layout.generations, () => fs.readdir(layout.generations));
  const target = await fs.readlink(layout.current).catch((error: unknown) => {
    if (NOTHING_THERE.has(errnoOf(error) ?? '')) return '';
    throw fsError(error, 'cache', 'read', layout.current);
  });
  return { numbers: numbersIn(names), linked: parseLinkTarget(target) };
}

/** The highest number in use, by a directory or by a link that dangles. */
export function highestNumber({ numbers, linked }: Inventory): number {
  return Math.max(0, numbers.at(-1) ?? 0, linked ?? 0);
}

function numbersIn(names: readonly string[]): readonly number[] {
  return names
    .map(parseGenerationName)
    .filter((number) => number !== null)
    .sort((a, b) => a - b);
}

function orNothing<T>(read: () => T, nothing: T, path: string): T {
  try {
    return read();
  } catch (error) {
    if (NOTHING_THERE.has(errnoOf(error) ?? '')) return nothing;
    throw fsError(error, 'cache', 'read', path);
  }
}
