import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sealContent } from '../../../src/render/mark.ts';
import { render } from './support.ts';

const text = (content: Uint8Array): string => Buffer.from(content).toString();

describe('sealing', () => {
  it('replaces every printed mark in every file by the first 32 digits of the digest', () => {
    const printed = render('a {{ content_mark }} b {{ content_mark }}\n');
    const sealed = sealContent([
      { name: 'bird.conf', text: printed },
      { name: 'bird6.conf', text: `ä${printed}` },
    ]);
    const mark = sealed.contentDigest.slice(0, 32);
    expect(sealed.contentDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(sealed.mark).toBe(mark);
    expect(text(sealed.files[0]!.content)).toBe(`a ${mark} b ${mark}\n`);
    expect(text(sealed.files[1]!.content)).toBe(`äa ${mark} b ${mark}\n`);
  });

  it('takes the digest over names and contents with their lengths', () => {
    const expected = createHash('sha256').update('1:a2:xy').digest('hex');
    expect(sealContent([{ name: 'a', text: 'xy' }]).contentDigest).toBe(expected);
  });

  it('gives equal digests for equal input only', () => {
    const digest = (...files: [string, string][]): string =>
      sealContent(files.map(([name, content]) => ({ name, text: content }))).contentDigest;
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
});
