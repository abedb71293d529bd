import { covers } from '../core/prefix.ts';
import type { Source } from './types.ts';

/**
 * The environment as confd reads it: the variable `A_B` is the key `/a/b`. Read once, since a process's environment does
 * not change.
 */
export function createEnvSource(env: Readonly<Record<string, string | undefined>>): Source {
  const entries = Object.entries(env)
    .filter((pair): pair is [string, string] => pair[1] !== undefined)
    .map(([name, value]) => ({ key: `/${name.toLowerCase().replaceAll('_', '/')}`, value, revision: 0 }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    kind: 'env',
    description: 'the environment',
    async run(mounts, emit, signal) {
      const position = { datastoreId: 'env', revision: 0 };
      for (const mount of mounts) {
        const below = entries.filter(({ key }) => covers(mount.prefix, key));
        emit({ type: 'snapshot', mount, entries: below, position, reason: 'initial' });
      }
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
    relist() {},
  };
}
