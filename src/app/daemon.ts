import type { Server } from 'node:http';
import { hostname } from 'node:os';
import type { Options } from '../config/options.ts';
import { systemClock } from '../core/clock.ts';
import { asBirdfeedError, EXIT, type ExitCode } from '../core/errors.ts';
import { VERSION } from '../core/version.ts';
import type { Store } from '../generation/store.ts';
import type { Generation } from '../generation/types.ts';
import type { Status } from '../status/status.ts';
import type { Application, AppSet } from './application.ts';
import { type CacheDeps, holdCache, openBootedStore } from './cache.ts';
import { createDeferredLogger } from './deferred-log.ts';
import { groupId } from './file-group.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { Listener } from './listener.ts';
import { cacheDirectory, nodeName as resolveNodeName } from './paths.ts';
import type { RunOutcome } from './run-outcome.ts';
import { createSetSchedule, type SetSchedule } from './set-schedule.ts';
import { createStatusBoard } from './status-board.ts';

/** What a transaction of etcd changes under other prefixes comes within a millisecond, as measured. */
const LEAD_MS = 1;

/**
 * The watch loop, until a signal ends it. First of all what is cached is verified and put in place; everything else,
 * the datastore included, comes after and may take its time.
 */
export async function runDaemon(options: Options, env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const log = createDeferredLogger();
  const lifecycle = createLifecycle(log);
  const daemon = new Daemon(options, env, lifecycle, log);
  try {
    await daemon.run();
    return EXIT.ok;
  } finally {
    await daemon.stop();
    lifecycle.close();
  }
}

class Daemon {
  readonly #options: Options;
  readonly #env: NodeJS.ProcessEnv;
  readonly #lifecycle: Lifecycle;
  readonly #log: ReturnType<typeof createDeferredLogger>;
  readonly #clock = systemClock;
  readonly #nodeName: string;
  readonly #schedules = new Map<AppSet, SetSchedule>();
  readonly #servers: Server[] = [];
  #app: Application | null = null;
  /** Before there is an application there is only waiting for the cache. */
  #status: () => Status = () => this.#standbyStatus();
  readonly #listener: Listener;
  #stopWatching: () => Promise<void> = async () => {};

  constructor(
    options: Options,
    env: NodeJS.ProcessEnv,
    lifecycle: Lifecycle,
    log: ReturnType<typeof createDeferredLogger>,
  ) {
    this.#options = options;
    this.#env = env;
    this.#lifecycle = lifecycle;
    this.#log = log;
    this.#nodeName = resolveNodeName(options, env, hostname());
    const { listen, unreadyWhenStale: unreadyWhenStaleMs } = options;
    this.#listener = new Listener({
      listen,
      unreadyWhenStaleMs,
      clock: this.#clock,
      log,
      status: () => this.#status(),
    });
  }

  async run(): Promise<void> {
    const cache = this.#cacheDeps();
    const defaultStore = await this.#boot(cache);
    if (defaultStore === null) return;
    const { noop } = this.#options;
    // Only now, with a configuration in place, is time spent on loading everything else.
    await this.#attachLog();
    const { Application, overallStatus } = await import('./application.ts');
    const { chooseDialect } = await import('./bird-setup.ts');
    const stamped = defaultStore.current?.stamp.dialect ?? null;
    const dialect = await chooseDialect(this.#options, stamped, this.#env, this.#clock);
    const readAt = this.#clock.now();
    const app = await Application.open({
      options: this.#options,
      env: this.#env,
      nodeName: this.#nodeName,
      dialect,
      cache,
      defaultStore,
      clock: this.#clock,
      log: this.#log,
      random: Math.random,
      signal: this.#lifecycle.signal,
      noop,
      onChange: (set) => this.#scheduleOf(set).notify(),
      onRemoved: (set) => this.#unschedule(set),
      onPublished: (set, generation, previous) => void this.#announce(set, generation, previous),
    });
    this.#app = app;
    this.#status = () => overallStatus(app);
    app.start();
    await this.#serve(cache.cacheDir);
    await this.#watchConfiguration(app, readAt);
    // Not loaded with what a start needs.
    const { holdHeap } = await import('./heap.ts');
    holdHeap();
    const signal = await this.#lifecycle.ended;
    this.#log.info({ signal }, 'ending; BIRD keeps running');
  }

  /** Nothing new is taken on; what is under way ends; then the rest. */
  async stop(): Promise<void> {
    await this.#attachLog();
    await this.#stopWatching();
    await Promise.all([...this.#schedules.values()].map((schedule) => schedule.stop()));
    await this.#app?.stop();
    this.#listener.close();
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #standbyStatus(): Status {
    const identity = { version: VERSION, node: this.#nodeName, set: 'default' };
    const board = createStatusBoard(identity, { clock: this.#clock, log: this.#log });
    board.report({ type: 'standby', standby: true });
    return board.status;
  }

  #cacheDeps(): CacheDeps {
    const { bird, fileGroup } = this.#options;
    return {
      cacheDir: cacheDirectory(this.#options, this.#env),
      nodeName: this.#nodeName,
      dialect: bird === 'auto' || bird === 'none' ? null : bird,
      fileGroup: groupId(fileGroup),
      onLaptop: this.#options.fixtures !== null,
      clock: this.#clock,
      log: this.#log,
    };
  }

  /** Null when the process was told to end before the cache came free. In standby the probes are answered already. */
  async #boot(cache: CacheDeps): Promise<Store | null> {
    if (this.#options.noop) return openBootedStore('default', cache, true);
    const held = await holdCache(cache, this.#lifecycle.signal, (holder) => {
      this.#log.warn({ holder, cache: cache.cacheDir }, 'standby: another birdfeed has the cache');
      this.#standby().catch((error: unknown) =>
        this.#log.error({ reason: asBirdfeedError(error).message }, 'no status listener'),
      );
    });
    return held?.store ?? null;
  }

  async #standby(): Promise<void> {
    await this.#attachLog();
    await this.#listener.open();
  }

  #logReady: Promise<void> | null = null;

  #attachLog(): Promise<void> {
    this.#logReady ??= (async () => {
      const { createLogger } = await import('./log.ts');
      this.#log.attach(
        await createLogger({ level: this.#options.logLevel, format: this.#options.logFormat }),
      );
    })();
    return this.#logReady;
  }

  #scheduleOf(set: AppSet): SetSchedule {
    const known = this.#schedules.get(set);
    if (known !== undefined) return known;
    const { quiet, quietMax } = this.#options;
    const schedule = createSetSchedule({
      runtime: set.runtime,
      clock: this.#clock,
      random: Math.random,
      leadMs: Math.min(LEAD_MS, quiet),
      quietMs: quiet,
      quietMaxMs: quietMax,
      relist: () => this.#app?.feed.relist(),
      onOutcome: (outcome) => {
        if (outcome.type === 'would-change') void this.#announceIntent(set, outcome);
      },
    });
    this.#schedules.set(set, schedule);
    return schedule;
  }

  async #unschedule(set: AppSet): Promise<void> {
    await this.#schedules.get(set)?.stop();
    this.#schedules.delete(set);
  }

  async #announce(set: AppSet, generation: Generation, previous: Generation | null): Promise<void> {
    const { announceGeneration } = await import('./announce.ts');
    await announceGeneration({ options: this.#options, log: this.#log, set: set.name, generation, previous });
  }

  /** With `noop`: what would be published. */
  async #announceIntent(set: AppSet, intent: Extract<RunOutcome, { type: 'would-change' }>): Promise<void> {
    const { announceIntent } = await import('./announce.ts');
    const { current } = set.store;
    await announceIntent({ options: this.#options, log: this.#log, set: set.name, current, intent });
  }

  async #serve(cacheDir: string): Promise<void> {
    await this.#listener.open();
    if (this.#options.noop) return;
    const [{ startAdminServer }, { createOperator }] = await Promise.all([
      import('./admin.ts'),
      import('./operator.ts'),
    ]);
    const operator = createOperator({
      app: this.#app!,
      clock: this.#clock,
      log: this.#log,
      unreadyWhenStaleMs: this.#options.unreadyWhenStale,
      notify: (set) => this.#scheduleOf(set).notify(),
    });
    try {
      this.#servers.push(await startAdminServer(cacheDir, operator));
    } catch (error) {
      this.#log.error(
        { reason: asBirdfeedError(error).message },
        'no admin socket: status, approve and rollback will not work',
      );
    }
  }

  async #watchConfiguration(app: Application, readAt: number): Promise<void> {
    const { watchConfiguration } = await import('./watch-configuration.ts');
    const reread = async (): Promise<void> => {
      try {
        await app.reread();
        this.#log.info({}, 'resources and templates read');
      } catch (error) {
        const { code, message } = asBirdfeedError(error);
        this.#log.error({ code, reason: message }, 'new resources or templates not used; the old ones stay');
      }
    };
    const watcher = await watchConfiguration(this.#options, { log: this.#log, reread, readAt });
    this.#lifecycle.onHangup(() => watcher.reread());
    this.#stopWatching = () => watcher.close();
  }
}
