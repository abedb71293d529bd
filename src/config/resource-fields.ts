import { posix } from 'node:path';
import { didYouMean } from '../core/suggest.ts';

/** A name to be looked up, and what may be there. */
export interface FieldContext {
  readonly dialects: readonly string[];
  readonly models: readonly string[];
}

/** Thrown by a field's reader; the message completes `FILE: field …`. */
export class FieldError extends Error {}

interface Field<T> {
  readonly doc: string;
  /** The value of an absent field. */
  readonly absent: T | typeof REQUIRED;
  read(value: unknown, context: FieldContext): T;
}

export const REQUIRED = Symbol('required');

const field = <T>(doc: string, absent: T | typeof REQUIRED, read: Field<T>['read']): Field<T> => ({
  doc,
  absent,
  read,
});
const optional = <T>(doc: string, read: Field<T>['read']): Field<T | null> => ({ doc, absent: null, read });

/** The fields of `[template]`: confd's, then ours. The template reference shows them in this order. */
export const RESOURCE_FIELDS = {
  src: field('Name of the template below a `templates/` directory. Required.', REQUIRED, readTemplateName),
  dest: field(
    'Where the file goes. Without a slash: a name, and the file stays in the generation. An absolute path: the file is also copied there. Required.',
    REQUIRED,
    readDest,
  ),
  keys: field(
    'Keys to read, each with all keys below it, relative to `prefix`. `"//x"` means the key `/x` whatever the prefix; templates see it as `//x`.',
    [] as readonly string[],
    readKeys,
  ),
  prefix: optional(
    'Put in front of `keys` and taken off the names that templates see. The global prefix goes in front of it.',
    readText,
  ),
  mode: optional(
    'Permission bits of the copy, as text: "0644" and "644" are the same. Unset: those of the file that is there, else 0640.',
    readMode,
  ),
  uid: optional('Owner of the copy, by number. Unset: that of the file that is there.', readId),
  gid: optional('Group of the copy, by number. Unset: that of the file that is there.', readId),
  owner: optional('Owner of the copy, by name; not together with `uid`.', readWord),
  group: optional('Group of the copy, by name; not together with `gid`.', readWord),
  check_cmd: optional(
    'Shell command that must succeed before the file is published. `{{src}}` is the staged file, `{{dest}}` the destination.',
    readCommand,
  ),
  reload_cmd: optional(
    'Shell command that makes the daemon read the file. `{{src}}` and `{{dest}}` as in `check_cmd`.',
    readCommand,
  ),
  set: field(
    'Files of one set are checked, published and reloaded together.',
    null as string | null,
    readSetName,
  ),
  model: field(
    "`keys`: the template sees its keys. `calico`: it sees the node's BGP configuration.",
    'keys',
    readModel,
  ),
  dialect: optional('A BIRD dialect or a list of them: the resource is used only with these.', readDialects),
  schema: field(
    'JSON Schema file for the values, relative to this file; or a table of key pattern = file. A value that does not fit is left out, or its last good version used.',
    [] as readonly SchemaRule[],
    readSchema,
  ),
  min_keys: optional(
    'With fewer keys nothing is published. Unset: nothing is published when all keys vanish; 0 lets that pass.',
    readCount,
  ),
  check_main: optional(
    'File of the same set that includes this one: it is what `check_cmd` gets as `{{src}}`.',
    readFileName,
  ),
} as const;

export type FieldName = keyof typeof RESOURCE_FIELDS;
export const FIELD_NAMES = Object.keys(RESOURCE_FIELDS) as readonly FieldName[];
export type FieldValues = {
  readonly [N in FieldName]: (typeof RESOURCE_FIELDS)[N] extends Field<infer T> ? T : never;
};

export interface SchemaRule {
  /** Key pattern as in `gets`; null: every key. */
  readonly pattern: string | null;
  readonly file: string;
}

function readText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new FieldError(`must be text, not ${kindOf(value)}`);
}

function readWord(value: unknown): string {
  const word = readText(value);
  if (word.trim() !== word || word === '') throw new FieldError('must be a name');
  return word;
}

function readTemplateName(value: unknown): string {
  const name = readText(value);
  if (name === '') throw new FieldError('is empty; it names a template');
  if (name.startsWith('/')) throw new FieldError('must be relative to a templates directory, not absolute');
  if (name.split('/').some((part) => part === '..' || part === '.' || part === '')) {
    throw new FieldError('must not contain empty, "." or ".." parts');
  }
  return name;
}

function readDest(value: unknown): string {
  const dest = readText(value);
  if (!dest.startsWith('/')) return readFileName(dest);
  if (posix.normalize(dest) !== dest || dest.endsWith('/')) {
    throw new FieldError(
      `must be the plain path of a file; write ${JSON.stringify(posix.resolve('/', dest))}`,
    );
  }
  return dest;
}

function readFileName(value: unknown): string {
  const name = readText(value);
  if (name === '') throw new FieldError('is empty');
  if (name.includes('/')) throw new FieldError('must be a file name without slash, or an absolute path');
  if (name.startsWith('.')) throw new FieldError('must not begin with a dot');
  if (name === 'stamp.json')
    throw new FieldError('must not be "stamp.json", which every generation has for itself');
  return name;
}

function readKeys(value: unknown): readonly string[] {
  if (typeof value === 'string')
    throw new FieldError(`must be a list; write keys = [${JSON.stringify(value)}]`);
  if (!Array.isArray(value)) throw new FieldError(`must be a list of keys, not ${kindOf(value)}`);
  return value.map((key: unknown) => {
    if (typeof key !== 'string') throw new FieldError(`must hold text only, not ${kindOf(key)}`);
    if (key === '') throw new FieldError('has an empty key; write "/" for everything below the prefix');
    return key;
  });
}

/** confd reads "644" as decimal and gives the file mode 0o204; both spellings mean octal here. */
function readMode(value: unknown): number {
  if (typeof value === 'number') {
    throw new FieldError(
      'must be text, since a TOML number is decimal: put the octal digits in quotes, as in mode = "0644"',
    );
  }
  const text = readText(value);
  if (!/^0?[0-7]{3}$/.test(text)) throw new FieldError('must be three octal digits, as in mode = "0644"');
  return Number.parseInt(text, 8);
}

/** confd's -1 means "unset". */
function readId(value: unknown): number | null {
  if (value === -1) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  throw new FieldError(
    `must be a number from 0${typeof value === 'string' ? '; for a name use owner or group' : ''}`,
  );
}

function readCount(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new FieldError('must be a whole number from 0');
}

function readCommand(value: unknown): string {
  const command = readText(value);
  if (command.trim() === '') throw new FieldError('is empty; leave it out instead');
  for (const [whole, name = ''] of command.matchAll(/\{\{-?\s*(.*?)\s*-?\}\}/g)) {
    if (!/^\.?(?:src|dest)$/.test(name))
      throw new FieldError(`has ${whole}; only {{src}} and {{dest}} are replaced`);
  }
  return command;
}

function readSetName(value: unknown): string {
  const name = readText(value);
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
    throw new FieldError(
      'must be of a–z, 0–9 and "-", at most 63 characters, beginning with a letter or digit',
    );
  }
  return name;
}

function readModel(value: unknown, { models }: FieldContext): string {
  return oneOf(readText(value), models);
}

function readDialects(value: unknown, { dialects }: FieldContext): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0) throw new FieldError('is an empty list; leave it out to use the resource always');
  return list.map((item: unknown) => oneOf(readText(item), dialects));
}

function readSchema(value: unknown): readonly SchemaRule[] {
  if (typeof value === 'string') return [{ pattern: null, file: readWord(value) }];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FieldError(`must be a file or a table of key pattern = file, not ${kindOf(value)}`);
  }
  return Object.entries(value).map(([pattern, file]) => ({ pattern, file: readWord(file) }));
}

function oneOf(word: string, words: readonly string[]): string {
  if (words.includes(word)) return word;
  throw new FieldError(`is ${JSON.stringify(word)}; it can be ${words.join(', ')}${didYouMean(word, words)}`);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  return typeof value === 'object' ? 'a table' : `a ${typeof value}`;
}
