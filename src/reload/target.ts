import { type BackoffPolicy, backoffDelay } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { PendingTrial } from '../generation/state.ts';
import type { Dialect } from '../render/types.ts';
import { loadFile, readMark, showStatus } from './bird.ts';
import { BirdClient } from './socket-client.ts';
import { initialTarget, stepTarget } from './target-state.ts';
import type { Effect, Running, TargetEvent, TargetFact, TargetState, Wanted } from './target-types.ts';
import { awaitRecovery, establishedSessions, loadOnTrial, neverLoaded, resumeTrial } from './trial.ts';
import type { ReloadOutcome, Target } from './types.ts';
import type { Verdicts } from './verdicts.ts';
import { dialectConflict } from './version.ts';

/** All in milliseconds. */
export interface TargetTimings {
  readonly connectTimeoutMs: number;
  /** For `configure`; at least 30 s, since a mass hard change keeps BIRD busy for seconds. */
  readonly configureTimeoutMs: number;
  readonly settleTimeoutMs: number;
  /** For asking BIRD what it runs; also how long a BIRD that hangs goes unnoticed, after the next re-reading. */
  readonly readTimeoutMs: number;
  /** How often BIRD is asked what it runs while nothing happens: finds an undo or a `configure` of somebody else. */
  readonly rereadMs: number;
  /** Connecting is cheap and a BIRD that has just started should not wait. */
  readonly reconnect: BackoffPolicy;
  readonly retry: BackoffPolicy;
}

export const TARGET_TIMINGS: TargetTimings = {
  connectTimeoutMs: 10_000,
  configureTimeoutMs: 60_000,
  settleTimeoutMs: 60_000,
  readTimeoutMs: 30_000,
  rereadMs: 30_000,
  reconnect: { initialMs: 100, maxMs: 2_000 },
  retry: { initialMs: 500, maxMs: 30_000 },
};

export interface TargetOptions {
  readonly target: Target;
  /** The dialect of the files; null for files that are not of a shipped dialect: every BIRD is then told. */
  readonly dialect: Dialect | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onFact: (target: Target, fact: TargetFact) => void;
  /** Refusals known from before a restart of ours. */
  readonly verdicts?: Verdicts;
  /** What was on trial when an earlier process ended. */
  readonly trial?: PendingTrial | null;
  /** Keeps what is on trial, null when nothing is any more. Waited for before BIRD is told. */
  readonly keepTrial?: (target: Target, trial: PendingTrial | null) => Promise<void>;
  readonly timings?: Partial<TargetTimings>;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** For what was on trial before, when trials have been turned off since. */
const FORMER_TRIAL_SECONDS = 30;

/**
 * Keeps one daemon running what is wanted. Holds a connection open, reads back what BIRD runs after every connect and
 * now and then, loads the newest wanted generation, and tries again what was not acknowledged until it is. What happens
 * when is in `target-state.ts`; this is the part that does it.
 */
export class TargetSupervisor {
  readonly target: Target;
  readonly #options: TargetOptions;
  readonly #timings: TargetTimings;
  #state: TargetState;
  #client: BirdClient | null = null;
  #cancelTimer: () => void = () => {};
  /** Sessions that were up before a trial that was undone. */
  #recovering: readonly string[] = [];
  readonly #stopping = new AbortController();
  readonly #events: TargetEvent[] = [];

  constructor(options: TargetOptions) {
    this.target = options.target;
    this.#options = options;
    this.#timings = { ...TARGET_TIMINGS, ...options.timings };
    this.#state = initialTarget(options.verdicts ?? [], options.trial ?? null);
  }

  get state(): TargetState {
    return this.#state;
  }

  /** The open connection, for `show` commands and checks; they wait their turn. Null while there is none. */
  get client(): BirdClient | null {
    return this.#client;
  }

  start(): void {
    this.#dispatch({ type: 'start' });
  }

  /** Newest wins. Cheap to repeat. */
  want(wanted: Wanted): void {
    this.#dispatch({ type: 'want', wanted });
  }

  /** Forgets the refusal of what is wanted, and tries at once whatever waits. */
  retry(): void {
    this.#dispatch({ type: 'retry' });
  }

  /** Ends the connection and everything that waits. BIRD keeps running what it runs. */
  stop(): void {
    this.#dispatch({ type: 'stop' });
  }

  /** Events raised while one is worked on, as by an owner that wants something else at once, wait for their turn. */
  #dispatch(event: TargetEvent): void {
    this.#events.push(event);
    if (this.#events.length > 1) return;
    for (let next = this.#events[0]; next !== undefined; next = this.#events[0]) {
      this.#take(next);
      this.#events.shift();
    }
  }

  #take(event: TargetEvent): void {
    const before = this.#state.phase;
    const { state, effects } = stepTarget(this.#state, event);
    this.#state = state;
    if (state.phase !== before) this.#cancelTimer();
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        return void this.#connect();
      case 'read':
        return void this.#work(async (client) => ({
          type: 'read',
          running: await readRunning(client, this.#timings.readTimeoutMs),
        }));
      case 'load':
        return void this.#work((client) => this.#load(client, effect.wanted));
      case 'resume':
        return void this.#work((client) => this.#resume(client, effect.wanted, effect.trial));
      case 'timer':
        return this.#setTimer(effect.reason, effect.attempt);
      case 'disconnect':
        this.#stopping.abort();
        this.#client?.close();
        this.#client = null;
        return;
      case 'report':
        return this.#options.onFact(this.target, effect.fact);
    }
  }

  async #connect(): Promise<void> {
    const { clock, log, dialect } = this.#options;
    try {
      const client = await BirdClient.connect({
        path: this.target.socket,
        clock,
        log,
        timeoutMs: this.#timings.connectTimeoutMs,
        signal: this.#stopping.signal,
        onNotice: () => this.#dispatch({ type: 'notice' }),
      });
      if (this.#state.phase !== 'connecting') return client.close();
      this.#client = client;
      client.onClose((error) => this.#closed(client, error));
      const text = dialect === null ? null : dialectConflict(dialect, client.version);
      const conflict =
        text === null ? null : new BirdfeedError('BF_BIRD_DIALECT', `${text} (${client.path})`);
      this.#dispatch({ type: 'connected', version: client.version, conflict });
    } catch (error) {
      this.#dispatch({ type: 'unconnectable', error: asBirdfeedError(error) });
    }
  }

  async #load(client: BirdClient, wanted: Wanted): Promise<TargetEvent> {
    const { clock, log } = this.#options;
    const started = clock.monotonic();
    const outcome =
      wanted.trialSeconds === undefined
        ? await loadFile(client, wanted.path, this.#loadOptions(wanted))
        : await this.#try(client, wanted, wanted.trialSeconds);
    if (outcome.type === 'condition') throw outcome.error;
    const ms = Math.round(clock.monotonic() - started);
    log.debug(
      { socket: client.path, generation: wanted.generation, outcome: outcome.type, ms },
      'configure done',
    );
    const isWeak = outcome.type === 'applied' && outcome.ack === 'weak';
    return {
      type: 'loaded',
      outcome,
      loadedAt: isWeak ? (await showStatus(client)).lastReconfiguration : null,
    };
  }

  #loadOptions({ mark }: Wanted) {
    const { configureTimeoutMs, settleTimeoutMs } = this.#timings;
    return {
      clock: this.#options.clock,
      signal: this.#stopping.signal,
      mark,
      configureTimeoutMs,
      settleTimeoutMs,
    };
  }

  async #try(client: BirdClient, wanted: Wanted, seconds: number): Promise<ReloadOutcome> {
    const { digest } = wanted;
    const before = this.#state.trial?.digest === digest ? this.#state.trial : null;
    const options = this.#trialOptions(wanted, seconds);
    await awaitRecovery(client, this.#recovering, options);
    const sessions = await establishedSessions(client);
    const until = this.#options.clock.now() + seconds * 1000;
    await this.#keepTrial({ digest, sessions, until, tries: (before?.tries ?? 0) + 1 });
    const outcome = await loadOnTrial(client, wanted.path, sessions, options);
    this.#recovering = outcome.type === 'undone' ? sessions : [];
    if (outcome.type !== 'condition') await this.#keepTrial(null);
    else if (neverLoaded(outcome.error)) await this.#keepTrial(before);
    return outcome;
  }

  async #resume(client: BirdClient, wanted: Wanted, trial: PendingTrial): Promise<TargetEvent> {
    const { log } = this.#options;
    log.info(
      { socket: client.path, generation: wanted.generation },
      'a trial that was broken off is seen through',
    );
    const options = this.#trialOptions(wanted, wanted.trialSeconds ?? FORMER_TRIAL_SECONDS);
    const outcome = await resumeTrial(client, wanted.path, trial, options);
    if (outcome.type === 'condition') throw outcome.error;
    await this.#keepTrial(null);
    return { type: 'loaded', outcome, loadedAt: null };
  }

  #trialOptions(wanted: Wanted, seconds: number) {
    const { onFact } = this.#options;
    const onWaiting = (missing: readonly string[]): void =>
      onFact(this.target, { type: 'trying', wanted, missing });
    return { ...this.#loadOptions(wanted), seconds, onWaiting };
  }

  async #keepTrial(trial: PendingTrial | null): Promise<void> {
    this.#dispatch({ type: 'trial', trial });
    await this.#options.keepTrial?.(this.target, trial);
  }

  /** Runs one job on the connection and dispatches what came of it. */
  async #work(job: (client: BirdClient) => Promise<TargetEvent>): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    const event = await job(client).catch(
      (error: unknown): TargetEvent => ({ type: 'failed', error: asBirdfeedError(error) }),
    );
    // The end of the connection has been told by then, and the job's failure is only its echo.
    if (client.closed === null) this.#dispatch(event);
  }

  #closed(client: BirdClient, error: BirdfeedError): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#dispatch({ type: 'lost', error });
  }

  #setTimer(reason: 'reconnect' | 'retry' | 'reread', attempt: number): void {
    const { clock, random = Math.random } = this.#options;
    const { rereadMs, reconnect, retry } = this.#timings;
    const ms =
      reason === 'reread'
        ? rereadMs
        : backoffDelay(reason === 'retry' ? retry : reconnect, attempt, random());
    this.#cancelTimer();
    this.#cancelTimer = clock.after(ms, () => this.#dispatch({ type: 'timer' }));
  }
}

async function readRunning(client: BirdClient, timeoutMs: number): Promise<Running> {
  const status = await showStatus(client, timeoutMs);
  return {
    mark: await readMark(client, timeoutMs),
    loadedAt: status.lastReconfiguration,
    settled: status.state === 'running',
  };
}
