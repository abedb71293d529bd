import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Dialect } from '../render/types.ts';
import { blamesOtherFile, findBirdMessage, unreadableReason } from './bird-message.ts';
import { CHECK_TIMEOUT_MS, type CommandResult, describeEnd, runProgram } from './command.ts';
import type { CheckOutcome } from './types.ts';
import { dialectConflict, isCalicoFork, parseVersion } from './version.ts';

/** A BIRD on this machine that can parse files. */
export interface LocalBird {
  readonly path: string;
  readonly version: string;
}

export interface RunDeps {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** Where packages put daemons; often missing from the PATH of people who are not root. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Which binary parses this file: BIRD 1.6 has one for each family, each of which refuses the addresses of the other.
 * `configured` is `--bird-binary`; `bird6` is then expected beside it. Null when there is none.
 */
export function findLocalBird(
  file: string,
  configured: string | null,
  env: NodeJS.ProcessEnv,
): string | null {
  const name = programFor(file);
  if (configured !== null) {
    const path = besides(configured, name);
    return isProgram(path) ? path : null;
  }
  const folders = [...(env['PATH'] ?? '').split(delimiter), ...SBIN].filter((folder) =>
    folder.startsWith('/'),
  );
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

/** For messages, when findLocalBird found none: what is missing, and which option names another one. */
export function localBirdAbsence(file: string, configured: string | null): string {
  const name = programFor(file);
  return configured === null
    ? `there is no ${name} in PATH (install it or give --bird-binary)`
    : `there is no program ${besides(configured, name)} (--bird-binary)`;
}

type BirdProgram = 'bird' | 'bird6';

function programFor(file: string): BirdProgram {
  return file.startsWith('bird6') ? 'bird6' : 'bird';
}

function besides(configured: string, name: BirdProgram): string {
  return name === 'bird' ? configured : join(dirname(configured), name);
}

/** Asks a binary for its version; null when it is no BIRD or cannot be run. */
export async function probeLocalBird(path: string, deps: RunDeps): Promise<LocalBird | null> {
  try {
    const { output } = await runProgram(path, ['--version'], { ...deps, timeoutMs: 5_000 });
    const version = parseVersion(output);
    return version === null ? null : { path, version };
  } catch {
    return null;
  }
}

/**
 * Why this binary's opinion does not count for the BIRD that will run the file, or null when it does. With no BIRD known
 * its version has to suit the dialect; only the fork's own binary can judge files with `krt_tunnel`.
 */
export function unsuitable(local: LocalBird, running: string | null, dialect: Dialect | null): string | null {
  if (running !== null) {
    return running === local.version
      ? null
      : `${local.path} is BIRD ${local.version}, the running one is ${running}`;
  }
  if (dialect === null) return null;
  if (dialect === 'bird1-calico' && !isCalicoFork(local.version)) {
    return `${local.path} is BIRD ${local.version}, not Calico's fork`;
  }
  return dialectConflict(dialect, local.version) === null
    ? null
    : `${local.path} is BIRD ${local.version}, which does not read dialect ${dialect}`;
}

/**
 * `bird -p -c FILE`: parses in a child process, which may die of the file without harm. It touches neither socket nor
 * routes, but 1.6 opens, and so creates, the log file that the configuration names.
 */
export async function parseWithBird(
  local: LocalBird,
  path: string,
  deps: RunDeps & { readonly timeoutMs?: number },
): Promise<CheckOutcome> {
  try {
    const result = await runProgram(local.path, ['-p', '-c', path], { timeoutMs: CHECK_TIMEOUT_MS, ...deps });
    return judgeParse(result, path, local.version);
  } catch (error) {
    if (error instanceof BirdfeedError) return { type: 'condition', error };
    throw error;
  }
}

/** Signals by which a program dies of its input; a shell that wraps it reports them as exit status 128 + number. */
const CRASHES: Readonly<Record<number, string>> = {
  132: 'SIGILL',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  139: 'SIGSEGV',
};

/** The verdict in how `bird -p` ended. Exported for tests. */
export function judgeParse(result: CommandResult, path: string, birdVersion: string): CheckOutcome {
  if (result.stoppedBy !== null) {
    const message = `bird -p on ${path} did not end: ${describeEnd(result)}`;
    return { type: 'condition', error: new BirdfeedError('BF_BIRD_TIMEOUT', message) };
  }
  if (result.exitCode === 0) return { type: 'passed', how: 'bird -p', birdVersion };
  const crash =
    Object.values(CRASHES).find((name) => name === result.signal) ?? CRASHES[result.exitCode ?? 0];
  if (crash !== undefined) {
    const message = `bird -p died of ${crash} while parsing it; the running BIRD would, too`;
    return { type: 'failed', file: path, line: null, message, birdVersion };
  }
  const found = findBirdMessage(result.output);
  const reason = unreadableReason(found, path);
  if (result.signal !== null || reason !== null || blamesOtherFile(found)) {
    const message = `bird -p on ${path}: ${found.message || describeEnd(result)}`;
    return { type: 'condition', error: new BirdfeedError('BF_BIRD_FILE', message) };
  }
  const message = found.message || `bird -p said nothing (${describeEnd(result)})`;
  return { type: 'failed', file: found.file ?? path, line: found.line, message, birdVersion };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
