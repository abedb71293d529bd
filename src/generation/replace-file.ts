import { dirname } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';
import type { CacheFs } from './fs.ts';

export interface FileAttributes {
  /** Permission bits. */
  readonly mode: number;
  /** Null leaves what the file system gives a new file. */
  readonly uid: number | null;
  readonly gid: number | null;
}

/**
 * Replaces `path` by a rename from `staging`, a name in the same directory. Attributes are set before the rename on a
 * file that until then only its owner can read, so there is no moment with the new bytes under looser permissions.
 *
 * The size is looked at before the rename: write-file-atomic takes a short write, which is what a nearly full file
 * system gives first, for a whole one.
 */
export async function replaceFile(
  fs: CacheFs,
  path: string,
  bytes: Uint8Array,
  options: { readonly staging: string; readonly attributes?: FileAttributes },
): Promise<void> {
  const { staging, attributes } = options;
  try {
    await fs.writeFileAtomic(staging, bytes);
    const written = await fs.facts(staging);
    if (written?.size !== bytes.length) throw noSpace(path, written?.size ?? 0, bytes.length);
    if (attributes !== undefined) {
      const { mode, uid, gid } = attributes;
      const foreign = (uid !== null && uid !== written.uid) || (gid !== null && gid !== written.gid);
      if (foreign) await fs.chown(staging, uid ?? -1, gid ?? -1);
      await fs.chmod(staging, mode);
    }
    await fs.rename(staging, path);
  } catch (error) {
    await fs.remove(staging).catch(() => undefined);
    throw error;
  }
  await fs.syncDirectory(dirname(path));
}

function noSpace(path: string, written: number, size: number): Error {
  if (written > size) {
    return new BirdfeedError(
      'BF_CACHE_UNWRITABLE',
      `something else writes beside ${path}: one writer per cache`,
    );
  }
  return Object.assign(new Error(`ENOSPC: only ${written} of ${size} bytes were written`), {
    code: 'ENOSPC',
    path,
  });
}
