import { byText } from '../core/order.ts';
import type { Entry } from '../tree/types.ts';
import type { Mount, SnapshotReason, Source, SourceEvent } from './types.ts';

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment as a source, by confd's rule (its `backends/env`): the key `/a/b` is the variable `A_B`. The variables
 * below a mount become lower-case keys with every `_` a `/`. Two differences: a mount ends at a `/`, so that `/sc/n` does not
 * take in `SC_NNN`, and the mount's own part of the key stays as it was declared, so that `/my_app` finds its variables.
 * The environment of a process does not change; a relist reads it again all the same.
 */
export function createEnvSource(env: Environment): Source {
  const runs = new Set<(reason: SnapshotReason) => void>();
  return {
    kind: 'env',
    description: 'environment variables',
    async run(mounts, emit, signal) {
      const deliver = (reason: SnapshotReason) => {
        for (const mount of mounts) emit(snapshot(env, mount, reason));
      };
      if (signal.aborted) return;
      deliver('initial');
      runs.add(deliver);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      runs.delete(deliver);
    },
    relist() {
      for (const deliver of runs) deliver('periodic');
    },
  };
}

function snapshot(env: Environment, mount: Mount, reason: SnapshotReason): SourceEvent {
  const position = { datastoreId: 'env', revision: 0 };
  return { type: 'snapshot', mount, entries: entriesBelow(env, mount.prefix), position, reason };
}

/**
 * Sorted by key. `A_B` and `A_b` are the same key; the one that is all capitals comes first in order of names, and wins.
 */
function entriesBelow(env: Environment, prefix: string): Entry[] {
  const entries = new Map<string, Entry>();
  for (const name of Object.keys(env).sort(byText)) {
    const value = env[name];
    const key = keyOf(name, prefix);
    if (value === undefined || key === undefined || entries.has(key)) continue;
    entries.set(key, { key, value, revision: 0 });
  }
  return [...entries.values()].sort((a, b) => byText(a.key, b.key));
}

/** The key that a variable stands for, undefined when that does not lie below `prefix`. */
function keyOf(name: string, prefix: string): string | undefined {
  const own = variableOf(prefix);
  if (own === '') return `/${partOf(name)}`;
  if (name === own) return prefix;
  return name.startsWith(`${own}_`) ? prefix + partOf(name.slice(own.length)) : undefined;
}

function variableOf(key: string): string {
  return key.replace(/^\//, '').replaceAll('/', '_').toUpperCase();
}

function partOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '/');
}
