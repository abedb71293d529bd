import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import type { Logger } from '../core/log.ts';
import type { Generation } from '../generation/types.ts';
import { compareSessions, describeSessionChanges, type NamedText, unifiedDiff } from './changes.ts';
import type { RunOutcome } from './set-loop.ts';

export interface Announcement {
  readonly options: Options;
  readonly log: Logger;
  readonly set: string;
  readonly generation: Generation;
  readonly previous: Generation | null;
}

/** Says what a new generation changes: one log line, and for a template author the diff on standard output. */
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
  if (!showsDiff(options) || previous === null) return;
  process.stdout.write(await unifiedDiff(textsOf(previous), textsOf(generation)));
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
  const { sessions } = intent.computation;
  const changes = describeSessionChanges(compareSessions(current?.stamp.sessions ?? [], sessions));
  log.info(
    { set, sessions: sessions.length, changes },
    'would publish a new generation; nothing written (noop)',
  );
  if (!showsDiff(options) || current === null) return;
  const after = intent.rendering.files.map(({ name, content }) => ({
    name,
    text: Buffer.from(content).toString('utf8'),
  }));
  process.stdout.write(await unifiedDiff(textsOf(current), after));
}

function showsDiff({ showDiff, fixtures }: Options): boolean {
  if (showDiff !== 'auto') return showDiff === 'always';
  return fixtures !== null && process.stdout.isTTY === true;
}

/** The rendered files of a generation, as text. */
export function textsOf({ directory, stamp }: Generation): readonly NamedText[] {
  return stamp.files.map(({ name }) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
}
