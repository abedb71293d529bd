import { BirdfeedError, type ErrorCode } from '../core/errors.ts';

const CODES = {
  cache: { permission: 'BF_CACHE_PERMISSION', other: 'BF_CACHE_UNWRITABLE' },
  destination: { permission: 'BF_DEST_PERMISSION', other: 'BF_DEST_UNWRITABLE' },
} as const satisfies Record<string, Record<'permission' | 'other', ErrorCode>>;

export type Place = keyof typeof CODES;

/** What to do about it, by errno name. */
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: 'give the user that birdfeed runs as read and write access',
  EPERM: 'give the user that birdfeed runs as this right, or leave the owner and --file-group as they are',
  ENOSPC: 'the file system is full: free space',
  EDQUOT: 'the disk quota is used up: free space or raise it',
  EROFS: 'the file system is mounted read-only: mount it writable',
  EIO: 'the disk reports errors: see the kernel log',
  ENOENT: 'something on the way does not exist: create the directory, or mount it',
  ENOTDIR: 'something on the way is a file, not a directory',
  EXDEV:
    'the cache lies on an overlay (an image layer), where directories cannot be renamed: mount a volume or a host directory there',
  EBUSY: 'it is a mount point: mount the directory around it instead',
  EISDIR: 'it is a directory, where a link or file of birdfeed’s belongs: move it away',
  ENOTEMPTY: 'something else writes here: one writer per cache',
  EEXIST: 'something else writes here: one writer per cache',
  EMFILE: 'too many open files: raise the limit',
  ENFILE: 'too many open files on this machine',
};

/**
 * A failed file system call as a BirdfeedError that names the path and the remedy. A value that is no errno error is
 * returned as it is, since it is either converted already or a bug.
 */
export function fsError(error: unknown, place: Place, doing: string, path: string): unknown {
  const code = errnoOf(error);
  if (code === null) return error;
  const kind = code === 'EACCES' || code === 'EPERM' ? 'permission' : 'other';
  const remedy = REMEDIES[code];
  const message = `cannot ${doing} ${path}: ${code}${remedy === undefined ? '' : `; ${remedy}`}`;
  return new BirdfeedError(CODES[place][kind], message, { cause: error, details: { path, errno: code } });
}

/** Runs `work`; what the file system refuses comes out as a BirdfeedError. */
export async function guardFs<T>(
  place: Place,
  doing: string,
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fsError(error, place, doing, path);
  }
}

/** `ENOSPC` and the like; null for what did not come from the operating system. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof BirdfeedError) return null;
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}
