import { sortedBy } from '../core/order.ts';

/** What one daemon was last seen to run. */
export interface Acknowledgement {
  readonly generation: number;
  readonly contentDigest: string;
  /** `weak` when it could not be read back from the daemon. */
  readonly ack: 'mark' | 'weak';
  /** ISO 8601, UTC; as all times here. */
  readonly at: string;
}

/** A content that a daemon, or the check, refused: not tried again on this BIRD. */
export interface Verdict {
  readonly contentDigest: string;
  readonly birdVersion: string | null;
  readonly message: string;
  readonly at: string;
  /** Set when BIRD took the content, and it was taken back since sessions did not come back. */
  readonly undone?: true;
}

/**
 * A content that BIRD loaded with `configure timeout`, and that nobody has confirmed yet; BIRD goes back by itself. Kept over
 * a restart of ours.
 */
export interface PendingTrial {
  /** The generation's content digest. */
  readonly digest: string;
  /** The sessions that were established before: what the trial is judged by. */
  readonly sessions: readonly string[];
  /** When BIRD undoes it by itself, milliseconds since the epoch. */
  readonly until: number;
  /** How often this content has been on trial without coming to an end. */
  readonly tries: number;
}

export interface Hold {
  /** Digest of the loss, see `guard.ts`. */
  readonly digest: string;
  readonly messages: readonly string[];
  readonly since: string;
}

export interface Pin {
  readonly generation: number;
  /** `state-lost`: the state file was damaged, and it looked as if a pin had been in it. */
  readonly by: 'operator' | 'state-lost';
  readonly since: string;
}

/** What survives a restart, per set. Holds no secret. */
export interface CacheState {
  readonly format: 1;
  /** By target: control socket path or reload command's resource, as the caller names it. */
  readonly acknowledged: Readonly<Record<string, Acknowledgement>>;
  readonly verdicts: readonly Verdict[];
  /** By control socket. */
  readonly trials: Readonly<Record<string, PendingTrial>>;
  readonly hold: Hold | null;
  /** Digests of losses that the operator approved and that are not published yet. */
  readonly approvals: readonly string[];
  readonly pin: Pin | null;
  /** When the datastore last confirmed that `current` is what it asks for; at most a minute old while it does. */
  readonly confirmedAt: string | null;
}

export const INITIAL_STATE: CacheState = {
  format: 1,
  acknowledged: {},
  verdicts: [],
  trials: {},
  hold: null,
  approvals: [],
  pin: null,
  confirmedAt: null,
};

// A template that flips between bad contents must not grow the file without end.
const MOST_VERDICTS = 50;
const MOST_APPROVALS = 20;

export function withAcknowledgement(state: CacheState, target: string, ack: Acknowledgement): CacheState {
  return { ...state, acknowledged: { ...state.acknowledged, [target]: ack } };
}

/** Forgets targets that are no longer configured, so that they do not protect a generation for ever. */
export function withTargets(state: CacheState, targets: readonly string[]): CacheState {
  const kept = Object.entries(state.acknowledged).filter(([target]) => targets.includes(target));
  if (kept.length === Object.keys(state.acknowledged).length) return state;
  return { ...state, acknowledged: Object.fromEntries(kept) };
}

/**
 * The targets which may not run `contentDigest` yet: a reload is owed to each. It follows from what they acknowledged, so
 * it survives restarts and cannot contradict it.
 */
export function reloadOwed(
  state: CacheState,
  targets: readonly string[],
  contentDigest: string,
): readonly string[] {
  return targets.filter((target) => state.acknowledged[target]?.contentDigest !== contentDigest);
}

export function withVerdict(state: CacheState, verdict: Verdict): CacheState {
  const others = state.verdicts.filter(
    (known) => known.contentDigest !== verdict.contentDigest || known.birdVersion !== verdict.birdVersion,
  );
  return { ...state, verdicts: [...others, verdict].slice(-MOST_VERDICTS) };
}

/** Records what a daemon has on trial; null: nothing any more. */
export function withTrial(state: CacheState, target: string, trial: PendingTrial | null): CacheState {
  const { [target]: known, ...others } = state.trials;
  if (trial === null) return known === undefined ? state : { ...state, trials: others };
  return { ...state, trials: { ...others, [target]: trial } };
}

/** The verdict on this content by this BIRD; while no BIRD is known (`null`), by any. */
export function verdictOn(
  state: CacheState,
  contentDigest: string,
  birdVersion: string | null,
): Verdict | undefined {
  const known = state.verdicts.filter((verdict) => verdict.contentDigest === contentDigest);
  const exact = known.find((verdict) => verdict.birdVersion === birdVersion);
  return exact ?? (birdVersion === null ? known[0] : undefined);
}

/** Records a hold; the same loss keeps its first time. */
export function withHold(state: CacheState, hold: Hold): CacheState {
  return state.hold?.digest === hold.digest ? state : { ...state, hold };
}

export function withoutHold(state: CacheState): CacheState {
  return state.hold === null ? state : { ...state, hold: null };
}

/** After something was published: an approval has served. */
export function withoutApprovals(state: CacheState): CacheState {
  return state.approvals.length === 0 ? state : { ...state, approvals: [] };
}

export function withApproval(state: CacheState, digest: string): CacheState {
  if (state.approvals.includes(digest)) return state;
  return { ...state, approvals: [...state.approvals, digest].slice(-MOST_APPROVALS) };
}

export function withPin(state: CacheState, pin: Pin): CacheState {
  return { ...state, pin };
}

export function withoutPin(state: CacheState): CacheState {
  return state.pin === null ? state : { ...state, pin: null };
}

/** Numbers of the generations that the daemons run, for pruning. */
export function acknowledgedGenerations(state: CacheState): readonly number[] {
  return sortedBy(Object.entries(state.acknowledged), ([target]) => target).map(([, ack]) => ack.generation);
}
