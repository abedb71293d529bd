import { createHash } from 'node:crypto';
import type { Pieces } from './joined-text.ts';

/** SHA-256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** SHA-256 over all pieces, in lower-case hex. */
export function sha256OfPieces(pieces: Pieces): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

const ofPieces = new WeakMap<Uint8Array, Buffer>();

/** SHA-256 of one piece, in bytes. Kept while the piece is: of a long text few pieces are new each time. */
export function sha256OfPiece(piece: Uint8Array): Buffer {
  const known = ofPieces.get(piece);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(piece).digest();
  ofPieces.set(piece, digest);
  return digest;
}
