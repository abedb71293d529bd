import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { watch } from 'chokidar';
import type { Options } from '../config/options.ts';
import { configurationDirectories } from './paths.ts';

export interface ConfigurationWatcher {
  reread(): void;
  close(): Promise<void>;
}

/** Editors and ConfigMap swaps touch several files; one re-read a little later sees them all. */
const SETTLE_MS = 150;

/** File times come from a clock that may be a tick behind. */
const TICK_MS = 10;

/**
 * Calls `reread` when something in conf.d/ or templates/ changes (files saved, ConfigMap `..data` swapped) and when
 * asked; one call at a time, and one more when something changed meanwhile. `readAt` is when they were read last, in ms
 * since 1970: what has changed between that and the first watch is not missed.
 */
export async function watchConfiguration(
  options: Options,
  reread: () => Promise<void>,
  readAt: number,
): Promise<ConfigurationWatcher> {
  const directories = configurationDirectories(options)
    .flatMap((directory) => [join(directory, 'conf.d'), join(directory, 'templates')])
    .filter((directory) => existsSync(directory));
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | null = null;
  let again = false;
  const start = (): void => {
    if (working !== null) {
      again = true;
      return;
    }
    working = reread().finally(() => {
      working = null;
      if (!again) return;
      again = false;
      start();
    });
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(start, SETTLE_MS);
  };
  // Symbolic links are followed: a ConfigMap volume's files are links through `..data`, which is swapped by rename.
  const watcher = watch([...directories], { ignoreInitial: true, persistent: true });
  watcher.on('all', soon);
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()));
  if (Math.max(0, ...directories.map(changedAt)) > readAt - TICK_MS) soon();
  return {
    reread: soon,
    async close() {
      clearTimeout(timer);
      await watcher.close();
      await working;
    },
  };
}

/** When a file, or anything in a directory, last changed or was put where it is, in ms since 1970; links count twice. */
function changedAt(path: string): number {
  const own = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  const target = statSync(path, { throwIfNoEntry: false });
  const inside = target?.isDirectory() === true ? readdirSync(path).map((name) => join(path, name)) : [];
  return Math.max(own, target?.ctimeMs ?? 0, ...inside.map(changedAt));
}
