import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodePieces } from '../../../src/core/joined-text.ts';
import { sealContent } from '../../../src/render/mark.ts';
import { render } from './support.ts';

const text = decodePieces;
const draft = (name: string, content: string) => ({ name, content: [Buffer.from(content)] });

describe('sealing', () => {
  it('replaces every printed mark in every file by the first 32 digits of the digest', () => {
    const printed = render('a {{ content_mark }} b {{ content_mark }}\n');
    const sealed = sealContent([draft('bird.conf', printed), draft('bird6.conf', `ä${printed}`)]);
    const mark = sealed.contentDigest.slice(0, 32);
    expect(sealed.contentDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(sealed.mark).toBe(mark);
    expect(text(sealed.files[0]!.content)).toBe(`a ${mark} b ${mark}\n`);
    expect(text(sealed.files[1]!.content)).toBe(`äa ${mark} b ${mark}\n`);
  });

  it('takes the digest over names and the digests of the pieces', () => {
    const piece = createHash('sha256').update('xy').digest();
    const expected = createHash('sha256').update('1:a1:').update(piece).digest('hex');
    expect(sealContent([draft('a', 'xy')]).contentDigest).toBe(expected);
  });

  it('gives equal digests for equal input only', () => {
    const digest = (...files: [string, string][]): string =>
      sealContent(files.map(([name, content]) => draft(name, content))).contentDigest;
    const digests = [
      digest(['a', 'x']),
      digest(['b', 'x']),
      digest(['a', 'y']),
      digest(['a', 'x'], ['b', '']),
      digest(['a', ''], ['b', 'x']),
      digest(['a', 'x1:b0:']),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(digest(['a', 'x'])).toBe(digests[0]);
  });

  it('leaves pieces as they are, and puts the mark where it belongs in any of them', () => {
    const printed = render('a {{ content_mark }} b');
    const pieces = [printed.slice(0, 1), printed.slice(1, -2), printed.slice(-2)].map((p) => Buffer.from(p));
    const { files, mark } = sealContent([{ name: 'f', content: pieces }]);
    expect(text(files[0]!.content)).toBe(`a ${mark} b`);
    expect(text(pieces)).toBe(printed);
    expect(files[0]!.content[0]).toBe(pieces[0]);
  });

  it('tells contents apart that differ only in where a piece ends', () => {
    const of = (...pieces: string[]): string =>
      sealContent([{ name: 'f', content: pieces.map((p) => Buffer.from(p)) }]).contentDigest;
    expect(new Set([of('ab', 'c'), of('a', 'bc'), of('abc'), of('abc', '')]).size).toBe(4);
  });

  it('gives the same when it is asked again, and for pieces that are equal', () => {
    const pieces = () => [Buffer.from('a'), Buffer.from(render('{{ content_mark }}'))];
    const content = pieces();
    const first = sealContent([{ name: 'f', content }]);
    expect(sealContent([{ name: 'f', content }])).toEqual(first);
    expect(sealContent([{ name: 'f', content: pieces() }])).toEqual(first);
  });
});
