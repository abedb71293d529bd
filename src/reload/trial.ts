import { sleep } from '../core/clock.ts';
import { asBirdfeedError, type BirdfeedError } from '../core/errors.ts';
import type { PendingTrial } from '../generation/state.ts';
import { confirm, type LoadOptions, loadFile, readBack, showProtocols, undo } from './bird.ts';
import type { BirdClient } from './socket-client.ts';
import type { ReloadOutcome } from './types.ts';

export interface TrialOptions extends LoadOptions {
  /** After how many seconds BIRD takes it back by itself. */
  readonly seconds: number;
  /** Which sessions are still waited for, whenever these become others. */
  readonly onWaiting: (missing: readonly string[]) => void;
}

/**
 * The part of the time that sessions have to come back; the rest is for taking the change back in an orderly way, before
 * BIRD does so without a word to those who ask for the reason.
 */
const SHARE = 0.8;
/** A session that comes up and goes down at once, as one over its limit does, has not come back. */
const STAYS_UP_MS = 1_000;
const LONGEST_PAUSE_MS = 1_000;

/** The BGP sessions that are established now, by protocol name. */
export async function establishedSessions(client: BirdClient): Promise<readonly string[]> {
  const rows = await showProtocols(client);
  return rows.filter(({ proto, info }) => proto === 'BGP' && isEstablished(info)).map(({ name }) => name);
}

/**
 * Loads a file so that BIRD itself takes it back unless the sessions that were established before come back, and confirms
 * or undoes it. Never rejects. Birdfeed may die at any point: BIRD then goes back by itself.
 */
export async function loadOnTrial(
  client: BirdClient,
  path: string,
  sessions: readonly string[],
  options: TrialOptions,
): Promise<ReloadOutcome> {
  const { clock, seconds } = options;
  const deadline = clock.monotonic() + seconds * 1000 * SHARE;
  const outcome = await loadFile(client, path, { ...options, undoAfterSeconds: seconds });
  return outcome.type === 'applied'
    ? concludeTrial(client, path, { ...options, sessions, deadline })
    : outcome;
}

/**
 * Takes up a trial that an earlier process began, of what BIRD runs now. Whether BIRD still waits for a word does not
 * matter: it is confirmed or undone either way, and what cannot be undone any more is told as undone, so that the
 * generation before is loaded.
 */
export function resumeTrial(
  client: BirdClient,
  path: string,
  trial: PendingTrial,
  options: TrialOptions,
): Promise<ReloadOutcome> {
  const { clock, seconds } = options;
  const leftMs = trial.until - clock.now();
  const isPending = leftMs > 0 && leftMs <= seconds * 1000;
  const deadline = clock.monotonic() + (isPending ? leftMs : seconds * 1000) * SHARE;
  return concludeTrial(client, path, { ...options, sessions: trial.sessions, deadline });
}

interface Watch extends TrialOptions {
  readonly sessions: readonly string[];
  /** On the monotonic clock. */
  readonly deadline: number;
}

async function concludeTrial(client: BirdClient, path: string, watch: Watch): Promise<ReloadOutcome> {
  const { mark, seconds } = watch;
  try {
    const missing = await awaitSessions(client, watch);
    if (missing.length === 0) {
      await confirm(client);
      // BIRD may have gone back a moment before.
      return await readBack(client, path, mark);
    }
    await undo(client, watch);
    const message = `${describeMissing(missing)} did not come back within ${Math.round(seconds * SHARE)} s`;
    return { type: 'undone', message, birdVersion: client.version };
  } catch (error) {
    return { type: 'condition', error: asBirdfeedError(error) };
  }
}

/**
 * Waits until the sessions that an undone trial had brought down are up again, at most for as long as a trial: what is
 * tried next would be judged without them.
 */
export async function awaitRecovery(
  client: BirdClient,
  sessions: readonly string[],
  options: TrialOptions,
): Promise<void> {
  const deadline = options.clock.monotonic() + options.seconds * 1000;
  await awaitSessions(client, { ...options, sessions, deadline });
}

/** Waits until the sessions are up and stay so; returns those that are not when the time is over. */
async function awaitSessions(client: BirdClient, watch: Watch): Promise<readonly string[]> {
  const { clock, signal, sessions, deadline, onWaiting } = watch;
  let upSince: number | null = null;
  let last = '';
  for (let pause = 50; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    const missing = await missingOf(client, sessions);
    const now = clock.monotonic();
    if (missing.length > 0) upSince = null;
    else upSince ??= now;
    if (sessions.length === 0 || (upSince !== null && now - upSince >= STAYS_UP_MS)) return [];
    if (now >= deadline || signal?.aborted === true) return missing;
    if (missing.join() !== last) onWaiting(missing);
    last = missing.join();
    await sleep(clock, Math.min(pause, Math.max(1, deadline - now)), signal);
  }
}

/** Of these sessions those that BIRD has and that are not established. What the change removed is not missing. */
async function missingOf(client: BirdClient, sessions: readonly string[]): Promise<readonly string[]> {
  if (sessions.length === 0) return [];
  const wanted = new Set(sessions);
  const rows = await showProtocols(client);
  return rows.filter(({ name, info }) => wanted.has(name) && !isEstablished(info)).map(({ name }) => name);
}

function isEstablished(info: string): boolean {
  return info.startsWith('Established');
}

/** `Mesh_10_0_0_2 and 3 more sessions`, `Mesh_10_0_0_2`. */
export function describeMissing(missing: readonly string[]): string {
  const shown = missing.slice(0, 3).join(', ');
  return missing.length > 3 ? `${shown} and ${missing.length - 3} more sessions` : shown;
}

/** After a trial without an end: whether BIRD has never run it, so that the trial does not count. */
export function neverLoaded({ code }: BirdfeedError): boolean {
  return code === 'BF_BIRD_FILE' || code === 'BF_BIRD_PERMISSION' || code === 'BF_BIRD_UNREACHABLE';
}
