import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { VERSION } from '../core/version.ts';
import { makeCacheDirectory } from '../generation/directories.ts';
import { nodeFs } from '../generation/fs.ts';
import { type Lock, waitForLock } from '../generation/lock.ts';
import { openStore, type Store } from '../generation/store.ts';

export interface CacheDeps {
  readonly cacheDir: string;
  readonly nodeName: string;
  /** Dialect whose generations are acceptable; null accepts any. */
  readonly dialect: string | null;
  readonly fileGroup: number | null;
  /**
   * Rendering from fixtures: nobody else writes, so a missing lock program is no reason to stop, and there is no mount to
   * forget, so the default cache's parents are made.
   */
  readonly onLaptop: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Makes the cache directory and takes its lock; waits as standby while another birdfeed has it.
 * @returns null when `signal` aborted first
 */
export async function lockCache(
  deps: CacheDeps,
  signal: AbortSignal,
  onStandby: (holder: string | null) => void,
): Promise<Lock | null> {
  if (deps.onLaptop) await mkdir(dirname(deps.cacheDir), { recursive: true }).catch(() => undefined);
  await makeCacheDirectory(nodeFs, deps.cacheDir, deps.fileGroup);
  try {
    return await waitForLock({ cacheDir: deps.cacheDir, clock: deps.clock, signal, onStandby });
  } catch (error) {
    const isMissing = error instanceof BirdfeedError && error.code === 'BF_LOCK_UNAVAILABLE';
    if (!isMissing || !deps.onLaptop) throw error;
    deps.log.warn({ reason: error.message }, 'working without a lock');
    return { path: deps.cacheDir, stillHeld: () => true, release() {} };
  }
}

/**
 * Opens a set's store, verifies what is cached, and puts the first fit generation in place. With `readOnly` it only looks.
 * Refused generations are logged with the reason.
 */
export async function openBootedStore(set: string, deps: CacheDeps, readOnly: boolean): Promise<Store> {
  const { cacheDir, nodeName, dialect, fileGroup, clock, log } = deps;
  const store = openStore({ cacheDir, set, version: VERSION, clock, log, fileGroup });
  const boot = store.bootCurrent({ set, nodeName, dialect });
  for (const refusal of boot.refusals) {
    log.warn(
      { reason: refusal.reason, directory: refusal.directory, finding: refusal.message },
      'cached generation refused',
    );
  }
  if (store.stateProblem !== null) log.warn({ finding: store.stateProblem }, 'state file rebuilt');
  if (readOnly) return store;
  await store.prepare();
  if (boot.generation !== null && !boot.inPlace) await store.putInPlace(boot.generation);
  return store;
}

/** The error for a lock that did not come free within the bound. */
export function lockBusy(cacheDir: string, holder: string | null): BirdfeedError {
  const who = holder === null ? 'another birdfeed' : holder;
  return new BirdfeedError(
    'BF_CACHE_LOCKED',
    `${cacheDir} is in use by ${who}; wait for it to end, or use another --cache`,
  );
}
