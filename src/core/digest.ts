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
