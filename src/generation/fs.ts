import * as nodefs from 'node:fs';
import { promisify } from 'node:util';
import type { Pieces } from '../core/joined-text.ts';
import { errnoOf } from './fs-errors.ts';

/**
 * Not `node:fs/promises`: loading that is one of the dearer steps between the start of the process and a cached
 * configuration in place.
 */
const node = {
  open: promisify(nodefs.open),
  writev: promisify(nodefs.writev) as (
    fd: number,
    pieces: Pieces,
    position: number,
  ) => Promise<{ readonly bytesWritten: number }>,
  ftruncate: promisify(nodefs.ftruncate),
  fchown: promisify(nodefs.fchown),
  fchmod: promisify(nodefs.fchmod),
  fsync: promisify(nodefs.fsync),
  close: promisify(nodefs.close),
  mkdtemp: promisify(nodefs.mkdtemp) as (prefix: string) => Promise<string>,
  mkdir: promisify(nodefs.mkdir),
  readdir: promisify(nodefs.readdir) as (path: string) => Promise<string[]>,
  readFile: promisify(nodefs.readFile) as (path: string) => Promise<Buffer>,
  readlink: promisify(nodefs.readlink) as (path: string) => Promise<string>,
  realpath: promisify(nodefs.realpath.native) as (path: string) => Promise<string>,
  symlink: promisify(nodefs.symlink) as (target: string, path: string) => Promise<void>,
  rename: promisify(nodefs.rename),
  rm: promisify(nodefs.rm) as (path: string, options: nodefs.RmOptions) => Promise<void>,
  chown: promisify(nodefs.chown),
  chmod: promisify(nodefs.chmod),
  lstat: promisify(nodefs.lstat) as (path: string) => Promise<nodefs.Stats>,
};

/** An open file. */
export interface CacheFile {
  /** Writes all of `content` at the start of the file. */
  write(content: Pieces): Promise<void>;
  truncate(size: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FileFacts {
  readonly type: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  /** Permission bits only. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
}

/**
 * The calls of the file system that the publish path makes, one method per call, so that a test can stop between any
 * two of them and look at the order. Errors are Node's.
 */
export interface CacheFs {
  /** `create`: a new file, never an existing one or a link. `update`: an existing file, followed through links. */
  open(path: string, how: 'create' | 'update', mode: number): Promise<CacheFile>;
  mkdtemp(prefix: string): Promise<string>;
  mkdir(path: string, mode: number): Promise<void>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string): Promise<Uint8Array>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  /** Does not follow a link; null when there is nothing. */
  facts(path: string): Promise<FileFacts | null>;
  symlink(target: string, path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Recursively; nothing there is no error. */
  remove(path: string): Promise<void>;
  chown(path: string, uid: number, gid: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
  /** Writes and fsyncs `path` through a temporary file beside it; mode 0600. */
  writeFileAtomic(path: string, bytes: Uint8Array): Promise<void>;
}

export const nodeFs: CacheFs = {
  async open(path, how, mode) {
    const create = nodefs.constants.O_WRONLY | nodefs.constants.O_CREAT | nodefs.constants.O_EXCL;
    return asCacheFile(await node.open(path, how === 'create' ? create : nodefs.constants.O_RDWR, mode));
  },
  mkdtemp: (prefix) => node.mkdtemp(prefix),
  mkdir: async (path, mode) => void (await node.mkdir(path, { mode })),
  readdir: (path) => node.readdir(path),
  readFile: (path) => node.readFile(path),
  readlink: (path) => node.readlink(path),
  realpath: (path) => node.realpath(path),
  facts,
  symlink: (target, path) => node.symlink(target, path),
  rename: (from, to) => node.rename(from, to),
  remove: (path) => node.rm(path, { recursive: true, force: true }),
  chown: (path, uid, gid) => node.chown(path, uid, gid),
  chmod: (path, mode) => node.chmod(path, mode),
  syncDirectory,
  async writeFileAtomic(path, bytes) {
    // Loaded when first needed: it is not on the way from process start to a verified generation.
    const { default: writeFileAtomic } = await import('write-file-atomic');
    await writeFileAtomic(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
      mode: 0o600,
    });
  },
};

function asCacheFile(fd: number): CacheFile {
  return {
    async write(content) {
      // A write to a file system that is nearly full is short and no error; only the next one fails.
      let at = 0;
      for (let rest = content; rest.length > 0; ) {
        const { bytesWritten } = await node.writev(fd, rest, at);
        at += bytesWritten;
        rest = behind(rest, bytesWritten);
      }
    },
    truncate: (size) => node.ftruncate(fd, size),
    chown: (uid, gid) => node.fchown(fd, uid, gid),
    chmod: (mode) => node.fchmod(fd, mode),
    sync: () => node.fsync(fd),
    close: () => node.close(fd),
  };
}

/** What is left of `content` without its first `count` bytes. */
function behind(content: Pieces, count: number): Pieces {
  let skipped = 0;
  let first = 0;
  while (first < content.length && skipped + content[first]!.length <= count) {
    skipped += content[first]!.length;
    first += 1;
  }
  const rest = content.slice(first);
  return skipped === count ? rest : [rest[0]!.subarray(count - skipped), ...rest.slice(1)];
}

async function facts(path: string): Promise<FileFacts | null> {
  try {
    const found = await node.lstat(path);
    const type = found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'directory'
        : found.isSymbolicLink()
          ? 'link'
          : 'other';
    const { size, uid, gid, mtimeMs } = found;
    return { type, size, mode: found.mode & 0o7777, uid, gid, mtimeMs };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const fd = await node.open(path, nodefs.constants.O_RDONLY | nodefs.constants.O_DIRECTORY);
  try {
    await node.fsync(fd);
  } catch (error) {
    // Some network and FUSE file systems cannot sync a directory; there is nothing more to be had from them.
    const code = errnoOf(error);
    if (code !== 'EINVAL' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
  } finally {
    await node.close(fd);
  }
}
