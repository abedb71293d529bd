import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import type { CacheFs } from './fs.ts';
import { errnoOf, guardFs } from './fs-errors.ts';
import { replaceFile } from './replace-file.ts';
import { isRecord, readSignedJson, signedJson } from './signed-json.ts';
import { type CacheState, type Hold, INITIAL_STATE, type Pin } from './state.ts';

/** What is on disk besides the state file, for guessing what a damaged one said. */
export interface StateEvidence {
  /** The number that `current` names. */
  readonly current: number | null;
  /** The highest number of a sealed generation. */
  readonly newest: number | null;
}

export interface LoadedState {
  readonly state: CacheState;
  /** One line for the operator when the file was damaged and its contents had to be guessed; else null. */
  readonly problem: string | null;
}

/**
 * Reads `state.json`, synchronously for the sake of the start. A damaged file is rebuilt on the safe side, which is the
 * side of *not* publishing:
 *
 * - approvals are dropped: what was held is held again, because the guard judges anew from the stamps;
 * - a pin or hold that can still be read is kept;
 * - without a readable pin, a generation newer than `current` counts as the trace of a rollback, and `current` is pinned
 *   until `resume`. It may also be the trace of a death between sealing and switching, but the two look alike, and
 *   undoing a rollback is the worse mistake;
 * - acknowledgements are dropped, so every daemon is asked again; verdicts too, which costs one more refusal each.
 *
 * A missing file is not damage: somebody removed it, or the cache is new.
 */
export function loadState(path: string, evidence: () => StateEvidence, now: number): LoadedState {
  const read = readBytes(path);
  if (read === null) return { state: INITIAL_STATE, problem: null };
  if (typeof read === 'string') return rebuilt(path, `cannot be read (${read})`, undefined, evidence(), now);
  const signed = readSignedJson(read);
  if (signed.type === 'damaged') return rebuilt(path, signed.finding, signed.value, evidence(), now);
  if (signed.value['format'] !== 1) {
    return rebuilt(path, 'has a format which this version does not read', signed.value, evidence(), now);
  }
  // Our own text: its digest was right and its format is ours.
  // What an older version did not know is as at the beginning.
  return { state: { ...INITIAL_STATE, ...(signed.value as unknown as CacheState) }, problem: null };
}

function readBytes(path: string): Uint8Array | string | null {
  try {
    return readFileSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === null) throw error;
    return errno === 'ENOENT' ? null : errno;
  }
}

function rebuilt(
  path: string,
  finding: string,
  value: unknown,
  evidence: StateEvidence,
  now: number,
): LoadedState {
  const since = new Date(now).toISOString();
  const salvage = isRecord(value) ? value : {};
  const pin = salvagedPin(salvage['pin']) ?? suspectedPin(evidence, since);
  const hold = salvagedHold(salvage['hold']);
  const kept = [
    ...(pin === null ? [] : [`generation ${pin.generation} stays pinned until resume`]),
    ...(hold === null ? [] : ['the hold stays']),
  ];
  const problem = `${path} ${finding}: rebuilt without approvals and acknowledgements${kept.map((text) => `; ${text}`).join('')}`;
  return { state: { ...INITIAL_STATE, pin, hold }, problem };
}

function salvagedPin(value: unknown): Pin | null {
  if (!isRecord(value)) return null;
  const { generation, since } = value;
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation) || typeof since !== 'string')
    return null;
  return { generation, since, by: value['by'] === 'operator' ? 'operator' : 'state-lost' };
}

function suspectedPin({ current, newest }: StateEvidence, since: string): Pin | null {
  return current !== null && newest !== null && newest > current
    ? { generation: current, by: 'state-lost', since }
    : null;
}

function salvagedHold(value: unknown): Hold | null {
  if (!isRecord(value)) return null;
  const { digest, messages, since } = value;
  if (typeof digest !== 'string' || typeof since !== 'string' || !Array.isArray(messages)) return null;
  return { digest, since, messages: messages.filter((message) => typeof message === 'string') };
}

/** The state of one set: read at once, written in order, the newest value last. */
export interface StateStore {
  readonly value: CacheState;
  /**
   * Applies `change` at once and writes the file, mode 0600. A write that is under way is followed by one more, however
   * many changes came meanwhile. Rejects with BF_CACHE_* when the file cannot be written; the value in memory has
   * changed all the same, and the next update writes it too.
   */
  update(change: (state: CacheState) => CacheState): Promise<void>;
  /** Notes that the datastore confirms `current` now; writes at most once a minute. */
  confirm(): Promise<void>;
}

export interface StateDeps {
  readonly fs: CacheFs;
  readonly clock: Clock;
}

const CONFIRM_EVERY_MS = 60_000;

export function stateStore(path: string, initial: CacheState, { fs, clock }: StateDeps): StateStore {
  let value = initial;
  let written: CacheState | null = null;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let tail: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const next = value;
    if (next === written) return;
    await guardFs('cache', 'write', path, () =>
      replaceFile(fs, path, signedJson(next), { staging: stagingOf(path) }),
    );
    written = next;
  }

  function save(): Promise<void> {
    const saved = tail.then(write);
    tail = saved.catch(() => undefined);
    return saved;
  }

  return {
    get value() {
      return value;
    },
    update(change) {
      const next = change(value);
      if (next === value && next === written) return Promise.resolve();
      value = next;
      return save();
    },
    confirm() {
      if (clock.monotonic() - confirmedAt < CONFIRM_EVERY_MS) return Promise.resolve();
      confirmedAt = clock.monotonic();
      value = { ...value, confirmedAt: new Date(clock.now()).toISOString() };
      return save();
    },
  };
}

/** Where a file of the cache is staged: hidden, and swept at start by this name. */
export function stagingOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.birdfeed-new`);
}
