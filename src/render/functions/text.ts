import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { list, text } from './args.ts';
import type { TemplateFunction } from './types.ts';

/** Functions on text, with the names, argument order and results of confd (Go's strings and path packages). */
export const TEXT_FUNCTIONS: readonly TemplateFunction[] = [
  {
    name: 'base',
    signature: 'base(path)',
    doc: 'The last part of a path; "." for empty text, "/" for the root.',
    example: ['{{ base("/bgp/peers/tor-1") }}', 'tor-1'],
    as: 'both',
    pure: true,
    call: (path) => base(text(path, 'the path')),
  },
  {
    name: 'dir',
    signature: 'dir(path)',
    doc: 'All but the last part of a path, cleaned; "." when nothing is left.',
    example: ['{{ dir("/bgp/peers/tor-1") }}', '/bgp/peers'],
    as: 'both',
    pure: true,
    call: (path) => dir(text(path, 'the path')),
  },
  {
    name: 'split',
    signature: 'split(text, separator)',
    doc: 'A list of the parts between separators; with an empty separator, of the characters.',
    example: ['{{ split("a,b,c", ",")[1] }}', 'b'],
    as: 'both',
    pure: true,
    call: (value, separator) => split(text(value, 'the text'), text(separator, 'the separator')),
  },
  {
    name: 'join',
    signature: 'join(list, separator, member)',
    doc: 'The elements (or the named member of each) as one text.',
    example: ['{{ join(["a", "b"], ", ") }}', 'a, b'],
    as: 'both',
    pure: true,
    call: (items, separator = '', member = undefined) => {
      const pick = member === undefined ? (item: unknown) => item : memberOf(text(member, 'the member'));
      return list(items, 'the first argument')
        .map((item) => text(pick(item), 'an element'))
        .join(text(separator, 'the separator'));
    },
  },
  {
    name: 'replace',
    signature: 'replace(text, old, new, count)',
    doc: 'Replaces the first `count` occurrences; all of them when it is negative or left out.',
    example: ['{{ replace("a.b.c", ".", "_", 1) }}', 'a_b.c'],
    as: 'both',
    pure: true,
    call: (value, from, to, count = -1) =>
      replace(
        text(value, 'the text'),
        text(from, 'what to replace'),
        text(to, 'the replacement'),
        Number(count),
      ),
  },
  {
    name: 'contains',
    signature: 'contains(text, part)',
    doc: 'Whether the part occurs in the text.',
    example: ['{{ contains("bgp_export", "export") }}', 'true'],
    as: 'both',
    pure: true,
    call: (value, part) => text(value, 'the text').includes(text(part, 'the part')),
  },
  {
    name: 'hasPrefix',
    signature: 'hasPrefix(text, prefix)',
    doc: 'Whether the text begins so.',
    example: ['{{ hasPrefix("fd00::1", "fd") }}', 'true'],
    as: 'both',
    pure: true,
    call: (value, prefix) => text(value, 'the text').startsWith(text(prefix, 'the prefix')),
  },
  {
    name: 'hasSuffix',
    signature: 'hasSuffix(text, suffix)',
    doc: 'Whether the text ends so.',
    example: ['{{ hasSuffix("10.0.0.0/8", "/8") }}', 'true'],
    as: 'both',
    pure: true,
    call: (value, suffix) => text(value, 'the text').endsWith(text(suffix, 'the suffix')),
  },
  {
    name: 'trimPrefix',
    signature: 'trimPrefix(text, prefix)',
    doc: 'The text without the prefix, if it begins with it.',
    example: ['{{ trimPrefix("AS64512", "AS") }}', '64512'],
    as: 'both',
    pure: true,
    call: (value, prefix) => {
      const [whole, part] = [text(value, 'the text'), text(prefix, 'the prefix')];
      return whole.startsWith(part) ? whole.slice(part.length) : whole;
    },
  },
  {
    name: 'trimSuffix',
    signature: 'trimSuffix(text, suffix)',
    doc: 'The text without the suffix, if it ends with it.',
    example: ['{{ trimSuffix("tor-1.example.net", ".example.net") }}', 'tor-1'],
    as: 'both',
    pure: true,
    call: (value, suffix) => {
      const [whole, part] = [text(value, 'the text'), text(suffix, 'the suffix')];
      return whole.endsWith(part) ? whole.slice(0, whole.length - part.length) : whole;
    },
  },
  {
    name: 'toUpper',
    signature: 'toUpper(text)',
    doc: 'The text in upper case.',
    example: ['{{ toUpper("tor") }}', 'TOR'],
    as: 'both',
    pure: true,
    call: (value) => text(value, 'the text').toUpperCase(),
  },
  {
    name: 'toLower',
    signature: 'toLower(text)',
    doc: 'The text in lower case.',
    example: ['{{ toLower("TOR") }}', 'tor'],
    as: 'both',
    pure: true,
    call: (value) => text(value, 'the text').toLowerCase(),
  },
  {
    name: 'quote',
    signature: 'quote(text)',
    doc: 'The text in double quotes with JSON escapes. For BIRD use the filter bird_string: BIRD has no escapes.',
    example: ['{{ quote("a\\"b") }}', '"a\\"b"'],
    as: 'both',
    pure: true,
    call: (value) => JSON.stringify(text(value, 'the text')),
  },
  {
    name: 'squote',
    signature: 'squote(text)',
    doc: 'The text in single quotes.',
    example: ['{{ squote("a") }}', "'a'"],
    as: 'both',
    pure: true,
    call: (value) => `'${text(value, 'the text')}'`,
  },
  {
    name: 'repeat',
    signature: 'repeat(count, text)',
    doc: 'The text that many times.',
    example: ['{{ repeat(3, "ab") }}', 'ababab'],
    as: 'function',
    pure: true,
    call: (count, value) => text(value, 'the text').repeat(boundedCount(count)),
  },
  {
    name: 'nospace',
    signature: 'nospace(text)',
    doc: 'The text without white space.',
    example: ['{{ nospace(" a b ") }}', 'ab'],
    as: 'both',
    pure: true,
    call: (value) => text(value, 'the text').replace(/\s+/g, ''),
  },
  {
    name: 'sha256sum',
    signature: 'sha256sum(text)',
    doc: 'The SHA-256 of the text in hexadecimal digits.',
    example: ['{{ sha256sum("") | truncate(8, true, "") }}', 'e3b0c442'],
    as: 'both',
    pure: true,
    call: (value) => createHash('sha256').update(text(value, 'the text')).digest('hex'),
  },
];

/** Go's path.Base. */
export function base(path: string): string {
  if (path === '') return '.';
  const trimmed = path.replace(/\/+$/, '');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

/** Go's path.Dir: the path up to the last slash, cleaned. */
export function dir(path: string): string {
  const head = posix.normalize(path.slice(0, path.lastIndexOf('/') + 1));
  return head.length > 1 && head.endsWith('/') ? head.slice(0, -1) : head;
}

function split(value: string, separator: string): string[] {
  return separator === '' ? Array.from(value) : value.split(separator);
}

/** Go's strings.Replace: empty `from` matches before every character and at the end. */
function replace(value: string, from: string, to: string, count: number): string {
  if (!Number.isInteger(count)) throw new Error('the count must be a whole number');
  const parts = from === '' ? ['', ...Array.from(value), ''] : value.split(from);
  const limit = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  const glue = from === '' ? '' : from;
  let out = parts[0]!;
  for (let i = 1; i < parts.length; i += 1) out += (i <= limit ? to : glue) + parts[i];
  return out;
}

/** Reads a member of an element: `Key` of a KVPair, `name` of a session. */
export function memberOf(name: string): (item: unknown) => unknown {
  return (item) => {
    if (typeof item === 'object' && item !== null && Object.hasOwn(item, name)) {
      return (item as Record<string, unknown>)[name];
    }
    throw new Error(`an element has no member ${JSON.stringify(name)}`);
  };
}

function boundedCount(count: unknown): number {
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 100_000) return count;
  throw new Error('the count must be a whole number from 0 to 100000');
}
