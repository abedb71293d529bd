import { isDeepStrictEqual } from 'node:util';
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
import type { Target } from '../reload/types.ts';
import type { Dialect } from '../render/types.ts';
import type { Status } from '../status/status.ts';
import { createTree, type Tree } from '../tree/tree.ts';
import { targetsFor } from './bird-setup.ts';
import { type CacheDeps, openBootedStore } from './cache.ts';
import { Feed, type FeedInput } from './feed.ts';
import { loadPlans } from './plan.ts';
import { problemOf } from './problem-of.ts';
import type { SetPlan } from './set-plan.ts';
import { SetRuntime } from './set-runtime.ts';
import { openSources } from './sources.ts';
import { createStatusBoard, reportCache, type StatusBoard } from './status-board.ts';
import { unionMounts } from './union-mounts.ts';

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
  /** Aborted when the process is to end: checks under way are ended, too. */
  readonly signal: AbortSignal;
  /** A set has something to look at. */
  onChange(set: AppSet): void;
  /** New resource files no longer have this set: it is not to be run any more. */
  onRemoved(set: AppSet): Promise<void>;
  onPublished(set: AppSet, generation: Generation, previous: Generation | null): void;
}

/** One set with its store and its status. */
export interface AppSet {
  readonly name: string;
  readonly store: Store;
  readonly board: StatusBoard;
  readonly runtime: SetRuntime;
  readonly targets: readonly Target[];
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
  #cancelStart = (): void => {};

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
    const waitMs = this.#startDelay();
    if (waitMs === 0) return this.feed.start();
    this.#deps.log.info({ waitMs }, 'the cache serves; asking the datastore later');
    this.#cancelStart = this.#deps.clock.after(waitMs, () => this.feed.start());
  }

  /** Milliseconds; none unless what is cached serves meanwhile. */
  #startDelay(): number {
    const { options, defaultStore, noop, random } = this.#deps;
    if (options.onetime || noop || defaultStore.current === null) return 0;
    return Math.round(options.splayStart * random());
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
    this.#cancelStart();
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

  /** What may fail comes first: from where sets are stopped on there is no way back. */
  async #usePlans(plans: readonly SetPlan[]): Promise<void> {
    const mounts = unionMounts(plans.flatMap((plan) => plan.mounts));
    const isOpen = prefixesOf(mounts) === this.feed.prefixes('required').join('\n');
    const inputs = isOpen ? null : await this.#sourcesOf(mounts);
    const kept = new Map(plans.filter((plan) => this.#suits(plan)).map((plan) => [plan.name, plan]));
    const added: AppSet[] = [];
    for (const plan of plans) if (!kept.has(plan.name)) added.push(await this.#makeSet(plan));
    for (const set of this.sets) if (!kept.has(set.name)) await this.#removeSet(set);
    if (inputs !== null) await this.feed.open('required', inputs);
    for (const [name, plan] of kept) this.#sets.get(name)!.runtime.usePlan(plan);
    for (const set of added) this.#addSet(set);
  }

  /** Whether a set is there already, and tells the daemons that this plan has. */
  #suits({ name, daemonFiles }: SetPlan): boolean {
    const wanted = targetsFor(this.#deps.options, daemonFiles);
    return isDeepStrictEqual(this.#sets.get(name)?.targets, wanted);
  }

  async #removeSet(set: AppSet): Promise<void> {
    this.#sets.delete(set.name);
    this.#asked.delete(set.name);
    await this.#deps.onRemoved(set);
    await set.runtime.stop();
  }

  #addSet(set: AppSet): void {
    this.#sets.set(set.name, set);
    set.board.report({ type: 'mounts', mounts: this.feed.mounts });
    if (this.#started) this.#startSet(set);
  }

  async #makeSet(plan: SetPlan): Promise<AppSet> {
    const { options, clock, log, nodeName, env, random, noop, signal } = this.#deps;
    const store = await this.#storeOf(plan.name);
    const targets = targetsFor(options, plan.daemonFiles);
    const board = createStatusBoard({ version: VERSION, node: nodeName, set: plan.name }, { clock, log });
    reportCache(board, store);
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
      targets,
      noop,
      signal,
      onChange: () => this.#deps.onChange(set),
      onPublished: (generation, previous) => this.#deps.onPublished(set, generation, previous),
    });
    const set: AppSet = { name: plan.name, store, board, runtime, targets };
    return set;
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
    const { log, clock, random } = this.#deps;
    return new Feed({
      tree: this.#tree,
      log,
      clock,
      random,
      onMounts: (mounts, isSnapshot) => {
        for (const { board } of this.sets) {
          board.report({ type: 'mounts', mounts });
          if (isSnapshot) board.report({ type: 'count', counter: 'relists' });
        }
      },
      onChange: () => this.#changed(),
      prepare: (entries) => {
        for (const { runtime } of this.sets) runtime.loop.plan.prepare(entries);
      },
    });
  }

  #sourcesOf(mounts: readonly Mount[]): Promise<readonly FeedInput[]> {
    const { options, clock, log, random, env } = this.#deps;
    return openSources(options, mounts, { clock, log, random, env, lastPositions: this.#lastPositions() });
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
      .then(async () => this.feed.open('optional', await this.#sourcesOf(wanted)))
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

function prefixesOf(mounts: readonly Mount[]): string {
  return mounts.map(({ prefix }) => prefix).join('\n');
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
