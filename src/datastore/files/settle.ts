/**
 * When a changed file may be read. Editors and tools save in steps: truncate and write, delete and create, rename over.
 * A file is read when it looked the same for a while, and the files of one burst are read together, so that a deployment
 * of several files is not seen half way. Pure: the caller looks at the directory again when this says so.
 */
export interface SettleState {
  /** Signature of each file as it was last read. */
  readonly known: ReadonlyMap<string, string>;
  /** What looks different now, how (null: it is not there), and since when. */
  readonly pending: ReadonlyMap<string, Pending>;
  /** When the present burst of changes began; null when there is none. */
  readonly burstSince: number | null;
}

interface Pending {
  readonly signature: string | null;
  readonly since: number;
}

export interface Settled {
  readonly state: SettleState;
  /** Files to read now, in no particular order. */
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** Look again after this many ms; null when everything is settled. */
  readonly waitMs: number | null;
}

export const NOTHING_KNOWN: SettleState = { known: new Map(), pending: new Map(), burstSince: null };

/** A burst that does not end (a file that is appended to all the time) holds the others up for this many settle times. */
const LONGEST_BURST = 10;

/** `now` is monotonic ms. A `settleMs` of 0 settles everything at once. */
export function settle(
  state: SettleState,
  seen: ReadonlyMap<string, { readonly signature: string }>,
  now: number,
  settleMs: number,
): Settled {
  const pending = stillPending(state, seen, now);
  if (pending.size === 0) return quiet(state.known);
  const burstSince = state.burstSince ?? now;
  const ages = [...pending.values()].map(({ since }) => now - since);
  const waitMs = Math.max(1, settleMs - Math.max(...ages.filter((age) => age < settleMs), 0));
  const moving = ages.some((age) => age < settleMs);
  if (moving && now - burstSince < LONGEST_BURST * settleMs) {
    return { state: { known: state.known, pending, burstSince }, changed: [], gone: [], waitMs };
  }
  const ready = [...pending].filter(([, { since }]) => now - since >= settleMs);
  const known = new Map(state.known);
  for (const [path, { signature }] of ready) {
    if (signature === null) known.delete(path);
    else known.set(path, signature);
    pending.delete(path);
  }
  return {
    state: { known, pending, burstSince: pending.size === 0 ? null : burstSince },
    changed: ready.filter(([, { signature }]) => signature !== null).map(([path]) => path),
    gone: ready.filter(([, { signature }]) => signature === null).map(([path]) => path),
    waitMs: pending.size === 0 ? null : waitMs,
  };
}

/** The state after which the next look reads these files again, whatever they look like. */
export function forget(state: SettleState, paths: Iterable<string>): SettleState {
  const known = new Map(state.known);
  for (const path of paths) if (known.has(path)) known.set(path, '');
  return { ...state, known };
}

function stillPending(
  { known, pending }: SettleState,
  seen: ReadonlyMap<string, { readonly signature: string }>,
  now: number,
): Map<string, Pending> {
  const result = new Map<string, Pending>();
  const note = (path: string, signature: string | null): void => {
    const before = pending.get(path);
    result.set(path, before?.signature === signature ? before : { signature, since: now });
  };
  for (const [path, { signature }] of seen) if (known.get(path) !== signature) note(path, signature);
  for (const path of known.keys()) if (!seen.has(path)) note(path, null);
  return result;
}

function quiet(known: ReadonlyMap<string, string>): Settled {
  return { state: { known, pending: new Map(), burstSince: null }, changed: [], gone: [], waitMs: null };
}
