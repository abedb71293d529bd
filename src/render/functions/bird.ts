import ipaddr from 'ipaddr.js';
import { NOT_IN_BIRD_STRING } from '../../core/bird-text.ts';
import type { TemplateFunction } from './types.ts';

/**
 * BIRD's lexer has no escapes: a string ends at the next quote, a symbol takes few characters, and strings of 4,096 bytes
 * crash BIRD 2 and 3. So these filters refuse what BIRD cannot take, and nothing is escaped. Messages describe the value
 * and never repeat it, since it may be a password.
 */
export const MAX_STRING_BYTES = 255;
export const MAX_SYMBOL_BYTES = 64;

/** Text as a quoted BIRD string. */
export function birdString(value: unknown): string {
  const text = requireText(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_STRING_BYTES) {
    throw new Error(`has ${bytes} bytes; a BIRD string may have ${MAX_STRING_BYTES}`);
  }
  const bad = NOT_IN_BIRD_STRING.exec(text);
  if (bad !== null) {
    const what = bad[0] === '"' ? 'a double quote' : 'a control character';
    throw new Error(`has ${what} at character ${bad.index + 1}, which BIRD cannot hold in a string`);
  }
  return `"${text}"`;
}

/** A name of a protocol, filter, table or function. Plain where possible; quoted when it holds `.`, `:` or `-`. */
export function birdSymbol(value: unknown): string {
  const text = requireText(value);
  if (text === '') throw new Error('is empty; BIRD needs a name');
  if (text.length > MAX_SYMBOL_BYTES) {
    throw new Error(`has ${text.length} characters; a BIRD name may have ${MAX_SYMBOL_BYTES}`);
  }
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text;
  const bad = /[^A-Za-z0-9_.:-]/.exec(text);
  if (bad === null) return `'${text}'`;
  throw new Error(`has a character that BIRD names cannot hold, at position ${bad.index + 1}`);
}

/** An IPv4 or IPv6 address, as BIRD prints it. */
export function birdIp(value: unknown): string {
  return canonicalAddress(requireText(value));
}

/** A network in CIDR notation. Host bits are an error, as they are for BIRD: clearing them would hide a slip. */
export function birdPrefix(value: unknown): string {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(requireText(value));
  if (match === null) throw new Error('is not a network in CIDR notation');
  const address = canonicalAddress(match[1]!);
  const bits = Number(match[2]);
  const parsed = ipaddr.parse(address);
  if (bits > parsed.toByteArray().length * 8) throw new Error(`has prefix length ${bits}, which is too long`);
  const network = `${address}/${bits}`;
  if (hasHostBits(parsed.toByteArray(), bits)) throw new Error('has bits set beyond the prefix length');
  return network;
}

/** A whole number ≥ 0, without exponent: AS numbers, timers, limits. Accepts digits in text. */
export function birdNumber(value: unknown): string {
  if (typeof value === 'bigint' && value >= 0n) return String(value);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0)
    return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
  if (typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value)) return value;
  throw new Error('is not a whole number');
}

/** Four decimal parts without leading zeros, which some software reads as octal. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

function canonicalAddress(text: string): string {
  if (IPV4.test(text)) return text;
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) throw new Error('is not an IP address');
  return ipaddr.IPv6.parse(text).toRFC5952String();
}

function hasHostBits(bytes: readonly number[], bits: number): boolean {
  return bytes.some((byte, index) => {
    const hostBits = Math.min(8, Math.max(0, (index + 1) * 8 - bits));
    return (byte & (2 ** hostBits - 1)) !== 0;
  });
}

function requireText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error(`is ${value === null || value === undefined ? value : `a ${typeof value}`}, not text`);
}

const filter = (
  name: string,
  doc: string,
  example: readonly [string, string],
  call: (value: unknown) => string,
): TemplateFunction => ({ name, signature: `value | ${name}`, doc, example, as: 'filter', pure: true, call });

export const BIRD_FILTERS: readonly TemplateFunction[] = [
  filter(
    'bird_string',
    'Quotes a BIRD string; refuses quotes, control characters and more than 255 bytes.',
    ['{{ "Rack 4, left" | bird_string }}', '"Rack 4, left"'],
    birdString,
  ),
  filter(
    'bird_symbol',
    'A BIRD name of at most 64 characters from A–Z a–z 0–9 _ . : -, in single quotes where BIRD needs them.',
    ['{{ "node.rack-4" | bird_symbol }}', "'node.rack-4'"],
    birdSymbol,
  ),
  filter(
    'bird_ip',
    'An IPv4 or IPv6 address in canonical spelling; anything else is an error.',
    ['{{ "FD00:0::1" | bird_ip }}', 'fd00::1'],
    birdIp,
  ),
  filter(
    'bird_prefix',
    'A network in CIDR notation, canonical; host bits are an error, as they are for BIRD.',
    ['{{ "10.1.0.0/16" | bird_prefix }}', '10.1.0.0/16'],
    birdPrefix,
  ),
  filter(
    'bird_number',
    'A whole number from 0, printed without exponent.',
    ['{{ 4200000000 | bird_number }}', '4200000000'],
    birdNumber,
  ),
];
