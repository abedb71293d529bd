import {
  type Address,
  type Cidr,
  hostNetwork,
  parseAddress,
  parseAddressAndLength,
  parseAddressAndPort,
  parseCidr,
  unusableAsEndpoint,
} from './ip.ts';
import { failed, ok, quoted, type Result } from './result.ts';
import { parseAsNumber, parseDuration } from './scalars.ts';
import type { Family, NodeAddress, SecretKeyRef } from './types.ts';

/**
 * A field that cannot be used. Thrown inside the conversion of one stored value and made into a Quarantined by
 * parse.ts; it never leaves this folder. `reason` says what is wrong or allowed, on one line, without secrets.
 */
export class FieldError extends Error {
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string) {
    super(`${field}: ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/** The restart time has 12 bits in BGP (RFC 4724); BIRD 2.17 and 3 refuse a file with more. Seconds. */
export const MAX_RESTART_TIME = 4_095;

type Absent = null | undefined;

/** The value of a Result, or a FieldError for `field`. */
export function use<T>(result: Result<T>, field: string): T {
  if (!result.ok) throw new FieldError(field, result.reason);
  return result.value;
}

/** Absent, null and the empty text are all "not set", since Go does not tell them apart. */
export function optional<V extends string | number, T>(
  value: V | Absent,
  field: string,
  parse: (value: V) => Result<T>,
): T | null {
  return value === null || value === undefined || value === '' ? null : use(parse(value), field);
}

export function orNull<V extends string | number | boolean>(value: V | Absent): Exclude<V, ''> | null {
  return value === null || value === undefined || value === '' ? null : (value as Exclude<V, ''>);
}

/** Converts each element, with its own field; null for a list that is not set. Null elements are dropped. */
export function each<V, T>(
  values: readonly (V | null)[] | Absent,
  field: string,
  convert: (value: V, field: string) => T,
): readonly T[] | null {
  if (values === null || values === undefined) return null;
  const converted: T[] = [];
  for (const [index, value] of values.entries()) {
    if (value !== null) converted.push(convert(value, `${field}[${index}]`));
  }
  return converted;
}

export function asNumber(value: number | string | Absent, field: string): number | null {
  return optional(value, field, parseAsNumber);
}

/** A duration in whole seconds within the limits. */
export function seconds(value: string | Absent, field: string, min: number, max: number): number | null {
  const duration = optional(value, field, parseDuration);
  if (duration === null || (duration >= min && duration <= max)) return duration;
  throw new FieldError(field, `${quoted(value ?? '')} is out of range: ${min}s to ${max}s`);
}

/** A canonical address, of one family where one is given. */
export function address(value: string | Absent, field: string, family: Family | null = null): string | null {
  return optional(value, field, (text) => {
    const parsed = parseAddress(text);
    if (!parsed.ok) return parsed;
    if (family !== null && parsed.value.family !== family)
      return failed(`${quoted(text)} is not an IPv${family} address`);
    return ok(parsed.value.text);
  });
}

/** As {@link address}, for one end of a BGP session. */
export function endpoint(value: string | Absent, field: string): string | null {
  return optional(value, field, (text) => {
    const parsed = parseAddress(text);
    return parsed.ok ? usable(text, parsed.value) : parsed;
  });
}

/** `address`, `address:port` or `[v6]:port`, for one end of a BGP session. */
export function endpointAndPort(
  value: string | Absent,
  field: string,
): { readonly address: string; readonly port: number | null } | null {
  return optional(value, field, (text) => {
    const parsed = parseAddressAndPort(text);
    if (!parsed.ok) return parsed;
    const found = usable(text, parsed.value.address);
    return found.ok ? ok({ address: found.value, port: parsed.value.port }) : found;
  });
}

/** `address/length`, or a bare address, which then is a network by itself as in Calico, for one end of a BGP session. */
export function endpointAndLength(value: string | Absent, field: string, family: Family): NodeAddress | null {
  return optional(value, field, (text) => {
    const parsed = text.includes('/') ? parseAddressAndLength(text) : addressAlone(text);
    if (!parsed.ok) return parsed;
    const { address, length } = parsed.value;
    if (address.family !== family) return failed(`${quoted(text)} is not an IPv${family} address`);
    const found = usable(text, address);
    return found.ok ? ok({ address: found.value, length }) : found;
  });
}

function addressAlone(text: string): Result<{ address: Address; length: number }> {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed;
  return ok({ address: parsed.value, length: parsed.value.family === 4 ? 32 : 128 });
}

function usable(text: string, parsed: Address): Result<string> {
  const fault = unusableAsEndpoint(parsed);
  return fault === null
    ? ok(parsed.text)
    : failed(`${quoted(text)} ${fault}; no BGP session can have it as an end`);
}

/** A canonical network; a bare address means that address alone, as Calico's validation of network fields has it. */
export function network(value: string | Absent, field: string, family: Family | null = null): string | null {
  return optional(value, field, (text) => {
    const parsed = parseNetwork(text);
    if (parsed.ok && family !== null && parsed.value.family !== family)
      return failed(`${quoted(text)} is not an IPv${family} network`);
    return parsed.ok ? ok(parsed.value.text) : parsed;
  });
}

function parseNetwork(text: string): Result<Pick<Cidr, 'family' | 'text'>> {
  if (text.includes('/')) return parseCidr(text);
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed;
  return ok({ family: parsed.value.family, text: hostNetwork(parsed.value.text) });
}

interface StoredPassword {
  readonly secretKeyRef?:
    | { readonly name?: string | null | undefined; readonly key?: string | null | undefined }
    | Absent;
}

/**
 * A reference to a password. One that is there but incomplete is an error: somebody wanted a password, and the session
 * must not be opened without.
 */
export function secretKeyRef(value: StoredPassword | Absent, field: string): SecretKeyRef | null {
  if (value === null || value === undefined) return null;
  const { name, key } = value.secretKeyRef ?? {};
  if (!name) throw new FieldError(`${field}.secretKeyRef.name`, 'is missing: it must name a Secret');
  if (!key)
    throw new FieldError(`${field}.secretKeyRef.key`, 'is missing: it must name a value in the Secret');
  return { name, key };
}
