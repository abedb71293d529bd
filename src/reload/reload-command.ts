import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import { blamesOtherFile, parseBirdMessage } from './bird-message.ts';
import {
  type CommandResult,
  describeEnd,
  outputTail,
  RELOAD_TIMEOUT_MS,
  type RunOptions,
  runShell,
} from './command.ts';
import { type CommandPaths, expandCommand } from './shell-words.ts';
import type { ReloadOutcome } from './types.ts';

/** What `birdc configure` achieved, read from its output. */
export type BirdcJudgement =
  | { readonly type: 'reconfigured' }
  /** Also queued behind another one: accepted, not yet done. */
  | { readonly type: 'in-progress' }
  | { readonly type: 'refused'; readonly message: string; readonly birdVersion: string | null }
  /** Not reached, not permitted, shutting down, or a file that could not be opened. */
  | {
      readonly type: 'condition';
      readonly code: 'BF_BIRD_UNREACHABLE' | 'BF_BIRD_PERMISSION' | 'BF_BIRD_FILE';
      readonly message: string;
    }
  /** Not output of `birdc configure`. */
  | { readonly type: 'unknown' };

/**
 * Judges the output of `birdc`, `birdcl`, plain or with `-v`. The exit status is no help: 1.6.8 exits 0 when BIRD
 * refused the file. Of several `configure` in one command the worst answer counts.
 */
export function judgeBirdcOutput(output: string): BirdcJudgement {
  let worst: BirdcJudgement = { type: 'unknown' };
  let birdVersion: string | null = null;
  let isAnswer = false;
  for (const raw of output.split('\n')) {
    const line = raw.replace(/^\d{4}[ -]/, '').trim();
    birdVersion = /^BIRD (\S+) ready\.$/.exec(line)?.[1] ?? birdVersion;
    if (line === '' || line.startsWith('Undo scheduled')) continue;
    const judged: BirdcJudgement =
      judgeLine(line) ?? (isAnswer ? judgeObjection(line, birdVersion) : { type: 'unknown' });
    isAnswer = line.startsWith('Reading configuration from ');
    if (SEVERITY.indexOf(judged.type) > SEVERITY.indexOf(worst.type)) worst = judged;
  }
  return worst;
}

const SEVERITY = [
  'unknown',
  'reconfigured',
  'in-progress',
  'condition',
  'refused',
] as const satisfies BirdcJudgement['type'][];

function judgeLine(line: string): BirdcJudgement | null {
  if (line.startsWith('Unable to connect to server control socket')) {
    const code = line.endsWith('Permission denied') ? 'BF_BIRD_PERMISSION' : 'BF_BIRD_UNREACHABLE';
    return { type: 'condition', code, message: line };
  }
  if (line === 'Access denied') {
    return { type: 'condition', code: 'BF_BIRD_PERMISSION', message: 'the control socket is restricted' };
  }
  if (line.startsWith('Reconfiguration ignored'))
    return { type: 'condition', code: 'BF_BIRD_UNREACHABLE', message: line };
  if (line === 'Reconfigured') return { type: 'reconfigured' };
  if (/^Reconfiguration (?:already )?in progress/.test(line)) return { type: 'in-progress' };
  return line === 'Configuration OK' ? { type: 'unknown' } : null;
}

/** The line after `Reading configuration from` that is no success is BIRD's objection. */
function judgeObjection(line: string, birdVersion: string | null): BirdcJudgement {
  const message = parseBirdMessage(line);
  if (message.file !== null && !blamesOtherFile(message))
    return { type: 'refused', message: line, birdVersion };
  return { type: 'condition', code: 'BF_BIRD_FILE', message: `BIRD: ${line}` };
}

/** Runs a resource's `reload_cmd`. Never rejects. */
export async function runReloadCommand(
  command: string,
  paths: CommandPaths,
  options: Omit<RunOptions, 'timeoutMs'> & { readonly timeoutMs?: number },
): Promise<ReloadOutcome> {
  try {
    const result = await runShell(expandCommand(command, paths), {
      timeoutMs: RELOAD_TIMEOUT_MS,
      ...options,
    });
    return judgeReload(command, result);
  } catch (error) {
    return { type: 'condition', error: asBirdfeedError(error) };
  }
}

/** The outcome of a reload command that ran: what `birdc` said counts before the exit status. */
export function judgeReload(command: string, result: CommandResult): ReloadOutcome {
  const said = judgeBirdcOutput(result.output);
  if (said.type === 'refused') return said;
  if (said.type === 'condition') {
    return {
      type: 'condition',
      error: new BirdfeedError(said.code, `reload_cmd "${command}": ${said.message}`),
    };
  }
  if (result.exitCode === 0 && result.stoppedBy === null) return { type: 'applied', ack: 'weak' };
  const message = `reload_cmd "${command}" failed (${describeEnd(result)}): ${outputTail(result)}`;
  return { type: 'condition', error: new BirdfeedError('BF_COMMAND_FAILED', message) };
}
