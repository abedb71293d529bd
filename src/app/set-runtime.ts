import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Mount } from '../datastore/types.ts';
import { nodeFs } from '../generation/fs.ts';
import { baselineOfStamp } from '../generation/guard.ts';
import { withAcknowledgement, withTargets, withVerdict } from '../generation/state.ts';
import type { Store } from '../generation/store.ts';
import type { Generation } from '../generation/types.ts';
import { isRefusal } from '../generation/verify.ts';
import type { Problem } from '../model/types.ts';
import type { TargetFact } from '../reload/target-types.ts';
import { type SetOutcome, type TargetResult, Targets } from '../reload/targets.ts';
import type { Target } from '../reload/types.ts';
import type { TreeView } from '../tree/types.ts';
import { createChecker } from './checker.ts';
import type { Feed } from './feed.ts';
import {
  CommandReloader,
  commandTarget,
  describeOutcome,
  type Refusal,
  wantedGeneration,
} from './reloader.ts';
import { createSetLoop, type RunOutcome, reportGeneration, type SetLoop } from './set-loop.ts';
import type { SetPlan } from './set-plan.ts';
import type { StatusBoard } from './status-board.ts';

export interface SetRuntimeDeps {
  readonly plan: SetPlan;
  readonly options: Options;
  readonly nodeName: string;
  readonly env: NodeJS.ProcessEnv;
  readonly view: TreeView;
  readonly feed: Feed;
  requireMounts(mounts: readonly Mount[]): boolean;
  mountsOpen(): boolean;
  outerProblems(): readonly Problem[];
  readonly store: Store;
  readonly board: StatusBoard;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly fileGroup: number | null;
  /** Which daemons load which file; empty with `--reload none` or `command`. */
  readonly targets: readonly Target[];
  readonly noop: boolean;
  /** Something outside the tree changed (another BIRD, a refusal): look again. */
  onChange(): void;
  onPublished(generation: Generation, previous: Generation | null): void;
}

const RETRY = { initialMs: 1_000, maxMs: 60_000 };

/**
 * One set at work: the loop that publishes, and beside it the reload, which always takes the newest generation.
 * Publishing never waits for BIRD.
 */
export class SetRuntime {
  readonly #deps: SetRuntimeDeps;
  readonly #loop: SetLoop;
  readonly #targets: Targets | null;
  readonly #commands: CommandReloader;
  /** What the daemons were last told to load. `current` is something else for as long as that is in doubt. */
  #told: Generation | null = null;
  #takenBack: TakenBack | null = null;
  #cancelLookups: () => void = () => {};

  constructor(deps: SetRuntimeDeps) {
    this.#deps = deps;
    const { store, options, clock, log } = deps;
    this.#targets = deps.targets.length === 0 || deps.noop ? null : this.#makeTargets();
    this.#commands = new CommandReloader({
      clock,
      log,
      random: deps.random,
      timeoutMs: options.reloadTimeout,
      retry: RETRY,
      commands: () => (options.reload === 'none' ? [] : this.#loop.plan.reloads),
      acknowledged: () => store.state.value.acknowledged,
      acknowledge: (target, ack) => store.state.update((state) => withAcknowledgement(state, target, ack)),
      onOutcome: ({ settled, reason }) => this.#commandsDone(settled, reason),
      onRefused: (generation, refusal) => this.#refused(generation, refusal),
    });
    this.#loop = createSetLoop({
      ...deps,
      fs: nodeFs,
      guardShare: options.guardShare,
      keep: options.keep,
      baseline: store.current === null ? null : baselineOfStamp(store.current.stamp),
      check: createChecker({ ...deps, supervisors: () => this.#targets?.supervisors ?? [] }),
      checkRequired: options.syntaxCheck === 'required',
      birdVersion: () => this.#birdVersion(),
      report: (fact) => deps.board.report(fact),
    });
    deps.board.report({ type: 'bird-setup', dialect: deps.plan.dialect, tellsBird: this.tellsAnyone });
  }

  get loop(): SetLoop {
    return this.#loop;
  }

  /** Whether anybody is told of a new generation. */
  get tellsAnyone(): boolean {
    const commands = this.#deps.options.reload === 'none' ? [] : this.#deps.plan.reloads;
    return this.#targets !== null || commands.length > 0;
  }

  /** Connects to the daemons and has them load what `current` holds, if anything. */
  start(): void {
    const { store, log } = this.#deps;
    const names = [
      ...this.#deps.targets.map(({ socket }) => socket),
      ...this.#loop.plan.reloads.map(commandTarget),
    ];
    store.state.update((state) => withTargets(state, names)).catch((error: unknown) => this.#warn(error));
    this.#targets?.start();
    if (store.current === null) return;
    log.info({ generation: store.current.number, set: this.#loop.plan.name }, 'generation in place');
    void this.use(store.current);
  }

  async run(): Promise<RunOutcome> {
    this.#cancelLookups();
    const outcome = await this.#loop.run();
    this.#watchLookups();
    if (outcome.type === 'published') {
      this.#deps.onPublished(outcome.generation, outcome.previous);
      this.#tell(outcome.generation, outcome.copies === 'done');
    }
    if (outcome.type === 'unchanged' && outcome.copies === 'done') this.#commands.want(outcome.generation);
    return outcome;
  }

  /**
   * Has BIRD load a generation that is `current`, at the start or after a roll-back, and brings the copies up to date:
   * edited, lost and half-written ones too. What is equal is left alone.
   */
  async use(generation: Generation): Promise<void> {
    reportGeneration((fact) => this.#deps.board.report(fact), generation);
    this.#tell(generation, false);
    const copies = await this.#loop.copyOut(generation);
    if (copies === 'done' && this.#told === generation) this.#commands.want(generation);
  }

  /**
   * Where BIRD and the commands stand, when they are done or after `timeoutMs`. Null: all is applied, or nobody is told. A
   * BIRD that is not there is not waited for: it will start from `current`.
   */
  async reloaded(timeoutMs: number, signal: AbortSignal): Promise<BirdfeedError | null> {
    await this.#commands.settled();
    const outcome = (await this.#targets?.settled(timeoutMs, signal, isDone)) ?? null;
    if (this.#takenBack !== null) {
      await this.#takenBack.done;
      // A daemon that took what another one refused is on its way back.
      await this.#commands.settled();
      await this.#targets?.settled(timeoutMs, signal);
      return this.#takenBack.error;
    }
    if (outcome !== null) return reloadError(outcome);
    const { bird } = this.#deps.board.status;
    const failed = this.tellsAnyone && bird.state === 'unapplied';
    return failed ? new BirdfeedError('BF_COMMAND_FAILED', bird.reason ?? 'a reload command failed') : null;
  }

  async stop(): Promise<void> {
    this.#cancelLookups();
    this.#targets?.stop();
    await this.#commands.stop();
    await this.#takenBack?.done;
  }

  /** Reload commands read the copies, so they wait for those. */
  #tell(generation: Generation, isCopied = true): void {
    this.#deps.board.report({ type: 'count', counter: 'reloads' });
    this.#told = generation;
    if (isCopied) this.#commands.want(generation);
    if (this.#targets === null) return;
    try {
      this.#targets.want(wantedGeneration(generation));
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Names and files that templates looked up are looked up again when their answers are old. */
  #watchLookups(): void {
    const { lookups } = this.#loop.plan;
    const due = lookups.dueIn();
    if (due === null || this.#deps.noop) return;
    this.#cancelLookups = this.#deps.clock.after(due, async () => {
      if (await lookups.refresh(this.#loop.asked)) this.#deps.onChange();
      else this.#watchLookups();
    });
  }

  #makeTargets(): Targets {
    const { targets, plan, clock, log, random, store, options } = this.#deps;
    const verdicts = store.state.value.verdicts.map(({ contentDigest, birdVersion, message }) => ({
      digest: contentDigest,
      birdVersion,
      message,
    }));
    return new Targets({
      targets,
      dialect: plan.dialect,
      clock,
      log,
      random,
      timings: { configureTimeoutMs: options.reloadTimeout, settleTimeoutMs: options.reloadTimeout },
      verdicts: Object.fromEntries(targets.map(({ socket }) => [socket, verdicts])),
      onFact: (_target, fact) => this.#birdSaid(fact),
      onOutcome: (outcome) => this.#birdAnswered(outcome),
    });
  }

  #birdSaid(fact: TargetFact): void {
    // Another BIRD may accept what the last one refused.
    if (fact.type === 'connected') this.#deps.onChange();
    const died =
      fact.type === 'disconnected' && fact.during === 'loading' && fact.error.code === 'BF_BIRD_DIED';
    if (died) this.#distrust().catch((error: unknown) => this.#warn(error));
  }

  #birdAnswered(outcome: SetOutcome): void {
    const { board } = this.#deps;
    for (const { target, result } of outcome.targets) this.#reportTarget(target, result);
    if (outcome.generation === null) return;
    board.report({ type: 'bird', event: birdEvent(outcome), reason: describeOutcome(outcome) });
    const told = this.#told;
    if (told === null || told.number !== outcome.generation) return;
    if (outcome.type === 'applied') this.#keep(told, outcome).catch((error: unknown) => this.#warn(error));
    for (const { result } of outcome.targets) if (result.type === 'refused') this.#refused(told, result);
  }

  #reportTarget(target: Target, result: TargetResult): void {
    const supervisor = this.#targets?.supervisors.find((candidate) => candidate.target === target);
    const reasons = { applied: () => null, refused: refusalOf, pending: conditionOf } as const;
    const reason = reasons[result.type](result);
    const birdVersion = supervisor?.state.birdVersion ?? null;
    const ack = result.type === 'applied' ? result.ack : null;
    const { socket, file } = target;
    this.#deps.board.report({
      type: 'target',
      target: { socket, file, birdVersion, applied: ack !== null, ack, reason },
    });
  }

  /** Every daemon runs it: noted for the next start, and `current` is certain again. */
  async #keep(told: Generation, outcome: SetOutcome): Promise<void> {
    const { store, clock } = this.#deps;
    if (store.current?.number === told.stamp.parent) await store.putInPlace(told);
    const { contentDigest } = told.stamp;
    const at = new Date(clock.now()).toISOString();
    await store.state.update((state) =>
      outcome.targets.reduce((next, { target, result }) => {
        if (result.type !== 'applied' || next.acknowledged[target.socket]?.contentDigest === contentDigest)
          return next;
        return withAcknowledgement(next, target.socket, {
          generation: told.number,
          contentDigest,
          ack: result.ack,
          at,
        });
      }, state),
    );
  }

  /**
   * BIRD died of what it was loading. Its supervisor will start it again from `current`, which must not be that; it is
   * tried once more from a running BIRD, and comes back when that works.
   */
  async #distrust(): Promise<void> {
    const { store, log } = this.#deps;
    const previous = this.#previousOf(this.#told);
    if (previous === null || store.current?.number !== this.#told?.number) return;
    log.error(
      { generation: this.#told?.number, back: previous.number },
      'BIRD died while loading; the last good generation is current again',
    );
    await store.putInPlace(previous);
  }

  #refused(told: Generation, refusal: Refusal): void {
    if (this.#takenBack?.generation === told) return;
    const reason = `BIRD refused generation ${told.number}: ${refusal.message}`;
    const done = this.#takeBack(told, refusal, reason).catch((error: unknown) => this.#warn(error));
    this.#takenBack = { generation: told, error: new BirdfeedError('BF_BIRD_REFUSED', reason), done };
  }

  /** `current` goes back to the generation before, and so do the copies and the daemons that took it. */
  async #takeBack(told: Generation, { message, birdVersion }: Refusal, reason: string): Promise<void> {
    const { store, board, clock, log } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    const { contentDigest } = told.stamp;
    await store.state.update((state) => withVerdict(state, { contentDigest, birdVersion, message, at }));
    const previous = this.#previousOf(told);
    log.error(
      { generation: told.number, back: previous?.number ?? null, reason: message },
      previous === null
        ? 'BIRD refused the configuration, and there is none to go back to'
        : 'BIRD refused the configuration; the last good one is current again',
    );
    if (previous !== null && this.#told === told) {
      if (store.current?.number === told.number) await store.putInPlace(previous);
      await this.use(previous);
    }
    board.report({ type: 'config', event: 'faulted', reason });
  }

  /** The generation before this one, if it is still whole. */
  #previousOf(generation: Generation | null): Generation | null {
    if (generation === null || generation.stamp.parent === null) return null;
    const { set, dialect } = generation.stamp;
    const found = this.#deps.store.verify(generation.stamp.parent, {
      set,
      nodeName: this.#deps.nodeName,
      dialect,
    });
    return isRefusal(found) ? null : found;
  }

  #commandsDone(settled: boolean, reason: string | null): void {
    // Without commands there is nothing that was done; with daemons too, theirs is the better word.
    if (this.#loop.plan.reloads.length === 0 || (this.#targets !== null && settled)) return;
    this.#deps.board.report({ type: 'bird', event: settled ? 'acknowledged' : 'behind', reason });
  }

  #birdVersion(): string | null {
    return this.#targets?.supervisors[0]?.state.birdVersion ?? null;
  }

  #warn(error: unknown): void {
    this.#deps.log.warn(
      { reason: asBirdfeedError(error).message, set: this.#loop.plan.name },
      'not written, tried again with the next change',
    );
  }
}

/** A generation that a daemon refused. `done` resolves when the one before is in place again. */
interface TakenBack {
  readonly generation: Generation;
  readonly error: BirdfeedError;
  readonly done: Promise<void>;
}

function refusalOf(result: TargetResult): string | null {
  return result.type === 'refused' ? result.message : null;
}

function conditionOf(result: TargetResult): string | null {
  return result.type === 'pending' ? (result.error?.message ?? null) : null;
}

function isDone(outcome: SetOutcome): boolean {
  return (
    outcome.type !== 'pending' ||
    outcome.targets.every(
      ({ result }) =>
        result.type === 'applied' ||
        (result.type === 'pending' && result.error?.code === 'BF_BIRD_UNREACHABLE'),
    )
  );
}

const UNREACHABLE = new Set([
  'BF_BIRD_DIED',
  'BF_BIRD_UNREACHABLE',
  'BF_BIRD_PERMISSION',
  'BF_BIRD_TIMEOUT',
  'BF_BIRD_PROTOCOL',
]);

function birdEvent(outcome: SetOutcome): 'acknowledged' | 'behind' | 'unreachable' {
  if (outcome.type === 'applied') return 'acknowledged';
  const unreachable = outcome.targets.some(
    ({ result }) => result.type === 'pending' && result.error !== null && UNREACHABLE.has(result.error.code),
  );
  return unreachable ? 'unreachable' : 'behind';
}

function reloadError(outcome: SetOutcome): BirdfeedError | null {
  for (const { target, result } of outcome.targets) {
    if (result.type === 'refused')
      return new BirdfeedError(
        'BF_BIRD_REFUSED',
        `BIRD on ${target.socket} refused ${target.file}: ${result.message}`,
      );
    if (result.type === 'pending') {
      return (
        result.error ??
        new BirdfeedError('BF_BIRD_TIMEOUT', `BIRD on ${target.socket} did not answer in time`)
      );
    }
  }
  return null;
}
