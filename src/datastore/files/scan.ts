import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A file as one look at the directory saw it. */
export interface SeenFile {
  /** Differs whenever the file may have changed: device, inode, size, modification and change time. */
  readonly signature: string;
  /** The later of modification and change time, ms since the epoch by the file system's clock. */
  readonly changedAt: number;
}

export interface Scan {
  /** What the relative paths start from: the directory, or the directory of a single file. */
  readonly base: string;
  /** The directories that were looked into, each with its device and inode: another one in its place is to be noticed. */
  readonly directories: ReadonlyMap<string, string>;
  /** By path relative to `base`. Links are followed, so after a `..data` swap every file has a new signature. */
  readonly files: ReadonlyMap<string, SeenFile>;
  /** Directories and files below that could not be looked at, with the reason: what is below is unknown, not gone. */
  readonly unreadable: ReadonlyMap<string, NodeJS.ErrnoException>;
}

export interface Accepts {
  /** Whether to look at an entry at all, by its name: hidden files, editors' leftovers. */
  entry(name: string): boolean;
  /** Whether a file is one of ours, by its path relative to the directory. */
  file(path: string): boolean;
}

/**
 * Looks at a directory and everything below it, or at a single file, which is accepted whatever its name. Rejects with
 * the system's error when `path` itself cannot be read. What vanishes during the look is not there.
 */
export async function scan(path: string, accepts: Accepts): Promise<Scan> {
  const stats = await stat(path);
  if (!stats.isDirectory()) {
    const base = dirname(path);
    const directories = new Map([[base, identityOf(await stat(base))]]);
    return { base, directories, files: new Map([[basename(path), seen(stats)]]), unreadable: new Map() };
  }
  const identity = identityOf(stats);
  const walk: Walk = {
    base: path,
    accepts,
    directories: new Map([[path, identity]]),
    files: new Map(),
    unreadable: new Map(),
  };
  await scanDirectory(walk, '', [identity]);
  return walk;
}

interface Walk extends Scan {
  readonly accepts: Accepts;
  readonly directories: Map<string, string>;
  readonly files: Map<string, SeenFile>;
  readonly unreadable: Map<string, NodeJS.ErrnoException>;
}

/** `ancestors` are the directories that we are inside of, so that a link to one of them is not followed for ever. */
async function scanDirectory(walk: Walk, folder: string, ancestors: readonly string[]): Promise<void> {
  const names = await readdir(join(walk.base, folder));
  const looks = names.filter(walk.accepts.entry).map(async (name) => {
    const path = folder === '' ? name : `${folder}/${name}`;
    const full = join(walk.base, path);
    try {
      const stats = await stat(full);
      if (stats.isFile() && walk.accepts.file(path)) walk.files.set(path, seen(stats));
      const identity = identityOf(stats);
      if (!stats.isDirectory() || ancestors.includes(identity)) return;
      walk.directories.set(full, identity);
      await scanDirectory(walk, path, [...ancestors, identity]);
    } catch (error) {
      if (!isGone(error)) walk.unreadable.set(path, error as NodeJS.ErrnoException);
    }
  });
  await Promise.all(looks);
}

/**
 * Whether a system error says that there is nothing at that path (or a link that leads nowhere). A link in circles is no
 * such thing: nobody deletes a file that way.
 */
export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function identityOf(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}

function seen(stats: Stats): SeenFile {
  const { size, mtimeMs, ctimeMs } = stats;
  return {
    signature: `${identityOf(stats)}:${size}:${mtimeMs}:${ctimeMs}`,
    changedAt: Math.max(mtimeMs, ctimeMs),
  };
}
