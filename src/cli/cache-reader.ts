import { cacheDirectory } from '../app/paths.ts';
import type { Options } from '../config/options.ts';
import { systemClock } from '../core/clock.ts';
import { silentLogger } from '../core/log.ts';
import { VERSION } from '../core/version.ts';
import { openStore, type Store } from '../generation/store.ts';
import type { Expectation } from '../generation/verify.ts';

/** The store of the set that --set names of this cache, for looking at while no birdfeed runs, or beside one. */
export function readCache(
  options: Options,
  env: NodeJS.ProcessEnv,
): { cacheDir: string; store: Store; expectation: Expectation } {
  const cacheDir = cacheDirectory(options, env);
  const store = openStore({
    cacheDir,
    set: options.set,
    version: VERSION,
    clock: systemClock,
    log: silentLogger,
  });
  // Whoever names no node looks at a cache as it is.
  return { cacheDir, store, expectation: { set: options.set, nodeName: options.nodeName, dialect: null } };
}
