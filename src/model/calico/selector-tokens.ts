import { quoted } from './result.ts';

/** Operators have the names of the AST nodes they make. */
export type TokenKind =
  | 'label'
  | 'string'
  | 'has'
  | 'all'
  | 'global'
  | 'equals'
  | 'notEquals'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'in'
  | 'notIn'
  | '('
  | ')'
  | '{'
  | '}'
  | ','
  | '!'
  | '&&'
  | '||'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The label of `label` and `has`, the text of `string`, else as written. */
  readonly value: string;
  /** Offset of its first character. */
  readonly at: number;
}

/** Ends tokenizing or parsing; `parseSelector` makes a Result of it. */
export class SelectorSyntaxError extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const SYMBOLS: readonly (readonly [string, TokenKind])[] = [
  ['==', 'equals'],
  ['!=', 'notEquals'],
  ['&&', '&&'],
  ['||', '||'],
  ['!', '!'],
  ['(', '('],
  [')', ')'],
  ['{', '{'],
  ['}', '}'],
  [',', ','],
];

/** Word operators count only right after a label, and need no space before what follows them, as in Calico. */
const WORD_OPERATORS: readonly (readonly [RegExp, TokenKind])[] = [
  [/contains/y, 'contains'],
  [/starts[ \t]*with/y, 'startsWith'],
  [/ends[ \t]*with/y, 'endsWith'],
  [/not[ \t]*in/y, 'notIn'],
  [/in/y, 'in'],
];

const LABEL = /[A-Za-z0-9_./-]+/y;
const CALL = /(has|all|global)\([ \t]*/y;

/** The tokens of a selector text, with `end` as the last one. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (text[at] === ' ' || text[at] === '\t') at += 1;
    if (at >= text.length) return [...tokens, { kind: 'end', value: '', at }];
    const [token, end] = readToken(text, at, tokens.at(-1));
    tokens.push(token);
    at = end;
  }
}

/** The token at `at` and the offset behind it. */
function readToken(text: string, at: number, last: Token | undefined): [Token, number] {
  const char = text[at]!;
  if (char === '"' || char === "'") {
    const end = text.indexOf(char, at + 1);
    if (end < 0) throw new SelectorSyntaxError(at, `the string has no closing ${char}`);
    return [{ kind: 'string', value: text.slice(at + 1, end), at }, end + 1];
  }
  for (const [symbol, kind] of SYMBOLS) {
    if (text.startsWith(symbol, at)) return [{ kind, value: symbol, at }, at + symbol.length];
  }
  if (char === '=' || char === '&' || char === '|')
    throw new SelectorSyntaxError(at, `"${char}" must be doubled`);
  if (last?.kind === 'label') return readWordOperator(text, at, last.value);
  const call = matchAt(CALL, text, at);
  if (call !== null) return readCall(text, at, call);
  const label = matchAt(LABEL, text, at)?.[0];
  if (label === undefined) throw new SelectorSyntaxError(at, `${quoted(char)} is not allowed here`);
  return [{ kind: 'label', value: label, at }, at + label.length];
}

function readWordOperator(text: string, at: number, label: string): [Token, number] {
  for (const [pattern, kind] of WORD_OPERATORS) {
    const match = matchAt(pattern, text, at);
    if (match !== null) return [{ kind, value: match[0], at }, at + match[0].length];
  }
  throw new SelectorSyntaxError(
    at,
    `after label ${quoted(label)} an operator is expected: ==, !=, in, not in, contains, starts with or ends with`,
  );
}

function readCall(text: string, at: number, call: RegExpExecArray): [Token, number] {
  const kind = call[1] as 'has' | 'all' | 'global';
  let end = at + call[0].length;
  let value = `${kind}()`;
  if (kind === 'has') {
    value = matchAt(LABEL, text, end)?.[0] ?? '';
    if (value === '') throw new SelectorSyntaxError(end, 'has( must be followed by a label');
    end += value.length;
    while (text[end] === ' ' || text[end] === '\t') end += 1;
  }
  if (text[end] !== ')') throw new SelectorSyntaxError(end, `${kind}( has no closing ")"`);
  return [{ kind, value, at }, end + 1];
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
