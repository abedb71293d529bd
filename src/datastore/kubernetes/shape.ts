/** Looking at JSON of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value` when it is an object, else an empty one: a missing or misshapen part reads as "nothing set". */
export function objectAt(parent: JsonObject, field: string): JsonObject {
  const value = parent[field];
  return isObject(value) ? value : {};
}

/** The text at `field`; the empty text where there is none. */
export function textAt(parent: JsonObject, field: string): string {
  const value = parent[field];
  return typeof value === 'string' ? value : '';
}

/** Only the members that are text: labels, annotations, a Secret's data. */
export function textMembers(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const members = Object.entries(value).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return Object.fromEntries(members);
}

/** Without members that are undefined, empty text or empty objects, as Go's `omitempty` leaves them out. */
export function compact(members: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
