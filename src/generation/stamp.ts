import { createHash } from 'node:crypto';
import { encodeText, JoinedText, type Pieces } from '../core/joined-text.ts';
import type { SessionSummary } from '../model/types.ts';
import { canonicalJson } from './canonical.ts';
import type { Stamp, StampedFile, StampInput } from './types.ts';

export const PRODUCT = 'birdfeed';

/** What {@link canonicalJson} makes of sessions, without the brackets; written out because there may be ten thousand. */
function sessionsJson(sessions: readonly SessionSummary[]): string {
  const sorted = sessions.map(
    ({ address, asNumber, family, hardDigest, name, type }) =>
      ({ address, asNumber, family, hardDigest, name, type }) satisfies SessionSummary,
  );
  return JSON.stringify(sorted).slice(1, -1);
}

/** What the store adds to the caller's part of a stamp. */
export interface StampFrame {
  readonly version: string;
  readonly generation: number;
  readonly parent: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly files: readonly StampedFile[];
}

/**
 * Sessions are nearly all of a reflector's stamp, and those that did not change are the very same objects in the next
 * generation.
 */
const sessionTexts = new JoinedText<SessionSummary>(',');

/** The stamp and the content of `stamp.json`: canonical JSON and a final newline. */
export function makeStamp(input: StampInput, frame: StampFrame): { stamp: Stamp; content: Pieces } {
  const { sessions, ...facts } = input;
  const head = {
    ...facts,
    format: 1 as const,
    product: PRODUCT,
    version: frame.version,
    generation: frame.generation,
    parent: frame.parent,
    createdAt: new Date(frame.createdAt).toISOString(),
    files: frame.files,
  };
  // The one long member is put in as text. Its place among the sorted keys comes from sorting a short stand-in.
  const [before, after] = splitAt(canonicalJson({ ...head, sessions: [] }), ',"sessions":[', 'after');
  const [between, rest] = splitAt(after, ',"templatesDigest":', 'before');
  const signed = [encodeText(before), ...sessionTexts.join(sessions, sessionsJson), encodeText(between)];
  const hash = createHash('sha256');
  for (const part of signed) hash.update(part);
  const stampDigest = hash.update(rest).digest('hex');
  const content = [...signed, encodeText(`${DIGEST_KEY}${stampDigest}"${rest}\n`)];
  return { stamp: { ...head, sessions, stampDigest }, content };
}

/** Why bytes are no stamp: `torn` for what a crash leaves, `edited` for what a crash does not. */
export interface StampFault {
  readonly fault: 'torn' | 'edited';
  readonly finding: string;
}

/**
 * Reads `stamp.json`. The digest covers the bytes as they are, so any change of a byte is found without putting the
 * text in canonical form again. Sessions are parsed when they are first looked at: nobody does at boot, and for 10,000
 * of them that would be most of the time that verifying takes.
 */
export function parseStamp(bytes: Uint8Array): Stamp | StampFault {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text.length === 0) return { fault: 'torn', finding: 'is empty' };
  if (text.at(-1) !== 0x0a) return { fault: 'torn', finding: 'ends in the middle' };
  const digestAt = text.lastIndexOf(DIGEST_KEY);
  const digestEnd = digestAt + DIGEST_KEY.length + 64;
  if (digestAt < 0 || text[digestEnd] !== 0x22)
    return { fault: 'edited', finding: 'has no digest of its own' };
  const stampDigest = text.toString('latin1', digestEnd - 64, digestEnd);
  const actual = createHash('sha256')
    .update(text.subarray(0, digestAt))
    .update(text.subarray(digestEnd + 1, -1))
    .digest('hex');
  if (actual !== stampDigest) return { fault: 'edited', finding: 'does not match its own digest' };
  const stamp = decode(text);
  if (stamp?.format === 1 && stamp.product === PRODUCT) return stamp;
  return { fault: 'edited', finding: 'has a format which this version does not read' };
}

export function isStampFault(result: Stamp | StampFault): result is StampFault {
  return 'fault' in result;
}

// Quotes inside a JSON string are always escaped, so these texts can only be keys.
const DIGEST_KEY = ',"stampDigest":"';
const SESSIONS_KEY = ',"sessions":[';
const AFTER_SESSIONS = '],"set":';

/** Both sides of a key that is known to be there; the key itself goes to the left (`after`) or to the right (`before`). */
function splitAt(text: string, key: string, side: 'before' | 'after'): readonly [string, string] {
  const at = text.lastIndexOf(key) + (side === 'after' ? key.length : 0);
  return [text.slice(0, at), text.slice(at)];
}

/** Null when the text is not ours after all: another product's, or a later version's. */
function decode(text: Buffer): Stamp | null {
  const from = text.indexOf(SESSIONS_KEY) + SESSIONS_KEY.length;
  const to = text.lastIndexOf(AFTER_SESSIONS);
  if (from < SESSIONS_KEY.length || to < from) return null;
  try {
    const head = JSON.parse(text.toString('utf8', 0, from) + text.toString('utf8', to)) as Stamp;
    return withLazySessions(head, text.subarray(from - 1, to + 1));
  } catch {
    return null;
  }
}

function withLazySessions(head: Stamp, text: Buffer): Stamp {
  let sessions: readonly SessionSummary[] | undefined;
  return Object.defineProperty(head, 'sessions', {
    enumerable: true,
    get() {
      sessions ??= JSON.parse(text.toString('utf8')) as SessionSummary[];
      return sessions;
    },
  });
}
