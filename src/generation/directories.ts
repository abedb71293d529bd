import { dirname } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';
import type { CacheFs } from './fs.ts';
import { errnoOf, fsError, guardFs } from './fs-errors.ts';
import { DEFAULT_SET, type Layout, LINK_PREFIX, PRUNE_PREFIX, STAGE_PREFIX } from './layout.ts';
import { stagingOf } from './state-file.ts';

export const DIRECTORY_MODE = 0o750;
export const FILE_MODE = 0o640;

/**
 * Makes the cache directory if its parent exists; a missing parent is more likely a forgotten mount than a wish. A
 * directory that is there keeps the mode and owner that somebody gave it.
 */
export async function makeCacheDirectory(
  fs: CacheFs,
  cacheDir: string,
  fileGroup: number | null,
): Promise<void> {
  try {
    await makeDirectory(fs, cacheDir, fileGroup);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw fsError(error, 'cache', 'create the cache directory', cacheDir);
    const message = `cannot create the cache directory ${cacheDir}: ${dirname(cacheDir)} does not exist; create it, or mount the host's directory`;
    throw new BirdfeedError('BF_CACHE_UNWRITABLE', message, {
      cause: error,
      details: { path: cacheDir, errno: 'ENOENT' },
    });
  }
}

/** Makes all directories of a set, mode 0750. */
export async function makeSetDirectories(
  fs: CacheFs,
  layout: Layout,
  set: string,
  fileGroup: number | null,
): Promise<void> {
  await makeCacheDirectory(fs, layout.cacheDir, fileGroup);
  const inner = set === DEFAULT_SET ? [] : [dirname(layout.root), layout.root];
  for (const path of [...inner, layout.generations]) {
    await guardFs('cache', 'create', path, () => makeDirectory(fs, path, fileGroup));
  }
}

async function makeDirectory(fs: CacheFs, path: string, fileGroup: number | null): Promise<void> {
  try {
    await fs.mkdir(path, DIRECTORY_MODE);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return;
    throw error;
  }
  await adoptDirectory(fs, path, fileGroup);
  await fs.syncDirectory(dirname(path));
}

/** Gives a directory just made its group and then its mode, whatever the umask and mkdtemp made of it. */
export async function adoptDirectory(fs: CacheFs, path: string, fileGroup: number | null): Promise<void> {
  if (fileGroup !== null) await fs.chown(path, -1, fileGroup);
  await fs.chmod(path, DIRECTORY_MODE);
}

/**
 * Removes what a killed process left under way: staging and half-pruned directories, links and files not yet renamed.
 * Only for the holder of the lock, or it would take another process's work away. Returns what was removed.
 */
export async function sweepLeftovers(fs: CacheFs, layout: Layout): Promise<readonly string[]> {
  const leftovers = [
    ...(await namesIn(
      fs,
      layout.generations,
      (name) => name.startsWith(STAGE_PREFIX) || name.startsWith(PRUNE_PREFIX),
    )),
    ...(await namesIn(
      fs,
      layout.root,
      (name) => name.startsWith(LINK_PREFIX) || isStagingOf(layout, `${layout.root}/${name}`),
    )),
  ];
  for (const path of leftovers) await guardFs('cache', 'remove the leftover', path, () => fs.remove(path));
  return leftovers;
}

function isStagingOf(layout: Layout, path: string): boolean {
  // write-file-atomic adds a number to the name that it was asked to write.
  return [layout.state, layout.lastGood].some((file) => path.startsWith(stagingOf(file)));
}

async function namesIn(
  fs: CacheFs,
  directory: string,
  wanted: (name: string) => boolean,
): Promise<readonly string[]> {
  const names = await guardFs('cache', 'list', directory, () => fs.readdir(directory));
  return names.filter(wanted).map((name) => `${directory}/${name}`);
}
