import { text } from './args.ts';
import type { TemplateFunction } from './types.ts';

/** Regular expressions, pattern first. JavaScript's syntax, plus Go's `(?i)`, `(?m)`, `(?s)` at the beginning. */
export const REGEX_FUNCTIONS: readonly TemplateFunction[] = [
  {
    name: 'regexMatch',
    signature: 'regexMatch(pattern, text)',
    doc: 'Whether the pattern occurs in the text.',
    example: ['{{ regexMatch("^tor-[0-9]+$", "tor-7") }}', 'true'],
    as: 'function',
    pure: true,
    call: (pattern, value) => compile(pattern, '').test(text(value, 'the text')),
  },
  {
    name: 'regexFind',
    signature: 'regexFind(pattern, text)',
    doc: 'The first occurrence, or empty text.',
    example: ['{{ regexFind("[0-9]+", "rack-12-left") }}', '12'],
    as: 'function',
    pure: true,
    call: (pattern, value) => compile(pattern, '').exec(text(value, 'the text'))?.[0] ?? '',
  },
  {
    name: 'regexReplaceAll',
    signature: 'regexReplaceAll(pattern, text, replacement)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Go's way to write a group
    doc: 'Replaces every occurrence; `${1}` in the replacement is the first group.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Go's way to write a group
    example: ['{{ regexReplaceAll("([a-z]+)-([0-9]+)", "tor-7", "${2}${1}") }}', '7tor'],
    as: 'function',
    pure: true,
    call: (pattern, value, replacement) =>
      text(value, 'the text').replace(
        compile(pattern, 'g'),
        text(replacement, 'the replacement').replace(/\$\{(\d+)\}/g, (_all, group) => `$${group}`),
      ),
  },
];

function compile(pattern: unknown, flags: string): RegExp {
  const source = text(pattern, 'the pattern');
  const inline = /^\(\?([ims]+)\)/.exec(source);
  try {
    return new RegExp(source.slice(inline?.[0].length ?? 0), `${flags}${inline?.[1] ?? ''}`);
  } catch {
    throw new Error('the pattern is not a valid regular expression');
  }
}
