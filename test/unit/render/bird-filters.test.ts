import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BIRD_FILTERS } from '../../../src/render/functions/bird.ts';
import { errorOf, render } from './support.ts';

const through = (filter: string, x: unknown): string => render(`{{ o.x | ${filter} }}`, { o: { x } });

describe('BIRD filters', () => {
  it.each(BIRD_FILTERS.map((f) => [f.name, ...f.example!] as const))(
    '%s as documented',
    (_name, template, result) => {
      expect(render(template)).toBe(result);
    },
  );

  it.each([
    ['bird_string', 'a\\n', '"a\\n"'],
    ['bird_string', 'Köln', '"Köln"'],
    ['bird_string', '', '""'],
    ['bird_string', 'x'.repeat(255), `"${'x'.repeat(255)}"`],
    ['bird_symbol', 'Mesh_10_0_0_1', 'Mesh_10_0_0_1'],
    ['bird_symbol', '10', "'10'"],
    ['bird_symbol', 'a.b:c-d', "'a.b:c-d'"],
    ['bird_symbol', 'x'.repeat(64), 'x'.repeat(64)],
    ['bird_ip', '10.0.0.1', '10.0.0.1'],
    ['bird_ip', '2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['bird_prefix', '0.0.0.0/0', '0.0.0.0/0'],
    ['bird_prefix', 'FD00::/8', 'fd00::/8'],
    ['bird_prefix', '10.0.0.1/32', '10.0.0.1/32'],
    ['bird_number', 0, '0'],
    ['bird_number', '4294967295', '4294967295'],
    ['bird_number', 9007199254740993n, '9007199254740993'],
  ])('%s accepts %s', (filter, value, result) => {
    expect(through(filter, value)).toBe(result);
  });

  it.each([
    ['bird_string', 'a"b'],
    ['bird_string', 'x"; } protocol static evil {'],
    ['bird_string', 'a\nb'],
    ['bird_string', 'a\rb'],
    ['bird_string', 'a\tb'],
    ['bird_string', 'a\0b'],
    ['bird_string', 'ä'.repeat(128)],
    ['bird_string', 1],
    ['bird_string', null],
    ['bird_symbol', ''],
    ['bird_symbol', "a'b"],
    ['bird_symbol', 'a b'],
    ['bird_symbol', 'a/b'],
    ['bird_symbol', 'ä'],
    ['bird_symbol', 'a\n'],
    ['bird_symbol', 'x'.repeat(65)],
    ['bird_ip', '10.0.0.256'],
    ['bird_ip', '10.1'],
    ['bird_ip', '0x0a000001'],
    ['bird_ip', '10.0.0.01'],
    ['bird_ip', 'fe80::1%eth0'],
    ['bird_ip', '10.0.0.1; }'],
    ['bird_prefix', '10.0.0.1/24'],
    ['bird_prefix', '10.0.0.0'],
    ['bird_prefix', '10.0.0.0/33'],
    ['bird_prefix', 'fd00::1/64'],
    ['bird_number', 1.5],
    ['bird_number', -1],
    ['bird_number', '1e3'],
    ['bird_number', '0x10'],
    ['bird_number', ' 1'],
    ['bird_number', '64512; }'],
    ['bird_number', true],
  ])('%s refuses %s, naming the place and not the value', (filter, value) => {
    const error = errorOf(() => through(filter, value));
    expect(error.message).toMatch(new RegExp(`^t:1:10: o\\.x \\| ${filter}: (is|has) `));
    if (typeof value === 'string' && value.length > 3) expect(error.message).not.toContain(value);
    expect(JSON.stringify(error.details)).not.toContain('evil');
  });

  it('let nothing through that could end a string or a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        for (const [filter, allowed] of [
          ['bird_string', /^"[^"\u0000-\u001f\u007f]*"$/],
          ['bird_symbol', /^(?:[A-Za-z_]\w*|'[\w.:-]+')$/],
          ['bird_number', /^\d+$/],
          ['bird_ip', /^[\d.a-f:]+$/],
          ['bird_prefix', /^[\d.a-f:]+\/\d+$/],
        ] as const) {
          let out: string;
          try {
            out = String(BIRD_FILTERS.find((f) => f.name === filter)!.call(text));
          } catch {
            continue;
          }
          expect(out).toMatch(allowed);
        }
      }),
      { numRuns: 200 },
    );
  });
});
