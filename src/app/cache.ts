import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { VERSION } from '../core/version.ts';
import { makeCacheDirectory } from '../generation/directories.ts';
import { nodeFs } from '../generation/fs.ts';
import { DEFAULT_SET } from '../generation/layout.ts';
import { type Lock, waitForLock } from '../generation/lock.ts';
import { openStore, type Store } from '../generation/store.ts';
import { createVerifier, type Verifier } from '../generation/verify.ts';

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

/** What holding the cache comes to. */
export interface HeldCache {
  readonly lock: Lock;
  /** The default set's, booted. */
  readonly store: Store;
}

/**
 * Makes the cache directory and takes its lock, waiting as standby while another birdfeed has it; then boots the default
 * set. What is cached is verified while the lock is being asked for.
 * @returns null when `signal` aborted first
 */
export async function holdCache(
  deps: CacheDeps,
  signal: AbortSignal,
  onStandby: (holder: string | null) => void,
): Promise<HeldCache | null> {
  if (deps.onLaptop) makeParents(deps.cacheDir);
  await makeCacheDirectory(nodeFs, deps.cacheDir, deps.fileGroup);
  const verifier = createVerifier();
  // The program that locks has been started when this returns.
  const locking = lockCache(deps, signal, (holder) => {
    verifier.forget();
    onStandby(holder);
  });
  lookAhead(deps, verifier);
  const lock = await locking;
  if (lock === null) return null;
  try {
    return { lock, store: await openBootedStore(DEFAULT_SET, deps, false, verifier) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function makeParents(cacheDir: string): void {
  try {
    mkdirSync(dirname(cacheDir), { recursive: true });
  } catch {
    // Making the directory itself says why.
  }
}

/**
 * Which generation is to be used may change until the lock is there, so that is looked up again; what a generation holds
 * does not change.
 */
function lookAhead(deps: CacheDeps, verifier: Verifier): void {
  try {
    const { cacheDir, nodeName, dialect, clock, log } = deps;
    const store = openStore({ cacheDir, set: DEFAULT_SET, version: VERSION, clock, log });
    store.bootCurrent({ set: DEFAULT_SET, nodeName, dialect }, verifier);
  } catch {
    // It is met again with the lock.
  }
}

async function lockCache(
  deps: CacheDeps,
  signal: AbortSignal,
  onStandby: (holder: string | null) => void,
): Promise<Lock | null> {
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
export async function openBootedStore(
  set: string,
  deps: CacheDeps,
  readOnly: boolean,
  verifier: Verifier = createVerifier(),
): Promise<Store> {
  const { cacheDir, nodeName, dialect, fileGroup, clock, log } = deps;
  const store = openStore({ cacheDir, set, version: VERSION, clock, log, fileGroup });
  const boot = store.bootCurrent({ set, nodeName, dialect }, verifier);
  for (const refusal of boot.refusals) {
    log.warn(
      { reason: refusal.reason, directory: refusal.directory, finding: refusal.message },
      'cached generation refused',
    );
  }
  if (store.stateProblem !== null) log.warn({ finding: store.stateProblem }, 'state file rebuilt');
  if (readOnly) return store;
  if (boot.generation !== null && !boot.inPlace) await store.putInPlace(boot.generation);
  await store.prepare();
  if (boot.refusals.length > 0 && store.state.value.confirmedAt !== null)
    await forgetConfirmation(store, log);
  return store;
}

/** It was said of what has just been refused. */
async function forgetConfirmation(store: Store, log: Logger): Promise<void> {
  await store.state
    .update((state) => ({ ...state, confirmedAt: null }))
    .catch((error: unknown) => {
      log.warn({ reason: asBirdfeedError(error).message }, 'state of the cache not written');
    });
}

/** The error for a lock that did not come free within the bound. */
export function lockBusy(cacheDir: string, holder: string | null): BirdfeedError {
  const who = holder === null ? 'another birdfeed' : holder;
  return new BirdfeedError(
    'BF_CACHE_LOCKED',
    `${cacheDir} is in use by ${who}; wait for it to end, or use another --cache`,
  );
}
