import { join, resolve } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';

/** The set whose `current` is at the cache's root; every other one lives under `sets/NAME/`. */
export const DEFAULT_SET = 'default';

export const STAMP_FILE = 'stamp.json';

/**
 * Names of what is under way. A leftover of a killed process is told by its prefix and swept at the next start. Staging
 * is a sibling of the generations, at the same depth, so that a relative include in a checked file means the same
 * before and after the rename, and one directory fsync covers both names.
 */
export const STAGE_PREFIX = '.stage-';
export const PRUNE_PREFIX = '.prune-';
export const LINK_PREFIX = '.current-';

/** Where everything of one set is. All paths are absolute, and as configured: another container may not see a real path. */
export interface Layout {
  readonly cacheDir: string;
  /** The set's own folder; the cache itself for the default set. */
  readonly root: string;
  readonly generations: string;
  readonly current: string;
  readonly state: string;
  readonly lastGood: string;
  /** Old contents of destinations that had to be written in place. */
  readonly backups: string;
}

/** The paths of a set. Throws BF_RESOURCE_FILE for a set name that cannot be a folder name. */
export function layoutOf(cacheDir: string, set: string): Layout {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(set)) {
    throw new BirdfeedError(
      'BF_RESOURCE_FILE',
      `set name ${JSON.stringify(set)} is not usable as a folder: use up to 63 letters, digits, "-", "_" and "."`,
    );
  }
  const cache = resolve(cacheDir);
  const root = set === DEFAULT_SET ? cache : join(cache, 'sets', set);
  return {
    cacheDir: cache,
    root,
    generations: join(root, 'generations'),
    current: join(root, 'current'),
    state: join(root, 'state.json'),
    lastGood: join(root, 'last-good.json'),
    backups: join(root, 'backups'),
  };
}

/** `00000042`: eight digits at least, so that names sort as numbers do. */
export function generationName(number: number): string {
  return String(number).padStart(8, '0');
}

/** The number that a directory name stands for; null for anything that is not a generation's name. */
export function parseGenerationName(name: string): number | null {
  if (!/^\d{8,15}$/.test(name)) return null;
  const number = Number(name);
  return generationName(number) === name ? number : null;
}

/** The number that `current` points at; null when the link's target is no generation of this layout. */
export function parseLinkTarget(target: string): number | null {
  const match = /^generations\/([^/]+)\/?$/.exec(target);
  return match === null ? null : parseGenerationName(match[1]!);
}

/** Throws BF_DEST_REFUSED unless `name` is a plain file name that can stand in a generation beside the stamp. */
export function requireFileName(name: string): void {
  // The name comes from a resource file or from data: no path, no hidden file, nothing that a log line could be forged with.
  const plain = /^[^./\u0000-\u001f\u007f][^/\u0000-\u001f\u007f]*$/.test(name);
  if (plain && Buffer.byteLength(name) <= 255 && name !== STAMP_FILE) return;
  throw new BirdfeedError('BF_DEST_REFUSED', `${JSON.stringify(name)} cannot be a file of a generation`);
}
