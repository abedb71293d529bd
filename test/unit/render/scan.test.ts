import { describe, expect, it } from 'vitest';
import { SCAN_STRING_LIMIT, scanBirdFile } from '../../../src/render/scan.ts';
import { errorOf } from './support.ts';

const scan = (content: string): void => scanBirdFile({ name: 'bird.conf', content: Buffer.from(content) });

describe('the byte scan', () => {
  it.each([
    ['an ordinary file', 'router id 10.0.0.1;\nprotocol bgp a { description "x"; }\n'],
    ['an empty file', ''],
    ['a string just below the limit', `log "${'x'.repeat(SCAN_STRING_LIMIT - 1)}";`],
    ['quotes in comments', `# it's "${'x'.repeat(5_000)}\n/* " \n " */ /* x **/ a;\n`],
    ['comment signs in strings', 'a "#"; b "/*"; c "x";'],
    ['two short strings with much between them', `a "x"; ${'b; '.repeat(2_000)} "y";`],
    ['UTF-8', 'a "Köln";'],
  ])('lets %s through', (_name, content) => {
    expect(() => scan(content)).not.toThrow();
  });

  it.each([
    [
      'a long string',
      `a;\n\nb "${'x'.repeat(SCAN_STRING_LIMIT)}";`,
      /^bird\.conf:3: a string has 1000 bytes/,
    ],
    [
      'bytes, not characters',
      `"${'ä'.repeat(SCAN_STRING_LIMIT / 2)}"`,
      /^bird\.conf:1: a string has 1000 bytes/,
    ],
    ['an open string', 'a;\nb "x\ny";', /^bird\.conf:2: a string is not closed/],
    ['an open string at the end', '"x', /^bird\.conf:1: a string is not closed/],
    ['a NUL byte', 'a\n"x\0y"', /^bird\.conf:2: has a NUL byte/],
    ['a carriage return', 'a\n\nb\r\n', /^bird\.conf:3: has a carriage return/],
    ['a byte order mark', '\ufeffa', /^bird\.conf:1: starts with a byte order mark/],
    ['the first of several', 'a\n"x\nb\0', /^bird\.conf:2: a string is not closed/],
  ])('refuses %s with its line', (_name, content, message) => {
    const error = errorOf(() => scan(content));
    expect(error.code).toBe('BF_CHECK_FAILED');
    expect(error.message).toMatch(message);
  });
});
