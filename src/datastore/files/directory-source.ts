import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Clock, sleep } from '../../core/clock.ts';
import { BirdfeedError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Mount, SnapshotReason, Source, SourceEvent } from '../types.ts';
import { type FileReader, FileSet } from './file-set.ts';
import { Publisher } from './publisher.ts';
import { type Accepts, isGone, type Scan, scan } from './scan.ts';
import { forget, NOTHING_KNOWN, type SettleState, settle } from './settle.ts';
import { Waker } from './waker.ts';
import { openWatcher, type Watcher } from './watcher.ts';

export interface DirectorySourceOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** How long a changed file must look the same before it is read, ms. Default 75. */
  readonly settleMs?: number;
  /** Look at the directory every so many ms instead of watching it, for file systems that send no events. */
  readonly pollMs?: number;
}

/** What makes a source of a directory: which files count and what they mean. */
export interface DirectorySpec<C> {
  readonly kind: string;
  /** A directory, or where it makes sense a single file. */
  readonly path: string;
  readonly accepts: Accepts;
  readonly reader: FileReader<C>;
  /** `lost`: the source is unreachable without its directory. `empty`: then there simply is nothing. */
  readonly whenMissing: 'lost' | 'empty';
}

const SETTLE_MS = 75;
/** Looking again without a hint: the net below the watch. */
const RESCAN_MS = 30_000;
/** While there is no watch: the directory is missing, or the system refused to watch it. */
const UNWATCHED_MS = 1_000;
/** Between two looks while hints rain. */
const LEAST_PAUSE_MS = 20;

/**
 * A source that reads files. Each `run` follows the directory on its own; a file's changes are published when it looks
 * the same for a settle time, and a bad file keeps its last good content (see FileSet). The datastore id is the path
 * with its directory resolved, so that a `current` link to one release after the other stays one store; revisions count
 * from the wall clock at the start, so that they grow over restarts.
 */
export function createDirectorySource<C>(spec: DirectorySpec<C>, options: DirectorySourceOptions): Source {
  const followers = new Set<Follower<C>>();
  return {
    kind: spec.kind,
    description: spec.path,
    async run(mounts, emit, signal) {
      const follower = await Follower.create(spec, options, mounts, emit, signal);
      followers.add(follower);
      try {
        await follower.run();
      } finally {
        followers.delete(follower);
      }
    },
    relist() {
      for (const follower of followers) follower.relist();
    },
  };
}

/** One `run`: looks at the directory, waits for a reason to look again, until the signal aborts. */
class Follower<C> {
  readonly #spec: DirectorySpec<C>;
  readonly #options: DirectorySourceOptions;
  readonly #signal: AbortSignal;
  readonly #publisher: Publisher;
  readonly #files: FileSet<C>;
  readonly #waker: Waker;
  #state: SettleState = NOTHING_KNOWN;
  #watcher: Watcher | undefined;
  #watched = '';
  /** The snapshot that is to be told with the next look; null when changes will do. */
  #owed: SnapshotReason | null = 'initial';
  #loss = '';
  #unreadable = '';

  static async create<C>(
    spec: DirectorySpec<C>,
    options: DirectorySourceOptions,
    mounts: readonly Mount[],
    emit: (event: SourceEvent) => void,
    signal: AbortSignal,
  ): Promise<Follower<C>> {
    const id = `${spec.kind}:${await locationOf(spec.path)}`;
    return new Follower(spec, options, new Publisher(mounts, emit, id, options.clock.now()), signal);
  }

  private constructor(
    spec: DirectorySpec<C>,
    options: DirectorySourceOptions,
    publisher: Publisher,
    signal: AbortSignal,
  ) {
    this.#spec = spec;
    this.#options = options;
    this.#publisher = publisher;
    this.#signal = signal;
    this.#files = new FileSet(spec.reader);
    this.#waker = new Waker(options.clock);
  }

  async run(): Promise<void> {
    const { clock } = this.#options;
    const wake = (): void => this.#waker.wake();
    this.#signal.addEventListener('abort', wake);
    try {
      while (!this.#signal.aborted) {
        const started = clock.monotonic();
        const waitMs = await this.#look();
        if (this.#signal.aborted) break;
        await this.#waker.wait(waitMs);
        const pause = started + LEAST_PAUSE_MS - clock.monotonic();
        if (pause > 0) await sleep(clock, pause, this.#signal);
      }
    } finally {
      this.#signal.removeEventListener('abort', wake);
      await this.#unwatch();
    }
  }

  relist(): void {
    if (this.#owed === null) this.#owed = 'periodic';
    this.#state = forget(this.#state, this.#state.known.keys());
    this.#waker.wake();
  }

  /** Looks once, tells what changed, and returns after how many ms to look again without being called. */
  async #look(): Promise<number> {
    const { path, accepts, whenMissing } = this.#spec;
    let seen: Scan;
    try {
      seen = await scan(path, accepts);
    } catch (error) {
      await this.#unwatch();
      if (whenMissing === 'lost') return this.#lost(error as NodeJS.ErrnoException);
      seen = nothingSeen(path, error as NodeJS.ErrnoException);
    }
    this.#loss = '';
    const again = await this.#take(seen);
    if (this.#signal.aborted) return 0;
    await this.#watch(seen);
    return again ?? this.#restMs();
  }

  /** Reads what is ready and publishes it. Returns when to look again, or null when there is no hurry. */
  async #take(seen: Scan): Promise<number | null> {
    const settleMs = this.#options.settleMs ?? SETTLE_MS;
    const first = this.#owed === 'initial';
    const files = withUnknown(seen, this.#state);
    const { state, changed, gone, waitMs } = settle(
      this.#state,
      files,
      this.#options.clock.monotonic(),
      first ? 0 : settleMs,
    );
    this.#state = state;
    const vanished = await this.#files.update(seen, changed, gone);
    // The first look does not wait. What was written a moment before may be half of a save: read it once more.
    const fresh = first ? changedSince(seen, this.#options.clock.now() - 2 * settleMs) : [];
    this.#state = forget(this.#state, [...vanished, ...fresh]);
    if (this.#signal.aborted) return null;
    this.#publish(seen, changed.length + gone.length > 0, waitMs !== null);
    return vanished.length + fresh.length > 0 ? 1 : waitMs;
  }

  #publish(seen: Scan, changed: boolean, unsettled: boolean): void {
    const unreadable = [...seen.unreadable.keys()].sort().join('\n');
    const news = changed || unreadable !== this.#unreadable;
    const snapshot = unsettled && this.#owed === 'periodic' ? null : this.#owed;
    if (!news && snapshot === null) return;
    this.#unreadable = unreadable;
    if (snapshot !== null) this.#owed = null;
    this.#publisher.publish(this.#files.assemble(), snapshot);
  }

  #lost(error: NodeJS.ErrnoException): number {
    const loss = unreachable(this.#spec, error);
    if (loss.message !== this.#loss) {
      this.#loss = loss.message;
      if (this.#owed !== 'initial') this.#owed = 'reconnect';
      this.#publisher.lost(loss);
    }
    return UNWATCHED_MS;
  }

  #restMs(): number {
    if (this.#options.pollMs !== undefined) return this.#options.pollMs;
    return this.#watcher?.healthy === true ? RESCAN_MS : UNWATCHED_MS;
  }

  /** Watches the directories that were seen; anew when they are no longer the same ones. */
  async #watch({ directories }: Scan): Promise<void> {
    if (this.#options.pollMs !== undefined || directories.size === 0) return;
    const watched = JSON.stringify([...directories].sort());
    if (this.#watcher !== undefined && this.#watched === watched) return;
    await this.#unwatch();
    this.#watched = watched;
    this.#watcher = await openWatcher({
      directories: [...directories.keys()],
      log: this.#options.log,
      onHint: () => this.#waker.wake(),
    });
  }

  async #unwatch(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    await watcher?.close();
  }
}

/** Files below a directory that cannot be read now are unknown, not gone: they stay as they are. */
function withUnknown(
  seen: Scan,
  { known }: SettleState,
): ReadonlyMap<string, { readonly signature: string }> {
  if (seen.unreadable.size === 0) return seen.files;
  const files = new Map<string, { readonly signature: string }>(seen.files);
  for (const [path, signature] of known) {
    const hidden = [...seen.unreadable.keys()].some(
      (folder) => folder === '' || path === folder || path.startsWith(`${folder}/`),
    );
    if (hidden && !files.has(path)) files.set(path, { signature });
  }
  return files;
}

function changedSince(seen: Scan, time: number): string[] {
  return [...seen.files].filter(([, file]) => file.changedAt > time).map(([path]) => path);
}

/** A directory that may be missing, as an empty one; one that is there but cannot be read hides what it held. */
function nothingSeen(path: string, error: NodeJS.ErrnoException): Scan {
  return {
    base: path,
    directories: new Map(),
    files: new Map(),
    unreadable: isGone(error) ? new Map() : new Map([['', error]]),
  };
}

async function locationOf(path: string): Promise<string> {
  const full = resolve(path);
  try {
    return join(await realpath(dirname(full)), basename(full));
  } catch {
    return full;
  }
}

/** What to tell when `path` itself cannot be read, with the remedy. */
export function unreachable(
  { kind, path }: DirectorySpec<unknown>,
  error: NodeJS.ErrnoException,
): BirdfeedError {
  const reason = isGone(error)
    ? 'there is no such directory or file; create it or name another one'
    : error.code === 'EACCES'
      ? 'permission denied; let the user that birdfeed runs as read it'
      : (error.code ?? error.message);
  return new BirdfeedError('BF_DATASTORE_UNREACHABLE', `the ${kind} at ${path} cannot be read: ${reason}`, {
    cause: error,
    details: { path, errno: error.code },
  });
}
