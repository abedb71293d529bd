import { createHash } from 'node:crypto';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { FILE_MODE, makeCacheDirectory } from './directories.ts';
import type { CacheFile, CacheFs, FileFacts } from './fs.ts';
import { errnoOf, guardFs } from './fs-errors.ts';
import { type FileAttributes, replaceFile } from './replace-file.ts';
import { stagingOf } from './state-file.ts';
import type { Destination, Generation } from './types.ts';

export interface DestinationDeps {
  readonly fs: CacheFs;
  readonly log: Logger;
  readonly cacheDir: string;
  /** Where the old contents go before a file is written in place; `Layout.backups`. */
  readonly backups: string;
  /** Numeric group of new files that set none themselves; null leaves the process's own. */
  readonly fileGroup: number | null;
}

export interface CopyResult {
  readonly destination: Destination;
  /** `in-place`: written without a rename, so that a reader may have seen half of it. */
  readonly how: 'unchanged' | 'replaced' | 'in-place';
}

/**
 * Copies files of a sealed generation to where else they are wanted, one after the other in the given order.
 *
 * A copy is never what a start relies on: the generation is sealed before, so a copy that a crash left behind or half
 * written is put right by the next call with the same generation, which the application makes at every start.
 *
 * Throws BF_DEST_REFUSED (not absolute, inside the cache, not a regular file), BF_DEST_UNWRITABLE or BF_DEST_PERMISSION;
 * copies made before that stay.
 */
export async function copyToDestinations(
  deps: DestinationDeps,
  generation: Generation,
  destinations: readonly Destination[],
): Promise<readonly CopyResult[]> {
  const results: CopyResult[] = [];
  for (const destination of destinations) {
    const source = join(generation.directory, destination.file);
    const bytes = await guardFs('cache', 'read', source, () => deps.fs.readFile(source));
    results.push({ destination, how: await writeDestination(deps, destination, bytes) });
  }
  return results;
}

/** Writes one copy, unless it already has these bytes, this mode and this owner. Errors as {@link copyToDestinations}. */
export async function writeDestination(
  deps: DestinationDeps,
  destination: Destination,
  bytes: Uint8Array,
): Promise<CopyResult['how']> {
  const { fs } = deps;
  return guardFs('destination', 'write', destination.path, async () => {
    const path = await resolveDestination(fs, destination.path, deps.cacheDir);
    const found = await regularFile(fs, path);
    const wanted = attributesFor(destination, found, deps.fileGroup);
    if (found !== null && (await isEqual(fs, path, found, bytes, wanted))) return 'unchanged';
    try {
      await replaceFile(fs, path, bytes, { staging: stagingOf(path), attributes: wanted });
      return 'replaced';
    } catch (error) {
      const errno = errnoOf(error);
      if (found === null || errno === null || !IN_PLACE.has(errno)) throw error;
      await writeInPlace(deps, path, bytes, wanted, errno);
      return 'in-place';
    }
  });
}

/**
 * Where a destination really is. A link is written through, so that it stays a link, also one whose target does not exist
 * yet. Throws BF_DEST_REFUSED for a relative path and for one that ends up in the cache, where it would damage what is
 * sealed; BF_DEST_UNWRITABLE when its directory is missing.
 */
export async function resolveDestination(fs: CacheFs, path: string, cacheDir: string): Promise<string> {
  if (!isAbsolute(path) || path.endsWith('/') || path.includes('\0')) {
    throw refused(path, 'is not the absolute path of a file');
  }
  let link = path;
  for (let hops = 0; hops < 40; hops += 1) {
    const directory = await realDirectory(fs, link, path);
    const real = join(directory, basename(link));
    const facts = await fs.facts(real);
    if (facts?.type === 'link') {
      link = resolve(directory, await fs.readlink(real));
      continue;
    }
    const cache = await fs.realpath(cacheDir).catch(() => resolve(cacheDir));
    if (real === cache || real.startsWith(`${cache}/`)) throw refused(path, `lies in the cache ${cacheDir}`);
    return real;
  }
  throw refused(path, 'is a link that leads in circles');
}

/** Removes what an interrupted copy left beside a destination. Returns what was removed. */
export async function sweepDestination(
  fs: CacheFs,
  path: string,
  cacheDir: string,
): Promise<readonly string[]> {
  return guardFs('destination', 'clean up beside', path, async () => {
    const staging = stagingOf(await resolveDestination(fs, path, cacheDir));
    const names = await fs.readdir(dirname(staging));
    const isOurs = (name: string): boolean =>
      name.startsWith(basename(staging)) && /^(\.\d+)?$/.test(name.slice(basename(staging).length));
    const leftovers = names.filter(isOurs).map((name) => join(dirname(staging), name));
    for (const leftover of leftovers) await fs.remove(leftover);
    return leftovers;
  });
}

/**
 * What says that the file cannot be replaced, though it may be written: a bind-mounted file (EBUSY, or EXDEV by way of an
 * overlay), a directory that is not ours or read-only around a file that is writable.
 */
const IN_PLACE: ReadonlySet<string> = new Set(['EBUSY', 'EXDEV', 'EACCES', 'EPERM', 'EROFS']);

/**
 * The last resort (mount or open the directory to avoid it): readers may see half a file. The old contents are saved first, in the cache, since the directory around
 * a bind-mounted file is gone with its container.
 */
async function writeInPlace(
  deps: DestinationDeps,
  path: string,
  bytes: Uint8Array,
  wanted: FileAttributes,
  errno: string,
): Promise<void> {
  const { fs } = deps;
  const file = await fs.open(path, 'update', 0);
  try {
    const old = await fs.readFile(path);
    const backup = await saveBackup(deps, path, old);
    deps.log.warn({ stage: 'generation', path, errno, backup }, 'destination written in place');
    const found = await fs.facts(path);
    if (wanted.uid !== found?.uid || wanted.gid !== found?.gid) {
      await file.chown(wanted.uid ?? -1, wanted.gid ?? -1);
    }
    if (wanted.mode !== found?.mode) await file.chmod(wanted.mode);
    await overwrite(file, bytes).catch(async (error: unknown) => {
      // The disk is full, most likely. The old contents fit, as they did before.
      await overwrite(file, old).catch(() => undefined);
      throw error;
    });
  } finally {
    await file.close();
  }
}

async function overwrite(file: CacheFile, bytes: Uint8Array): Promise<void> {
  await file.write([bytes]);
  await file.truncate(bytes.length);
  await file.sync();
}

async function saveBackup({ fs, backups }: DestinationDeps, path: string, old: Uint8Array): Promise<string> {
  const id = createHash('sha256').update(path).digest('hex').slice(0, 12);
  const backup = join(backups, `${basename(path)}.${id}`);
  await guardFs('cache', 'save a backup in', backups, async () => {
    await makeCacheDirectory(fs, backups, null);
    await replaceFile(fs, backup, old, { staging: stagingOf(backup) });
  });
  return backup;
}

function attributesFor(
  { mode, uid, gid }: Destination,
  found: FileFacts | null,
  fileGroup: number | null,
): FileAttributes {
  return {
    mode: mode ?? found?.mode ?? FILE_MODE,
    uid: uid ?? found?.uid ?? null,
    gid: gid ?? found?.gid ?? fileGroup,
  };
}

async function isEqual(
  fs: CacheFs,
  path: string,
  found: FileFacts,
  bytes: Uint8Array,
  wanted: FileAttributes,
): Promise<boolean> {
  if (found.mode !== wanted.mode || found.uid !== wanted.uid || found.gid !== wanted.gid) return false;
  return found.size === bytes.length && Buffer.compare(await fs.readFile(path), bytes) === 0;
}

async function regularFile(fs: CacheFs, path: string): Promise<FileFacts | null> {
  const found = await fs.facts(path);
  if (found !== null && found.type !== 'file') throw refused(path, 'is not a regular file');
  return found;
}

async function realDirectory(fs: CacheFs, link: string, path: string): Promise<string> {
  const directory = dirname(link);
  try {
    return await fs.realpath(directory);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const message = `cannot write ${path}: the directory ${directory} does not exist; create it`;
    throw new BirdfeedError('BF_DEST_UNWRITABLE', message, { cause: error, details: { path } });
  }
}

function refused(path: string, why: string): BirdfeedError {
  return new BirdfeedError('BF_DEST_REFUSED', `destination ${path} ${why}`, { details: { path } });
}
