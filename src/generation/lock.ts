import { spawn } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, sleep } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import { errnoOf, fsError } from './fs-errors.ts';
import { isRecord } from './signed-json.ts';

export interface Lock {
  readonly path: string;
  /** False once somebody removed or replaced the lock file: another writer may then have locked the new one. */
  stillHeld(): boolean;
  /** Lets the next writer in. May be called twice. */
  release(): void;
}

export type LockAttempt =
  | { readonly type: 'locked'; readonly lock: Lock }
  /** `holder`: what it wrote into the file, for a message; null when that cannot be read. */
  | { readonly type: 'busy'; readonly holder: string | null }
  /** The program that locks is not installed. */
  | { readonly type: 'unavailable'; readonly reason: string };

export interface LockOptions {
  readonly cacheDir: string;
  /** The program `flock` of util-linux or BusyBox; looked up in PATH. */
  readonly flock?: string;
}

/**
 * Tries once, without waiting, to become the one writer of a cache.
 *
 * Node has no lock of its own, so `flock -n 3` runs once with our descriptor inherited: the lock belongs to the open file
 * description, which stays ours when that child has gone. The kernel frees it with the process, kill -9 included, and it
 * works across containers that share the cache. Child processes do not inherit it, since Node opens files close-on-exec.
 *
 * There is no fall-back for an image without `flock`: every home-made lock was found to let two writers in after a
 * crash or across pid namespaces. `unavailable` leaves it to the caller whether one writer is certain anyway.
 */
export async function tryLock({ cacheDir, flock = 'flock' }: LockOptions): Promise<LockAttempt> {
  const path = join(cacheDir, 'lock');
  // A file that was replaced between opening and locking is not the one that the next writer will open.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const fd = openLockFile(path);
    const answer = await lockDescriptor(flock, fd);
    if (answer === 'locked' && isSameFile(fd, path)) {
      describeHolder(fd);
      return { type: 'locked', lock: lockOf(fd, path) };
    }
    const holder = answer === 'busy' ? readHolder(fd) : null;
    closeSync(fd);
    if (answer === 'busy') return { type: 'busy', holder };
    if (answer !== 'locked') return { type: 'unavailable', reason: answer.reason };
  }
  throw new BirdfeedError('BF_CACHE_LOCKED', `${path} is replaced again and again: never remove a lock file`);
}

export interface WaitOptions extends LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Pause between two tries; default 500 ms. */
  readonly everyMs?: number;
  /** Called once, when it turns out that another writer has the cache. */
  readonly onStandby?: (holder: string | null) => void;
}

/**
 * Waits until this process is the one writer; null when `signal` aborts first. Throws BF_LOCK_UNAVAILABLE without `flock`,
 * and BF_CACHE_* when the lock file cannot be opened.
 */
export async function waitForLock(options: WaitOptions): Promise<Lock | null> {
  const { clock, signal, everyMs = 500, onStandby } = options;
  for (let told = false; !signal.aborted; await sleep(clock, everyMs, signal)) {
    const attempt = await tryLock(options);
    if (attempt.type === 'locked') return attempt.lock;
    if (attempt.type === 'unavailable') {
      throw new BirdfeedError('BF_LOCK_UNAVAILABLE', `cannot lock ${options.cacheDir}: ${attempt.reason}`);
    }
    if (!told) onStandby?.(attempt.holder);
    told = true;
  }
  return null;
}

// A bare descriptor, not a FileHandle: that one closes, and unlocks, when nobody refers to it any more.
function openLockFile(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    throw fsError(error, 'cache', 'open the lock file', path);
  }
}

type Answer = 'locked' | 'busy' | { readonly reason: string };

/**
 * Mostly there is nothing in the way, and then what the program says is not listened to: opening a pipe for that takes
 * longer than locking. Otherwise it is asked again.
 */
async function lockDescriptor(command: string, fd: number): Promise<Answer> {
  return (await locksQuietly(command, fd)) ? 'locked' : runFlock(command, fd);
}

function locksQuietly(command: string, fd: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}

function runFlock(command: string, fd: number): Promise<Answer> {
  return new Promise((resolve) => {
    let complaint = '';
    const child = spawn(command, ['-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    child.on('error', (error) => {
      const missing = errnoOf(error) === 'ENOENT';
      const reason = missing
        ? `the program ${command} is not installed: add util-linux or BusyBox to the image`
        : `${command} does not start: ${error.message}`;
      resolve({ reason });
    });
    child.on('close', (code) => {
      if (code === 0) resolve('locked');
      // Both implementations exit 1, and silently, when somebody else has the lock.
      else if (code === 1 && complaint === '') resolve('busy');
      else resolve({ reason: `${command} -n failed: ${complaint.trim() || `exit status ${code}`}` });
    });
  });
}

function isSameFile(fd: number, path: string): boolean {
  const ours = fstatSync(fd);
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}

function lockOf(fd: number, path: string): Lock {
  let released = false;
  return {
    path,
    stillHeld: () => !released && isSameFile(fd, path),
    release() {
      if (released) return;
      released = true;
      // Never unlinked: whoever waits has this very file open, and would lock a file that is no longer there.
      closeSync(fd);
    },
  };
}

/** For people who find the cache busy. A pid alone means little: it is 1 in every container. */
function describeHolder(fd: number): void {
  try {
    ftruncateSync(fd);
    writeSync(fd, `${JSON.stringify({ host: hostname(), pid: process.pid })}\n`);
  } catch {
    // A full disk must not keep anybody from the lock: it is a courtesy.
  }
}

function readHolder(fd: number): string | null {
  const buffer = Buffer.alloc(1024);
  try {
    const size = readSync(fd, buffer, 0, buffer.length, 0);
    const holder: unknown = JSON.parse(buffer.toString('utf8', 0, size));
    return isRecord(holder) ? `process ${String(holder['pid'])} on ${String(holder['host'])}` : null;
  } catch {
    return null;
  }
}
