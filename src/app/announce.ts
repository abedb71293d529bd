import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import { asBirdfeedError } from '../core/errors.ts';
import { decodePieces } from '../core/joined-text.ts';
import type { Logger } from '../core/log.ts';
import { writeOut } from '../core/stdout.ts';
import type { Generation } from '../generation/types.ts';
import { compareSessions, describeSessionChanges, type NamedText, unifiedDiff } from './changes.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { Rendering } from './set-plan.ts';

export interface Announcement {
  readonly options: Options;
  readonly log: Logger;
  readonly set: string;
  readonly generation: Generation;
  readonly previous: Generation | null;
}

/**
 * Says what a new generation changes: one log line, and for a template author the diff on standard output. Never rejects,
 * and need not be waited for.
 */
export async function announceGeneration({
  options,
  log,
  set,
  generation,
  previous,
}: Announcement): Promise<void> {
  const changes = compareSessions(previous?.stamp.sessions ?? [], generation.stamp.sessions);
  const fields = { set, generation: generation.number, digest: generation.stamp.contentDigest.slice(0, 12) };
  log.info(
    { ...fields, sessions: generation.stamp.sessions.length, changes: describeSessionChanges(changes) },
    'generation published',
  );
  if (previous !== null) await showDiff(options, log, () => [textsOf(previous), textsOf(generation)]);
}

export interface Intent {
  readonly options: Options;
  readonly log: Logger;
  readonly set: string;
  readonly current: Generation | null;
  readonly intent: Extract<RunOutcome, { type: 'would-change' }>;
}

/** The same for what `--noop` does not publish. */
export async function announceIntent({ options, log, set, current, intent }: Intent): Promise<void> {
  const { computation, rendering } = intent.change;
  const { sessions } = computation;
  const changes = describeSessionChanges(compareSessions(current?.stamp.sessions ?? [], sessions));
  log.info(
    { set, sessions: sessions.length, changes },
    'would publish a new generation; nothing written (noop)',
  );
  if (current !== null) await showDiff(options, log, () => [textsOf(current), namedTexts(rendering)]);
}

async function showDiff(
  options: Options,
  log: Logger,
  texts: () => readonly [before: readonly NamedText[], after: readonly NamedText[]],
): Promise<void> {
  if (!showsDiff(options)) return;
  try {
    writeOut(await unifiedDiff(...texts()));
  } catch (error) {
    // A generation may be pruned before it is read: no reason to end.
    log.warn({ reason: asBirdfeedError(error).message }, 'changes not shown');
  }
}

function showsDiff({ showDiff, fixtures }: Options): boolean {
  if (showDiff !== 'auto') return showDiff === 'always';
  return fixtures !== null && process.stdout.isTTY === true;
}

/** Rendered files, as text. */
export function namedTexts({ files }: Rendering): readonly NamedText[] {
  return files.map(({ name, content }) => ({ name, text: decodePieces(content) }));
}

/** The files of a generation, as text. */
export function textsOf({ directory, stamp }: Generation): readonly NamedText[] {
  return stamp.files.map(({ name }) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
}
