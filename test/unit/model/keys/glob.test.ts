import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from '../../../../src/model/keys/glob.ts';

describe('a key pattern', () => {
  // Go's path.Match, from the cases that its documentation implies.
  it.each([
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/', true],
    ['/a/*', '/a/b/c', false],
    ['/a/*', '/a', false],
    ['/a*', '/abc', true],
    ['/*/c', '/b/c', true],
    ['/*', '/a/b', false],
    ['*', 'a', true],
    ['/a/?', '/a/b', true],
    ['/a/?', '/a/é', true],
    ['/a/?', '/a/bc', false],
    ['/a?b', '/a/b', false],
    ['/[a-c]', '/b', true],
    ['/[a-c]', '/d', false],
    ['/[^a-c]', '/d', true],
    ['/[^a-c]', '/b', false],
    ['/a[^x]b', '/a/b', false],
    ['/[abc]x', '/cx', true],
    ['/[]a]', '/]', true],
    ['/[\\]]', '/]', true],
    ['/[a\\-c]', '/b', false],
    ['/[a\\-c]', '/-', true],
    ['/\\*', '/*', true],
    ['/\\*', '/a', false],
    ['/a.b', '/axb', false],
    ['/a+(b)|c$', '/a+(b)|c$', true],
    ['/a{1}', '/a{1}', true],
    ['', '', true],
  ])('%s against %s: %s', (pattern, name, result) => {
    expect(compileGlob(pattern).matches(name)).toBe(result);
  });

  it.each(['/[', '/[a', '/[]', '/a\\'])('%s is refused', (pattern) => {
    expect(() => compileGlob(pattern)).toThrow(`${JSON.stringify(pattern)} is not a valid pattern`);
  });

  it('matches nothing outside its folder', () => {
    const name = fc
      .array(fc.constantFrom('/', 'a', 'b', '-'), { maxLength: 8 })
      .map((parts) => `/${parts.join('')}`);
    const pattern = fc
      .array(fc.constantFrom('/', 'a', 'b', '*', '?', '[ab]'), { maxLength: 6 })
      .map((parts) => `/${parts.join('')}`);
    fc.assert(
      fc.property(pattern, name, (text, key) => {
        const { folder, matches } = compileGlob(text);
        if (matches(key))
          expect(key === folder || key.startsWith(`${folder.replace(/\/+$/, '')}/`)).toBe(true);
      }),
    );
  });
});
