import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../../../src/model/calico/result.ts';
import {
  isCommunityLiteral,
  parseAsNumber,
  parseClusterId,
  parseCommunity,
  parseDuration,
  parseRouterId,
} from '../../../../src/model/calico/scalars.ts';

function outcome<T>(result: Result<T>): T | string {
  return result.ok ? result.value : `refused: ${result.reason}`;
}

describe('AS numbers', () => {
  it.each([
    [64_512, 64_512],
    ['64512', 64_512],
    ['4294967295', 4_294_967_295],
    [4_200_000_000, 4_200_000_000],
    ['1.10', 65_546],
    ['65535.65535', 4_294_967_295],
    ['0.1', 1],
  ])('%j is %d', (stored, number) => {
    expect(outcome(parseAsNumber(stored))).toBe(number);
  });

  it.each([
    0,
    '0',
    '0.0',
    -1,
    '-1',
    4_294_967_296,
    '4294967296',
    1.1,
    '1.65536',
    '65536.1',
    '',
    '1.2.3',
    '1e3',
    'AS1',
    ' 1',
    '1\n',
    Number.NaN,
  ])('refuses %j', (stored) => {
    expect(outcome(parseAsNumber(stored))).toMatch(/^refused: .* is not an AS number: 1 to 4294967295/);
  });

  it('writes large numbers as plain integers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_294_967_295 }), (number) => {
        const asdot = `${Math.floor(number / 65_536)}.${number % 65_536}`;
        expect(outcome(parseAsNumber(asdot))).toBe(number);
        expect(String(outcome(parseAsNumber(String(number))))).toMatch(/^\d+$/);
      }),
    );
  });
});

describe('durations', () => {
  it.each([
    ['10s', 10],
    ['1m30s', 90],
    ['1h', 3_600],
    ['1.5h', 5_400],
    ['499ms', 0],
    ['500ms', 1],
    ['1499999999ns', 1],
    ['2.5s', 3],
    ['1500000us', 2],
    ['1500000\u00b5s', 2],
    ['0', 0],
    ['0s', 0],
    ['+5s', 5],
    ['.5m', 30],
    ['1.m', 60],
  ])('%s is %d seconds', (text, seconds) => {
    expect(outcome(parseDuration(text))).toBe(seconds);
  });

  it.each(['', '10', '10 s', '10sec', 's', '.s', '1d', '1m 30s', '1,5s', '10s;', 'Infinity', '1s1'])(
    'refuses %j',
    (text) => {
      expect(outcome(parseDuration(text))).toMatch(/^refused: .* is not a duration/);
    },
  );

  it('refuses negative ones, and ones that Go cannot hold', () => {
    expect(outcome(parseDuration('-10s'))).toBe('refused: "-10s" is negative');
    expect(outcome(parseDuration('2562048h'))).toMatch(/longer than a duration can be/);
    expect(outcome(parseDuration('2562047h'))).toBe(2_562_047 * 3_600);
  });
});

describe('communities', () => {
  it.each([
    ['0:0', [0, 0]],
    ['65535:65535', [65_535, 65_535]],
    ['4294967295:0:1', [4_294_967_295, 0, 1]],
  ])('reads %s', (text, numbers) => {
    expect(outcome(parseCommunity(text))).toEqual(numbers);
    expect(isCommunityLiteral(text)).toBe(true);
  });

  it.each([
    ['65536:1', 'up to 65535; an AS number above that needs a large community'],
    ['211486:1', 'large community'],
    ['1:65536', 'up to 65535'],
    ['4294967296:1:1', 'up to 4294967295'],
    ['1:1:4294967296', 'up to 4294967295'],
  ])('refuses %s although it looks like one', (text, why) => {
    expect(isCommunityLiteral(text)).toBe(true);
    expect(outcome(parseCommunity(text))).toContain(why);
  });

  it.each(['', '1', '1:2:3:4', 'a:b', '1:2 ', '-1:2', '1:', 'no-export', '0x1:2'])(
    'takes %j for a name',
    (text) => {
      expect(isCommunityLiteral(text)).toBe(false);
      expect(outcome(parseCommunity(text))).toContain('is not a community');
    },
  );
});

describe('cluster and router ids', () => {
  it.each([
    ['244.0.0.1', '244.0.0.1'],
    [1, '0.0.0.1'],
    ['1', '0.0.0.1'],
    [4_093_640_705, '244.0.0.1'],
    ['4294967295', '255.255.255.255'],
  ])('reads %j as %s', (stored, quad) => {
    expect(outcome(parseClusterId(stored))).toBe(quad);
    expect(outcome(parseRouterId(stored))).toBe(quad);
  });

  it.each([
    '1.2.3.256',
    '1.2.3',
    'fd00::1',
    4_294_967_296,
    '4294967296',
    -1,
    1.5,
    'reflectors',
    '',
    '1.2.3.4; }',
  ])('refuses %j', (stored) => {
    expect(outcome(parseClusterId(stored))).toMatch(
      /^refused: .* is not a cluster id: an IPv4 address or a number/,
    );
    expect(outcome(parseRouterId(stored))).toMatch(/^refused: .* is not a router id/);
  });

  it.each(['0.0.0.0', 0, '0'])('refuses %j, which BIRD reads as "not set"', (stored) => {
    expect(outcome(parseClusterId(stored))).toContain('BIRD use its router id');
    expect(outcome(parseRouterId(stored))).toContain('identifies no router');
  });
});
