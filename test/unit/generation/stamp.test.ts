import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import { canonicalJson } from '../../../src/generation/canonical.ts';
import * as stamps from '../../../src/generation/stamp.ts';
import { isStampFault, parseStamp } from '../../../src/generation/stamp.ts';
import { session, stampInput } from './support.ts';

const frame = {
  version: '1.2.3',
  generation: 42,
  parent: 41,
  createdAt: Date.UTC(2026, 10, 30),
  files: [{ name: 'bird.conf', size: 3, mode: '0640', sha256: 'ff' }],
};

const makeStamp = (...args: Parameters<typeof stamps.makeStamp>) => {
  const { stamp, content } = stamps.makeStamp(...args);
  return { stamp, bytes: Buffer.concat(content) };
};

describe('makeStamp', () => {
  it('writes canonical JSON that reads back as the same stamp', () => {
    const { stamp, bytes } = makeStamp(stampInput(), frame);
    expect(parseStamp(bytes)).toEqual(stamp);
    expect(Buffer.from(bytes).toString()).toBe(`${canonicalJson(stamp)}\n`);
  });

  it('gives equal input equal bytes, whatever the order of its members', () => {
    const input = stampInput();
    const reversed = Object.fromEntries(Object.entries(input).reverse()) as unknown as typeof input;
    expect(makeStamp(reversed, frame).bytes).toEqual(makeStamp(input, frame).bytes);
  });

  it('survives names that look like its own syntax', () => {
    const evil = [session('],"set":"x'), session('$&,"sessions":[]$1'), session(',"stampDigest":"ö\u2028')];
    const { stamp, bytes } = makeStamp(stampInput({ sessions: evil, nodeName: ',"sessions":[]' }), frame);
    const read = parseStamp(bytes);
    expect(read).toEqual(stamp);
    expect(isStampFault(read) ? [] : read.sessions).toEqual(evil);
  });

  it('keeps no sessions as no sessions', () => {
    const { stamp, bytes } = makeStamp(stampInput({ sessions: [], census: null }), frame);
    expect(parseStamp(bytes)).toEqual(stamp);
  });
});

describe('parseStamp', () => {
  it.each([
    ['nothing', Buffer.alloc(0), 'torn'],
    ['half of it', makeStamp(stampInput(), frame).bytes.subarray(0, 200), 'torn'],
    ['zeros, as a power loss leaves', Buffer.alloc(500), 'torn'],
    ['something else', Buffer.from('{}\n'), 'edited'],
  ])('refuses %s', (_what, bytes, fault) => {
    expect(parseStamp(bytes)).toMatchObject({ fault });
  });

  it.each([
    ['another format', { format: 2 }],
    ['another product', { product: 'x' }],
    ['a stamp without sessions', { sessions: undefined }],
  ])('refuses %s although the digest is right', (_what, change) => {
    const { stampDigest: _, ...unsigned } = { ...makeStamp(stampInput(), frame).stamp, ...change };
    const stampDigest = sha256(canonicalJson(unsigned));
    const text = `${canonicalJson({ ...unsigned, stampDigest })}\n`;
    expect(parseStamp(Buffer.from(text))).toEqual({
      fault: 'edited',
      finding: 'has a format which this version does not read',
    });
  });

  it('notices any change of any byte', () => {
    const { bytes } = makeStamp(stampInput(), frame);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Uint8Array.from(bytes);
        changed[at]! ^= flip;
        expect(isStampFault(parseStamp(changed))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('canonicalJson', () => {
  it('sorts keys at every depth and drops undefined members', () => {
    expect(canonicalJson({ b: [{ z: 1, a: undefined }], a: null, B: 'ü"' })).toBe(
      '{"B":"ü\\"","a":null,"b":[{"z":1}]}',
    );
  });

  it('means what JSON means', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
