import { existsSync } from 'node:fs';
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

/**
 * Calls `reread` when something in conf.d/ or templates/ changes (files saved, ConfigMap `..data` swapped) and when
 * asked; one call at a time, and one more when something changed meanwhile.
 */
export async function watchConfiguration(
  options: Options,
  reread: () => Promise<void>,
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
  return {
    reread: soon,
    async close() {
      clearTimeout(timer);
      await watcher.close();
      await working;
    },
  };
}
