import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { Store } from '../generation/store.ts';
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

/** What a board can say before anything has been read: that a generation is cached, and whether an operator pinned it. */
export function reportCache(board: StatusBoard, { current, state }: Pick<Store, 'current' | 'state'>): void {
  if (current !== null) board.report({ type: 'data', event: 'cache-loaded', reason: null });
  const { pin } = state.value;
  if (pin === null) return;
  board.report({ type: 'pin', pinned: pin.generation });
  board.report({ type: 'config', event: 'pinned', reason: `pinned to generation ${pin.generation}` });
}

const WORSE = new Set(['waiting-for-node', 'stale', 'cached', 'degraded', 'held', 'unapplied']);
/** Reasons that every start and every change has for a moment. */
const PASSING =
  /^waiting for the first answer |^waiting for BIRD’s answer$|^generation \d+ is not loaded yet$/;

const AXES = ['data', 'config', 'bird'] as const;
type Axis = (typeof AXES)[number];

/** `told`: what the log has of each axis; a reason that only comes back after a passing one is no news. */
function logMoves(before: Status, after: Status, told: Map<Axis, string>, log: Logger): void {
  for (const axis of AXES) {
    const { state, reason } = after[axis];
    const isPassing = reason === null || PASSING.test(reason);
    const isSame = state === before[axis].state;
    if (isSame && (isPassing || told.get(axis) === `${state} ${reason}`)) continue;
    told.set(axis, `${state} ${reason}`);
    log[levelOf(state, before[axis].state, isPassing)](
      { axis, state, reason, set: after.set },
      `${axis} is now ${state}`,
    );
  }
  if (after.latched && !before.latched)
    log.info({ generation: after.generation?.number, set: after.set }, 'ready');
}

/** Every start on a cache passes through `cached`, and every change through `unapplied`: that is worth no warning. */
function levelOf(state: string, before: string, isPassing: boolean): 'debug' | 'info' | 'warn' {
  if (state === 'unapplied' && isPassing) return 'debug';
  if (state === 'unknown') return before === 'unknown' ? 'info' : 'warn';
  return WORSE.has(state) && !(state === 'cached' && isPassing) ? 'warn' : 'info';
}
