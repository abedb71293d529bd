import { TemplateFault } from './fault.ts';
import { type AstNode, lex, nodes, Parser, type Token } from './nunjucks-internals.ts';

/** `{% fragment NAME in EXPRESSION %}BODY{% endfragment %}`, see strict-runtime.ts. */
const FragmentNode = nodes['Node']!.extend('Fragment', { fields: ['arr', 'name', 'body'] });

/** With these a synchronous render gives null and no error. */
const ASYNC_TAGS = new Set(['asyncEach', 'asyncAll', 'ifAsync']);

const WHITESPACE = { trimBlocks: true, lstripBlocks: true };

/** nunjucks' parser with one more tag, and with a memory of what is open, since it reports unclosed tags without a line. */
class TemplateParser extends Parser {
  readonly open: Token[] = [];
  lastStart: Token | undefined;

  override nextToken(withWhitespace?: boolean): Token | null {
    const token = super.nextToken(withWhitespace);
    if (token?.type === 'block-start' || token?.type === 'variable-start') this.lastStart = token;
    return token;
  }

  override parseStatement(): AstNode | null {
    const tag = this.peekToken();
    if (tag === null) return super.parseStatement();
    if (ASYNC_TAGS.has(tag.value))
      this.fail(`{% ${tag.value} %} is not possible: nothing waits here`, tag.lineno, tag.colno);
    this.open.push(tag);
    const node = tag.value === 'fragment' ? this.parseFragment(tag) : super.parseStatement();
    this.open.pop();
    return node;
  }

  private parseFragment(tag: Token): AstNode {
    this.skipSymbol('fragment');
    const name = this.parsePrimary(true);
    if (name.typename !== 'Symbol') this.fail('fragment: expected a variable name', name.lineno, name.colno);
    if (!this.skipSymbol('in')) this.fail('fragment: expected "in"', tag.lineno, tag.colno);
    const items = this.parseExpression();
    this.advanceAfterBlockEnd('fragment');
    const body = this.parseUntilBlocks('endfragment');
    this.advanceAfterBlockEnd();
    return new FragmentNode(tag.lineno, tag.colno, items, name, body);
  }
}

/** The syntax tree of a template. Throws a TemplateFault (BF_TEMPLATE_SYNTAX) with the place of the mistake. */
export function parseTemplate(name: string, text: string): AstNode {
  const parser = new TemplateParser(lex(text, WHITESPACE));
  try {
    return parser.parseAsRoot();
  } catch (error) {
    throw syntaxFault(name, text, parser, error);
  }
}

function syntaxFault(name: string, text: string, parser: TemplateParser, error: unknown): TemplateFault {
  const { message, lineno, colno } = error as { message: string; lineno?: number; colno?: number };
  const opened = parser.open.at(-1);
  const hint = goTemplateHint(text);
  if (lineno !== undefined && lineno > 0) {
    const at = { template: name, line: lineno, column: colno ?? 1 };
    return new TemplateFault('BF_TEMPLATE_SYNTAX', readable(message) + hint, at, error);
  }
  // nunjucks met the end of the file: the place to look at is where the unfinished thing began.
  const start = opened ?? parser.lastStart;
  const at = { template: name, line: (start?.lineno ?? 0) + 1, column: (start?.colno ?? 0) + 1 };
  const what = opened === undefined ? 'this expression has no end' : `{% ${opened.value} %} is never closed`;
  return new TemplateFault('BF_TEMPLATE_SYNTAX', what + hint, at, error);
}

/** nunjucks prefixes some messages with the name of its own function. */
function readable(message: string): string {
  return message.replace(/^parse[A-Z]\w*: /, '').replace(/^advanceAfterBlockEnd: /, '');
}

function goTemplateHint(text: string): string {
  if (!/\{\{-?\s*(?:end\b|range\b|if\b|with\b|else\b|define\b|template\b|getv?s?\s+["`])/.test(text))
    return '';
  return '; this looks like a Go template, which has to be rewritten (see the template reference)';
}
