import { existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { watch } from 'chokidar';
import type { Options } from '../config/options.ts';
import type { Logger } from '../core/log.ts';
import { configurationDirectories } from './paths.ts';

export interface ConfigurationWatcher {
  /** As if something had changed. */
  reread(): void;
  close(): Promise<void>;
}

export interface WatchDeps {
  readonly log: Logger;
  /** Must not reject. */
  reread(): Promise<void>;
  /** When they were read last, ms since 1970: what has changed between that and the first watch is not missed. */
  readonly readAt: number;
  /** Instead of chokidar's, for tests. */
  readonly watch?: typeof watch;
}

/** Editors and ConfigMap swaps touch several files; one re-read a little later sees them all. */
const SETTLE_MS = 150;

/** File times come from a clock that may be a tick behind. */
const TICK_MS = 10;

/**
 * Calls `reread` when something in conf.d/ or templates/ changes (files saved, ConfigMap `..data` swapped) and when
 * asked; one call at a time, and one more when something changed meanwhile. Where the system refuses to watch, only asking
 * is left.
 */
export async function watchConfiguration(options: Options, deps: WatchDeps): Promise<ConfigurationWatcher> {
  const { log, reread, readAt } = deps;
  const directories = configurationDirectories(options)
    .flatMap((directory) => [join(directory, 'conf.d'), join(directory, 'templates')])
    .filter((directory) => existsSync(directory));
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | null = null;
  let isDue = false;
  let isClosed = false;
  let isPartial = false;
  const start = (): void => {
    isDue = true;
    if (working !== null || isClosed) return;
    isDue = false;
    working = reread().finally(() => {
      working = null;
      if (isDue) start();
    });
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(start, SETTLE_MS);
  };
  // Symbolic links are followed: a ConfigMap volume's files are links through `..data`, which is swapped by rename.
  const watcher = (deps.watch ?? watch)(directories, { ignoreInitial: true, persistent: true });
  watcher.on('all', soon);
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
    watcher.on('error', (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        { directories, reason, remedy: remedyFor(error) },
        'changes of resources and templates may go unnoticed',
      );
      // It comes instead of the event that would have told of the change. What it is about is not followed: from now on
      // everything that the system tells of the directories counts.
      if (!isPartial) watcher.on('raw', soon);
      isPartial = true;
      soon();
      resolve();
    });
  });
  if (Math.max(0, ...directories.map((directory) => changedAt(directory))) > readAt - TICK_MS) soon();
  return {
    reread: soon,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await watcher.close();
      await working;
    },
  };
}

function remedyFor(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === 'ELOOP'
    ? 'remove the link that leads in circles'
    : 'raise fs.inotify.max_user_watches and max_user_instances; SIGHUP re-reads them';
}

/**
 * When a file, or anything in a directory, last changed or was put where it is, in ms since 1970; links count twice. What
 * cannot be looked at, as a link in circles, counts as it is. `parents` are the directories that we are inside of: a
 * linked one may be its own ancestor.
 */
function changedAt(path: string, parents: readonly string[] = []): number {
  const own = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  const target = targetOf(path);
  if (target === undefined) return own;
  const identity = `${target.dev}:${target.ino}`;
  const descends = target.isDirectory() && !parents.includes(identity);
  const names = descends ? readdirSync(path) : [];
  const inside = names.map((name) => changedAt(join(path, name), [...parents, identity]));
  return Math.max(own, target.ctimeMs, ...inside);
}

function targetOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
