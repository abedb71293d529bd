import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, type BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { covers } from '../core/prefix.ts';
import { VERSION } from '../core/version.ts';
import type { Mount, Position } from '../datastore/types.ts';
import { nodeFs } from '../generation/fs.ts';
import { DEFAULT_SET } from '../generation/layout.ts';
import type { Store } from '../generation/store.ts';
import type { Generation } from '../generation/types.ts';
import type { Dialect } from '../render/types.ts';
import type { Status } from '../status/status.ts';
import { createTree, type Tree } from '../tree/tree.ts';
import { targetsFor } from './bird-setup.ts';
import { type CacheDeps, openBootedStore } from './cache.ts';
import { Feed, type FeedGroup, unionMounts } from './feed.ts';
import { loadPlans } from './plan.ts';
import { problemOf } from './problem-of.ts';
import type { RunOutcome } from './set-loop.ts';
import type { SetPlan } from './set-plan.ts';
import { SetRuntime } from './set-runtime.ts';
import { openSources } from './sources.ts';
import { createStatusBoard, type StatusBoard } from './status-board.ts';

export interface AppDeps {
  readonly options: Options;
  readonly env: NodeJS.ProcessEnv;
  readonly nodeName: string;
  readonly dialect: Dialect | null;
  readonly cache: CacheDeps;
  /** The default set's store, booted already, since BIRD's configuration comes before everything else. */
  readonly defaultStore: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly noop: boolean;
  /** A set has something to look at. */
  onChange(set: AppSet): void;
  onPublished(set: AppSet, generation: Generation, previous: Generation | null): void;
}

/** One set with its store and its status. */
export interface AppSet {
  readonly name: string;
  readonly store: Store;
  readonly board: StatusBoard;
  readonly runtime: SetRuntime;
}

/**
 * Everything wired together: sources feed one tree, each set looks at it. The daemon and onetime decide when; this
 * decides nothing.
 */
export class Application {
  readonly #deps: AppDeps;
  readonly #tree: Tree = createTree();
  readonly #sets = new Map<string, AppSet>();
  readonly #stores = new Map<string, Store>();
  readonly feed: Feed;
  /** What each set's model asked for, and which prefixes are open, or being opened, because of that. */
  readonly #asked = new Map<string, readonly Mount[]>();
  #optional: readonly string[] = [];
  #opening: Promise<void> = Promise.resolve();
  /** Why the resources or templates as they are now on disk are not used. */
  #unusable: BirdfeedError | null = null;
  #started = false;

  private constructor(deps: AppDeps) {
    this.#deps = deps;
    this.#stores.set(DEFAULT_SET, deps.defaultStore);
    this.feed = this.#makeFeed();
  }

  /** @throws BF_RESOURCE_FILE, BF_TEMPLATE_* when there is no usable set of resources */
  static async open(deps: AppDeps): Promise<Application> {
    const app = new Application(deps);
    const plans = await app.#loadPlans();
    await app.#usePlans(plans);
    return app;
  }

  get sets(): readonly AppSet[] {
    return [...this.#sets.values()];
  }

  /** The set that stands for the whole in probes: BIRD's, else the first. */
  get mainSet(): AppSet {
    return this.#sets.get(DEFAULT_SET) ?? this.sets[0]!;
  }

  /** Has the daemons load what is cached and starts the sources. */
  start(): void {
    this.#started = true;
    for (const set of this.sets) this.#startSet(set);
    this.feed.start();
  }

  run(set: AppSet): Promise<RunOutcome> {
    return set.runtime.run();
  }

  /**
   * Reads conf.d and templates again. When something in them is wrong, everything stays as it was.
   * @throws BirdfeedError saying what is wrong
   */
  async reread(): Promise<void> {
    try {
      await this.#usePlans(await this.#loadPlans());
      this.#unusable = null;
    } catch (error) {
      this.#unusable = asBirdfeedError(error);
      throw error;
    } finally {
      for (const set of this.sets) this.#deps.onChange(set);
    }
  }

  /** Sources first, so that nothing new comes; then what is under way. */
  async stop(): Promise<void> {
    await this.#opening;
    await this.feed.stop();
    await Promise.all(this.sets.map((set) => set.runtime.stop()));
  }

  #loadPlans(): Promise<readonly SetPlan[]> {
    const { options, env, nodeName, dialect, clock, log, cache } = this.#deps;
    return loadPlans({
      log,
      options,
      env,
      nodeName,
      dialect,
      clock,
      cacheDir: cache.cacheDir,
      lookupsOf: (set) => this.#sets.get(set)?.runtime.loop.plan.lookups ?? null,
      renderTimeOf: async (set) => (await this.#storeOf(set)).current?.stamp.renderTime ?? null,
    });
  }

  async #usePlans(plans: readonly SetPlan[]): Promise<void> {
    for (const set of this.sets) {
      if (plans.some((plan) => plan.name === set.name)) continue;
      this.#sets.delete(set.name);
      this.#asked.delete(set.name);
      await set.runtime.stop();
    }
    const mounts = unionMounts(plans.flatMap((plan) => plan.mounts));
    if (mounts.map(({ prefix }) => prefix).join('\n') !== this.feed.prefixes('required').join('\n')) {
      await this.#openMounts('required', mounts);
    }
    for (const plan of plans) {
      const known = this.#sets.get(plan.name);
      if (known !== undefined) known.runtime.usePlan(plan);
      else await this.#addSet(plan);
    }
  }

  async #addSet(plan: SetPlan): Promise<void> {
    const { options, clock, log, nodeName, env, random, noop } = this.#deps;
    const store = await this.#storeOf(plan.name);
    const board = createStatusBoard({ version: VERSION, node: nodeName, set: plan.name }, { clock, log });
    if (store.current !== null) board.report({ type: 'data', event: 'cache-loaded', reason: null });
    if (store.state.value.pin !== null) {
      board.report({ type: 'pin', pinned: store.state.value.pin.generation });
      board.report({
        type: 'config',
        event: 'pinned',
        reason: `pinned to generation ${store.state.value.pin.generation}`,
      });
    }
    const runtime = new SetRuntime({
      plan,
      options,
      nodeName,
      env,
      view: this.#tree,
      feed: this.feed,
      requireMounts: (mounts) => this.#requireMounts(plan.name, mounts),
      mountsOpen: () => this.#optional.every((prefix) => this.feed.prefixes('optional').includes(prefix)),
      outerProblems: () => [
        ...(this.#unusable === null ? [] : [problemOf('configuration-invalid', this.#unusable)]),
        ...this.feed.problems(),
      ],
      store,
      fs: nodeFs,
      board,
      clock,
      log,
      random,
      fileGroup: this.#deps.cache.fileGroup,
      targets: targetsFor(options, plan.daemonFiles),
      noop,
      onChange: () => this.#deps.onChange(set),
      onPublished: (generation, previous) => this.#deps.onPublished(set, generation, previous),
    });
    const set: AppSet = { name: plan.name, store, board, runtime };
    this.#sets.set(plan.name, set);
    if (this.#started) this.#startSet(set);
  }

  /** The store of a set, booted when it is first asked for. */
  async #storeOf(set: string): Promise<Store> {
    const { cache, noop } = this.#deps;
    const known = this.#stores.get(set) ?? (await openBootedStore(set, { ...cache, dialect: null }, noop));
    this.#stores.set(set, known);
    return known;
  }

  #startSet(set: AppSet): void {
    if (!this.#deps.noop) set.runtime.start();
  }

  #makeFeed(): Feed {
    return new Feed({
      tree: this.#tree,
      log: this.#deps.log,
      onMount: (mount, snapshot) => {
        const fact = { type: 'mount', mount, ...(snapshot === undefined ? {} : { snapshot }) } as const;
        for (const { board } of this.sets) board.report(fact);
      },
      onChange: () => this.#changed(),
      prepare: (entries) => {
        for (const { runtime } of this.sets) runtime.loop.plan.prepare(entries);
      },
    });
  }

  async #openMounts(group: FeedGroup, mounts: readonly Mount[]): Promise<void> {
    const { options, clock, log, random, env } = this.#deps;
    const deps = { clock, log, random, env, lastPositions: this.#lastPositions() };
    await this.feed.open(group, await openSources(options, mounts, deps));
  }

  /** The model of a set asks for more (or less) to be read. False while that is under way. */
  #requireMounts(name: string, mounts: readonly Mount[]): boolean {
    this.#asked.set(name, mounts);
    const required = this.feed.prefixes('required');
    const wanted = unionMounts([...this.#asked.values()].flat()).filter(
      ({ prefix }) => !required.some((open) => covers(open, prefix)),
    );
    const prefixes = wanted.map((mount) => mount.prefix);
    if (prefixes.join('\n') === this.#optional.join('\n')) return this.feed.complete(mounts);
    this.#optional = prefixes;
    this.#opening = this.#opening
      .then(() => this.#openMounts('optional', wanted))
      .then(() => this.#changed())
      .catch((error: unknown) =>
        this.#deps.log.error({ reason: asBirdfeedError(error).message }, 'optional data not opened'),
      );
    // With fewer wishes than before there is nothing to wait for.
    return (
      prefixes.every((prefix) => this.feed.prefixes('optional').includes(prefix)) &&
      this.feed.complete(mounts)
    );
  }

  /** Only what is read whole is looked at; before that there is just a reason to report. */
  #changed(): void {
    for (const set of this.sets) {
      const { mounts } = set.runtime.loop.plan;
      if (this.feed.complete(mounts)) this.#deps.onChange(set);
      else set.board.report({ type: 'data', event: 'lost', reason: this.feed.trouble(mounts) });
    }
  }

  #lastPositions(): Readonly<Record<string, Position>> {
    const stamps = [...this.#stores.values()].map((store) => store.current?.stamp);
    const mounts = stamps.flatMap((stamp) => stamp?.mounts ?? []);
    return Object.fromEntries(
      mounts.map(({ prefix, datastoreId, revision }) => [prefix, { datastoreId, revision }]),
    );
  }
}

/** What `/status` and `birdfeed status` show: the main set, and the others beside it. */
export function overallStatus(
  app: Application,
): Status & { readonly sets?: Readonly<Record<string, Status>> } {
  const { mainSet, sets } = app;
  const others = sets.filter((set) => set !== mainSet).map((set) => [set.name, set.board.status] as const);
  return others.length === 0
    ? mainSet.board.status
    : { ...mainSet.board.status, sets: Object.fromEntries(others) };
}
