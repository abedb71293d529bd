import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, type BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Mount } from '../datastore/types.ts';
import type { CacheFs } from '../generation/fs.ts';
import { baselineOfStamp } from '../generation/guard.ts';
import type { CacheState } from '../generation/state.ts';
import type { Store } from '../generation/store.ts';
import type { Generation } from '../generation/types.ts';
import type { Problem } from '../model/types.ts';
import type { Target } from '../reload/types.ts';
import type { TreeView } from '../tree/types.ts';
import { createChecker } from './checker.ts';
import { Copies } from './copies.ts';
import { createDeferral } from './deferral.ts';
import type { FeedView } from './feed.ts';
import { reportGeneration } from './publish.ts';
import type { RunOutcome } from './run-outcome.ts';
import { createSetDeferral, type SetDeferral } from './set-deferral.ts';
import { createSetGuard } from './set-guard.ts';
import { createSetLoop, type SetLoop } from './set-loop.ts';
import type { SetPlan } from './set-plan.ts';
import { SetReload } from './set-reload.ts';
import type { StatusBoard } from './status-board.ts';

export interface SetRuntimeDeps {
  readonly plan: SetPlan;
  readonly options: Options;
  readonly nodeName: string;
  readonly env: NodeJS.ProcessEnv;
  readonly view: TreeView;
  readonly feed: FeedView;
  requireMounts(mounts: readonly Mount[]): boolean;
  mountsOpen(): boolean;
  outerProblems(): readonly Problem[];
  readonly store: Store;
  readonly fs: CacheFs;
  readonly board: StatusBoard;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly fileGroup: number | null;
  /** Which daemons load which file; empty with `--reload none` or `command`. */
  readonly targets: readonly Target[];
  readonly noop: boolean;
  /** Aborted when the process is to end. */
  readonly signal: AbortSignal;
  /** Something outside the tree changed (another BIRD, a refusal): look again. */
  onChange(): void;
  onPublished(generation: Generation, previous: Generation | null): void;
}

/** While nothing changes, how often it is noted that the datastore still says what is served. */
const CONFIRM_EVERY_MS = 30_000;

/**
 * One set at work: the loop that publishes, and beside it the reload, which always takes the newest generation.
 * Publishing never waits for BIRD.
 */
export class SetRuntime {
  readonly #deps: SetRuntimeDeps;
  readonly #loop: SetLoop;
  readonly #copies: Copies;
  readonly #deferral: SetDeferral;
  readonly #reload: SetReload;
  #cancelLookups: () => void = () => {};
  #cancelConfirm: () => void = () => {};
  #isStopped = false;
  #hasPruned = false;

  constructor(deps: SetRuntimeDeps) {
    this.#deps = deps;
    const { store, options, board, log, noop } = deps;
    const baseline = store.current === null ? null : baselineOfStamp(store.current.stamp);
    const remember = (change: (state: CacheState) => CacheState): Promise<void> =>
      noop ? Promise.resolve() : store.state.update(change).catch((error: unknown) => notWritten(log, error));
    this.#copies = new Copies({
      ...deps,
      layout: store.layout,
      destinations: () => this.#loop.plan.destinations,
      onMade: (generation) => this.#reload.copiesMade(generation),
    });
    this.#deferral = createSetDeferral({
      store,
      clock: deps.clock,
      report: (fact) => board.report(fact),
      onChange: () => deps.onChange(),
      deferral: createDeferral({
        clock: deps.clock,
        nodeName: deps.nodeName,
        // A run that ends has no later.
        splayHardMs: options.onetime || noop ? 0 : options.splayHard,
        removalGraceMs: options.onetime || noop ? 0 : options.peerRemovalGrace,
      }),
    });
    this.#loop = createSetLoop({
      ...deps,
      warmsUp: !options.onetime,
      copies: this.#copies,
      onTrial: (contentDigest) => this.#reload.onTrial(contentDigest),
      deferral: this.#deferral,
      guard: createSetGuard({ baseline, share: options.guardShare }),
      checker: createChecker({ ...deps, supervisors: () => this.#reload.supervisors }),
      checkRequired: options.syntaxCheck === 'required',
      report: (fact) => board.report(fact),
      remember,
    });
    this.#reload = new SetReload({
      ...deps,
      copies: this.#copies,
      remember,
      plan: () => this.#loop.plan,
      onRefused: (error, previous) => this.#goBack(error, previous),
    });
  }

  get loop(): SetLoop {
    return this.#loop;
  }

  /** Why the copies outside the cache are not those of `current`; null when they are, or none are wanted. */
  get copyFailure(): BirdfeedError | null {
    return this.#copies.failure;
  }

  /** Resource files or templates were read anew. */
  usePlan(plan: SetPlan): void {
    this.#loop.usePlan(plan);
    this.#copies.wantAnew();
    this.#reload.usePlan();
  }

  /** Connects to the daemons and has them load what `current` holds, if anything. */
  start(): void {
    const { store, log } = this.#deps;
    this.#reload.start();
    this.#confirmLater();
    if (store.current === null) return;
    log.info({ generation: store.current.number, set: this.#loop.plan.name }, 'generation in place');
    void this.use(store.current, { isNew: true });
    const { pin, confirmedAt } = store.state.value;
    // A pin may be on anything; what was confirmed is what was newest.
    if (pin === null && confirmedAt !== null)
      this.#deps.board.report({ type: 'remembered', at: confirmedAt });
  }

  async run(): Promise<RunOutcome> {
    this.#cancelLookups();
    const outcome = await this.#loop.run();
    if (outcome.type === 'published') await this.#published(outcome.generation, outcome.previous);
    // A process that was killed in time after time may have left more than are kept.
    else if (!this.#hasPruned && !this.#deps.noop) await this.#prune([]);
    this.#watchLookups();
    return outcome;
  }

  /**
   * Has BIRD load a generation that is `current`, at the start or after a roll-back, and brings the copies up to date:
   * edited, lost and half-written ones too. What is equal is left alone. `isNew` unless it is gone back to. Never rejects.
   */
  async use(generation: Generation, { isNew } = { isNew: false }): Promise<void> {
    reportGeneration((fact) => this.#deps.board.report(fact), generation);
    this.#copies.want(generation);
    this.#reload.tell(generation, isNew);
    await this.#copies.settle();
    if (this.#copies.failure === null) return;
    this.#loop.reportConfig();
    this.#deps.onChange();
  }

  /** See {@link SetReload.settled}. */
  reloaded(timeoutMs: number, signal: AbortSignal): Promise<BirdfeedError | null> {
    return this.#reload.settled(timeoutMs, signal);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelLookups();
    this.#cancelConfirm();
    this.#deferral.stop();
    await this.#reload.stop();
  }

  async #published(generation: Generation, previous: Generation | null): Promise<void> {
    const { store, onPublished } = this.#deps;
    onPublished(generation, previous);
    // Not when a roll-back came meanwhile: it has told everybody already.
    if (store.current === generation) this.#reload.tell(generation, true);
    await this.#prune(previous === null ? [] : [previous.number]);
  }

  async #prune(protect: readonly number[]): Promise<void> {
    const { store, options, log } = this.#deps;
    this.#hasPruned = true;
    await store.prune(options.keep, protect).catch((error: unknown) => {
      log.warn({ reason: asBirdfeedError(error).message }, 'old generations not removed');
    });
  }

  async #goBack(error: BirdfeedError, previous: Generation | null): Promise<void> {
    this.#loop.fault(error);
    if (previous !== null) await this.use(previous);
  }

  /** Names and files that templates looked up are looked up again when their answers are old. */
  #watchLookups(): void {
    const { lookups } = this.#loop.plan;
    const due = lookups.dueIn();
    if (due === null || this.#deps.noop || this.#isStopped) return;
    this.#cancelLookups = this.#deps.clock.after(due, async () => {
      if (await lookups.refresh(this.#loop.asked)) this.#deps.onChange();
      else this.#watchLookups();
    });
  }

  #confirmLater(): void {
    this.#cancelConfirm = this.#deps.clock.after(CONFIRM_EVERY_MS, () => {
      this.#loop.confirm();
      this.#confirmLater();
    });
  }
}

/** The state in memory has changed all the same, and is written with the next change: no reason to stop. */
function notWritten(log: Logger, error: unknown): void {
  log.warn({ reason: asBirdfeedError(error).message }, 'state of the cache not written');
}
