// When a file name in a directory got a new meaning, by inotify: seen from outside, with any program.

import { watch } from 'node:fs';

/**
 * Collects the times of renames to `name` in `directory`. `next(since, accept, timeoutMs)` resolves with the first time
 * after `since` at which `accept` liked what it found.
 */
export class Switches {
  constructor(directory, name) {
    this.times = [];
    this.waiting = null;
    this.watcher = watch(directory, (_type, changed) => {
      if (changed !== name) return;
      const at = performance.now();
      this.times.push(at);
      this.waiting?.(at);
    });
    this.watcher.on('error', () => {});
  }

  get count() {
    return this.times.length;
  }

  next(since, accept = () => true, timeoutMs = 30_000) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(reject, new Error(`nothing new within ${timeoutMs} ms`)), timeoutMs);
      const end = (settle, value) => {
        clearTimeout(timer);
        this.waiting = null;
        settle(value);
      };
      this.waiting = (at) => {
        if (at > since && accept()) end(resolve, at);
      };
      for (const at of this.times) if (at > since && accept()) return end(resolve, at);
    });
  }

  close() {
    this.watcher.close();
  }
}
