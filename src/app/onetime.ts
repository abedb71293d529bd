import { hostname } from 'node:os';
import type { Options } from '../config/options.ts';
import { systemClock } from '../core/clock.ts';
import { BirdfeedError, EXIT, type ExitCode } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { announceGeneration, announceIntent } from './announce.ts';
import { Application, type AppSet } from './application.ts';
import { chooseDialect } from './bird-setup.ts';
import { type CacheDeps, holdCache, lockBusy, openBootedStore } from './cache.ts';
import { groupId } from './file-group.ts';
import { keepYoungSmall } from './heap.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLogger } from './log.ts';
import { cacheDirectory, nodeName as resolveNodeName } from './paths.ts';
import type { RunOutcome } from './run-outcome.ts';
import { createScheduler } from './scheduler.ts';

/** Conditions are tried again quickly: the whole run has a bound of its own. */
const RETRY = { initialMs: 200, maxMs: 2_000 };

/** One rendering of every set, and what it came to. Nothing is written with `noop`. */
export interface OnetimeResult {
  readonly sets: readonly { readonly set: AppSet; readonly outcome: RunOutcome }[];
  readonly app: Application;
}

/**
 * Renders every set once, publishes, tells BIRD and waits for its answer, all within `--wait`; then ends.
 * @returns the exit code of the worst set
 * @throws BirdfeedError when nothing could be tried
 */
export async function runOnetime(options: Options, env: NodeJS.ProcessEnv): Promise<number> {
  const log = await createLogger({ level: options.logLevel, format: options.logFormat });
  const lifecycle = createLifecycle(log);
  try {
    return await withOnetime(options, env, log, lifecycle, async ({ sets }, leftMs) => {
      let worst: number = EXIT.ok;
      for (const { set, outcome } of sets) {
        // An end in the middle of a trial would have BIRD go back.
        const boundMs = Math.max(leftMs(), options.commitConfirm * 1000);
        const code = await concludeSet(set, outcome, options, log, boundMs, lifecycle.signal);
        if (code !== EXIT.ok && worst === EXIT.ok) worst = code;
      }
      return worst;
    });
  } finally {
    lifecycle.close();
  }
}

/**
 * Opens the cache (read-only with `noop`), runs every set until it comes to something or the bound is over, hands the
 * result to `use`, and closes everything.
 */
export async function withOnetime<T>(
  options: Options,
  env: NodeJS.ProcessEnv,
  log: Logger,
  lifecycle: Lifecycle,
  use: (result: OnetimeResult, leftMs: () => number) => Promise<T>,
): Promise<T> {
  const clock = systemClock;
  const deadline = clock.monotonic() + options.wait;
  const leftMs = (): number => Math.max(0, deadline - clock.monotonic());
  const { bird, noop } = options;
  const cache: CacheDeps = {
    cacheDir: cacheDirectory(options, env),
    nodeName: resolveNodeName(options, env, hostname()),
    dialect: bird === 'auto' || bird === 'none' ? null : bird,
    fileGroup: groupId(options.fileGroup),
    onLaptop: options.fixtures !== null,
    clock,
    log,
  };
  const held = noop ? null : await holdWithin(cache, lifecycle.signal, leftMs(), log);
  let app: Application | null = null;
  try {
    const defaultStore = held?.store ?? (await openBootedStore('default', cache, true));
    const dialect = await chooseDialect(options, defaultStore.current?.stamp.dialect ?? null, env, clock);
    const changes = new Map<AppSet, () => void>();
    app = await Application.open({
      options,
      env,
      nodeName: cache.nodeName,
      dialect,
      cache,
      defaultStore,
      clock,
      log,
      random: Math.random,
      signal: lifecycle.signal,
      noop,
      onChange: (set) => changes.get(set)?.(),
      // Resource files are read once.
      onRemoved: async () => {},
      onPublished: (set, generation, previous) =>
        void announceGeneration({ options, log, set: set.name, generation, previous }),
    });
    const running = app;
    const waiting = running.sets.map((set) =>
      runUntilSettled(running, set, changes, leftMs(), lifecycle.signal),
    );
    running.start();
    keepYoungSmall();
    const outcomes = await Promise.all(waiting);
    const sets = running.sets.map((set, index) => ({ set, outcome: outcomes[index]! }));
    return await use({ sets, app: running }, leftMs);
  } finally {
    await app?.stop();
    held?.lock.release();
  }
}

async function holdWithin(cache: CacheDeps, ended: AbortSignal, waitMs: number, log: Logger) {
  const bound = AbortSignal.any([ended, AbortSignal.timeout(Math.max(1, Math.ceil(waitMs)))]);
  let seen: string | null = null;
  const held = await holdCache(cache, bound, (holder) => {
    seen = holder;
    log.warn({ holder, cache: cache.cacheDir }, 'waiting: another birdfeed has the cache');
  });
  if (held === null) throw lockBusy(cache.cacheDir, seen);
  return held;
}

/** Resolves with the first outcome that is more than waiting, or with the last one when the bound is over. */
function runUntilSettled(
  app: Application,
  set: AppSet,
  changes: Map<AppSet, () => void>,
  boundMs: number,
  signal: AbortSignal,
): Promise<RunOutcome> {
  return new Promise((resolve) => {
    let last: RunOutcome | null = null;
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      changes.delete(set);
      // A run that is under way counts: it may be publishing.
      scheduler.stop().then(() => resolve(last ?? waitingFor(app, set)));
    };
    const cancel = systemClock.after(boundMs, done);
    const scheduler = createScheduler({
      clock: systemClock,
      random: Math.random,
      // There is no next change to wait for: what is there when everything has been read is what is rendered.
      leadMs: 0,
      quietMs: 0,
      quietMaxMs: 0,
      retry: RETRY,
      run: async () => {
        last = await set.runtime.run();
        if (last.type === 'condition') return 'retry';
        if (last.type !== 'waiting') setImmediate(done);
        return 'done';
      },
    });
    changes.set(set, () => scheduler.notify());
    signal.addEventListener('abort', done, { once: true });
  });
}

function waitingFor(app: Application, set: AppSet): RunOutcome {
  const reason = app.feed.trouble(set.runtime.loop.plan.mounts) ?? 'the datastore did not answer in time';
  return { type: 'waiting', error: new BirdfeedError('BF_DATASTORE_UNREACHABLE', reason) };
}

/** What a set's outcome means as an exit code; says so in the log. */
async function concludeSet(
  set: AppSet,
  outcome: RunOutcome,
  options: Options,
  log: Logger,
  leftMs: number,
  signal: AbortSignal,
): Promise<number> {
  const { copyFailure } = set.runtime;
  switch (outcome.type) {
    case 'would-change':
      await announceIntent({ options, log, set: set.name, current: set.store.current, intent: outcome });
      return EXIT.findings;
    case 'published':
    case 'unchanged':
      if (copyFailure !== null) {
        const { code, message, exitCode } = copyFailure;
        log.error({ set: set.name, code, reason: message }, 'published, but not copied');
        return exitCode;
      }
      return options.noop ? EXIT.ok : concludeReload(set, EXIT.ok, log, leftMs, signal);
    case 'pinned':
      return options.noop ? EXIT.ok : concludeReload(set, EXIT.ok, log, leftMs, signal);
    case 'held':
      return concludeFromCache(
        set,
        `held: ${outcome.reasons.join('; ')}`,
        EXIT.tempFail,
        options,
        log,
        leftMs,
        signal,
      );
    case 'waiting':
      return concludeFromCache(
        set,
        outcome.error.message,
        outcome.error.exitCode,
        options,
        log,
        leftMs,
        signal,
      );
    case 'failed':
    case 'condition':
      log.error(
        { set: set.name, code: outcome.error.code, reason: outcome.error.message },
        'nothing published',
      );
      return outcome.error.exitCode;
  }
}

async function concludeFromCache(
  set: AppSet,
  reason: string,
  code: ExitCode,
  options: Options,
  log: Logger,
  leftMs: number,
  signal: AbortSignal,
): Promise<number> {
  const { current } = set.store;
  if (current === null || options.requireFresh) {
    log.error({ set: set.name, reason }, current === null ? 'nothing to serve' : 'not fresh');
    return code;
  }
  log.warn(
    { set: set.name, generation: current.number, since: current.stamp.createdAt, reason },
    'serving the cached generation',
  );
  if (options.noop) return options.cachedExitCode;
  return concludeReload(set, options.cachedExitCode, log, leftMs, signal);
}

/** A BIRD that is not there yet is no failure: an init container runs before it, and it starts from `current`. */
async function concludeReload(
  set: AppSet,
  good: number,
  log: Logger,
  leftMs: number,
  signal: AbortSignal,
): Promise<number> {
  const error = await set.runtime.reloaded(leftMs, signal);
  if (error === null) return good;
  if (error.code === 'BF_BIRD_UNREACHABLE') {
    log.info(
      { set: set.name, reason: error.message },
      'BIRD is not running; it starts from the generation in place',
    );
    return good;
  }
  log.error({ set: set.name, code: error.code, reason: error.message }, 'BIRD does not run the generation');
  return error.exitCode;
}
