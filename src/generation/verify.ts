import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errnoOf } from './fs-errors.ts';
import { parseGenerationName, STAMP_FILE } from './layout.ts';
import { isStampFault, parseStamp } from './stamp.ts';
import type { Generation, Refusal, Stamp, StampedFile } from './types.ts';

/** Whose generation is acceptable. Null accepts any, as for the dialect before anything told which one runs. */
export interface Expectation {
  readonly set: string;
  readonly nodeName: string | null;
  readonly dialect: string | null;
}

export function isRefusal(result: Generation | Refusal): result is Refusal {
  return 'reason' in result;
}

/**
 * Verifies a sealed generation: stamp, owner, and of every file presence, type, size and SHA-256; nothing else may lie
 * in the directory. Permission bits are not compared: an operator who opened a file for reading did not damage it.
 *
 * Synchronous on purpose: on the way from process start to a configuration in place, trips through the thread pool
 * would cost more than the reading. Use it nowhere on the publish path.
 */
export function verifyGeneration(directory: string, expectation: Expectation): Generation | Refusal {
  return verifyOpened(readStamp(directory), expectation);
}

function verifyOpened(opened: Generation | Refusal, expectation: Expectation): Generation | Refusal {
  if (isRefusal(opened)) return opened;
  const { directory } = opened;
  const foreign = foreignTo(opened.stamp, expectation);
  if (foreign !== null) return { directory, ...foreign };
  try {
    return checkFiles(opened) ?? opened;
  } catch (error) {
    return unreadable(directory, error);
  }
}

/** Reads and verifies each generation once, for as long as nothing says that it may have changed. */
export interface Verifier {
  verify(directory: string, expectation: Expectation): Generation | Refusal;
  /** See {@link readStamp}. */
  readStamp(directory: string): Generation | Refusal;
  /** What was read and verified has to be again. */
  forget(): void;
}

/** For one start: equal directories have to come with equal expectations. */
export function createVerifier(): Verifier {
  const stamps = new Map<string, Generation>();
  const verified = new Map<string, Generation>();
  const verifier: Verifier = {
    verify: (directory, expectation) =>
      remembered(verified, directory, () => verifyOpened(verifier.readStamp(directory), expectation)),
    readStamp: (directory) => remembered(stamps, directory, () => readStamp(directory)),
    forget() {
      stamps.clear();
      verified.clear();
    },
  };
  return verifier;
}

/** What is refused may be under way, and is looked at again. */
function remembered(
  known: Map<string, Generation>,
  directory: string,
  look: () => Generation | Refusal,
): Generation | Refusal {
  const result = known.get(directory) ?? look();
  if (!isRefusal(result)) known.set(directory, result);
  return result;
}

/** The generation by its stamp alone: what `generations list` shows without reading every file. */
export function readStamp(directory: string): Generation | Refusal {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(join(directory, STAMP_FILE));
  } catch (error) {
    return unreadable(directory, error);
  }
  const stamp = parseStamp(bytes);
  if (isStampFault(stamp)) {
    return { directory, reason: stamp.fault, message: `${join(directory, STAMP_FILE)} ${stamp.finding}` };
  }
  const number = parseGenerationName(basename(directory));
  if (number !== null && number !== stamp.generation) {
    const message = `${join(directory, STAMP_FILE)} belongs to generation ${stamp.generation}: the directory was copied or renamed`;
    return { directory, reason: 'edited', message };
  }
  return { number: stamp.generation, directory, stamp };
}

function foreignTo(stamp: Stamp, expected: Expectation): Pick<Refusal, 'reason' | 'message'> | null {
  const name = `generation ${stamp.generation}`;
  if (stamp.set !== expected.set) {
    return {
      reason: 'foreign-set',
      message: `${name} belongs to the set ${stamp.set}, this is ${expected.set}`,
    };
  }
  if (expected.nodeName !== null && stamp.nodeName !== expected.nodeName) {
    return {
      reason: 'foreign-node',
      message: `${name} was made for the node ${stamp.nodeName}, this is ${expected.nodeName}`,
    };
  }
  if (expected.dialect !== null && stamp.dialect !== expected.dialect) {
    return {
      reason: 'foreign-dialect',
      message: `${name} is in the dialect ${stamp.dialect ?? 'none'}, needed is ${expected.dialect}`,
    };
  }
  return null;
}

function checkFiles({ directory, stamp }: Generation): Refusal | null {
  const expected = new Map(stamp.files.map((file) => [file.name, file]));
  const names = readdirSync(directory);
  for (const name of names) {
    if (name === STAMP_FILE || expected.has(name)) continue;
    return {
      directory,
      reason: 'edited',
      message: `${join(directory, name)} is not part of the generation, yet lies in it`,
    };
  }
  const present = new Set(names);
  for (const file of stamp.files) {
    const path = join(directory, file.name);
    const refusal = present.has(file.name)
      ? checkFile(path, file)
      : ({ reason: 'torn', finding: 'is missing' } as const);
    if (refusal !== null) return { directory, reason: refusal.reason, message: `${path} ${refusal.finding}` };
  }
  return null;
}

function checkFile(path: string, file: StampedFile): { reason: Refusal['reason']; finding: string } | null {
  const found = lstatSync(path);
  // A link would be read through by BIRD, and what it points at is not sealed.
  if (!found.isFile()) return { reason: 'edited', finding: 'is not a regular file' };
  if (found.size < file.size) return { reason: 'torn', finding: `has ${found.size} of ${file.size} bytes` };
  if (found.size > file.size) {
    return { reason: 'edited', finding: `has ${found.size} bytes instead of ${file.size}` };
  }
  if (sha256OfFile(path) === file.sha256) return null;
  return { reason: 'edited', finding: 'has other contents than were sealed (SHA-256 differs)' };
}

/** Piece by piece: fresh memory for megabytes costs more than reading them. */
function sha256OfFile(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(64 * 1024);
  const fd = openSync(path, 'r');
  try {
    for (let size = readSync(fd, buffer); size > 0; size = readSync(fd, buffer)) {
      hash.update(buffer.subarray(0, size));
    }
  } finally {
    closeSync(fd);
  }
  return hash.digest('hex');
}

function unreadable(directory: string, error: unknown): Refusal {
  const errno = errnoOf(error);
  if (errno === null) throw error;
  const path = (error as NodeJS.ErrnoException).path ?? directory;
  if (errno === 'ENOENT') return { directory, reason: 'torn', message: `${path} is missing` };
  return { directory, reason: 'unreadable', message: `cannot read ${path}: ${errno}` };
}
