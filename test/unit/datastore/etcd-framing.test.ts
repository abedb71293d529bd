import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageReader, withPrefix } from '../../../src/datastore/etcd/framing.ts';

function reading(maxBytes = 1_000) {
  const messages: Buffer[] = [];
  return { messages, reader: new MessageReader(maxBytes, (message) => messages.push(message)) };
}

describe('messages', () => {
  it('are put together again wherever chunks begin and end', () => {
    const message = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(300)), (sent, cuts) => {
        const { messages, reader } = reading();
        const wire = Buffer.concat(sent.map(withPrefix));
        const places = [...cuts.map((cut) => Math.min(cut, wire.length)), 0, wire.length].toSorted(
          (a, b) => a - b,
        );
        for (const [index, place] of places.entries())
          reader.push(wire.subarray(places[index - 1] ?? 0, place));
        expect(messages).toEqual(sent);
        expect(reader.isBetween).toBe(true);
      }),
    );
  });

  it('have arrived when their last byte has', () => {
    const { messages, reader } = reading();
    const wire = withPrefix(Buffer.from('abc'));
    for (const [index, byte] of wire.entries()) {
      expect([messages.length, reader.isBetween]).toEqual([0, index === 0]);
      reader.push(Buffer.from([byte]));
    }
    expect([String(messages[0]), reader.isBetween]).toEqual(['abc', true]);
  });

  it('do not share memory with the chunks that they came in', () => {
    const { messages, reader } = reading();
    const wire = withPrefix(Buffer.from('abc'));
    reader.push(wire);
    wire.fill(0);
    expect(String(messages[0])).toBe('abc');
  });

  it('larger than allowed are refused by their prefix, and one that just fits is not', () => {
    const { messages, reader } = reading(8);
    reader.push(withPrefix(Buffer.alloc(8)));
    expect(messages).toHaveLength(1);
    expect(() => reader.push(withPrefix(Buffer.alloc(9)).subarray(0, 5))).toThrow(
      expect.objectContaining({ status: 8, message: 'Received message larger than max (9 vs 8)' }),
    );
  });

  it('that are compressed are refused', () => {
    expect(() => reading().reader.push(Buffer.from([1, 0, 0, 0, 1, 7]))).toThrow(/compressed/);
  });
});
