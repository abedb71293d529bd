import { failed, ok, quoted, type Result } from './result.ts';
import type { Family } from './types.ts';

/**
 * IP addresses and networks in canonical text: IPv6 as RFC 5952 has it (lower case, longest run of zeros compressed),
 * IPv4 as a plain dotted quad. One address must have one spelling everywhere, since BIRD takes two spellings of one
 * neighbour as two neighbours. Written by hand because 10,000 nodes are parsed at start; ipaddr.js is the tests' oracle.
 */
export interface Address {
  readonly family: Family;
  /** Canonical. */
  readonly text: string;
  /** 16-bit words, most significant first: 2 for IPv4, 8 for IPv6. */
  readonly words: readonly number[];
}

export interface Cidr {
  readonly family: Family;
  /** Canonical network with its length and the host bits cleared: `10.0.0.0/16`. */
  readonly text: string;
  readonly length: number;
  /** The address as it was written, canonical: `10.0.3.7` of `10.0.3.7/16`. */
  readonly address: Address;
}

const DOT = 46;
const ZERO = 48;
const COLON = 58;
const LETTER_A = 97;

/**
 * An address of either family. Refused with a reason: zone ids (`fe80::1%eth0`), IPv4-mapped IPv6 (`::ffff:10.0.0.1`,
 * which BIRD would treat as an IPv6 neighbour) and octets with leading zeros (decimal to some, octal to others).
 */
export function parseAddress(text: string): Result<Address> {
  const address = readAddress(text);
  if (!address.ok || !isMapped(address.value.words)) return address;
  return failed(`${quoted(text)} is an IPv4-mapped IPv6 address; write ${tailAsIpv4(address.value.words)}`);
}

/** A network as `address/length`; host bits may be set, `text` has them cleared. */
export function parseCidr(text: string): Result<Cidr> {
  const parsed = parseAddressAndLength(text);
  if (!parsed.ok) return parsed;
  const { address, length } = parsed.value;
  const network = `${formatWords(maskWords(address.words, length))}/${length}`;
  return ok({ family: address.family, text: network, length, address });
}

/** As {@link parseCidr}, where the network is not of interest. */
export function parseAddressAndLength(text: string): Result<{ address: Address; length: number }> {
  const slash = text.indexOf('/');
  if (slash < 0) return failed(`${quoted(text)} is not a CIDR: the prefix length ("/24") is missing`);
  const address = readAddress(text.slice(0, slash));
  if (!address.ok) return failed(`${quoted(text)} is not a CIDR: ${address.reason}`);
  const { family, words } = address.value;
  const bits = family === 4 ? 32 : 128;
  const digits = text.slice(slash + 1);
  const length = /^\d{1,3}$/.test(digits) ? Number(digits) : -1;
  if (length < 0 || length > bits)
    return failed(`${quoted(text)} is not a CIDR: the prefix length must be 0 to ${bits}`);
  // ::ffff:0:0/96 itself is a real IPv6 network, found in lists of martians; anything inside it is IPv4 in disguise.
  if (isMapped(words) && !(length === 96 && words[6] === 0 && words[7] === 0))
    return failed(`${quoted(text)} is an IPv4-mapped IPv6 network; write it as IPv4`);
  return ok({ address: address.value, length });
}

/** `address`, `address:port` or `[v6]:port`; a port is 1 to 65535. */
export function parseAddressAndPort(text: string): Result<{ address: Address; port: number | null }> {
  const split = splitHostPort(text);
  if (!split.ok) return split;
  const address = parseAddress(split.value.host);
  if (!address.ok) return address;
  return ok({ address: address.value, port: split.value.port });
}

/** Takes the port off `host:port` and `[v6]:port`; a bare IPv6 address has none. */
export function splitHostPort(text: string): Result<{ host: string; port: number | null }> {
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    if (end < 0) return failed(`${quoted(text)} lacks the closing "]" after the address`);
    const rest = text.slice(end + 1);
    const host = text.slice(1, end);
    if (rest === '') return ok({ host, port: null });
    if (!rest.startsWith(':')) return failed(`${quoted(text)} must have ":port" after the "]"`);
    return withPort(text, host, rest.slice(1));
  }
  const colon = text.indexOf(':');
  if (colon < 0 || text.includes(':', colon + 1)) return ok({ host: text, port: null });
  return withPort(text, text.slice(0, colon), text.slice(colon + 1));
}

function withPort(text: string, host: string, digits: string): Result<{ host: string; port: number | null }> {
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port >= 1 && port <= 65_535) return ok({ host, port });
  return failed(`${quoted(text)} has the bad port ${quoted(digits)}; a port is 1 to 65535`);
}

/** The family of an address or CIDR that is known to be valid. */
export function familyOf(text: string): Family {
  return text.includes(':') ? 6 : 4;
}

/** The network of `length` bits that a valid address lies in: `networkOf('10.0.3.7', 16)` is `10.0.0.0/16`. */
export function networkOf(address: string, length: number): string {
  return `${formatWords(maskWords(wordsOf(address), length))}/${length}`;
}

/** `address/32` or `address/128` for a canonical address. */
export function hostNetwork(address: string): string {
  return familyOf(address) === 4 ? `${address}/32` : `${address}/128`;
}

/** Whether a valid CIDR is that of a single address. */
export function isSingle(cidr: string): boolean {
  return cidr.endsWith(familyOf(cidr) === 4 ? '/32' : '/128');
}

/**
 * Whether a valid CIDR contains a valid address or the whole of another CIDR. Never across families.
 * @throws RangeError when an argument is not valid: model data is parsed before it comes here.
 */
export function contains(cidr: string, inner: string): boolean {
  if (familyOf(cidr) !== familyOf(inner)) return false;
  const [network, length] = splitCidr(cidr);
  const [address, innerLength] = splitCidr(inner);
  if (innerLength < length) return false;
  const a = maskWords(wordsOf(network), length);
  const b = maskWords(wordsOf(address), length);
  return a.every((word, index) => word === b[index]);
}

/** Numeric order of two valid addresses (not CIDRs): 10.0.0.9 before 10.0.0.10, IPv4 before IPv6. */
export function compareAddresses(a: string, b: string): number {
  const left = wordsOf(a);
  const right = wordsOf(b);
  if (left.length !== right.length) return left.length - right.length;
  for (let i = 0; i < left.length; i += 1) {
    const difference = left[i]! - right[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The dotted quad of a number from 0 to 2^32 - 1. */
export function ipv4FromNumber(value: number): string {
  return formatWords([Math.floor(value / 65_536), value % 65_536]);
}

/**
 * Why a valid address cannot be one end of a BGP session, or null: what makes BIRD refuse the whole file, namely an
 * unspecified neighbour (1.6; for IPv6 all) and, since these sessions are multihop, a link-local one. Multicast is let
 * through: BIRD takes it, and Calico's own examples use it.
 */
export function unusableAsEndpoint({ family, words }: Address): string | null {
  if (words[0] === 0 && words.every((word) => word === 0)) return 'is the unspecified address';
  return family === 6 && words[0]! >= 0xfe80 && words[0]! <= 0xfebf ? 'is a link-local address' : null;
}

function splitCidr(text: string): [string, number] {
  const slash = text.indexOf('/');
  if (slash < 0) return [text, familyOf(text) === 4 ? 32 : 128];
  return [text.slice(0, slash), Number(text.slice(slash + 1))];
}

function wordsOf(address: string): readonly number[] {
  const parsed = readAddress(address);
  if (!parsed.ok) throw new RangeError(parsed.reason);
  return parsed.value.words;
}

function readAddress(text: string): Result<Address> {
  if (text.length > 64) return failed(`${quoted(text)} is not an IP address: too long`);
  if (text.includes('%'))
    return failed(`${quoted(text)} has a zone id; link-local addresses cannot be used here`);
  if (!text.includes(':')) {
    const words = readIpv4(text);
    if (typeof words === 'string') return failed(`${quoted(text)} is not an IP address: ${words}`);
    return ok({ family: 4, text, words });
  }
  const words = readIpv6(text);
  if (typeof words === 'string') return failed(`${quoted(text)} is not an IP address: ${words}`);
  return ok({ family: 6, text: formatWords(words), words });
}

/** Two 16-bit words, or what is wrong. A valid dotted quad is canonical as it stands. */
function readIpv4(text: string): number[] | string {
  const octets: number[] = [];
  let value = -1;
  for (let i = 0; i <= text.length; i += 1) {
    const code = i === text.length ? DOT : text.charCodeAt(i);
    if (code === DOT) {
      if (value < 0) return 'four numbers with dots between them are expected';
      octets.push(value);
      value = -1;
      continue;
    }
    if (code < ZERO || code > ZERO + 9) return 'four numbers with dots between them are expected';
    if (value === 0) return 'leading zeros are ambiguous';
    value = (value < 0 ? 0 : value * 10) + code - ZERO;
    if (value > 255) return 'each number must be 0 to 255';
  }
  if (octets.length !== 4) return 'four numbers with dots between them are expected';
  return [octets[0]! * 256 + octets[1]!, octets[2]! * 256 + octets[3]!];
}

const GROUPS = 'groups of one to four hexadecimal digits are expected';

/** Eight 16-bit words, or what is wrong. One pass over the characters. */
function readIpv6(text: string): number[] | string {
  const words: number[] = [];
  /** How many groups stand before the "::"; -1 without one. */
  let gap = -1;
  let digits = 0;
  let value = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === COLON) {
      if (digits > 0) words.push(value);
      const doubled = text.charCodeAt(i + 1) === COLON;
      if (doubled && gap >= 0) return '"::" may stand only once';
      if (!doubled && (digits === 0 || i === text.length - 1)) return GROUPS;
      if (doubled) {
        gap = words.length;
        i += 1;
      }
      digits = 0;
      value = 0;
    } else if (code === DOT) {
      const quad = readIpv4(text.slice(i - digits));
      if (typeof quad === 'string') return quad;
      return fillGap([...words, ...quad], gap);
    } else {
      const digit = hexDigit(code);
      digits += 1;
      if (digit < 0 || digits > 4) return GROUPS;
      value = value * 16 + digit;
    }
  }
  if (digits > 0) words.push(value);
  return fillGap(words, gap);
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= ZERO + 9) return code - ZERO;
  const letter = code | 32;
  return letter >= LETTER_A && letter <= LETTER_A + 5 ? letter - LETTER_A + 10 : -1;
}

/** All eight words, with zeros at the "::". */
function fillGap(words: readonly number[], gap: number): number[] | string {
  if (gap < 0) return words.length === 8 ? [...words] : 'eight groups, or "::", are expected';
  if (words.length > 7) return '"::" stands for nothing';
  const filled: number[] = [];
  for (let i = 0; i < gap; i += 1) filled.push(words[i]!);
  for (let i = words.length; i < 8; i += 1) filled.push(0);
  for (let i = gap; i < words.length; i += 1) filled.push(words[i]!);
  return filled;
}

function isMapped(words: readonly number[]): boolean {
  if (words.length !== 8 || words[5] !== 0xffff) return false;
  return words[0] === 0 && words[1] === 0 && words[2] === 0 && words[3] === 0 && words[4] === 0;
}

function tailAsIpv4(words: readonly number[]): string {
  return formatWords([words[6]!, words[7]!]);
}

function maskWords(words: readonly number[], length: number): number[] {
  return words.map((word, index) => {
    const bits = length - index * 16;
    if (bits >= 16) return word;
    return bits <= 0 ? 0 : word & (0xffff << (16 - bits));
  });
}

function formatWords(words: readonly number[]): string {
  if (words.length === 2) {
    const [high, low] = [words[0]!, words[1]!];
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  const [start, length] = longestZeros(words);
  const end = start + length;
  const compressed = length >= 2;
  let text = '';
  for (let i = 0; i < 8; i += 1) {
    if (compressed && i >= start && i < end) {
      if (i === start) text += '::';
    } else {
      text += i === 0 || (compressed && i === end) ? words[i]!.toString(16) : `:${words[i]!.toString(16)}`;
    }
  }
  return text;
}

/** Start and length of the first longest run of zero words. */
function longestZeros(words: readonly number[]): [number, number] {
  let best: [number, number] = [0, 0];
  let start = -1;
  for (let i = 0; i <= words.length; i += 1) {
    if (words[i] === 0) {
      if (start < 0) start = i;
      continue;
    }
    if (start >= 0 && i - start > best[1]) best = [start, i - start];
    start = -1;
  }
  return best;
}
