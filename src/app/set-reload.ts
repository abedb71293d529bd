import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { goodAncestor } from '../generation/ancestor.ts';
import {
  type CacheState,
  verdictOn,
  withAcknowledgement,
  withTargets,
  withTrial,
  withVerdict,
} from '../generation/state.ts';
import type { Store } from '../generation/store.ts';
import type { Generation } from '../generation/types.ts';
import type { TargetSupervisor } from '../reload/target.ts';
import type { TargetFact } from '../reload/target-types.ts';
import { type SetOutcome, type TargetResult, Targets } from '../reload/targets.ts';
import type { Target } from '../reload/types.ts';
import type { Copies } from './copies.ts';
import {
  birdFact,
  isEnough,
  outcomeError,
  refusalError,
  type TakenBack,
  targetStatus,
  verdictOf,
  verdictsBySocket,
} from './reload-outcome.ts';
import { CommandReloader, commandTarget, type Refusal, wantedGeneration } from './reloader.ts';
import type { SetCommand, SetPlan } from './set-plan.ts';
import type { StatusBoard } from './status-board.ts';

export interface SetReloadDeps {
  readonly options: Options;
  readonly store: Store;
  readonly copies: Copies;
  readonly board: StatusBoard;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Which daemons load which file; empty with `--reload none` or `command`. */
  readonly targets: readonly Target[];
  readonly noop: boolean;
  plan(): SetPlan;
  /** Changes the state file; what cannot be written now is written later. */
  remember(change: (state: CacheState) => CacheState): Promise<void>;
  /** Something outside the tree changed, such as another BIRD: look again. */
  onChange(): void;
  /** A daemon refused what is `current`: `previous` is current again and wants to be used. Null: there was none. */
  onRefused(error: BirdfeedError, previous: Generation | null): Promise<void>;
}

const RETRY = { initialMs: 1_000, maxMs: 60_000 };

/**
 * The reload of a set: who is told of the newest generation, over a control socket or by a reload command, what they make
 * of it, and the way back when one of them refuses it.
 */
export class SetReload {
  readonly #deps: SetReloadDeps;
  readonly #targets: Targets | null;
  readonly #commands: CommandReloader;
  /** What the daemons were last told to load. `current` is something else for as long as that is in doubt. */
  #told: Generation | null = null;
  #takenBack: TakenBack | null = null;
  /** A generation that BIRD died of, and the number of the one that is `current` meanwhile. */
  #distrusted: { readonly generation: Generation; readonly standIn: number } | null = null;
  /** Why reload commands are not done; null when they are. */
  #commandsReason: string | null = null;

  constructor(deps: SetReloadDeps) {
    this.#deps = deps;
    const { store, options, clock, log, random } = deps;
    this.#targets = deps.targets.length === 0 || deps.noop ? null : this.#makeTargets();
    this.#commands = new CommandReloader({
      clock,
      log,
      random,
      timeoutMs: options.reloadTimeout,
      retry: RETRY,
      commands: () => this.#reloads,
      acknowledged: () => store.state.value.acknowledged,
      acknowledge: (target, ack) => deps.remember((state) => withAcknowledgement(state, target, ack)),
      onOutcome: (reason) => {
        this.#commandsReason = reason;
        this.#reportBird();
      },
      onRefused: (generation, refusal) => this.#refused(generation, refusal),
    });
    this.usePlan();
  }

  get tellsAnyone(): boolean {
    return this.#targets !== null || this.#reloads.length > 0;
  }

  /** Who loads files over a control socket. */
  get supervisors(): readonly TargetSupervisor[] {
    return this.#targets?.supervisors ?? [];
  }

  /** Whether BIRD died of this content once, and is about to be given it again. */
  onTrial(contentDigest: string): boolean {
    const suspect = this.#distrusted?.generation;
    return suspect !== undefined && suspect === this.#told && suspect.stamp.contentDigest === contentDigest;
  }

  start(): void {
    this.#targets?.start();
  }

  /** Other resource files may name other reload commands. */
  usePlan(): void {
    const { board, targets, plan } = this.#deps;
    board.report({ type: 'bird-setup', dialect: plan().dialect, tellsBird: this.tellsAnyone });
    if (this.#reloads.length === 0 && this.#commandsReason !== null) {
      this.#commandsReason = null;
      this.#reportBird();
    }
    const names = [...targets.map(({ socket }) => socket), ...plan().reloads.map(commandTarget)];
    void this.#deps.remember((state) => withTargets(state, names));
  }

  /**
   * Has every daemon load this generation; commands run as soon as the copies are made of it. What is new is loaded on
   * trial (`--commit-confirm`), what is gone back to is not: there would be nothing to go back to from there.
   */
  tell(generation: Generation, isNew: boolean): void {
    this.#told = generation;
    if (!this.tellsAnyone) return;
    this.#deps.board.report({ type: 'count', counter: 'reloads' });
    if (this.#reloads.length > 0) this.#commandsReason = 'reload_cmd has not run yet';
    if (this.#deps.copies.areMadeOf(generation)) this.#commands.want(generation);
    if (this.#targets === null) return;
    const { commitConfirm } = this.#deps.options;
    try {
      this.#targets.want(wantedGeneration(generation, isNew && commitConfirm > 0 ? commitConfirm : null));
    } catch (error) {
      const { message } = asBirdfeedError(error);
      this.#deps.log.error({ generation: generation.number, reason: message }, 'BIRD is not told');
    }
  }

  copiesMade(generation: Generation): void {
    if (this.#told === generation) this.#commands.want(generation);
  }

  /**
   * Where BIRD and the commands stand, when they are done or after `timeoutMs`. Null: all is applied, or nobody is told. A
   * BIRD that is not there is not waited for: it will start from `current`.
   */
  async settled(timeoutMs: number, signal: AbortSignal): Promise<BirdfeedError | null> {
    const outcome = await this.#outcome(timeoutMs, signal);
    if (this.#takenBack !== null) {
      await this.#takenBack.done;
      // A daemon that took what another one refused is on its way back.
      await this.#outcome(timeoutMs, signal);
      return this.#takenBack.error;
    }
    const error = outcome === null ? null : outcomeError(outcome);
    if (error !== null || this.#commandsReason === null) return error;
    return new BirdfeedError('BF_COMMAND_FAILED', this.#commandsReason);
  }

  async stop(): Promise<void> {
    this.#targets?.stop();
    await this.#commands.stop();
    await this.#takenBack?.done;
  }

  get #birdVersion(): string | null {
    return this.supervisors[0]?.state.birdVersion ?? null;
  }

  get #reloads(): readonly SetCommand[] {
    const { options, plan } = this.#deps;
    return options.reload === 'none' ? [] : plan().reloads;
  }

  async #outcome(timeoutMs: number, signal: AbortSignal): Promise<SetOutcome | null> {
    await this.#commands.settled();
    return this.#targets?.settled(timeoutMs, signal, isEnough) ?? null;
  }

  #makeTargets(): Targets {
    const { targets, plan, clock, log, random, store, options } = this.#deps;
    return new Targets({
      targets,
      dialect: plan().dialect,
      clock,
      log,
      random,
      timings: { configureTimeoutMs: options.reloadTimeout, settleTimeoutMs: options.reloadTimeout },
      verdicts: verdictsBySocket(store.state.value, targets),
      trials: store.state.value.trials,
      keepTrial: ({ socket }, trial) => this.#deps.remember((state) => withTrial(state, socket, trial)),
      onFact: (_target, fact) => this.#birdSaid(fact),
      onOutcome: (outcome) => this.#birdAnswered(outcome),
    });
  }

  #birdSaid(fact: TargetFact): void {
    if (fact.type === 'refused') this.#keepUndone(fact).catch((error: unknown) => this.#warn(error));
    // Another BIRD may accept what the last one refused.
    if (fact.type === 'connected') this.#deps.onChange();
    const died =
      fact.type === 'disconnected' && fact.during === 'loading' && fact.error.code === 'BF_BIRD_DIED';
    if (died) this.#distrust().catch((error: unknown) => this.#warn(error));
  }

  /** A trial that fails when another generation is wanted already: all there is to do is not to try it again. */
  async #keepUndone({ wanted, undone, ...refusal }: TargetFact & { type: 'refused' }): Promise<void> {
    const { store, clock, log, remember } = this.#deps;
    const { generation, digest } = wanted;
    if (undone === undefined || generation === this.#told?.number) return;
    if (verdictOn(store.state.value, digest, refusal.birdVersion) !== undefined) return;
    log.error({ generation, reason: refusal.message }, 'the configuration was taken back');
    await remember((state) => withVerdict(state, verdictOf(digest, { ...refusal, undone }, clock.now())));
  }

  #birdAnswered(outcome: SetOutcome): void {
    for (const { target, result } of outcome.targets) this.#reportTarget(target, result);
    if (outcome.generation === null) return;
    this.#reportBird();
    const told = this.#told;
    if (told === null || told.number !== outcome.generation) return;
    if (outcome.type === 'applied') this.#keep(told, outcome).catch((error: unknown) => this.#warn(error));
    for (const { result } of outcome.targets) if (result.type === 'refused') this.#refused(told, result);
  }

  #reportTarget({ socket, file }: Target, result: TargetResult): void {
    const supervisor = this.supervisors.find(({ target }) => target.socket === socket);
    const birdVersion = supervisor?.state.birdVersion ?? null;
    this.#deps.board.report({ type: 'target', target: targetStatus({ socket, file, birdVersion }, result) });
  }

  #reportBird(): void {
    if (!this.tellsAnyone) return;
    const outcome = this.#targets?.outcome ?? null;
    this.#deps.board.report({ type: 'bird', ...birdFact(outcome, this.#commandsReason) });
  }

  /** Every daemon runs it: noted for the next start, and `current` is certain again. */
  async #keep(told: Generation, outcome: SetOutcome): Promise<void> {
    const { store, clock } = this.#deps;
    const { contentDigest } = told.stamp;
    if (this.#distrusted?.generation === told && store.state.value.pin === null) {
      await store.replaceCurrent(this.#distrusted.standIn, told);
      this.#distrusted = null;
      this.#deps.onChange();
    }
    const at = new Date(clock.now()).toISOString();
    await this.#deps.remember((state) =>
      outcome.targets.reduce((next, { target, result }) => {
        if (result.type !== 'applied' || next.acknowledged[target.socket]?.contentDigest === contentDigest)
          return next;
        const { ack } = result;
        return withAcknowledgement(next, target.socket, { generation: told.number, contentDigest, ack, at });
      }, state),
    );
  }

  /**
   * BIRD died of what it was loading. Its supervisor will start it again from `current`, which must not be that; it is
   * tried once more from a running BIRD, and comes back when that works.
   */
  async #distrust(): Promise<void> {
    const { store, log } = this.#deps;
    const told = this.#told;
    const previous = told === null ? null : goodAncestor(store, told, this.#birdVersion);
    if (told === null || previous === null) return;
    if (!(await store.replaceCurrent(told.number, previous))) return;
    this.#distrusted = { generation: told, standIn: previous.number };
    log.error(
      { generation: told.number, back: previous.number },
      'BIRD died while loading; the last good generation is current again',
    );
  }

  #refused(told: Generation, refusal: Refusal): void {
    if (this.#takenBack?.generation === told) return;
    const error = refusalError(told, refusal);
    const done = this.#takeBack(told, refusal, error).catch((failure: unknown) => this.#warn(failure));
    this.#takenBack = { generation: told, error, done };
  }

  /**
   * `current` goes back to the generation before, and so do the copies and the daemons that took it; unless a newer one has
   * become `current`, which they are about to be told.
   */
  async #takeBack(told: Generation, refusal: Refusal, error: BirdfeedError): Promise<void> {
    const { store, clock, log, onRefused } = this.#deps;
    const { message, undone } = refusal;
    const verdict = verdictOf(told.stamp.contentDigest, refusal, clock.now());
    await this.#deps.remember((state) => withVerdict(state, verdict));
    const what = undone ? 'the configuration was taken back' : 'BIRD refused the configuration';
    this.#distrusted = null;
    const previous = goodAncestor(store, told, this.#birdVersion);
    const fields = { generation: told.number, reason: message };
    if (previous === null) {
      log.error(fields, `${what}, and there is none to go back to`);
      if (store.current?.number === told.number) await onRefused(error, null);
      return;
    }
    await store.replaceCurrent(told.number, previous);
    if (this.#told !== told || store.current?.number !== previous.number) {
      log.error(fields, `${what}; a newer one has taken its place`);
      return;
    }
    log.error({ ...fields, back: previous.number }, `${what}; the last good one is current again`);
    await onRefused(error, previous);
  }

  #warn(error: unknown): void {
    const fields = { reason: asBirdfeedError(error).message, set: this.#deps.plan().name };
    this.#deps.log.warn(fields, 'not written to the cache');
  }
}
