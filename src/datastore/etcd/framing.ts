import { GRPC, GrpcError, violation } from './grpc-error.ts';

/** Before each message: a byte that says whether it is compressed, and its length in four. */
const PREFIX_BYTES = 5;

export function withPrefix(message: Buffer): Buffer {
  const framed = Buffer.alloc(PREFIX_BYTES + message.length);
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, PREFIX_BYTES);
  return framed;
}

/** Puts messages together again, wherever the chunks that they come in begin and end. */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #onMessage: (message: Buffer) => void;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  /** What is being filled: the prefix or a message. */
  #target: Buffer = this.#prefix;
  #filled = 0;

  constructor(maxBytes: number, onMessage: (message: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** Whether what was pushed so far ends with a whole message. */
  get isBetween(): boolean {
    return this.#target === this.#prefix && this.#filled === 0;
  }

  /** Throws a GrpcError for what is compressed or larger than allowed, before any of it is kept. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(this.#target, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === this.#target.length) this.#turn();
    }
  }

  #turn(): void {
    const full = this.#target;
    this.#filled = 0;
    if (full !== this.#prefix) {
      this.#target = this.#prefix;
      return this.#onMessage(full);
    }
    const length = full.readUInt32BE(1);
    if (full[0] !== 0) throw violation('it sent a compressed message, which nobody asked for');
    if (length > this.#maxBytes) throw tooLarge(length, this.#maxBytes);
    if (length === 0) return this.#onMessage(Buffer.alloc(0));
    this.#target = Buffer.allocUnsafe(length);
  }
}

function tooLarge(length: number, max: number): GrpcError {
  return new GrpcError(GRPC.resourceExhausted, `Received message larger than max (${length} vs ${max})`);
}
