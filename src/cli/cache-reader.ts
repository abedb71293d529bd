import { hostname } from 'node:os';
import { cacheDirectory, nodeName } from '../app/paths.ts';
import type { Options } from '../config/options.ts';
import { systemClock } from '../core/clock.ts';
import { silentLogger } from '../core/log.ts';
import { VERSION } from '../core/version.ts';
import { openStore, type Store } from '../generation/store.ts';
import type { Expectation } from '../generation/verify.ts';

/** The default set's store of this cache, for looking at while no birdfeed runs, or beside one. */
export function readCache(
  options: Options,
  env: NodeJS.ProcessEnv,
): { cacheDir: string; store: Store; expectation: Expectation } {
  const cacheDir = cacheDirectory(options, env);
  const store = openStore({
    cacheDir,
    set: 'default',
    version: VERSION,
    clock: systemClock,
    log: silentLogger,
  });
  // Whoever names no node looks at a cache as it is.
  const named = options.nodeName === null ? null : nodeName(options, hostname());
  return { cacheDir, store, expectation: { set: 'default', nodeName: named, dialect: null } };
}
