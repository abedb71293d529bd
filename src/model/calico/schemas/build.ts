/**
 * Schemas of stored values, built so that the validator (ajv, compiled ahead by scripts/generate-validators.mjs) and the
 * TypeScript type come from one description. Only fields that are read are described; unknown ones are allowed, since
 * Calico and Kubernetes add fields. Everything may be absent or null: Go writes neither zero values nor a difference
 * between the two, which also makes the empty text of an enum mean "not set".
 */
export interface Schema<T> {
  readonly json: Readonly<Record<string, unknown>>;
  /** Only for the type checker; never set. */
  readonly type?: T;
}

export type Stored<S> = S extends Schema<infer T> ? T : never;

type Maybe<T> = T | null;

/** `description` ends the sentence "must be ..." of the message about a failed pattern. */
export function text(rule: {
  maxLength: number;
  pattern?: string;
  description?: string;
}): Schema<Maybe<string>> {
  return { json: { type: ['string', 'null'], ...rule } };
}

/** Parsed by hand afterwards (addresses, durations, selectors ...); the limit only keeps that cheap. */
export function parsedText(maxLength = 100): Schema<Maybe<string>> {
  return text({ maxLength });
}

/** The name of another object, in a field. */
export function nameReference(): Schema<Maybe<string>> {
  return text({
    maxLength: 253,
    pattern: '^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$',
    description: 'a name without control characters',
  });
}

/** Ends up between double quotes in BIRD's configuration, where a backslash is an escape of the pattern language. */
export function interfacePattern(): Schema<Maybe<string>> {
  return text({
    maxLength: 255,
    pattern: '^[!#-&(-.0-\\[\\]-~]*$',
    description:
      'an interface name or pattern: printable ASCII without spaces, slashes, quotes or backslashes',
  });
}

/** A Secret's name or the key of a value in it; both become parts of keys in the key space. */
export function secretReference(): Schema<Maybe<string>> {
  return text({
    maxLength: 253,
    pattern: '^[-._a-zA-Z0-9]*$',
    description: 'made of letters, digits, "-", "_" and "."',
  });
}

export function oneOf<const V extends string>(...values: V[]): Schema<Maybe<V | ''>> {
  return { json: { enum: [...values, '', null] } };
}

export function integer(minimum: number, maximum: number): Schema<Maybe<number>> {
  return { json: { type: ['integer', 'null'], minimum, maximum } };
}

/** AS numbers and cluster ids, which Calico stores as a number or as text. Parsed by hand afterwards. */
export function numberOrText(): Schema<Maybe<number | string>> {
  return { json: { type: ['integer', 'string', 'null'], maxLength: 40 } };
}

export function flag(): Schema<Maybe<boolean>> {
  return { json: { type: ['boolean', 'null'] } };
}

/** A bool that one of Calico's API groups stores as text. */
export function flagOrText(): Schema<Maybe<boolean | string>> {
  return { json: { type: ['boolean', 'string', 'null'] } };
}

export function list<T>(
  items: Schema<T>,
  limits: { minItems?: number; maxItems?: number } = {},
): Schema<Maybe<readonly T[]>> {
  return { json: { type: ['array', 'null'], items: items.json, ...limits } };
}

export function textMap(): Schema<Maybe<Readonly<Record<string, string>>>> {
  return { json: { type: ['object', 'null'], additionalProperties: { type: 'string' } } };
}

type Properties = Readonly<Record<string, Schema<unknown>>>;
type StoredObject<P extends Properties> = { readonly [K in keyof P]?: Stored<P[K]> | undefined };

export function object<P extends Properties>(properties: P): Schema<Maybe<StoredObject<P>>> {
  const json = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, schema.json]));
  return { json: { type: ['object', 'null'], properties: json } };
}

/** A whole stored value: an object, never null. `shared` are schemas that {@link reference}s point to, by name. */
export function resource<P extends Properties>(
  properties: P,
  shared: Properties = {},
): Schema<StoredObject<P>> {
  const $defs = Object.fromEntries(Object.entries(shared).map(([name, schema]) => [name, schema.json]));
  return { json: { ...object(properties).json, type: 'object', $defs } };
}

/** Uses a shared schema, so that it is compiled once. */
export function reference<T>(name: string, _schema: Schema<T>): Schema<T> {
  return { json: { $ref: `#/$defs/${name}` } };
}

/** What every resource carries besides its spec. The names are compared with the key, in parse.ts. */
export const metadata = object({ name: parsedText(1_000), namespace: parsedText(1_000), labels: textMap() });
export const kind = parsedText();
