import { ipv4FromNumber, parseAddress } from './ip.ts';
import { failed, ok, quoted, type Result } from './result.ts';

const MAX_UINT32 = 4_294_967_295;

/**
 * An AS number as Calico stores it: a number, or text in decimal or asdot (`1.10` is 65546, RFC 5396). BIRD takes plain
 * integers only, and 0 is no AS (RFC 7607).
 */
export function parseAsNumber(value: number | string): Result<number> {
  const number = typeof value === 'number' ? value : asNumberOfText(value);
  if (number !== null && Number.isInteger(number) && number >= 1 && number <= MAX_UINT32) return ok(number);
  const shown = typeof value === 'number' ? String(value) : quoted(value);
  return failed(`${shown} is not an AS number: 1 to 4294967295, or "HIGH.LOW" with both halves up to 65535`);
}

function asNumberOfText(text: string): number | null {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  const dotted = /^(\d{1,5})\.(\d{1,5})$/.exec(text);
  if (dotted === null) return null;
  const [high, low] = [Number(dotted[1]), Number(dotted[2])];
  return high > 65_535 || low > 65_535 ? null : high * 65_536 + low;
}

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  '\u00b5s': 1e3,
  '\u03bcs': 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};

/** A Go duration (`1m30s`, `500ms`) in whole seconds, halves rounded up, as Calico does. Negative ones are refused. */
export function parseDuration(text: string): Result<number> {
  if (text.startsWith('-')) return failed(`${quoted(text)} is negative`);
  const unsigned = text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return ok(0);
  const parts = [...unsigned.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.reduce((length, [part]) => length + part.length, 0) !== unsigned.length)
    return failed(`${quoted(text)} is not a duration like "10s" or "1m30s"`);
  let total = 0;
  for (const [, amount, unit] of parts) total += Math.trunc(Number(amount) * NANOSECONDS[unit!]!);
  // Go keeps durations in 63 bits of nanoseconds.
  if (total >= 2 ** 63) return failed(`${quoted(text)} is longer than a duration can be`);
  return ok(Math.round(total / 1e9));
}

/** Whether a text is meant as a community and not as the name of one. */
export function isCommunityLiteral(text: string): boolean {
  return /^\d+:\d+(:\d+)?$/.test(text);
}

/**
 * A BGP community: standard `a:b` with 16-bit halves (RFC 1997), or large `a:b:c` with 32-bit parts (RFC 8092). Two or
 * three numbers.
 */
export function parseCommunity(text: string): Result<readonly number[]> {
  if (!isCommunityLiteral(text))
    return failed(`${quoted(text)} is not a community: "a:b" or "a:b:c" in decimal numbers`);
  const numbers = text.split(':').map(Number);
  const limit = numbers.length === 2 ? 65_535 : MAX_UINT32;
  if (numbers.every((number) => number <= limit)) return ok(numbers);
  const remedy = limit === 65_535 ? '; an AS number above that needs a large community "a:b:c"' : '';
  return failed(`${quoted(text)} is not a community: each number may be up to ${limit}${remedy}`);
}

/**
 * A route reflector's cluster id as a dotted quad; also accepted as a number from 1 to 2^32 - 1, which RFC 4456 makes of
 * it just as well. 0.0.0.0 is refused: BIRD reads it as "not set" and takes the router id, so that two reflectors that
 * share it would silently not be one cluster.
 */
export function parseClusterId(value: number | string): Result<string> {
  return parseQuad(value, 'a cluster id', '0.0.0.0 would make BIRD use its router id instead');
}

/** A BGP identifier as a dotted quad, from a dotted quad or a number; never 0.0.0.0 (RFC 6286). */
export function parseRouterId(value: number | string): Result<string> {
  return parseQuad(value, 'a router id', '0.0.0.0 identifies no router');
}

function parseQuad(value: number | string, what: string, whyNotZero: string): Result<string> {
  const shown = typeof value === 'number' ? String(value) : quoted(value);
  const quad = quadOf(value);
  if (quad === null) return failed(`${shown} is not ${what}: an IPv4 address or a number up to 4294967295`);
  return quad === '0.0.0.0' ? failed(`${shown} is not ${what}: ${whyNotZero}`) : ok(quad);
}

function quadOf(value: number | string): string | null {
  if (typeof value === 'string' && !/^\d{1,10}$/.test(value)) {
    const address = parseAddress(value);
    return address.ok && address.value.family === 4 ? address.value.text : null;
  }
  const number = Number(value);
  return Number.isInteger(number) && number >= 0 && number <= MAX_UINT32 ? ipv4FromNumber(number) : null;
}
