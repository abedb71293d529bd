import { createHash } from 'node:crypto';
import { sizeOf } from '../core/joined-text.ts';
import { MARK_PLACEHOLDER } from './mark-placeholder.ts';
import type { RenderedFile } from './types.ts';

export interface SealedContent {
  readonly files: readonly RenderedFile[];
  /** SHA-256 (hex) over names and contents, taken before the mark is put in. */
  readonly contentDigest: string;
  /** What BIRD's `eval` of the mark shows: the first 32 digits of the digest. */
  readonly mark: string;
}

const PLACEHOLDER = Buffer.from(MARK_PLACEHOLDER);

/**
 * Turns files as templates print them, with the placeholder where the mark goes, into the bytes of a generation. The digest
 * covers all files in the order given (names and contents, each with its length, so that no two sets of files can be
 * confused), and the mark made of it replaces the placeholder in every file. Equal input gives equal bytes.
 */
export function sealContent(drafts: readonly RenderedFile[]): SealedContent {
  const hash = createHash('sha256');
  for (const { name, content } of drafts) {
    hash.update(`${Buffer.byteLength(name)}:${name}${sizeOf(content)}:`);
    for (const piece of content) hash.update(piece);
  }
  const contentDigest = hash.digest('hex');
  const mark = contentDigest.slice(0, PLACEHOLDER.length);
  const bytes = Buffer.from(mark);
  const files = drafts.map(({ name, content }) => ({ name, content: content.map((p) => marked(p, bytes)) }));
  return { files, contentDigest, mark };
}

/** Mark and placeholder have the same length, so no bytes move. A placeholder is printed in one go: it lies in one piece. */
function marked(piece: Uint8Array, mark: Buffer): Uint8Array {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  const first = bytes.indexOf(PLACEHOLDER);
  if (first === -1) return piece;
  const copy = Buffer.from(bytes);
  for (let at = first; at !== -1; at = copy.indexOf(PLACEHOLDER, at + mark.length)) mark.copy(copy, at);
  return copy;
}
