import { type ChildProcess, spawn } from 'node:child_process';
import { type Clock, sleep } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';

export interface RunOptions {
  readonly clock: Clock;
  /** From start to SIGTERM, milliseconds. */
  readonly timeoutMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs?: number;
  /** Ends the command in order: it may go on for `abortWaitMs`, then is ended as after a time-out. */
  readonly signal?: AbortSignal;
  readonly abortWaitMs?: number;
  readonly cwd?: string;
}

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last 64 KiB of stdout and stderr, in the order they came. */
  readonly output: string;
  readonly stoppedBy: 'timeout' | 'abort' | null;
  readonly durationMs: number;
}

export const CHECK_TIMEOUT_MS = 30_000;
export const RELOAD_TIMEOUT_MS = 60_000;

const OUTPUT_LIMIT = 64 * 1024;
/** Output still under way when a program exits; a child that inherited the pipe is not waited for. */
const DRAIN_MS = 50;

/** Runs an operator's command line through `/bin/sh -c`. Rejects with BF_COMMAND_FAILED when that cannot be started. */
export function runShell(command: string, options: RunOptions): Promise<CommandResult> {
  return runProgram('/bin/sh', ['-c', command], options);
}

/**
 * Runs a program in a process group of its own and resolves when the program itself has ended, whatever it left behind.
 * At a time-out or abort the whole group gets SIGTERM, then SIGKILL, so that it resolves within a bound.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<CommandResult> {
  const { clock, timeoutMs, signal, graceMs = 2_000, abortWaitMs = 5_000 } = options;
  const started = clock.monotonic();
  const child = spawn(file, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const output = collect(child);
  const exit = exited(child);
  let stoppedBy: CommandResult['stoppedBy'] = null;
  let killed: Promise<void> = Promise.resolve();
  const end = (by: 'timeout' | 'abort'): void => {
    if (stoppedBy !== null || child.pid === undefined) return;
    stoppedBy = by;
    killed = killGroup(child.pid, clock, graceMs);
  };
  let cancelAbort: () => void = () => {};
  const onAbort = (): void => {
    cancelAbort = clock.after(abortWaitMs, () => end('abort'));
  };
  const cancelTimeout = clock.after(timeoutMs, () => end('timeout'));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    const [exitCode, exitSignal] = await exit;
    await killed;
    await output.drained(clock);
    const durationMs = Math.round(clock.monotonic() - started);
    return { exitCode, signal: exitSignal, output: output.text(), stoppedBy, durationMs };
  } catch (error) {
    const message = `cannot start ${file}: ${error instanceof Error ? error.message : String(error)}`;
    throw new BirdfeedError('BF_COMMAND_FAILED', message, { cause: error });
  } finally {
    cancelTimeout();
    cancelAbort();
    signal?.removeEventListener('abort', onAbort);
  }
}

function exited(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
}

/** Ends the group that `pid` leads. Its other members may live on after the leader, and may ignore SIGTERM. */
async function killGroup(pid: number, clock: Clock, graceMs: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return;
  const deadline = clock.monotonic() + graceMs;
  while (clock.monotonic() < deadline) {
    await sleep(clock, 20);
    if (!signalGroup(pid, 0)) return;
  }
  signalGroup(pid, 'SIGKILL');
}

/** False when nobody is left in the group. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

function collect(child: ChildProcess): { text(): string; drained(clock: Clock): Promise<void> } {
  const streams = [child.stdout!, child.stderr!];
  let chunks: Buffer[] = [];
  let size = 0;
  const add = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < 2 * OUTPUT_LIMIT) return;
    chunks = [Buffer.concat(chunks).subarray(-OUTPUT_LIMIT)];
    size = OUTPUT_LIMIT;
  };
  const ends = streams.map((stream) => new Promise<void>((resolve) => stream.once('close', resolve)));
  for (const stream of streams) stream.on('data', add);
  return {
    text: () => Buffer.concat(chunks).subarray(-OUTPUT_LIMIT).toString('utf8'),
    async drained(clock) {
      const waited = new AbortController();
      await Promise.race([Promise.all(ends), sleep(clock, DRAIN_MS, waited.signal)]);
      waited.abort();
      for (const stream of streams) stream.destroy();
    },
  };
}

/** How a command ended, for messages: `exit status 1`, `killed by SIGSEGV`, `stopped after 30 s`. */
export function describeEnd(result: CommandResult): string {
  if (result.stoppedBy === 'timeout') return `stopped after ${Math.round(result.durationMs / 1000)} s`;
  if (result.stoppedBy === 'abort') return 'stopped because birdfeed ends';
  return result.signal === null ? `exit status ${result.exitCode}` : `killed by ${result.signal}`;
}

/** The last lines of the output as one line, for messages. */
export function outputTail(result: CommandResult): string {
  const lines = result.output.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-3).join('; ').slice(-400);
}
