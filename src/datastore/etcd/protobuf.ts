import { BirdfeedError } from '../../core/errors.ts';

/** What there is to know of the wire format of protocol buffers, https://protobuf.dev/programming-guides/encoding/ */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** A 64-bit number takes no more bytes than this. */
const MAX_VARINT_BYTES = 10;

/** The tag of a field that holds a number or a truth value. */
export function numberField(field: number): number {
  return field * 8 + VARINT;
}

/** The tag of a field that holds bytes, text or a message. */
export function bytesField(field: number): number {
  return field * 8 + BYTES;
}

/**
 * Goes from field to field of the message at `start` to `end`. What it finds is in its own properties, and not in objects of
 * their own: a first read has fifty thousand fields. A field of another wire type than expected has another tag, and is
 * passed over like any that is not known.
 * @throws BirdfeedError BF_DATASTORE_PROTOCOL, here and in the getters, for bytes that are no message
 */
export class Reader {
  tag = 0;
  /** Of a length-delimited field: where its bytes are. Of any other: where its encoding is. */
  start = 0;
  end: number;
  readonly #bytes: Buffer;
  readonly #limit: number;
  #value = 0;
  #at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.end = start;
    this.#limit = end;
  }

  next(): boolean {
    if (this.#at >= this.#limit) return false;
    this.tag = this.#varint();
    this.start = this.#at;
    switch (this.tag % 8) {
      case VARINT:
        this.#value = this.#varint();
        break;
      case BYTES:
        this.#value = this.#varint();
        this.start = this.#at;
        this.#at += this.#value;
        break;
      case FIXED64:
        this.#at += 8;
        break;
      case FIXED32:
        this.#at += 4;
        break;
      default:
        throw broken(`a field of the unknown wire type ${this.tag % 8}`);
    }
    if (this.#at > this.#limit) throw broken('a message that ends in the middle');
    this.end = this.#at;
    return true;
  }

  /** A number that counts something: not negative, and exact. */
  get count(): number {
    if (Number.isSafeInteger(this.#value)) return this.#value;
    throw broken(`${this.uint64} for a revision`);
  }

  get bool(): boolean {
    return this.#value !== 0;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(this.start, this.end);
  }

  get text(): string {
    return this.#bytes.toString('utf8', this.start, this.end);
  }

  /** All 64 bits, in decimal. */
  get uint64(): string {
    return String(BigInt.asUintN(64, this.#bits()));
  }

  /** Exact from -2^53 to 2^53. */
  get int64(): number {
    return Number.isSafeInteger(this.#value) ? this.#value : Number(BigInt.asIntN(64, this.#bits()));
  }

  #bits(): bigint {
    let bits = 0n;
    for (let at = this.end - 1; at >= this.start; at -= 1)
      bits = (bits << 7n) | BigInt(this.#bytes[at]! & 0x7f);
    return bits;
  }

  /** Exact up to 2^53. */
  #varint(): number {
    const limit = Math.min(this.#limit, this.#at + MAX_VARINT_BYTES);
    let value = 0;
    for (let unit = 1; this.#at < limit; unit *= 128) {
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    throw broken('a message that ends in the middle');
  }
}

/** A field that is undefined, 0 or false is left out: that is what a reader takes it for then. */
type Field = readonly [tag: number, value: Buffer | string | number | boolean | undefined];

/** A message. Numbers must not be negative. */
export function encode(...fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.flatMap(([tag, value]) => encodeField(tag, value)));
}

function encodeField(tag: number, value: Field[1]): Buffer[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return encodeField(tag, Buffer.from(value));
  if (Buffer.isBuffer(value)) return [varint(tag), varint(value.length), value];
  return Number(value) === 0 ? [] : [varint(tag), varint(Number(value))];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

export function broken(what: string): BirdfeedError {
  return new BirdfeedError('BF_DATASTORE_PROTOCOL', `etcd sent ${what}`);
}
