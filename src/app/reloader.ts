import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type BackoffPolicy, backoffDelay } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { Acknowledgement } from '../generation/state.ts';
import type { Generation } from '../generation/types.ts';
import { findMark } from '../reload/bird.ts';
import { runReloadCommand } from '../reload/reload-command.ts';
import type { WantedGeneration } from '../reload/targets.ts';
import type { SetCommand } from './set-plan.ts';

/** A generation as the daemons are asked for it. Reads the files, for the marks that they define. */
export function wantedGeneration(generation: Generation, trialSeconds: number | null): WantedGeneration {
  const marks = generation.stamp.files.map(
    ({ name }) => [name, markOf(join(generation.directory, name))] as const,
  );
  return {
    generation: generation.number,
    directory: generation.directory,
    digest: generation.stamp.contentDigest,
    marks: Object.fromEntries(marks),
    ...(trialSeconds === null ? {} : { trialSeconds }),
  };
}

/** Where a mark nearly always stands: most of a file with thousands of sessions need not be read for it. */
const HEAD_BYTES = 16 * 1024;

function markOf(path: string): string | null {
  return findMark(headOf(path)) ?? findMark(readFileSync(path));
}

function headOf(path: string): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}

/** `reload_cmd` of resources, seen by the name that the state file keeps acknowledgements under. */
export function commandTarget(command: SetCommand): string {
  return `reload_cmd ${command.resource}`;
}

export interface CommandReloaderDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly retry: BackoffPolicy;
  readonly commands: () => readonly SetCommand[];
  /** What each command was last run for, from the state file: a reload that is owed is owed after a restart too. */
  readonly acknowledged: () => Readonly<Record<string, Acknowledgement>>;
  acknowledge(target: string, ack: Acknowledgement): Promise<void>;
  /** After every try: why commands are not done, null when all are. */
  onOutcome(reason: string | null): void;
  /** A daemon refused the file: that is not tried again. */
  onRefused(generation: Generation, refusal: Refusal): void;
}

/** What a daemon had against a file. */
export interface Refusal {
  readonly message: string;
  readonly birdVersion: string | null;
  /** It took the file, and that was taken back. */
  readonly undone?: true;
}

interface CommandsResult {
  /** Why one of the commands did not succeed; null when all did. */
  readonly reason: string | null;
  readonly refusal: Refusal | null;
}

/**
 * Runs `reload_cmd` for every file that changed since its command last succeeded; equal commands run once. What failed
 * is tried again with back-off until it succeeds or another generation takes its place; what a daemon refused is not. One
 * at a time.
 */
export class CommandReloader {
  readonly #deps: CommandReloaderDeps;
  readonly #stopping = new AbortController();
  #wanted: Generation | null = null;
  /** Something may be owed that the work under way has not looked at. */
  #isDue = false;
  #working: Promise<void> | null = null;
  #cancelRetry: () => void = () => {};
  #attempt = 0;

  constructor(deps: CommandReloaderDeps) {
    this.#deps = deps;
  }

  want(generation: Generation): void {
    this.#wanted = generation;
    this.#attempt = 0;
    this.#start();
  }

  /** Resolves when nothing is owed any more, or after one failed attempt. */
  async settled(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  /** Ends a running command (its whole process group) and waits for that. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelRetry();
    await this.settled();
  }

  #start(): void {
    this.#isDue = true;
    if (this.#working !== null || this.#stopping.signal.aborted) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
      // Asked for after the work had looked for the last time.
      if (this.#isDue) this.#start();
    });
  }

  async #work(): Promise<void> {
    while (this.#isDue && !this.#stopping.signal.aborted) {
      this.#isDue = false;
      this.#cancelRetry();
      const generation = this.#wanted;
      if (generation !== null) await this.#try(generation);
    }
  }

  async #try(generation: Generation): Promise<void> {
    const { clock, retry, random, onOutcome, onRefused } = this.#deps;
    const { reason, refusal } = await this.#reload(generation);
    if (this.#stopping.signal.aborted || this.#wanted !== generation) return;
    onOutcome(reason);
    if (reason === null) return;
    if (refusal !== null) return onRefused(generation, refusal);
    this.#cancelRetry = clock.after(backoffDelay(retry, this.#attempt, random()), () => this.#start());
    this.#attempt += 1;
  }

  async #reload(generation: Generation): Promise<CommandsResult> {
    const { clock, acknowledged, acknowledge } = this.#deps;
    const done = new Map<string, CommandsResult>();
    let worst: CommandsResult = { reason: null, refusal: null };
    for (const command of this.#deps.commands()) {
      const file = generation.stamp.files.find(({ name }) => name === command.file);
      const target = commandTarget(command);
      if (file === undefined || acknowledged()[target]?.contentDigest === file.sha256) continue;
      const result = done.get(command.command) ?? (await this.#run(command, generation));
      if (!/\{\{/.test(command.command)) done.set(command.command, result);
      if (result.reason !== null) {
        const reason = `${command.resource}: ${result.reason}`;
        if (worst.refusal === null) worst = { reason: worst.reason ?? reason, refusal: result.refusal };
        continue;
      }
      const at = new Date(clock.now()).toISOString();
      await acknowledge(target, {
        generation: generation.number,
        contentDigest: file.sha256,
        ack: 'weak',
        at,
      });
    }
    return worst;
  }

  async #run(command: SetCommand, generation: Generation): Promise<CommandsResult> {
    const { clock, log, timeoutMs } = this.#deps;
    const src = join(generation.directory, command.file);
    const paths = { src, dest: command.dest ?? src };
    const { signal } = this.#stopping;
    const outcome = await runReloadCommand(command.command, paths, { clock, signal, timeoutMs });
    const refusal = outcome.type === 'refused' ? outcome : null;
    const reason = outcome.type === 'condition' ? outcome.error.message : (refusal?.message ?? null);
    const fields = { resource: command.resource, generation: generation.number, reason };
    if (reason === null) log.info(fields, 'reload command done');
    else log.warn(fields, 'reload command failed');
    return { reason, refusal };
  }
}
