import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BirdfeedError } from '../../core/errors.ts';
import { byText } from '../../core/order.ts';
import { isGone, type Scan } from './scan.ts';

/** Larger files are refused unread; the fixtures of 10,000 nodes are a tenth of it. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What the files of a directory mean. Pure. */
export interface FileReader<C> {
  /** The content of one file; throws BF_FIXTURE_INVALID when it cannot be used. `path` is for messages. */
  parse(path: string, bytes: Buffer): C;
  /** Key → value, from the files in order of their paths relative to the directory, and what is wrong with them. */
  assemble(files: ReadonlyMap<string, C>): Assembled;
}

export interface Assembled {
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly BirdfeedError[];
}

interface LoadedFile<C> {
  /** The last content that could be used. */
  readonly good: { readonly content: C; readonly empty: boolean } | undefined;
  /** Why what is there now cannot be used; `good` stands in for it. */
  readonly failure: BirdfeedError | undefined;
}

/**
 * The files of a directory with their last good contents. A file that does not parse, cannot be read, or is suddenly
 * empty (the first half of a save) keeps what it held, with a problem that says so; only deleting it takes that away.
 * One that was there at the start and could not be used since has nothing to keep: its problem says `unread` in its
 * details, so that nobody takes what it held for deleted.
 */
export class FileSet<C> {
  readonly #reader: FileReader<C>;
  #files = new Map<string, LoadedFile<C>>();
  #unreadable: readonly BirdfeedError[] = [];
  /** Files that the first look found and that could not be used since: what they are to say is not known at all. */
  #unread: Set<string> | null = null;

  constructor(reader: FileReader<C>) {
    this.#reader = reader;
  }

  /** Reads `changed`, drops `gone`. Returns the files that vanished while they were to be read: look again. */
  async update(scan: Scan, changed: readonly string[], gone: readonly string[]): Promise<readonly string[]> {
    const vanished: string[] = [];
    const loads = changed.map(async (path) => {
      const loaded = await this.#load(scan.base, path);
      if (loaded === undefined) vanished.push(path);
      else this.#files.set(path, loaded);
    });
    await Promise.all(loads);
    for (const path of gone) this.#files.delete(path);
    const suspects = this.#unread ?? new Set([...changed, ...scan.unreadable.keys()]);
    this.#unread = new Set(
      [...suspects].filter((path) => scan.unreadable.has(path) || isUnread(this.#files.get(path))),
    );
    this.#unreadable = [...scan.unreadable].map(([path, error]) =>
      this.#told(path, unreadableProblem(join(scan.base, path), error)),
    );
    return vanished;
  }

  /** All that is known, bad files with what they held before. Problems are in a stable order. */
  assemble(): Assembled {
    const paths = [...this.#files.keys()].sort(byText);
    const contents = new Map<string, C>();
    const failures: BirdfeedError[] = [];
    for (const path of paths) {
      const file = this.#files.get(path);
      if (file?.good !== undefined) contents.set(path, file.good.content);
      if (file?.failure !== undefined) failures.push(this.#told(path, file.failure));
    }
    const { values, problems } = this.#reader.assemble(contents);
    return { values, problems: [...this.#unreadable, ...failures, ...problems] };
  }

  #told(path: string, error: BirdfeedError): BirdfeedError {
    if (this.#unread?.has(path) !== true) return error;
    const { code, message, details, cause } = error;
    return new BirdfeedError(code, message, { cause, details: { ...details, unread: true } });
  }

  async #load(base: string, path: string): Promise<LoadedFile<C> | undefined> {
    const full = join(base, path);
    const before = this.#files.get(path)?.good;
    try {
      const { size } = await stat(full);
      if (size > MAX_FILE_BYTES) throw tooLarge(full, size);
      const bytes = await readFile(full);
      const empty = isBlank(bytes);
      if (empty && before !== undefined && !before.empty)
        return { good: before, failure: emptyProblem(full) };
      return { good: { content: this.#reader.parse(full, bytes), empty }, failure: undefined };
    } catch (error) {
      if (error instanceof BirdfeedError) return { good: before, failure: keepsLastGood(error, before) };
      if (isGone(error)) return undefined;
      return { good: before, failure: unreadableProblem(full, error as NodeJS.ErrnoException) };
    }
  }
}

function isUnread(file: LoadedFile<unknown> | undefined): boolean {
  return file !== undefined && file.good === undefined;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

function emptyProblem(path: string): BirdfeedError {
  return new BirdfeedError(
    'BF_FIXTURE_INVALID',
    `${path} is empty; its last content stays in use. Delete the file if nothing is meant to be left of it`,
    { details: { file: path } },
  );
}

function tooLarge(path: string, size: number): BirdfeedError {
  return new BirdfeedError(
    'BF_FIXTURE_INVALID',
    `${path} has ${size} bytes, and at most ${MAX_FILE_BYTES} are read; split it into several files`,
    { details: { file: path } },
  );
}

function keepsLastGood(error: BirdfeedError, before: unknown): BirdfeedError {
  if (before === undefined) return error;
  return new BirdfeedError(error.code, `${error.message}; its last good content stays in use`, {
    details: error.details,
  });
}

const DENIED = 'permission denied; let the user that birdfeed runs as read it';
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  ELOOP: 'it is a link that leads in circles (ELOOP); remove it or put a file there',
};

function unreadableProblem(path: string, error: NodeJS.ErrnoException): BirdfeedError {
  const remedy = REMEDIES[error.code ?? ''] ?? error.code ?? error.message;
  return new BirdfeedError('BF_FIXTURE_INVALID', `${path} cannot be read: ${remedy}`, {
    cause: error,
    details: { file: path, errno: error.code },
  });
}
