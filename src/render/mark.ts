import { createHash } from 'node:crypto';
import { encodeText } from '../core/joined-text.ts';
import { MARK_PLACEHOLDER } from './mark-placeholder.ts';
import type { RenderedFile } from './types.ts';

/** A file as templates print it: text, with the placeholder where the mark goes. */
export interface RenderedText {
  readonly name: string;
  readonly text: string;
}

export interface SealedContent {
  readonly files: readonly RenderedFile[];
  /** SHA-256 (hex) over names and contents, taken before the mark is put in. */
  readonly contentDigest: string;
  /** What BIRD's `eval` of the mark shows: the first 32 digits of the digest. */
  readonly mark: string;
}

const PLACEHOLDER = Buffer.from(MARK_PLACEHOLDER);

/**
 * Turns rendered text into the bytes of a generation. The digest covers all files in the order given (names and contents,
 * each with its length, so that no two sets of files can be confused), and the mark made of it replaces the placeholder in
 * every file. Equal input gives equal bytes.
 */
export function sealContent(files: readonly RenderedText[]): SealedContent {
  const hash = createHash('sha256');
  const drafts = files.map(({ name, text }) => ({ name, content: encodeText(text) }));
  for (const { name, content } of drafts) {
    hash.update(`${Buffer.byteLength(name)}:${name}${content.length}:`);
    hash.update(content);
  }
  const contentDigest = hash.digest('hex');
  const mark = contentDigest.slice(0, PLACEHOLDER.length);
  for (const { content } of drafts) replaceInPlace(content, Buffer.from(mark));
  return { files: drafts, contentDigest, mark };
}

/** Mark and placeholder have the same length, so no bytes move. */
function replaceInPlace(content: Buffer, mark: Buffer): void {
  for (
    let at = content.indexOf(PLACEHOLDER);
    at !== -1;
    at = content.indexOf(PLACEHOLDER, at + mark.length)
  ) {
    mark.copy(content, at);
  }
}
