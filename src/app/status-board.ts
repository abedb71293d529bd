import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import { type Fact, initialStatus, reduce, type Status } from '../status/status.ts';

/** Holds the one Status of a set and logs when an axis moves or its reason changes. */
export interface StatusBoard {
  readonly status: Status;
  report(fact: Fact): void;
}

export function createStatusBoard(
  identity: Parameters<typeof initialStatus>[0],
  { clock, log }: { clock: Clock; log: Logger },
): StatusBoard {
  const now = (): string => new Date(clock.now()).toISOString();
  let status = initialStatus(identity, now());
  const told = new Map<Axis, string>();
  return {
    get status() {
      return status;
    },
    report(fact) {
      const before = status;
      status = reduce(status, fact, now());
      logMoves(before, status, told, log);
    },
  };
}

const WORSE = new Set(['waiting-for-node', 'stale', 'cached', 'degraded', 'held', 'unapplied']);

const AXES = ['data', 'config', 'bird'] as const;
type Axis = (typeof AXES)[number];

/** `told`: what the log has of each axis; a reason that only comes back after a passing one is no news. */
function logMoves(before: Status, after: Status, told: Map<Axis, string>, log: Logger): void {
  for (const axis of AXES) {
    const { state, reason } = after[axis];
    const isSame = state === before[axis].state;
    // Before the first answer the reason names whatever was not read yet, one thing after another.
    const isPassing = reason === null || reason.startsWith('waiting for the first answer');
    if (isSame && (isPassing || told.get(axis) === `${state} ${reason}`)) continue;
    told.set(axis, `${state} ${reason}`);
    // Every start on a cache passes through `cached`; with a reason it is there to stay.
    const level = WORSE.has(state) && !(state === 'cached' && isPassing) ? 'warn' : 'info';
    log[level]({ axis, state, reason, set: after.set }, `${axis} is now ${state}`);
  }
  if (after.latched && !before.latched)
    log.info({ generation: after.generation?.number, set: after.set }, 'ready');
}
