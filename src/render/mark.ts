import { createHash } from 'node:crypto';
import { sha256OfPiece } from '../core/digest.ts';
import { MARK_PLACEHOLDER } from './mark-placeholder.ts';
import type { RenderedFile } from './types.ts';

export interface SealedContent {
  readonly files: readonly RenderedFile[];
  /** SHA-256 (hex), taken before the mark is put in. */
  readonly contentDigest: string;
  /** What BIRD's `eval` of the mark shows: the first 32 digits of the digest. */
  readonly mark: string;
}

const PLACEHOLDER = Buffer.from(MARK_PLACEHOLDER);

/**
 * Turns files as templates print them, with the placeholder where the mark goes, into the bytes of a generation. The digest
 * covers all files in the order given, each with its name and the digests of its pieces, counted, so that no two sets of files
 * can be confused; and the mark made of it replaces the placeholder in every file. What is printed of the same lists
 * comes in the same pieces, in any process, so equal input gives equal bytes; and only pieces that are new are read.
 */
export function sealContent(drafts: readonly RenderedFile[]): SealedContent {
  const hash = createHash('sha256');
  for (const { name, content } of drafts) {
    hash.update(`${Buffer.byteLength(name)}:${name}${content.length}:`);
    for (const piece of content) hash.update(sha256OfPiece(piece));
  }
  const contentDigest = hash.digest('hex');
  const mark = contentDigest.slice(0, PLACEHOLDER.length);
  const bytes = Buffer.from(mark);
  const files = drafts.map(({ name, content }) => ({ name, content: content.map((p) => marked(p, bytes)) }));
  return { files, contentDigest, mark };
}

/** Mark and placeholder have the same length, so no bytes move. A placeholder is printed in one go: it lies in one piece. */
function marked(piece: Uint8Array, mark: Buffer): Uint8Array {
  const first = firstPlaceholder(piece);
  if (first === -1) return piece;
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  const copy = Buffer.from(bytes);
  for (let at = first; at !== -1; at = copy.indexOf(PLACEHOLDER, at + mark.length)) mark.copy(copy, at);
  return copy;
}

const placeholders = new WeakMap<Uint8Array, number>();

/** Where the first placeholder of a piece is, or -1. Kept while the piece is. */
function firstPlaceholder(piece: Uint8Array): number {
  const known = placeholders.get(piece);
  if (known !== undefined) return known;
  const first = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).indexOf(PLACEHOLDER);
  placeholders.set(piece, first);
  return first;
}
