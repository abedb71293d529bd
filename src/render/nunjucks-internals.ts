import nunjucks from 'nunjucks';
import transformer from 'nunjucks/src/transformer.js';

/**
 * The parts of nunjucks 3.2.4 that its type package leaves out: parser, syntax tree, compiler. They are internal to that
 * library, which is why its version is pinned exactly and why everything that uses them goes through this file.
 */

/** A node of the syntax tree. Lines and columns count from 0. */
export interface AstNode {
  readonly typename: string;
  readonly lineno: number;
  readonly colno: number;
  readonly fields: readonly string[];
  readonly children?: AstNode[];
  [field: string]: unknown;
}

interface NodeClass {
  new (lineno: number, colno: number, ...fields: unknown[]): AstNode;
  extend(name: string, properties: { readonly fields?: readonly string[] }): NodeClass;
}

export interface Token {
  readonly type: string;
  readonly value: string;
  readonly lineno: number;
  readonly colno: number;
}

/** A scope, at compile time (names of JavaScript variables) and at run time (values). */
export interface Frame {
  readonly parent: Frame | undefined;
  lookup(name: string): unknown;
  set(name: string, value: unknown): void;
  push(isolateWrites?: boolean): Frame;
  pop(): Frame;
}

/** The names a template was rendered with, plus what it set at its top level. */
export interface TemplateContext {
  readonly ctx: Record<string, unknown>;
  readonly env: { readonly globals: Record<string, unknown> };
}

declare class ParserClass {
  constructor(tokens: unknown);
  peekToken(): Token | null;
  nextToken(withWhitespace?: boolean): Token | null;
  skipSymbol(name: string): boolean;
  fail(message: string, lineno?: number, colno?: number): never;
  parsePrimary(noPostfix?: boolean): AstNode;
  parseExpression(): AstNode;
  parseStatement(): AstNode | null;
  parseUntilBlocks(...names: string[]): AstNode;
  advanceAfterBlockEnd(name?: string): Token;
  parseAsRoot(): AstNode;
}

declare class CompilerClass {
  constructor(templateName: string, throwOnUndefined: boolean);
  buffer: string;
  compile(node: AstNode, frame?: Frame): void;
  getCode(): string;
  _emit(code: string): void;
  _emitLine(code: string): void;
  _tmpid(): string;
  _pushBuffer(): string;
  _popBuffer(): void;
  _withScopedSyntax(fn: () => void): void;
  _closeScopeLevels(): void;
  _compileExpression(node: AstNode, frame?: Frame): void;
  _compileAggregate(node: AstNode, frame: Frame | undefined, start?: string, end?: string): void;
  _getNodeName(node: AstNode): string;
  compileSymbol(node: AstNode, frame?: Frame): void;
  compileLiteral(node: AstNode, frame?: Frame): void;
  compileCapture(node: AstNode, frame?: Frame): void;
  compileFor(node: AstNode, frame?: Frame): void;
  compileIs(node: AstNode, frame?: Frame): void;
}

interface Internals {
  readonly parser: { readonly Parser: typeof ParserClass };
  readonly compiler: { readonly Compiler: typeof CompilerClass };
  readonly lexer: { lex(source: string, options: object): unknown };
  readonly nodes: Readonly<Record<string, NodeClass>>;
  readonly runtime: {
    readonly Frame: new () => Frame;
    makeMacro(names: readonly string[], defaults: readonly string[], body: Callable): Callable;
  };
}

const internals = nunjucks as unknown as Internals;

export const Parser = internals.parser.Parser;
export const Compiler = internals.compiler.Compiler;
export const RuntimeFrame = internals.runtime.Frame;
export const nunjucksMacro = internals.runtime.makeMacro;
export const nodes = internals.nodes;
export const lex = internals.lexer.lex;

/** Lowers `super()`; with no async filters it changes nothing else. */
export function transform(tree: AstNode): AstNode {
  return transformer.transform(tree, []) as AstNode;
}

export type Callable = (this: unknown, ...args: unknown[]) => unknown;

/** An Environment with the members that the strict engine replaces. */
export interface Environment {
  filters: Record<string, Callable>;
  readonly tests: Readonly<Record<string, Callable>>;
  globals: Record<string, unknown>;
  getTemplate(
    name: unknown,
    eager?: unknown,
    parent?: unknown,
    ignoreMissing?: unknown,
    cb?: unknown,
  ): unknown;
  render(name: string, context: object): string;
}

/** What the generated code of a template returns: its main function, and one function per block. */
export interface CompiledTemplate {
  root(
    env: unknown,
    context: unknown,
    frame: unknown,
    runtime: unknown,
    callback: (error: unknown, text?: string) => void,
  ): void;
}

/** What a loader hands to nunjucks. */
export interface CompiledSource {
  readonly src: { readonly type: 'code'; readonly obj: CompiledTemplate };
  readonly path: string;
  readonly noCache: boolean;
}

/**
 * A new Environment, its options object its own, since nunjucks writes into it. `dev` makes nunjucks pass errors on as they
 * are; autoescape would corrupt BIRD's quotes.
 */
export function createEnvironment(getSource: (name: string) => CompiledSource | null): Environment {
  const options = { autoescape: false, throwOnUndefined: true, dev: true };
  const loader = { getSource } as unknown as nunjucks.ILoader;
  return new nunjucks.Environment(loader, options) as unknown as Environment;
}
