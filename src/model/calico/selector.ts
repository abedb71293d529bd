import { failed, ok, quoted, type Result } from './result.ts';
import { SelectorSyntaxError, type Token, tokenize } from './selector-tokens.ts';

/**
 * Calico's selector language (libcalico-go `lib/selector`): `||` binds least, then `&&`, then any number of `!`; terms are
 * `has(k)`, `all()`, `global()`, `k == 'v'`, `!=`, `contains`, `starts with`, `ends with`, `in {..}`, `not in {..}`.
 * Strings have no escapes; whitespace is space and tab only; the empty text selects everything.
 */
export type SelectorNode =
  | { readonly type: 'all' | 'global' }
  | { readonly type: 'has'; readonly label: string }
  | { readonly type: ValueOperator; readonly label: string; readonly value: string }
  | { readonly type: SetOperator; readonly label: string; readonly values: readonly string[] }
  | { readonly type: 'not'; readonly operand: SelectorNode }
  | { readonly type: 'and' | 'or'; readonly operands: readonly SelectorNode[] };

export type ValueOperator = 'equals' | 'notEquals' | 'contains' | 'startsWith' | 'endsWith';
export type SetOperator = 'in' | 'notIn';

export interface Selector {
  readonly text: string;
  readonly root: SelectorNode;
}

/** Deeper nesting of parentheses is refused, so that no stored text can overflow the stack. */
const MAX_DEPTH = 64;
/** Parsed texts that are remembered; when there are more, all are forgotten, which only costs parsing them again. */
const MEMO_SIZE = 10_000;
const memo = new Map<string, Result<Selector>>();

/** Parses a selector; the same text gives the same object. The reason names the character (from 1) and what was expected. */
export function parseSelector(text: string): Result<Selector> {
  const known = memo.get(text);
  if (known !== undefined) return known;
  if (memo.size >= MEMO_SIZE) memo.clear();
  const result = parse(text);
  memo.set(text, result);
  return result;
}

/** Whether labels satisfy a selector. As in Calico, `!=` and `not in` hold for a label that is absent. */
export function matches(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  return evaluate(selector.root, labels);
}

function evaluate(node: SelectorNode, labels: Readonly<Record<string, string>>): boolean {
  switch (node.type) {
    case 'all':
    case 'global':
      return true;
    case 'and':
      return node.operands.every((operand) => evaluate(operand, labels));
    case 'or':
      return node.operands.some((operand) => evaluate(operand, labels));
    case 'not':
      return !evaluate(node.operand, labels);
    default:
      return evaluateTerm(node, Object.hasOwn(labels, node.label) ? labels[node.label] : undefined);
  }
}

function evaluateTerm(node: Extract<SelectorNode, { label: string }>, value: string | undefined): boolean {
  switch (node.type) {
    case 'has':
      return value !== undefined;
    case 'equals':
      return value === node.value;
    case 'notEquals':
      return value !== node.value;
    case 'contains':
      return value?.includes(node.value) ?? false;
    case 'startsWith':
      return value?.startsWith(node.value) ?? false;
    case 'endsWith':
      return value?.endsWith(node.value) ?? false;
    case 'in':
      return value !== undefined && node.values.includes(value);
    case 'notIn':
      return value === undefined || !node.values.includes(value);
  }
}

function parse(text: string): Result<Selector> {
  try {
    const cursor: Cursor = { tokens: tokenize(text), next: 0, depth: 0 };
    if (peek(cursor).kind === 'end') return ok({ text, root: { type: 'all' } });
    const root = parseOr(cursor);
    const rest = peek(cursor);
    if (rest.kind === 'end') return ok({ text, root });
    throw unexpected(rest, '"&&", "||" or the end');
  } catch (error) {
    if (!(error instanceof SelectorSyntaxError)) throw error;
    return failed(`${quoted(text)} is not a selector: character ${error.at + 1}: ${error.message}`);
  }
}

interface Cursor {
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
}

function peek(cursor: Cursor): Token {
  return cursor.tokens[cursor.next]!;
}

function take(cursor: Cursor): Token {
  const token = peek(cursor);
  if (token.kind !== 'end') cursor.next += 1;
  return token;
}

function parseOr(cursor: Cursor): SelectorNode {
  return parseList(cursor, '||', 'or', parseAnd);
}

function parseAnd(cursor: Cursor): SelectorNode {
  return parseList(cursor, '&&', 'and', parseNot);
}

function parseList(
  cursor: Cursor,
  separator: '||' | '&&',
  type: 'or' | 'and',
  parseOperand: (cursor: Cursor) => SelectorNode,
): SelectorNode {
  const first = parseOperand(cursor);
  if (peek(cursor).kind !== separator) return first;
  const operands = [first];
  while (peek(cursor).kind === separator) {
    take(cursor);
    operands.push(parseOperand(cursor));
  }
  return { type, operands };
}

function parseNot(cursor: Cursor): SelectorNode {
  let negated = false;
  while (peek(cursor).kind === '!') {
    take(cursor);
    negated = !negated;
  }
  const operand = parseTerm(cursor);
  return negated ? { type: 'not', operand } : operand;
}

function parseTerm(cursor: Cursor): SelectorNode {
  const token = take(cursor);
  switch (token.kind) {
    case 'all':
    case 'global':
      return { type: token.kind };
    case 'has':
      return { type: 'has', label: token.value };
    case 'label':
      return parseComparison(cursor, token.value);
    case '(':
      return parseParenthesis(cursor, token);
    default:
      throw unexpected(token, 'a label, has(), all() or "("');
  }
}

function parseParenthesis(cursor: Cursor, open: Token): SelectorNode {
  cursor.depth += 1;
  if (cursor.depth > MAX_DEPTH)
    throw new SelectorSyntaxError(open.at, `parentheses are nested deeper than ${MAX_DEPTH}`);
  const node = parseOr(cursor);
  cursor.depth -= 1;
  const close = take(cursor);
  if (close.kind !== ')') throw unexpected(close, '"&&", "||" or ")"');
  return node;
}

function parseComparison(cursor: Cursor, label: string): SelectorNode {
  const operator = take(cursor);
  switch (operator.kind) {
    case 'equals':
    case 'notEquals':
    case 'contains':
    case 'startsWith':
    case 'endsWith': {
      const value = take(cursor);
      if (value.kind !== 'string') throw unexpected(value, 'a value in quotes');
      return { type: operator.kind, label, value: value.value };
    }
    case 'in':
    case 'notIn':
      return { type: operator.kind, label, values: parseSet(cursor) };
    default:
      throw unexpected(
        operator,
        `an operator after label ${quoted(label)}: ==, !=, in, not in, contains, starts with or ends with`,
      );
  }
}

/** `{'a', 'b'}`; the empty set and a comma before the brace are allowed, as in Calico. */
function parseSet(cursor: Cursor): string[] {
  const open = take(cursor);
  if (open.kind !== '{') throw unexpected(open, '"{"');
  const values: string[] = [];
  while (peek(cursor).kind === 'string') {
    values.push(take(cursor).value);
    if (peek(cursor).kind !== ',') break;
    take(cursor);
  }
  const close = take(cursor);
  if (close.kind !== '}') throw unexpected(close, 'a value in quotes, "," or "}"');
  return values;
}

function unexpected(token: Token, wanted: string): SelectorSyntaxError {
  const found = token.kind === 'end' ? 'the end' : describe(token);
  return new SelectorSyntaxError(token.at, `expected ${wanted}, found ${found}`);
}

function describe(token: Token): string {
  if (token.kind === 'string') return `the string ${quoted(token.value)}`;
  if (token.kind === 'label') return `the label ${quoted(token.value)}`;
  return token.kind === 'has' ? `has(${token.value})` : `"${token.value}"`;
}
