import { join } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';
import type { PendingTrial } from '../generation/state.ts';
import { type TargetOptions, TargetSupervisor } from './target.ts';
import type { TargetFact } from './target-types.ts';
import { describeMissing } from './trial.ts';
import type { Target } from './types.ts';
import type { Verdicts } from './verdicts.ts';

/** A generation that every daemon of the set shall run. */
export interface WantedGeneration {
  readonly generation: number;
  /** Real path of the sealed generation, never through `current`. */
  readonly directory: string;
  /** The stamp's content digest. */
  readonly digest: string;
  /** File name → the mark that the file defines (see `findMark`). A file that is not listed has none: weak acknowledgement. */
  readonly marks: Readonly<Record<string, string | null>>;
  /** See {@link Wanted}. */
  readonly trialSeconds?: number;
}

/** Where one daemon stands with the wanted generation. */
export type TargetResult =
  | { readonly type: 'applied'; readonly ack: 'mark' | 'weak'; readonly adopted: boolean }
  | {
      readonly type: 'refused';
      readonly message: string;
      readonly birdVersion: string | null;
      /** BIRD took it, and it was taken back. */
      readonly undone?: true;
    }
  /** `error` is what it waits for; null while it is being worked on. */
  | { readonly type: 'pending'; readonly error: BirdfeedError | null };

/**
 * Where the set stands: `applied` when every daemon runs the generation, `refused` as soon as one refused it, even when
 * others took it (they are the targets whose result is `applied`, and want reverting), else `pending`.
 */
export interface SetOutcome {
  readonly type: 'applied' | 'refused' | 'pending';
  /** Null while nothing is wanted. */
  readonly generation: number | null;
  readonly targets: readonly { readonly target: Target; readonly result: TargetResult }[];
}

export interface TargetsOptions extends Omit<TargetOptions, 'target' | 'onFact' | 'verdicts' | 'trial'> {
  readonly targets: readonly Target[];
  /** Everything one daemon says. */
  readonly onFact: (target: Target, fact: TargetFact) => void;
  /** The set's outcome, whenever it becomes another one. May call `want` or `revertTo` at once. */
  readonly onOutcome: (outcome: SetOutcome) => void;
  /** Socket → refusals known from before a restart of ours. */
  readonly verdicts?: Readonly<Record<string, Verdicts>>;
  /** Socket → what was on trial when an earlier process ended. */
  readonly trials?: Readonly<Record<string, PendingTrial>>;
}

const PENDING: TargetResult = { type: 'pending', error: null };

/** The daemons of a set, each with its own supervisor. With `bird` and `bird6` of 1.6 there are two, otherwise one. */
export class Targets {
  readonly #options: TargetsOptions;
  readonly #supervisors: readonly TargetSupervisor[];
  readonly #results = new Map<Target, TargetResult>();
  readonly #waiters = new Set<() => void>();
  #wanted: WantedGeneration | null = null;
  #lastOutcome = '';

  constructor(options: TargetsOptions) {
    this.#options = options;
    this.#supervisors = options.targets.map(
      (target) =>
        new TargetSupervisor({
          ...options,
          target,
          verdicts: options.verdicts?.[target.socket] ?? [],
          trial: options.trials?.[target.socket] ?? null,
          onFact: (from, fact) => this.#onFact(from, fact),
        }),
    );
  }

  get supervisors(): readonly TargetSupervisor[] {
    return this.#supervisors;
  }

  /** Refusals by socket, to be kept over a restart of ours. */
  get verdicts(): Readonly<Record<string, Verdicts>> {
    return Object.fromEntries(this.#supervisors.map((s) => [s.target.socket, s.state.verdicts]));
  }

  get outcome(): SetOutcome {
    const targets = this.#options.targets.map((target) => ({
      target,
      result: this.#results.get(target) ?? PENDING,
    }));
    const generation = this.#wanted?.generation ?? null;
    return { type: combine(targets.map(({ result }) => result)), generation, targets };
  }

  start(): void {
    for (const supervisor of this.#supervisors) supervisor.start();
  }

  /** Every daemon shall run this generation. The newest wins; what an older one comes to is no longer reported. */
  want(wanted: WantedGeneration): void {
    if (this.#wanted?.generation !== wanted.generation) this.#forgetResults();
    this.#wanted = wanted;
    for (const supervisor of this.#supervisors) {
      const { file } = supervisor.target;
      supervisor.want({
        generation: wanted.generation,
        path: join(wanted.directory, file),
        digest: wanted.digest,
        mark: wanted.marks[file] ?? null,
        ...(wanted.trialSeconds === undefined ? {} : { trialSeconds: wanted.trialSeconds }),
      });
    }
    this.#announce();
  }

  /**
   * Takes a generation back after one daemon refused it: those that took it load `previous` again, those that refused it
   * never left it and are not told anything. Resolves as {@link settled}.
   */
  revertTo(previous: WantedGeneration, timeoutMs: number, signal?: AbortSignal): Promise<SetOutcome> {
    this.want(previous);
    return this.settled(timeoutMs, signal);
  }

  /**
   * Resolves with the outcome when it is enough, by default no longer pending, or as it stands after `timeoutMs` or when
   * `signal` aborts.
   */
  settled(
    timeoutMs: number,
    signal?: AbortSignal,
    isEnough = (outcome: SetOutcome): boolean => outcome.type !== 'pending',
  ): Promise<SetOutcome> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#waiters.delete(check);
        signal?.removeEventListener('abort', done);
        resolve(this.outcome);
      };
      const check = (): void => {
        if (isEnough(this.outcome)) done();
      };
      const cancel = this.#options.clock.after(timeoutMs, done);
      this.#waiters.add(check);
      signal?.addEventListener('abort', done, { once: true });
      if (signal?.aborted) done();
      else check();
    });
  }

  /** Forgets refusals of what is wanted and tries at once whatever waits. */
  retry(): void {
    for (const [target, result] of this.#results)
      if (result.type === 'refused') this.#results.set(target, PENDING);
    for (const supervisor of this.#supervisors) supervisor.retry();
    this.#announce();
  }

  stop(): void {
    for (const supervisor of this.#supervisors) supervisor.stop();
  }

  /** What a daemon waits for stays true whatever is wanted of it. */
  #forgetResults(): void {
    for (const [target, result] of this.#results)
      if (result.type !== 'pending') this.#results.set(target, PENDING);
  }

  #onFact(target: Target, fact: TargetFact): void {
    const result = this.#resultOf(target, fact);
    if (result !== null) this.#results.set(target, result);
    this.#options.onFact(target, fact);
    if (result !== null) this.#announce();
  }

  #resultOf(target: Target, fact: TargetFact): TargetResult | null {
    const isWanted = (generation: number): boolean => generation === this.#wanted?.generation;
    switch (fact.type) {
      case 'applied':
        return isWanted(fact.wanted.generation)
          ? { type: 'applied', ack: fact.ack, adopted: fact.adopted }
          : null;
      case 'refused':
        if (!isWanted(fact.wanted.generation)) return null;
        return {
          type: 'refused',
          message: fact.message,
          birdVersion: fact.birdVersion,
          ...(fact.undone === undefined ? {} : { undone: fact.undone }),
        };
      case 'trying':
        return isWanted(fact.wanted.generation) ? { type: 'pending', error: onTrial(fact) } : null;
      case 'condition':
      case 'disconnected':
        return this.#results.get(target)?.type === 'refused' ? null : { type: 'pending', error: fact.error };
      case 'running': {
        const isDrift =
          this.#results.get(target)?.type === 'applied' && fact.mark !== this.#wanted?.marks[target.file];
        return isDrift ? PENDING : null;
      }
      case 'connected':
        return this.#results.get(target)?.type === 'refused' ? null : PENDING;
    }
  }

  #announce(): void {
    const { outcome } = this;
    const text = JSON.stringify([
      outcome.generation,
      ...outcome.targets.map(({ result }) => describe(result)),
    ]);
    if (text === this.#lastOutcome) return;
    this.#lastOutcome = text;
    // Before the owner is told: it may want something else at once, and those who wait would miss what they waited for.
    for (const waiter of [...this.#waiters]) waiter();
    this.#options.onOutcome(outcome);
  }
}

function onTrial({ wanted, missing }: Extract<TargetFact, { type: 'trying' }>): BirdfeedError {
  const message = `generation ${wanted.generation} is on trial: waiting for ${describeMissing(missing)} to come back`;
  return new BirdfeedError('BF_BIRD_TRIAL', message);
}

/** The set's outcome from those of its daemons. No daemon at all is nobody to ask: applied. */
export function combine(results: readonly TargetResult[]): SetOutcome['type'] {
  if (results.some((result) => result.type === 'refused')) return 'refused';
  return results.every((result) => result.type === 'applied') ? 'applied' : 'pending';
}

function describe(result: TargetResult): string {
  switch (result.type) {
    case 'applied':
      return `applied ${result.ack}`;
    case 'refused':
      return `refused ${result.message}`;
    case 'pending':
      return `pending ${result.error?.message ?? ''}`;
  }
}
