import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackoffPolicy, backoffDelay } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { Acknowledgement } from '../generation/state.ts';
import type { Generation } from '../generation/types.ts';
import { findMark } from '../reload/bird.ts';
import { runReloadCommand } from '../reload/reload-command.ts';
import type { SetOutcome, WantedGeneration } from '../reload/targets.ts';
import type { SetCommand } from './set-plan.ts';

/** A generation as the daemons are asked for it. Reads the files, for the marks that they define. */
export function wantedGeneration(generation: Generation): WantedGeneration {
  const marks = generation.stamp.files.map(
    ({ name }) => [name, findMark(readFileSync(join(generation.directory, name)))] as const,
  );
  return {
    generation: generation.number,
    directory: generation.directory,
    digest: generation.stamp.contentDigest,
    marks: Object.fromEntries(marks),
  };
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
  onOutcome(outcome: { readonly settled: boolean; readonly reason: string | null }): void;
}

/**
 * Runs `reload_cmd` for every file that changed since its command last succeeded; equal commands run once. What failed
 * is tried again with back-off until it succeeds or a newer generation takes its place. One at a time.
 */
export class CommandReloader {
  readonly #deps: CommandReloaderDeps;
  readonly #stopping = new AbortController();
  #wanted: Generation | null = null;
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
    if (this.#working !== null || this.#stopping.signal.aborted) return;
    this.#cancelRetry();
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    const { clock, retry, random, onOutcome } = this.#deps;
    for (;;) {
      const generation = this.#wanted;
      if (generation === null) return;
      const reason = await this.#reload(generation);
      if (this.#stopping.signal.aborted) return;
      if (this.#wanted !== generation) continue;
      onOutcome({ settled: reason === null, reason });
      if (reason === null) return;
      this.#cancelRetry = clock.after(backoffDelay(retry, this.#attempt, random()), () => this.#start());
      this.#attempt += 1;
      return;
    }
  }

  /** Null when every command succeeded, else why one did not. */
  async #reload(generation: Generation): Promise<string | null> {
    const { clock, log, timeoutMs, acknowledged, acknowledge } = this.#deps;
    const done = new Map<string, string | null>();
    let worst: string | null = null;
    for (const command of this.#deps.commands()) {
      const file = generation.stamp.files.find(({ name }) => name === command.file);
      const target = commandTarget(command);
      if (file === undefined || acknowledged()[target]?.contentDigest === file.sha256) continue;
      const src = join(generation.directory, command.file);
      const paths = { src, dest: command.dest ?? src };
      let reason = done.get(command.command);
      if (reason === undefined) {
        const outcome = await runReloadCommand(command.command, paths, {
          clock,
          signal: this.#stopping.signal,
          timeoutMs,
        });
        reason =
          outcome.type === 'applied'
            ? null
            : outcome.type === 'refused'
              ? outcome.message
              : outcome.error.message;
        log[reason === null ? 'info' : 'warn'](
          { resource: command.resource, generation: generation.number, reason },
          reason === null ? 'reload command done' : 'reload command failed',
        );
        if (!/\{\{/.test(command.command)) done.set(command.command, reason);
      }
      if (reason !== null) {
        worst ??= `${command.resource}: ${reason}`;
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
}

/** One line for status and logs; null when every daemon runs the generation. */
export function describeOutcome(outcome: SetOutcome): string | null {
  for (const { target, result } of outcome.targets) {
    if (result.type === 'refused') return `${target.socket}: BIRD refused ${target.file}: ${result.message}`;
    if (result.type === 'pending' && result.error !== null) return result.error.message;
  }
  return outcome.type === 'applied' ? null : 'waiting for BIRD’s answer';
}
