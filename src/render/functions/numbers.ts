import { integer, kind, text } from './args.ts';
import type { TemplateFunction } from './types.ts';

/** A list this long is a slip, and building it would hold up the process. */
const MAX_SEQUENCE = 100_000n;

const arithmetic = (
  name: string,
  doc: string,
  example: readonly [string, string],
  calculate: (a: bigint, b: bigint) => bigint,
): TemplateFunction => ({
  name,
  signature: `${name}(a, b)`,
  doc,
  example,
  as: 'both',
  pure: true,
  call: (a, b) => plain(calculate(integer(a, 'the first argument'), integer(b, 'the second argument'))),
});

export const NUMBER_FUNCTIONS: readonly TemplateFunction[] = [
  arithmetic('add', 'The sum of two whole numbers.', ['{{ add(64512, 1) }}', '64513'], (a, b) => a + b),
  arithmetic('sub', 'The difference of two whole numbers.', ['{{ sub(10, 3) }}', '7'], (a, b) => a - b),
  arithmetic(
    'mul',
    'The product of two whole numbers.',
    ['{{ mul(65536, 65536) }}', '4294967296'],
    (a, b) => a * b,
  ),
  arithmetic('div', 'Division without remainder; by zero is an error.', ['{{ div(7, 2) }}', '3'], (a, b) => {
    if (b === 0n) throw new Error('division by zero');
    return a / b;
  }),
  arithmetic('mod', 'The remainder of a division; by zero is an error.', ['{{ mod(7, 2) }}', '1'], (a, b) => {
    if (b === 0n) throw new Error('division by zero');
    return a % b;
  }),
  {
    name: 'atoi',
    signature: 'atoi(text)',
    doc: 'A decimal whole number from text; anything else is an error.',
    example: ['{{ atoi("64512") + 1 }}', '64513'],
    as: 'both',
    pure: true,
    call: (value) => {
      const digits = text(value, 'the argument');
      if (!/^[+-]?\d+$/.test(digits)) throw new Error('the text is not a whole number');
      const number = BigInt(digits.replace(/^\+/, ''));
      if (BigInt.asIntN(64, number) !== number) throw new Error('the number does not fit in 64 bits');
      return plain(number);
    },
  },
  {
    name: 'parseBool',
    signature: 'parseBool(text)',
    doc: 'True for 1, t, T, true, True, TRUE; false for 0, f, F, false, False, FALSE; else an error.',
    example: ['{{ "on" if parseBool("true") else "off" }}', 'on'],
    as: 'both',
    pure: true,
    call: (value) => {
      const word = text(value, 'the argument');
      if (['1', 't', 'T', 'true', 'True', 'TRUE'].includes(word)) return true;
      if (['0', 'f', 'F', 'false', 'False', 'FALSE'].includes(word)) return false;
      throw new Error('the text is not a truth value (1, t, true, 0, f, false)');
    },
  },
  {
    name: 'seq',
    signature: 'seq(first, last)',
    doc: 'The whole numbers from first to last, both included; empty when first is larger.',
    example: ['{{ seq(1, 4) | join(" ") }}', '1 2 3 4'],
    as: 'function',
    pure: true,
    call: (first, last) => {
      const from = integer(first, 'the first argument');
      const to = integer(last, 'the second argument');
      if (to - from >= MAX_SEQUENCE) throw new Error(`more than ${MAX_SEQUENCE} numbers`);
      const out: (number | bigint)[] = [];
      for (let n = from; n <= to; n += 1n) out.push(plain(n));
      return out;
    },
  },
  {
    name: 'int',
    signature: 'value | int',
    doc: 'Text or a number as a whole number, cut at the point.',
    example: ['{{ "12" | int + 1 }}', '13'],
    as: 'filter',
    pure: true,
    call: (value, fallback) => {
      if (typeof value === 'bigint') return value;
      const number = Number.parseInt(text(value, 'the input'), 10);
      if (!Number.isNaN(number)) return number;
      if (fallback !== undefined) return fallback;
      throw new Error(`is ${kind(value)} and not a number`);
    },
  },
];

/** A number where that is exact, else a BigInt; both print their digits. */
function plain(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
