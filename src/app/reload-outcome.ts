import { BirdfeedError, type ErrorCode } from '../core/errors.ts';
import type { CacheState, Verdict } from '../generation/state.ts';
import type { Generation } from '../generation/types.ts';
import type { SetOutcome, TargetResult } from '../reload/targets.ts';
import type { Target } from '../reload/types.ts';
import type { Verdicts } from '../reload/verdicts.ts';
import type { BirdEvent } from '../status/axes.ts';
import type { TargetStatus } from '../status/status.ts';
import type { Refusal } from './reloader.ts';

/** One line for status and logs; null when every daemon runs the generation. */
export function describeOutcome(outcome: SetOutcome): string | null {
  for (const { target, result } of outcome.targets) {
    if (result.type === 'refused') return `${target.socket}: ${refusalOf(target, result)}`;
    if (result.type === 'pending' && result.error !== null) return result.error.message;
  }
  return outcome.type === 'applied' ? null : 'waiting for BIRD’s answer';
}

function refusalOf(
  { file }: Target,
  { message, undone }: Extract<TargetResult, { type: 'refused' }>,
): string {
  return undone ? `${file} was taken back: ${message}` : `BIRD refused ${file}: ${message}`;
}

/** One daemon, as the status shows it. */
export function targetStatus(
  target: Pick<TargetStatus, 'socket' | 'file' | 'birdVersion'>,
  result: TargetResult,
): TargetStatus {
  const ack = result.type === 'applied' ? result.ack : null;
  return { ...target, applied: ack !== null, ack, reason: describeResult(result) };
}

/** Why one daemon does not run the generation; null when it does, or is still being told. */
export function describeResult(result: TargetResult): string | null {
  switch (result.type) {
    case 'applied':
      return null;
    case 'refused':
      return result.message;
    case 'pending':
      return result.error?.message ?? null;
  }
}

const UNREACHABLE: ReadonlySet<ErrorCode> = new Set([
  'BF_BIRD_DIED',
  'BF_BIRD_UNREACHABLE',
  'BF_BIRD_PERMISSION',
  'BF_BIRD_TIMEOUT',
  'BF_BIRD_PROTOCOL',
]);

/**
 * What the daemons on sockets and the reload commands together mean for the BIRD axis. `outcome` is null where no daemon
 * is told over a socket, `commands` is why reload commands are not done, null when they are or there are none.
 */
export function birdFact(
  outcome: SetOutcome | null,
  commands: string | null,
): { readonly event: BirdEvent; readonly reason: string | null } {
  if (outcome !== null && outcome.type !== 'applied') {
    return { event: isUnreachable(outcome) ? 'unreachable' : 'behind', reason: describeOutcome(outcome) };
  }
  return commands === null ? { event: 'acknowledged', reason: null } : { event: 'behind', reason: commands };
}

function isUnreachable(outcome: SetOutcome): boolean {
  return outcome.targets.some(
    ({ result }) => result.type === 'pending' && result.error !== null && UNREACHABLE.has(result.error.code),
  );
}

/** Whether a run that shall end has nothing more to wait for: a BIRD that is not there will start from `current`. */
export function isEnough(outcome: SetOutcome): boolean {
  if (outcome.type !== 'pending') return true;
  return outcome.targets.every(
    ({ result }) =>
      result.type === 'applied' ||
      (result.type === 'pending' && result.error?.code === 'BF_BIRD_UNREACHABLE'),
  );
}

/** The outcome as an error; null when every daemon runs the generation. */
export function outcomeError(outcome: SetOutcome): BirdfeedError | null {
  for (const { target, result } of outcome.targets) {
    if (result.type === 'refused')
      return new BirdfeedError(
        result.undone ? 'BF_BIRD_UNDONE' : 'BF_BIRD_REFUSED',
        `BIRD on ${target.socket} ${result.undone ? 'went back from' : 'refused'} ${target.file}: ${result.message}`,
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

/** What a daemon had against a generation, as the error that it ends in. */
export function refusalError({ number }: Generation, { message, undone }: Refusal): BirdfeedError {
  return undone
    ? new BirdfeedError('BF_BIRD_UNDONE', `generation ${number} was taken back: ${message}`)
    : new BirdfeedError('BF_BIRD_REFUSED', `BIRD refused generation ${number}: ${message}`);
}

/** The same, as it is remembered. `nowMs` is the wall clock. */
export function verdictOf(
  contentDigest: string,
  { message, birdVersion, undone }: Refusal,
  nowMs: number,
): Verdict {
  const at = new Date(nowMs).toISOString();
  return { contentDigest, birdVersion, message, at, ...(undone === undefined ? {} : { undone }) };
}

/** What is remembered, as those who talk to the daemons have it: socket → refusals. */
export function verdictsBySocket(
  { verdicts }: CacheState,
  targets: readonly Target[],
): Readonly<Record<string, Verdicts>> {
  const known = verdicts.map(({ contentDigest, ...verdict }) => ({ digest: contentDigest, ...verdict }));
  return Object.fromEntries(targets.map(({ socket }) => [socket, known]));
}

/** A generation that a daemon refused. `done` resolves when the one before is in place again. */
export interface TakenBack {
  readonly generation: Generation;
  readonly error: BirdfeedError;
  readonly done: Promise<void>;
}
