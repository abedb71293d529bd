import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Dialect } from '../render/types.ts';
import { checkOnSocket, unreadableMessage } from './bird.ts';
import { blamesOtherFile, findBirdMessage, parseBirdMessage, unreadableReason } from './bird-message.ts';
import { CHECK_TIMEOUT_MS, type CommandResult, describeEnd, outputTail, runShell } from './command.ts';
import { type LocalBird, parseWithBird, type RunDeps, unsuitable } from './local-bird.ts';
import { type CommandPaths, expandCommand } from './shell-words.ts';
import type { BirdClient } from './socket-client.ts';
import type { CheckOutcome } from './types.ts';

/** What a look at the bytes found that BIRD must never be given. */
export interface ScanFinding {
  readonly line: number | null;
  readonly message: string;
}

export type Scan = (content: Uint8Array) => readonly ScanFinding[];

/** One staged file that a daemon will load. */
export interface CheckedFile {
  /** Name within the staged directory. */
  readonly file: string;
  /** The open connection to the daemon that will load it; null when there is none. */
  readonly client: BirdClient | null;
  /** Version of the running daemon, also from an earlier connection; null when no BIRD is known. */
  readonly birdVersion: string | null;
  /** A binary that can parse this file, probed before; null when there is none. */
  readonly local: LocalBird | null;
  /** Why `local` is null, naming what was looked for. */
  readonly localAbsence?: string;
}

export interface CheckDeps extends RunDeps {
  readonly dialect: Dialect | null;
  readonly scan: Scan;
  readonly timeoutMs?: number;
}

/**
 * Checks every staged file that a daemon will load, each on the highest rung of the ladder that can be reached, and gives
 * the worst outcome: a failure before a condition before "not checked". Never rejects for what BIRD says or does.
 */
export async function checkStaged(
  directory: string,
  files: readonly CheckedFile[],
  deps: CheckDeps,
): Promise<CheckOutcome> {
  const outcomes = await Promise.all(files.map((file) => checkFile(directory, file, deps)));
  return worst(outcomes) ?? { type: 'not-checked', why: 'no file of this set is loaded by a daemon' };
}

/** Of several outcomes the one that decides; null for none. */
export function worst(outcomes: readonly CheckOutcome[]): CheckOutcome | null {
  const order: readonly CheckOutcome['type'][] = ['failed', 'condition', 'not-checked', 'passed'];
  for (const type of order) {
    const found = outcomes.find((outcome) => outcome.type === type);
    if (found !== undefined) return found;
  }
  return null;
}

async function checkFile(directory: string, checked: CheckedFile, deps: CheckDeps): Promise<CheckOutcome> {
  const path = join(directory, checked.file);
  const { local, birdVersion } = checked;
  const why =
    local === null
      ? (checked.localAbsence ?? 'no bird binary here')
      : unsuitable(local, birdVersion, deps.dialect);
  if (local !== null && why === null) return shorten(await parseWithBird(local, path, deps), directory);
  // From here the running daemon itself, or nobody, parses the file; some strings kill it even in `configure check`.
  const [finding] = deps.scan(await readFile(path));
  if (finding !== undefined) {
    return { type: 'failed', file: checked.file, line: finding.line, message: finding.message, birdVersion };
  }
  if (checked.client === null) return { type: 'not-checked', why: `${why}, and no BIRD to ask` };
  return shorten(await checkPatiently(checked.client, path, deps), directory);
}

/** A BIRD that hangs or is busy must not keep anybody from publishing: it refuses later what it would refuse now. */
const PATIENCE_MS = 2_000;

async function checkPatiently(client: BirdClient, path: string, deps: CheckDeps): Promise<CheckOutcome> {
  const why = `BIRD on ${client.path} does not answer`;
  if (client.silentForMs >= PATIENCE_MS) return { type: 'not-checked', why };
  let cancel = (): void => {};
  const late = new Promise<CheckOutcome>((resolve) => {
    cancel = deps.clock.after(PATIENCE_MS, () => resolve({ type: 'not-checked', why }));
  });
  const outcome = await Promise.race([checkWithSocket(client, path, deps.timeoutMs), late]);
  cancel();
  return outcome;
}

async function checkWithSocket(
  client: BirdClient,
  path: string,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<CheckOutcome> {
  try {
    const reply = await checkOnSocket(client, path, timeoutMs);
    const birdVersion = client.version;
    if (reply.code === '0020') return { type: 'passed', how: 'configure check', birdVersion };
    if (reply.code === '8007')
      return { type: 'not-checked', why: `BIRD denies checks on ${client.path}: it is restricted` };
    if (reply.code !== '8002') {
      const message = `BIRD answered "configure check" on ${client.path} with ${reply.code} ${reply.text}`;
      return { type: 'condition', error: new BirdfeedError('BF_BIRD_PROTOCOL', message) };
    }
    const found = parseBirdMessage(reply.text);
    const reason = unreadableReason(found, path);
    if (reason !== null) return { type: 'not-checked', why: unreadableMessage(path, reason) };
    if (blamesOtherFile(found)) {
      return { type: 'condition', error: new BirdfeedError('BF_BIRD_FILE', `BIRD: ${reply.text}`) };
    }
    return {
      type: 'failed',
      file: found.file ?? path,
      line: found.line,
      message: found.message,
      birdVersion,
    };
  } catch (error) {
    return { type: 'condition', error: asBirdfeedError(error) };
  }
}

/** Runs a resource's `check_cmd` on a staged file. Never rejects. `file` names it in the outcome. */
export async function checkWithCommand(
  command: string,
  file: string,
  paths: CommandPaths,
  deps: RunDeps & { readonly timeoutMs?: number },
): Promise<CheckOutcome> {
  try {
    const result = await runShell(expandCommand(command, paths), { timeoutMs: CHECK_TIMEOUT_MS, ...deps });
    return judgeCheckCommand(command, file, result);
  } catch (error) {
    return { type: 'condition', error: asBirdfeedError(error) };
  }
}

/** sh(1): 126 for a command that cannot be run, 127 for one that is not found; neither looked at the file. */
const NOT_RUN = new Set([126, 127]);

function judgeCheckCommand(command: string, file: string, result: CommandResult): CheckOutcome {
  if (result.exitCode === 0 && result.stoppedBy === null)
    return { type: 'passed', how: 'check_cmd', birdVersion: null };
  if (result.stoppedBy !== null || NOT_RUN.has(result.exitCode ?? 0)) {
    const message = `check_cmd "${command}" did not check (${describeEnd(result)}): ${outputTail(result)}`;
    return { type: 'condition', error: new BirdfeedError('BF_COMMAND_FAILED', message) };
  }
  const { line } = findBirdMessage(result.output);
  const message = `check_cmd: ${outputTail(result) || describeEnd(result)}`;
  return { type: 'failed', file, line, message, birdVersion: null };
}

/** Names files as within the generation: the staged directory's name is random and gone by the time it is read. */
function shorten(outcome: CheckOutcome, directory: string): CheckOutcome {
  if (outcome.type !== 'failed' || !outcome.file.startsWith(`${directory}/`)) return outcome;
  const message = outcome.message.replaceAll(`${directory}/`, '');
  return { ...outcome, file: relative(directory, outcome.file), message };
}
