/** UTF-8 in pieces, to be read one after the other. Nobody may change a piece: the same one may be part of the next text. */
export type Pieces = readonly Uint8Array[];

/** Items whose text is kept as one piece: few pieces to put together, and little to renew when an item changes. */
const STRETCH = 128;

interface Stretch {
  readonly items: readonly object[];
  readonly piece: Uint8Array;
}

/**
 * The text of many objects, made again and again while only few of the objects change. It belongs to their identity: an
 * object with other contents has to be another object. What is returned are pieces of a few ten kilobytes, in which only
 * those with a changed object are new: putting megabytes together, and encoding them, each time costs more than everything
 * else about a change.
 */
export class JoinedText<T extends object> {
  readonly #separator: Uint8Array;
  /** By the first object of a stretch, so that several lists can be joined in turns. */
  readonly #stretches = new WeakMap<T, Stretch>();

  constructor(separator = '') {
    this.#separator = Buffer.from(separator);
  }

  /** `textOf` gives the text of some consecutive items, with separators. It is asked where one of them is new or moved. */
  join(items: readonly T[], textOf: (items: readonly T[]) => string): Pieces {
    const joined: Uint8Array[] = [];
    for (let at = 0; at < items.length; at += STRETCH) {
      if (at > 0 && this.#separator.length > 0) joined.push(this.#separator);
      joined.push(this.#stretch(items, at, textOf));
    }
    return joined;
  }

  #stretch(items: readonly T[], at: number, textOf: (items: readonly T[]) => string): Uint8Array {
    const first = items[at]!;
    const known = this.#stretches.get(first);
    if (known !== undefined && isAt(known.items, items, at)) return known.piece;
    const own = items.slice(at, at + STRETCH);
    const stretch = { items: own, piece: encodeText(textOf(own)) };
    // Where a list has moved by one, other items come first: without this, all that it ever was would be kept.
    for (const item of own) this.#stretches.delete(item);
    this.#stretches.set(first, stretch);
    return stretch.piece;
  }
}

/** Whether `stretch` is what lies at `at`, as far as a stretch goes. */
function isAt(stretch: readonly object[], items: readonly object[], at: number): boolean {
  if (stretch.length !== Math.min(STRETCH, items.length - at)) return false;
  for (let i = 0; i < stretch.length; i += 1) if (stretch[i] !== items[at + i]) return false;
  return true;
}

/**
 * The same text as one flat string. Concatenation builds trees of pieces; kept and written out again and again they cost
 * milliseconds and hold on to memory. V8 puts the pieces together when it is asked for a character.
 */
export function flatText(text: string): string {
  text.charCodeAt(0);
  return text;
}

/** UTF-8. Much faster than `Buffer.from` where the text is ASCII, as configurations nearly always are. */
export function encodeText(text: string): Buffer {
  const isAscii = Buffer.byteLength(text) === text.length;
  return Buffer.from(text, isAscii ? 'latin1' : 'utf8');
}

export function decodePieces(pieces: Pieces): string {
  return Buffer.concat(pieces).toString('utf8');
}

/** In bytes. */
export function sizeOf(pieces: Pieces): number {
  return pieces.reduce((size, piece) => size + piece.length, 0);
}
