import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  matches,
  parseSelector,
  type Selector,
  type SelectorNode,
} from '../../../../src/model/calico/selector.ts';

function selector(text: string): Selector {
  const result = parseSelector(text);
  if (!result.ok) throw new Error(result.reason);
  return result.value;
}

function refusal(text: string): string {
  const result = parseSelector(text);
  if (result.ok) throw new Error(`accepted as ${JSON.stringify(result.value.root)}`);
  return result.reason;
}

const RACK: Readonly<Record<string, string>> = {
  rack: 'a1',
  'kubernetes.io/hostname': 'node-1',
  has: 'x',
  in: 'y',
  empty: '',
};

describe('selection', () => {
  it.each([
    ['', true],
    [' \t ', true],
    ['all()', true],
    ['all( )', true],
    ['global()', true],
    ["rack == 'a1'", true],
    ['rack == "a1"', true],
    ["rack=='a1'", true],
    ["rack != 'a1'", false],
    ["absent != 'a1'", true],
    ["absent == ''", false],
    ["empty == ''", true],
    ['has(rack)', true],
    ['has( rack )', true],
    ['has(absent)', false],
    ['!has(absent)', true],
    ['!!has(absent)', false],
    ['! ! ! has(absent)', true],
    ["rack in {'a1', 'a2'}", true],
    ["rack in {'a1',}", true],
    ['rack in {}', false],
    ['rack not in {}', true],
    ["rack not in {'a1'}", false],
    ["rack notin {'a1'}", false],
    ["absent not in {'a1'}", true],
    ["absent in {''}", false],
    ["rack contains 'a'", true],
    ["rack contains ''", true],
    ["absent contains ''", false],
    ["rack starts with 'a'", true],
    ["rack startswith 'a'", true],
    ["rack ends with '1'", true],
    ["rack ends with 'a'", false],
    ["has == 'x'", true],
    ["in in {'y'}", true],
    ["kubernetes.io/hostname == 'node-1'", true],
    // && binds more than ||.
    ['has(rack) || has(absent) && has(absent)', true],
    ['(has(rack) || has(absent)) && has(absent)', false],
    ['!has(rack) || has(rack)', true],
    ['!(has(rack) || has(rack))', false],
    // Calico's tokenizer wants no space or boundary after a word operator.
    ["rack contains'a'", true],
    ["rack in{'a1'}", true],
  ])('%j is %s for the labels', (text, expected) => {
    expect(matches(selector(text), RACK)).toBe(expected);
  });

  it('does not find what objects inherit', () => {
    for (const label of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(matches(selector(`has(${label})`), {})).toBe(false);
    }
    expect(matches(selector('has(__proto__)'), JSON.parse('{"__proto__":"x"}'))).toBe(true);
  });
});

describe('refusal', () => {
  it.each([
    ["rack = 'a1'", 'character 6: "=" must be doubled'],
    ["rack == 'a1' & all()", 'character 14: "&" must be doubled'],
    ["rack == 'a1' | all()", 'character 14: "|" must be doubled'],
    ["rack == 'a1", "character 9: the string has no closing '"],
    ['rack == a1', 'character 9: expected a value in quotes, found the label "a1"'],
    ['rack', 'character 5: expected an operator after label "rack"'],
    ["rack 'a1'", 'character 6: expected an operator after label "rack"'],
    ['rack is here', 'character 6: after label "rack" an operator is expected'],
    ["rack starts 'a'", 'character 6: after label "rack" an operator is expected'],
    ['has(rack) && ', 'character 14: expected a label, has(), all() or "(", found the end'],
    ['has(rack) has(rack)', 'character 11: expected "&&", "||" or the end, found has(rack)'],
    ['(has(rack)', 'character 11: expected "&&", "||" or ")", found the end'],
    ['has(rack))', 'character 10: expected "&&", "||" or the end, found ")"'],
    ['has()', 'character 5: has( must be followed by a label'],
    ['has(rack', 'character 9: has( has no closing ")"'],
    ['all(x)', 'character 5: all( has no closing ")"'],
    ['all', 'character 4: expected an operator after label "all"'],
    ["rack in 'a1'", 'character 9: expected "{"'],
    ["rack in {'a1' 'a2'}", 'character 15: expected a value in quotes, "," or "}"'],
    ['rack in {a1}', 'character 10: expected a value in quotes, "," or "}", found the label "a1"'],
    ['rack == "a1" ;', 'character 14: ";" is not allowed here'],
    ["rack ==\n'a1'", 'character 8: "\\n" is not allowed here'],
    ['!', 'character 2: expected a label'],
    ['()', 'character 2: expected a label'],
  ])('%j: %s', (text, why) => {
    expect(refusal(text)).toContain(why);
  });

  it('names the selector, cut, on one line', () => {
    const reason = refusal(`${'x'.repeat(5_000)}\n`);
    expect(reason).toMatch(/^"x{60}\.\.\." is not a selector: /);
    expect(reason.length).toBeLessThan(400);
    expect(reason).not.toContain('\n');
  });

  it('refuses nesting that could overflow the stack, and takes any number of negations', () => {
    expect(refusal(`${'('.repeat(100_000)}all()${')'.repeat(100_000)}`)).toContain('nested deeper than 64');
    expect(matches(selector(`${'!'.repeat(99_999)}all()`), {})).toBe(false);
    expect(matches(selector(`${'('.repeat(64)}all()${')'.repeat(64)}`), {})).toBe(true);
  });
});

it('remembers a text that was parsed', () => {
  expect(parseSelector("a == 'b'")).toBe(parseSelector("a == 'b'"));
});

const label = fc.constantFrom('a', 'b', 'not', 'in', 'has', 'all', 'k8s.io/x-y_z');
const text = fc.constantFrom('', 'x', 'xy', 'y', 'it"s', 'a && b');
const leaf: fc.Arbitrary<SelectorNode> = fc.oneof(
  fc.record({ type: fc.constantFrom('all' as const, 'global' as const) }),
  fc.record({ type: fc.constant('has' as const), label }),
  fc.record({
    type: fc.constantFrom(
      'equals' as const,
      'notEquals' as const,
      'contains' as const,
      'startsWith' as const,
      'endsWith' as const,
    ),
    label,
    value: text,
  }),
  fc.record({
    type: fc.constantFrom('in' as const, 'notIn' as const),
    label,
    values: fc.array(text, { maxLength: 3 }),
  }),
);
const tree = fc.letrec<{ node: SelectorNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.record({ type: fc.constant('not' as const), operand: tie('node') }),
    fc.record({
      type: fc.constantFrom('and' as const, 'or' as const),
      operands: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
    }),
  ),
})).node;
const labels = fc.dictionary(label, text, { maxKeys: 4 });

/** The tree as text with no more parentheses than the binding needs, so that precedence is tested. */
function print(node: SelectorNode, within: 'or' | 'and' | 'not' = 'or'): string {
  const quote = (value: string) => (value.includes('"') ? `'${value}'` : `"${value}"`);
  switch (node.type) {
    case 'all':
    case 'global':
      return `${node.type}()`;
    case 'has':
      return `has(${node.label})`;
    case 'not': {
      const operand = print(node.operand, 'not');
      return `!${operand}`;
    }
    case 'or': {
      const inner = node.operands.map((operand) => print(operand, 'and')).join(' || ');
      return within === 'or' ? inner : `(${inner})`;
    }
    case 'and': {
      const inner = node.operands.map((operand) => print(operand, 'not')).join('&&');
      return within === 'not' ? `(${inner})` : inner;
    }
    case 'in':
    case 'notIn':
      return `${node.label} ${node.type === 'in' ? 'in' : 'not\tin'} {${node.values.map(quote).join(', ')}}`;
    default: {
      const words = {
        equals: '==',
        notEquals: '!=',
        contains: 'contains',
        startsWith: 'starts with',
        endsWith: 'ends with',
      };
      return `${node.label} ${words[node.type]} ${quote(node.value)}`;
    }
  }
}

/** Straight from the description of the language, without the text in between. */
function naive(node: SelectorNode, given: Readonly<Record<string, string>>): boolean {
  const map = new Map(Object.entries(given));
  switch (node.type) {
    case 'all':
    case 'global':
      return true;
    case 'not':
      return !naive(node.operand, given);
    case 'and':
      return !node.operands.some((operand) => !naive(operand, given));
    case 'or':
      return node.operands.filter((operand) => naive(operand, given)).length > 0;
    case 'has':
      return map.has(node.label);
    case 'equals':
      return map.get(node.label) === node.value;
    case 'notEquals':
      return !(map.get(node.label) === node.value);
    case 'contains':
      return map.has(node.label) && map.get(node.label)!.indexOf(node.value) >= 0;
    case 'startsWith':
      return map.has(node.label) && map.get(node.label)!.slice(0, node.value.length) === node.value;
    case 'endsWith':
      return map.has(node.label) && new RegExp(`${node.value}$`).test(map.get(node.label)!);
    case 'in':
      return new Set<string | undefined>(node.values).has(map.get(node.label));
    case 'notIn':
      return !new Set<string | undefined>(node.values).has(map.get(node.label));
  }
}

it('selects from the text what the tree means', { timeout: 30_000 }, () => {
  fc.assert(
    fc.property(tree, labels, (node, given) => {
      expect(matches(selector(print(node)), given)).toBe(naive(node, given));
    }),
    { numRuns: 1_000 },
  );
});

it('never throws, whatever the text', { timeout: 30_000 }, () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    "'x'",
    '"',
    '==',
    '!',
    '!=',
    '&&',
    '||',
    '(',
    ')',
    '{',
    '}',
    ',',
    'in',
    'not',
    'has(',
    'all()',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((pieces) => pieces.join('')),
      ),
      (candidate) => {
        const result = parseSelector(candidate);
        if (!result.ok) expect(result.reason).toMatch(/character \d+: /);
      },
    ),
    { numRuns: 2_000 },
  );
});
