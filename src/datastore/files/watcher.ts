import { resolve } from 'node:path';
import type { Logger } from '../../core/log.ts';

export interface Watcher {
  /** False when the system refused to watch everything: then only looking again at intervals helps. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

export interface WatcherOptions {
  readonly directories: readonly string[];
  readonly log: Logger;
  /** Something may have changed. Called too often rather than not at all. */
  readonly onHint: () => void;
}

/**
 * Watches these directories, without those below them. chokidar only gives hints here: which files changed is found by
 * looking, because events get lost (overflowing queues, network file systems) and lie (rename-over, `..data` swaps,
 * editors). So it need not watch each file, which takes a watch of the system per file and misses a directory that
 * another one replaced; its raw events, one for whatever happens in a directory, are all that is wanted.
 */
export async function openWatcher({ directories, log, onHint }: WatcherOptions): Promise<Watcher> {
  const { watch } = await import('chokidar');
  const watched = new Set(directories.map((directory) => resolve(directory)));
  const watcher = watch([...watched], {
    ignored: (path) => !watched.has(resolve(path)),
    depth: 0,
    ignoreInitial: true,
    atomic: false,
  });
  let healthy = true;
  watcher.on('all', onHint);
  watcher.on('raw', onHint);
  watcher.on('ready', onHint);
  watcher.on('error', (error) => {
    if (healthy) {
      log.warn(
        {
          stage: 'datastore',
          directories,
          err: error,
          remedy: 'raise fs.inotify.max_user_watches and max_user_instances',
        },
        'watching a directory failed, looking at it every second instead',
      );
    }
    healthy = false;
    onHint();
  });
  return {
    get healthy() {
      return healthy;
    },
    close: () => watcher.close(),
  };
}
