import ipaddr from 'ipaddr.js';
import { byText } from '../../core/order.ts';
import { list, text } from './args.ts';
import { memberOf } from './text.ts';
import type { TemplateFunction } from './types.ts';

type Compare = (a: string, b: string) => number;

const sorting = (
  name: string,
  doc: string,
  example: readonly [string, string],
  compare: Compare,
  fixedMember?: string,
): TemplateFunction => ({
  name,
  signature: fixedMember === undefined ? `${name}(list, member)` : `${name}(list)`,
  doc,
  example,
  as: 'both',
  pure: true,
  call: (items, member = fixedMember) => sorted(items, member, compare),
});

/** All sorts are stable and give a new list. */
export const SORTING_FUNCTIONS: readonly TemplateFunction[] = [
  {
    name: 'reverse',
    signature: 'reverse(list)',
    doc: 'A list (or text) from the end to the beginning.',
    example: ['{{ reverse(["a", "b"]) | join(" ") }}', 'b a'],
    as: 'both',
    pure: true,
    call: (value) =>
      typeof value === 'string'
        ? Array.from(value).reverse().join('')
        : [...list(value, 'the argument')].reverse(),
  },
  sorting(
    'sortByLength',
    'Shortest first.',
    ['{{ sortByLength(["ccc", "a", "bb"]) | join(" ") }}', 'a bb ccc'],
    byLength,
  ),
  sorting(
    'sortKVByLength',
    'Pairs of gets() with the shortest key first.',
    ['{{ sortKVByLength([{ Key: "/aa" }, { Key: "/b" }]) | join(" ", "Key") }}', '/b /aa'],
    byLength,
    'Key',
  ),
  sorting(
    'sortLongestFirst',
    'Longest first, so that the more special path comes before the general one.',
    ['{{ sortLongestFirst(["/a", "/a/b"]) | join(" ") }}', '/a/b /a'],
    (a, b) => byLength(b, a),
  ),
  sorting(
    'sortNatural',
    'By text, in which runs of digits count as numbers.',
    ['{{ sortNatural(["tor-10", "tor-9"]) | join(" ") }}', 'tor-9 tor-10'],
    natural,
  ),
  sorting(
    'sortNumeric',
    'By number; an element that is none is an error.',
    ['{{ sortNumeric(["10", "9", "-1"]) | join(" ") }}', '-1 9 10'],
    (a, b) => toNumber(a) - toNumber(b),
  ),
  sorting(
    'sortByIP',
    'By address, IPv4 before IPv6; networks after the addresses they begin with, shorter prefixes first.',
    ['{{ sortByIP(["10.0.0.10", "10.0.0.9", "fd00::1"]) | join(" ") }}', '10.0.0.9 10.0.0.10 fd00::1'],
    byAddress,
  ),
];

function sorted(items: unknown, member: unknown, compare: Compare): unknown[] {
  const pick = member === undefined ? (item: unknown) => item : memberOf(text(member, 'the member'));
  return list(items, 'the first argument')
    .map((item) => ({ item, key: text(pick(item), 'an element') }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ item }) => item);
}

function byLength(a: string, b: string): number {
  return Buffer.byteLength(a) - Buffer.byteLength(b);
}

function natural(a: string, b: string): number {
  const [left, right] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const [x, y] = [left[i]!, right[i]!];
    const bothDigits = /^\d/.test(x) && /^\d/.test(y);
    const order = bothDigits ? Number(BigInt(x) - BigInt(y)) || x.length - y.length : byText(x, y);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function toNumber(value: string): number {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isNaN(number)) throw new Error('an element is not a number');
  return number;
}

function byAddress(a: string, b: string): number {
  const [x, y] = [addressKey(a), addressKey(b)];
  return x.bytes.length - y.bytes.length || Buffer.compare(x.bytes, y.bytes) || x.bits - y.bits;
}

function addressKey(value: string): { readonly bytes: Buffer; readonly bits: number } {
  const [address = '', bits] = value.split('/');
  if (!ipaddr.isValid(address)) throw new Error('an element is not an IP address or network');
  return {
    bytes: Buffer.from(ipaddr.parse(address).toByteArray()),
    bits: bits === undefined ? -1 : Number(bits),
  };
}
