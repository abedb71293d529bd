/** Checks of arguments. Messages say what was expected and the kind of what came, never its content. */

export function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  throw new Error(`${what} must be text, not ${kind(value)}`);
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`${what} must be a list, not ${kind(value)}`);
}

/** A whole number, exact however large: text of digits and BigInt are taken too. */
export function integer(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  throw new Error(`${what} must be a whole number, not ${kind(value)}`);
}

export function object(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new Error(`${what} must be an object, not ${kind(value)}`);
}

export function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
