import type { Logger } from '../../core/log.ts';

export interface Watcher {
  /** False when the system refused to watch everything: then only looking again at intervals helps. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

export interface WatcherOptions {
  readonly directory: string;
  /** False for a single file: it is watched through its directory, since renaming over it takes its own watch away. */
  readonly recursive: boolean;
  readonly log: Logger;
  /** Something may have changed. Called too often rather than not at all. */
  readonly onHint: () => void;
}

/**
 * Watches a directory tree. chokidar only gives hints here: which files changed is found by looking, because events get
 * lost (overflowing queues, network file systems) and lie (rename-over, `..data` swaps, editors). Its raw events are
 * hints too: a swapped `..data` link may show in nothing else.
 */
export async function openWatcher(options: WatcherOptions): Promise<Watcher> {
  const { directory, recursive, log, onHint } = options;
  const { watch } = await import('chokidar');
  const watcher = watch(directory, {
    ignoreInitial: true,
    atomic: false,
    ignorePermissionErrors: true,
    ...(recursive ? {} : { depth: 0 }),
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
          directory,
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
