import { randomBytes } from 'node:crypto';
import { decodePieces, encodeText, type Pieces } from '../core/joined-text.ts';

/** Nothing that a template prints can be taken for a stand-in: it holds a number that is drawn when the process starts. */
const STAND_IN = `fragment ${randomBytes(8).toString('hex')} `;
const STAND_INS = new RegExp(`\\0${STAND_IN}(\\d+)\\0`);

/**
 * What fragments print in one rendering after the other. The template's own text holds short stand-ins for it, so that the
 * kept pieces of a long output are never put together and taken apart again.
 */
export class PrintedFragments {
  #printed: Pieces[] = [];

  standIn(pieces: Pieces): string {
    this.#printed.push(pieces);
    return `\0${STAND_IN}${this.#printed.length - 1}\0`;
  }

  /** Text without stand-ins; anything else as it is. */
  whole(text: unknown): unknown {
    const hasStandIn = typeof text === 'string' && text.includes(STAND_IN);
    return hasStandIn ? decodePieces(this.#withoutStandIns(text)) : text;
  }

  /** The content of what `render` returns. */
  piecesOf(render: () => string): Pieces {
    this.#printed = [];
    try {
      return this.#withoutStandIns(render());
    } finally {
      this.#printed = [];
    }
  }

  #withoutStandIns(text: string): Pieces {
    if (this.#printed.length === 0) return [encodeText(text)];
    return text
      .split(STAND_INS)
      .flatMap((part, index) => (index % 2 === 0 ? [encodeText(part)] : this.#printed[Number(part)]!));
  }
}
