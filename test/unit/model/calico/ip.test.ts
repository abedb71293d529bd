import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  compareAddresses,
  contains,
  familyOf,
  hostNetwork,
  ipv4FromNumber,
  networkOf,
  parseAddress,
  parseAddressAndPort,
  parseCidr,
  splitHostPort,
  unusableAsEndpoint,
} from '../../../../src/model/calico/ip.ts';
import type { Result } from '../../../../src/model/calico/result.ts';

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.reason);
  return result.value;
}

function reason(result: Result<unknown>): string {
  if (result.ok) throw new Error('was accepted');
  return result.reason;
}

const bytes4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
// Zeros are what makes IPv6 texts differ, so most groups are zero.
const bytes16 = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
    ),
    {
      minLength: 8,
      maxLength: 8,
    },
  )
  .map((words) => words.flatMap((word) => [word >> 8, word & 255]));
const address = fc.oneof(bytes4, bytes16).map((bytes) => ipaddr.fromByteArray([...bytes]));
const notMapped = address.filter((a) => !(a instanceof ipaddr.IPv6 && a.isIPv4MappedAddress()));

/** RFC 5952 text; ipaddr.js compresses a single zero group too, which the RFC forbids. */
function rfc5952(parsed: ipaddr.IPv4 | ipaddr.IPv6): string {
  return parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
}

describe('addresses', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['FD00:0:0::1', 'fd00::1'],
    ['fd00:0:0:1::', 'fd00:0:0:1::'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0db8:0000:0001:0001:0001:0001:0001', '2001:db8:0:1:1:1:1:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    ['1::8.8.8.8', '1::808:808'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ])('spells %s as %s', (text, canonical) => {
    expect(value(parseAddress(text)).text).toBe(canonical);
  });

  it.each([
    ['', 'four numbers'],
    ['10.0.0', 'four numbers'],
    ['10.0.0.0.1', 'four numbers'],
    ['10.0.0.256', '0 to 255'],
    ['10.0.0.010', 'leading zeros'],
    ['10.0.0.', 'four numbers'],
    [' 10.0.0.1', 'four numbers'],
    ['10.0.0.1\n', 'four numbers'],
    ['0x0a000001', 'four numbers'],
    ['fe80::1%eth0', 'zone id'],
    ['::ffff:10.0.0.1', 'IPv4-mapped IPv6 address; write 10.0.0.1'],
    ['::ffff:a00:1', 'IPv4-mapped IPv6 address; write 10.0.0.1'],
    ['1::2::3', 'only once'],
    [':::', 'hexadecimal'],
    ['1:2:3:4:5:6:7:8::', 'stands for nothing'],
    ['1:2:3', 'eight groups'],
    ['1:2:3:4:5:6:7:8:9', 'eight groups'],
    ['12345::', 'hexadecimal'],
    ['g::', 'hexadecimal'],
    ['1.2.3.4::', 'four numbers'],
    ['::1:', 'hexadecimal'],
    [':1::', 'hexadecimal'],
    ['1::2:', 'hexadecimal'],
    ['::a.1.1.1', 'four numbers'],
    ['1:2:3:4:5:6:7:1.2.3.4', 'eight groups'],
    ['10.0.0.1/24', 'four numbers'],
    ['1'.repeat(5_000), 'too long'],
  ])('refuses %j and says why', (text, why) => {
    const message = reason(parseAddress(text));
    expect(message).toContain(why);
    expect(message.length).toBeLessThan(200);
    expect(message).not.toMatch(/[\u0000-\u001f]/);
  });

  it('gives every spelling of an address the RFC 5952 text', () => {
    fc.assert(
      fc.property(notMapped, fc.boolean(), (parsed, upper) => {
        const long = parsed instanceof ipaddr.IPv6 ? parsed.toNormalizedString() : parsed.toString();
        const expected = rfc5952(parsed);
        for (const spelling of [long, parsed.toString(), expected]) {
          expect(value(parseAddress(upper ? spelling.toUpperCase() : spelling)).text).toBe(expected);
        }
      }),
    );
  });

  it('accepts nothing that another parser refuses', () => {
    const text = fc.stringMatching(/^[0-9a-f:./%]{0,20}$/);
    fc.assert(
      fc.property(text, (candidate) => {
        const result = parseAddress(candidate);
        if (result.ok) expect(ipaddr.isValid(candidate)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('orders by number and not by text', () => {
    expect(['10.0.0.10', 'fd00::1', '10.0.0.9', 'fd00::a', 'fd00::9'].sort(compareAddresses)).toEqual([
      '10.0.0.9',
      '10.0.0.10',
      'fd00::1',
      'fd00::9',
      'fd00::a',
    ]);
    expect(compareAddresses('fd00::1', 'FD00:0::1')).toBe(0);
  });

  it('makes dotted quads of numbers', () => {
    fc.assert(
      fc.property(bytes4, (bytes) => {
        const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
        expect(ipv4FromNumber(number)).toBe(bytes.join('.'));
      }),
    );
  });
});

describe('networks', () => {
  it.each([
    ['10.0.3.7/16', '10.0.0.0/16', '10.0.3.7'],
    ['10.0.0.1/32', '10.0.0.1/32', '10.0.0.1'],
    ['10.0.0.1/0', '0.0.0.0/0', '10.0.0.1'],
    ['10.255.0.1/9', '10.128.0.0/9', '10.255.0.1'],
    ['5000::0/64', '5000::/64', '5000::'],
    ['fd00:1::ffff/113', 'fd00:1::8000/113', 'fd00:1::ffff'],
    ['::ffff:0:0/96', '::ffff:0:0/96', '::ffff:0:0'],
  ])('reads %s as network %s of address %s', (text, network, written) => {
    const cidr = value(parseCidr(text));
    expect(cidr.text).toBe(network);
    expect(cidr.address.text).toBe(written);
    expect(cidr.family).toBe(familyOf(text));
  });

  it.each([
    ['10.0.0.0', 'prefix length'],
    ['10.0.0.0/', '0 to 32'],
    ['10.0.0.0/33', '0 to 32'],
    ['10.0.0.0/-1', '0 to 32'],
    ['10.0.0.0/1e1', '0 to 32'],
    ['10.0.0.0/24/24', '0 to 32'],
    ['fd00::/129', '0 to 128'],
    ['10.0.0/24', 'four numbers'],
    ['::ffff:10.0.0.0/120', 'IPv4-mapped'],
    ['::ffff:10.0.0.0/96', 'IPv4-mapped'],
    ['fe80::%eth0/64', 'zone id'],
    ['10.0.0.0/24; }', '0 to 32'],
  ])('refuses %j and says why', (text, why) => {
    expect(reason(parseCidr(text))).toContain(why);
  });

  it('clears host bits and contains what another implementation says', () => {
    fc.assert(
      fc.property(notMapped, notMapped, fc.nat(128), (a, b, n) => {
        const length = n % (a.kind() === 'ipv4' ? 33 : 129);
        const mapped = reason6(a);
        fc.pre(!mapped);
        const cidr = value(parseCidr(`${a.toString()}/${length}`));
        const same = a.kind() === b.kind();
        const inside = same && (a as ipaddr.IPv6).match(b as ipaddr.IPv6, length);
        expect(contains(cidr.text, value(parseAddress(b.toString())).text)).toBe(inside);
        expect(contains(cidr.text, cidr.address.text)).toBe(true);
        expect(value(parseCidr(cidr.text)).text).toBe(cidr.text);
        expect(networkOf(cidr.address.text, length)).toBe(cidr.text);
      }),
    );
  });

  it('contains a smaller network, not a larger one', () => {
    expect(contains('10.0.0.0/16', '10.0.1.0/24')).toBe(true);
    expect(contains('10.0.1.0/24', '10.0.0.0/16')).toBe(false);
    expect(contains('10.0.0.0/16', '10.0.0.0/16')).toBe(true);
    expect(contains('0.0.0.0/0', 'fd00::1')).toBe(false);
    expect(() => contains('10.0.0.0/16', 'nonsense')).toThrow(RangeError);
  });

  it('makes host networks', () => {
    expect(hostNetwork('10.0.0.1')).toBe('10.0.0.1/32');
    expect(hostNetwork('fd00::1')).toBe('fd00::1/128');
  });
});

function reason6(parsed: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return !parseAddress(parsed.toString()).ok;
}

describe('ports', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', null],
    ['10.0.0.1:179', '10.0.0.1', 179],
    ['[fd00::1]:65535', 'fd00::1', 65_535],
    ['[fd00::1]', 'fd00::1', null],
    ['fd00::1', 'fd00::1', null],
    ['FD00:0::1', 'fd00::1', null],
  ])('reads %s', (text, host, port) => {
    const result = value(parseAddressAndPort(text));
    expect([result.address.text, result.port]).toEqual([host, port]);
  });

  it.each([
    ['10.0.0.1:0', 'bad port "0"'],
    ['10.0.0.1:65536', 'bad port "65536"'],
    ['10.0.0.1:bgp', 'bad port "bgp"'],
    ['10.0.0.1:', 'bad port ""'],
    ['[fd00::1]:-1', 'bad port "-1"'],
    ['[fd00::1', 'closing "]"'],
    ['[fd00::1]179', '":port" after the "]"'],
    ['[fe80::1%eth0]:179', 'zone id'],
    ['peer.example.com', 'not an IP address'],
  ])('refuses %s: %s', (text, why) => {
    expect(reason(parseAddressAndPort(text))).toContain(why);
  });

  it('takes only the last colon of an unbracketed IPv4 host for a port', () => {
    expect(value(splitHostPort('1:2:3'))).toEqual({ host: '1:2:3', port: null });
  });
});

describe('session endpoints', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['fe80::1', 'link-local'],
    ['febf::1', 'link-local'],
  ])('finds %s unusable: %s', (text, why) => {
    expect(unusableAsEndpoint(value(parseAddress(text)))).toContain(why);
  });

  it.each([
    '10.0.0.1',
    '127.0.0.1',
    '240.0.0.1',
    '169.254.1.1',
    '224.0.0.5',
    'ffee::10',
    'fd00::1',
    'fec0::1',
    '::1',
  ])('finds %s usable', (text) => {
    expect(unusableAsEndpoint(value(parseAddress(text)))).toBeNull();
  });
});
