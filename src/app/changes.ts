import type { SessionSummary } from '../model/types.ts';

/** What a new generation does to the sessions, by protocol name. */
export interface SessionChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Changed in a way that makes BIRD drop and re-open them (password, timers, cluster id ...). */
  readonly reset: readonly string[];
}

export function compareSessions(
  before: readonly SessionSummary[],
  after: readonly SessionSummary[],
): SessionChanges {
  const differing = withoutSameEnds(before, after);
  const old = new Map(differing.before.map((session) => [session.name, session]));
  const added: string[] = [];
  const reset: string[] = [];
  for (const session of differing.after) {
    const previous = old.get(session.name);
    old.delete(session.name);
    if (previous === undefined) added.push(session.name);
    else if (previous.hardDigest !== session.hardDigest) reset.push(session.name);
  }
  return { added, removed: [...old.keys()], reset };
}

/** Both lists without what is the same, by identity, at their beginnings and ends: of many sessions few change. */
function withoutSameEnds<T>(
  before: readonly T[],
  after: readonly T[],
): { before: readonly T[]; after: readonly T[] } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { before: before.slice(start, before.length - end), after: after.slice(start, after.length - end) };
}

/** `sessions: 1 added (Mesh_10_0_0_3), 2 removed, 0 reset`, or `no session changes`. */
export function describeSessionChanges(changes: SessionChanges): string {
  const parts = (['added', 'removed', 'reset'] as const)
    .filter((kind) => changes[kind].length > 0)
    .map((kind) => `${changes[kind].length} ${kind} (${someOf(changes[kind])})`);
  return parts.length === 0 ? 'no session is added, removed or reset' : `sessions: ${parts.join(', ')}`;
}

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown}, ...` : shown;
}

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/**
 * A unified diff over the files of two generations. Values of `password` statements are blanked on both sides, so that
 * a diff can be pasted; that one changed still shows, by the session counted as reset.
 */
export async function unifiedDiff(
  before: readonly NamedText[],
  after: readonly NamedText[],
): Promise<string> {
  const { createTwoFilesPatch } = await import('diff');
  const names = [...new Set([...before, ...after].map((file) => file.name))].sort();
  const text = (files: readonly NamedText[], name: string): string =>
    redactPasswords(files.find((file) => file.name === name)?.text ?? '');
  const patches = names
    .filter((name) => text(before, name) !== text(after, name))
    .map((name) =>
      createTwoFilesPatch(
        `current/${name}`,
        `new/${name}`,
        text(before, name),
        text(after, name),
        undefined,
        undefined,
        { context: 2 },
      ),
    );
  return patches.map((patch) => patch.replace(/^=+\n/, '')).join('');
}

function redactPasswords(text: string): string {
  return text.replaceAll(/(\bpassword\s+)"[^"\n]*"/g, '$1"[redacted]"');
}
