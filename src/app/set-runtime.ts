import { existsSync } from 'node:fs';
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
import { type CheckedFile, checkStaged, checkWithCommand, type ScanFinding, worst } from '../reload/check.ts';
import { findLocalBird, type LocalBird, probeLocalBird } from '../reload/local-bird.ts';
import { type SetOutcome, Targets } from '../reload/targets.ts';
import type { CheckOutcome, Target } from '../reload/types.ts';
import { scanBirdFile } from '../render/scan.ts';
import type { TreeView } from '../tree/types.ts';
import type { Feed } from './feed.ts';
import { CommandReloader, commandTarget, describeOutcome, wantedGeneration } from './reloader.ts';
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
  readonly #locals = new Map<string, LocalBird | null>();

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
    });
    this.#loop = createSetLoop({
      ...deps,
      fs: nodeFs,
      guardShare: options.guardShare,
      keep: options.keep,
      baseline: store.current === null ? null : baselineOfStamp(store.current.stamp),
      check: (directory, plan) => this.#check(directory, plan),
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
    const { store, board, log } = this.#deps;
    const names = [
      ...this.#deps.targets.map(({ socket }) => socket),
      ...this.#loop.plan.reloads.map(commandTarget),
    ];
    store.state.update((state) => withTargets(state, names)).catch((error: unknown) => this.#warn(error));
    this.#targets?.start();
    if (store.current === null) return;
    reportGeneration((fact) => board.report(fact), store.current);
    log.info({ generation: store.current.number, set: this.#loop.plan.name }, 'generation in place');
    this.#tell(store.current);
  }

  async run(): Promise<RunOutcome> {
    const outcome = await this.#loop.run();
    if (outcome.type === 'published') {
      this.#deps.onPublished(outcome.generation, outcome.previous);
      this.#tell(outcome.generation);
    }
    return outcome;
  }

  /** Has BIRD load this generation, e.g. after a roll-back. */
  use(generation: Generation): void {
    reportGeneration((fact) => this.#deps.board.report(fact), generation);
    this.#tell(generation);
  }

  /** Where BIRD and the commands stand, when they are done or after `timeoutMs`. Null: all is applied, or nobody is told. */
  async reloaded(timeoutMs: number, signal: AbortSignal): Promise<BirdfeedError | null> {
    await this.#commands.settled();
    const { bird } = this.#deps.board.status;
    if (this.#targets === null) {
      const failed = this.tellsAnyone && bird.state === 'unapplied';
      return failed ? new BirdfeedError('BF_COMMAND_FAILED', bird.reason ?? 'a reload command failed') : null;
    }
    const outcome = await this.#targets.settled(timeoutMs, signal);
    return reloadError(outcome);
  }

  async stop(): Promise<void> {
    this.#targets?.stop();
    await this.#commands.stop();
  }

  #tell(generation: Generation): void {
    this.#deps.board.report({ type: 'count', counter: 'reloads' });
    this.#commands.want(generation);
    if (this.#targets === null) return;
    try {
      this.#targets.want(wantedGeneration(generation));
    } catch (error) {
      this.#warn(error);
    }
  }

  #makeTargets(): Targets {
    const { targets, plan, clock, log, random, store, options, onChange } = this.#deps;
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
      onFact: (_target, fact) => {
        // Another BIRD may accept what the last one refused.
        if (fact.type === 'connected') onChange();
      },
      onOutcome: (outcome) => this.#birdAnswered(outcome),
    });
  }

  #birdAnswered(outcome: SetOutcome): void {
    const { board, store, clock } = this.#deps;
    for (const { target, result } of outcome.targets) {
      const supervisor = this.#targets?.supervisors.find((candidate) => candidate.target === target);
      const reason =
        result.type === 'refused'
          ? result.message
          : result.type === 'pending'
            ? (result.error?.message ?? null)
            : null;
      board.report({
        type: 'target',
        target: {
          socket: target.socket,
          file: target.file,
          birdVersion: supervisor?.state.birdVersion ?? null,
          applied: result.type === 'applied',
          ack: result.type === 'applied' ? result.ack : null,
          reason,
        },
      });
      const { current } = store;
      if (result.type !== 'applied' || current === null || outcome.generation !== current.number) continue;
      const { contentDigest } = current.stamp;
      if (store.state.value.acknowledged[target.socket]?.contentDigest === contentDigest) continue;
      const ack = {
        generation: current.number,
        contentDigest,
        ack: result.ack,
        at: new Date(clock.now()).toISOString(),
      };
      store.state
        .update((state) => withAcknowledgement(state, target.socket, ack))
        .catch((error: unknown) => this.#warn(error));
    }
    if (outcome.generation === null) return;
    board.report({ type: 'bird', event: birdEvent(outcome), reason: describeOutcome(outcome) });
    if (outcome.type === 'refused') this.#takeBack(outcome).catch((error: unknown) => this.#warn(error));
  }

  /** A daemon refused the generation: `current` goes back to the one before, and so do the daemons that took it. */
  async #takeBack(outcome: SetOutcome): Promise<void> {
    const { store, board, clock, log, nodeName } = this.#deps;
    const { current } = store;
    if (current === null || current.number !== outcome.generation) return;
    const refusal = outcome.targets.find(({ result }) => result.type === 'refused')?.result;
    if (refusal?.type !== 'refused') return;
    const { contentDigest, parent } = current.stamp;
    const verdict = {
      contentDigest,
      birdVersion: refusal.birdVersion,
      message: refusal.message,
      at: new Date(clock.now()).toISOString(),
    };
    await store.state.update((state) => withVerdict(state, verdict));
    const expectation = { set: current.stamp.set, nodeName, dialect: current.stamp.dialect };
    const previous = parent === null ? null : store.verify(parent, expectation);
    if (previous === null || isRefusal(previous)) {
      log.error(
        { generation: current.number, reason: refusal.message },
        'BIRD refused the configuration, and there is none to go back to',
      );
      board.report({
        type: 'config',
        event: 'faulted',
        reason: `BIRD refused generation ${current.number}: ${refusal.message}`,
      });
      return;
    }
    log.error(
      { generation: current.number, back: previous.number, reason: refusal.message },
      'BIRD refused the configuration; the last good one is current again',
    );
    await store.putInPlace(previous);
    board.report({
      type: 'config',
      event: 'faulted',
      reason: `BIRD refused generation ${current.number}: ${refusal.message}`,
    });
    this.use(previous);
  }

  #commandsDone(settled: boolean, reason: string | null): void {
    if (this.#targets !== null && settled) return;
    this.#deps.board.report({ type: 'bird', event: settled ? 'acknowledged' : 'behind', reason });
  }

  async #check(directory: string, plan: SetPlan): Promise<CheckOutcome> {
    const { clock, options, targets } = this.#deps;
    const deps = { clock, timeoutMs: options.checkTimeout };
    const commands = await Promise.all(
      plan.checks.map((check) => {
        const src = `${directory}/${check.file}`;
        return checkWithCommand(check.command, check.file, { src, dest: check.dest ?? src }, deps);
      }),
    );
    const unchecked: CheckOutcome = { type: 'not-checked', why: 'checks are off' };
    if (options.syntaxCheck === 'off' || plan.daemonFiles.length === 0) return worst(commands) ?? unchecked;
    const files = await Promise.all(plan.daemonFiles.map((file) => this.#checkedFile(file, targets)));
    const bird = await checkStaged(directory, files, { ...deps, dialect: plan.dialect, scan: findings });
    return worst([...commands, bird])!;
  }

  async #checkedFile(file: string, targets: readonly Target[]): Promise<CheckedFile> {
    const socket = targets.find((target) => target.file === file)?.socket;
    const supervisor = this.#targets?.supervisors.find((candidate) => candidate.target.socket === socket);
    return {
      file,
      client: supervisor?.client ?? null,
      birdVersion: supervisor?.state.birdVersion ?? null,
      local: await this.#local(file),
    };
  }

  /** Probed once: a package upgrade that swaps the binary under a running birdfeed also restarts BIRD. */
  async #local(file: string): Promise<LocalBird | null> {
    const path = findLocalBird(file, this.#deps.options.birdBinary, this.#deps.env);
    if (path === null || !existsSync(path)) return null;
    const known = this.#locals.get(path);
    if (known !== undefined) return known;
    const local = await probeLocalBird(path, { clock: this.#deps.clock });
    this.#locals.set(path, local);
    return local;
  }

  #birdVersion(): string | null {
    return this.#targets?.supervisors[0]?.state.birdVersion ?? null;
  }

  #warn(error: unknown): void {
    this.#deps.log.warn(
      { reason: asBirdfeedError(error).message, set: this.#loop.plan.name },
      'state not saved',
    );
  }
}

const UNREACHABLE = new Set([
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

/** What BIRD must never be given, as the check ladder wants it. */
function findings(content: Uint8Array): readonly ScanFinding[] {
  try {
    scanBirdFile({ name: '', content });
    return [];
  } catch (error) {
    const { message, details } = asBirdfeedError(error);
    const line = typeof details['line'] === 'number' ? details['line'] : null;
    return [{ line, message: message.replace(/^:\d+: /, '') }];
  }
}
