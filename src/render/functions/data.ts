import { byText } from '../../core/order.ts';
import { kind, list, object, text } from './args.ts';
import { parseJson, printJson } from './json.ts';
import { memberOf } from './text.ts';
import type { TemplateFunction } from './types.ts';

const map: TemplateFunction = {
  name: 'map',
  signature: 'map(key, value, …)',
  doc: 'An object of the given keys and values. Keys must be text; an odd number of arguments is an error.',
  example: ['{{ map("name", "tor", "as", 64512).as }}', '64512'],
  as: 'function',
  pure: true,
  call: (...args) => {
    if (args.length % 2 === 1) throw new Error('keys and values must come in pairs');
    const out: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (let i = 0; i < args.length; i += 2) {
      if (typeof args[i] !== 'string') throw new Error(`a key must be text, not ${kind(args[i])}`);
      out[args[i] as string] = args[i + 1];
    }
    return out;
  },
};

export const DATA_FUNCTIONS: readonly TemplateFunction[] = [
  {
    name: 'json',
    signature: 'json(text)',
    doc: 'A JSON object. Large whole numbers keep their digits. Anything but an object is an error.',
    example: ['{{ json(\'{"as": 4200000000}\').as }}', '4200000000'],
    as: 'both',
    pure: true,
    call: (value) => object(parseJson(text(value, 'the argument')), 'the JSON text'),
  },
  {
    name: 'jsonArray',
    signature: 'jsonArray(text)',
    doc: 'A JSON array as a list. Anything but an array is an error.',
    example: ['{{ jsonArray("[1, 2]") | join("-") }}', '1-2'],
    as: 'both',
    pure: true,
    call: (value) => list(parseJson(text(value, 'the argument')), 'the JSON text'),
  },
  {
    name: 'fromJson',
    signature: 'fromJson(text)',
    doc: 'Any JSON value.',
    example: ['{{ fromJson("[1]")[0] }}', '1'],
    as: 'both',
    pure: true,
    call: (value) => parseJson(text(value, 'the argument')),
  },
  {
    name: 'toJson',
    signature: 'toJson(value)',
    doc: 'The value as JSON on one line.',
    example: ['{{ toJson(["a", 1]) }}', '["a",1]'],
    as: 'both',
    pure: true,
    call: (value) => printJson(value),
  },
  {
    name: 'toPrettyJson',
    signature: 'toPrettyJson(value)',
    doc: 'The value as JSON with two spaces of indentation.',
    example: ['{{ toPrettyJson({ a: 1 }) }}', '{\n  "a": 1\n}'],
    as: 'both',
    pure: true,
    call: (value) => printJson(value, 2),
  },
  map,
  {
    ...map,
    name: 'dict',
    signature: 'dict(key, value, …)',
    doc: 'The same as map.',
    example: ['{{ dict("a", 1).a }}', '1'],
  },
  {
    name: 'list',
    signature: 'list(value, …)',
    doc: 'A list of the arguments. (The filter of this name turns text or an object into a list.)',
    example: ['{{ list(1, 2) | join("+") }}', '1+2'],
    as: 'function',
    pure: true,
    call: (...args) => args,
  },
  {
    name: 'append',
    signature: 'append(list, value)',
    doc: 'A new list with one more element.',
    example: ['{{ append([1], 2) | join("+") }}', '1+2'],
    as: 'both',
    pure: true,
    call: (items, value) => [...list(items, 'the first argument'), value],
  },
  {
    name: 'keys',
    signature: 'keys(object)',
    doc: 'The names of the members, sorted.',
    example: ['{{ keys({ b: 1, a: 2 }) | join(" ") }}', 'a b'],
    as: 'both',
    pure: true,
    call: (value) => Object.keys(object(value, 'the argument')).sort(byText),
  },
  {
    name: 'values',
    signature: 'values(object)',
    doc: 'The members in the order of their sorted names.',
    example: ['{{ values({ b: 1, a: 2 }) | join(" ") }}', '2 1'],
    as: 'both',
    pure: true,
    call: (value) => {
      const members = object(value, 'the argument');
      return Object.keys(members)
        .sort(byText)
        .map((key) => members[key]);
    },
  },
  {
    name: 'hasKey',
    signature: 'hasKey(object, name)',
    doc: 'Whether the object has a member of that name.',
    example: ['{{ hasKey({ a: 1 }, "b") }}', 'false'],
    as: 'both',
    pure: true,
    call: (value, name) => Object.hasOwn(object(value, 'the first argument'), text(name, 'the name')),
  },
  {
    name: 'pluck',
    signature: 'pluck(name, list)',
    doc: 'The named member of every element that has it.',
    example: ['{{ pluck("n", [{ n: 1 }, {}, { n: 2 }]) | join(" ") }}', '1 2'],
    as: 'function',
    pure: true,
    call: (name, items) => {
      const member = text(name, 'the name');
      return list(items, 'the second argument')
        .filter((item) => Object.hasOwn(object(item, 'an element'), member))
        .map(memberOf(member));
    },
  },
  {
    name: 'empty',
    signature: 'empty(value)',
    doc: 'Whether the value is null, false, 0, empty text, or an empty list or object.',
    example: ['{{ empty([]) }}', 'true'],
    as: 'both',
    pure: true,
    call: (value) => isEmpty(value),
  },
  {
    name: 'coalesce',
    signature: 'coalesce(value, …)',
    doc: 'The first argument that is not empty; an error when all are.',
    example: ['{{ coalesce("", null, "x") }}', 'x'],
    as: 'function',
    pure: true,
    call: (...args) => {
      const found = args.find((value) => !isEmpty(value));
      if (found === undefined) throw new Error('all arguments are empty');
      return found;
    },
  },
  {
    name: 'ternary',
    signature: 'ternary(yes, no, condition)',
    doc: 'One of two values.',
    example: ['{{ ternary("on", "off", true) }}', 'on'],
    as: 'function',
    pure: true,
    call: (yes, no, condition) => (isEmpty(condition) ? no : yes),
  },
  {
    name: 'base64Encode',
    signature: 'base64Encode(text)',
    doc: 'The text in base64.',
    example: ['{{ base64Encode("bird") }}', 'YmlyZA=='],
    as: 'both',
    pure: true,
    call: (value) => Buffer.from(text(value, 'the text'), 'utf8').toString('base64'),
  },
  {
    name: 'base64Decode',
    signature: 'base64Decode(text)',
    doc: 'Text from base64; what is not base64 of UTF-8 text is an error.',
    example: ['{{ base64Decode("YmlyZA==") }}', 'bird'],
    as: 'both',
    pure: true,
    call: (value) => decodeBase64(text(value, 'the text')),
  },
];

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0 || value === 0n)
    return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Node ignores what is not base64; Go, and so confd, does not, except for line ends. */
function decodeBase64(value: string): string {
  const digits = value.replace(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(digits)) {
    throw new Error('the text is not valid base64');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(digits, 'base64'));
  } catch {
    throw new Error('the decoded bytes are not UTF-8 text');
  }
}
