import type { Position } from './fault.ts';
import { type AstNode, Compiler, type Frame, nodes, RuntimeFrame } from './nunjucks-internals.ts';

/** What the generated code says about a place: where it is, and the expression in the template's own words. */
export interface Place extends Position {
  readonly label: string;
}

/** Statements before which the current line is noted, for errors that the language itself throws. */
const STATEMENTS = new Set([
  'If',
  'For',
  'Set',
  'Switch',
  'Include',
  'Import',
  'FromImport',
  'Output',
  'Fragment',
]);

/** The operand of a loop, marked so that the compiler checks it: `compileFor` is nunjucks' own. */
const Iterable = nodes['Group']!.extend('Iterable', {});

/**
 * nunjucks' compiler with every look-up, call, filter, operator and output going through the strict runtime (`env.strict`,
 * see strict-runtime.ts) and carrying its place. nunjucks alone notices a missing value only where it is printed, and loses
 * or confuses the position of errors in macros and includes. `places` is one list for the whole engine.
 */
export class StrictCompiler extends Compiler {
  private readonly template: string;
  private readonly places: Place[];
  /** How many `{% set %}` and `{% filter %}` blocks what is being compiled lies in. */
  private captures = 0;

  constructor(template: string, places: Place[]) {
    super(template, false);
    this.template = template;
    this.places = places;
  }

  private place(node: AstNode, label = ''): number {
    return (
      this.places.push({ template: this.template, line: node.lineno + 1, column: node.colno + 1, label }) - 1
    );
  }

  override compile(node: AstNode, frame?: Frame): void {
    if (STATEMENTS.has(node.typename)) this._emitLine(`lineno = ${node.lineno};`);
    super.compile(node, frame);
  }

  override _emitLine(code: string): void {
    super._emitLine(
      code
        // Macros and super() give SafeString objects for the sake of autoescape, which is off: plain strings everywhere.
        .replace(/^(\w+) = runtime\.markSafe\(\w+\);$/, '$1 = env.strict.whole($1);')
        // What an include or a block gives.
        .replace(/^(\w+) \+= (\w+);$/, this.isOutput ? '$&' : '$1 += env.strict.whole($2);')
        .replace(/^return new runtime\.SafeString\((\w+)\);$/, 'return $1;')
        .replace(/^(var \w+ = )runtime\.makeMacro\($/, '$1env.strict.makeMacro(')
        .replace(/^frame = new runtime\.Frame\(\);$/, 'frame = env.strict.newScope();')
        .replace(/^kwargs = kwargs \|\| \{\};$/, 'kwargs = kwargs || env.strict.noKeywords;')
        // Frame.set splits the name at dots every time, which was a third of all rendering time.
        .replace(/^frame\.set\("(\w+)", (\w+)\);$/, 'frame.variables["$1"] = $2;'),
    );
  }

  /** What is printed here goes straight to the template's output. */
  private get isOutput(): boolean {
    return this.buffer === 'output' && this.captures === 0;
  }

  override compileCapture(node: AstNode, frame?: Frame): void {
    this.captures += 1;
    super.compileCapture(node, frame);
    this.captures -= 1;
  }

  /** As nunjucks' own, but one assignment instead of seven per round. */
  _emitLoopBindings(_node: AstNode, _list: string, i: string, length: string): void {
    this._emitLine(
      `frame.variables.loop = { index: ${i} + 1, index0: ${i}, revindex: ${length} - ${i}, ` +
        `revindex0: ${length} - ${i} - 1, first: ${i} === 0, last: ${i} === ${length} - 1, length: ${length} };`,
    );
  }

  override _getNodeName(node: AstNode): string {
    switch (node.typename) {
      case 'Symbol':
        return String(node['value']);
      case 'Literal':
        return JSON.stringify(node['value']) ?? String(node['value']);
      case 'LookupVal': {
        const member = node['val'] as AstNode;
        const target = this._getNodeName(node['target'] as AstNode);
        const plain = member.typename === 'Literal' && /^[A-Za-z_]\w*$/.test(String(member['value']));
        return plain ? `${target}.${member['value']}` : `${target}[${this._getNodeName(member)}]`;
      }
      case 'FunCall':
        return `${this._getNodeName(node['name'] as AstNode)}(…)`;
      case 'Filter':
        return `${this._getNodeName((node['args'] as AstNode).children![0]!)} | ${(node['name'] as AstNode)['value']}`;
      default:
        return 'the expression';
    }
  }

  override compileSymbol(node: AstNode, frame?: Frame): void {
    const name = String(node['value']);
    const local = frame?.lookup(name);
    const lookup = node['lenient'] === true ? 'nameOrUndefined' : 'name';
    if (typeof local !== 'string') {
      this._emit(`env.strict.${lookup}(context, frame, ${JSON.stringify(name)}, ${this.place(node)})`);
      return;
    }
    if (node['lenient'] === true) this._emit(local);
    else
      this._emit(
        `(${local} !== undefined ? ${local} : env.strict.unset(${JSON.stringify(name)}, ${this.place(node)}))`,
      );
  }

  compileLookupVal(node: AstNode, frame?: Frame): void {
    const target = node['target'] as AstNode;
    const lenient = node['lenient'] === true;
    if (lenient) target['lenient'] = true;
    // Most members are there, and a template asks for them by the hundred thousand. A method needs its object.
    const path = lenient || node['isCalled'] === true ? null : pathOf(node, frame);
    this._emit(path === null ? '(' : `(${path} !== undefined ? ${path} : `);
    this._emit(`env.strict.${lenient ? 'memberOrUndefined' : 'member'}((`);
    this._compileExpression(target, frame);
    this._emit('),');
    this._compileExpression(node['val'] as AstNode, frame);
    this._emit(`, ${this.place(node, this._getNodeName(target))}))`);
  }

  compileFunCall(node: AstNode, frame?: Frame): void {
    const callee = node['name'] as AstNode;
    callee['isCalled'] = true;
    this._emit('env.strict.call(');
    this._compileExpression(callee, frame);
    this._emit(`, context, ${this.place(node, this._getNodeName(callee))}, [`);
    this._compileAggregate(node['args'] as AstNode, frame);
    this._emit('])');
  }

  compileFilter(node: AstNode, frame?: Frame): void {
    const name = String((node['name'] as AstNode)['value']);
    const args = node['args'] as AstNode;
    const input = args.children![0]!;
    if (name === 'default' || name === 'd') input['lenient'] = true;
    this._emit(
      `env.strict.filter(${JSON.stringify(name)}, context, ${this.place(node, this._getNodeName(input))}, `,
    );
    this.compile(input, frame);
    for (const [index, arg] of args.children!.slice(1).entries()) {
      this._emit(index === 0 ? ', [' : ', ');
      this.compile(arg, frame);
    }
    this._emit(args.children!.length > 1 ? '])' : ')');
  }

  override compileIs(node: AstNode, frame?: Frame): void {
    const test = (node['right'] as AstNode)['value'];
    if (test === 'defined' || test === 'undefined') (node['left'] as AstNode)['lenient'] = true;
    super.compileIs(node, frame);
  }

  override compileFor(node: AstNode, frame?: Frame): void {
    const name = node['name'] as AstNode;
    const operand = node['arr'] as AstNode;
    const wrapped = new Iterable(operand.lineno, operand.colno, [operand]);
    wrapped['names'] = name.typename === 'Array' ? name.children!.length : 1;
    node['arr'] = wrapped;
    super.compileFor(node, frame);
    node['arr'] = operand;
  }

  compileIterable(node: AstNode, frame?: Frame): void {
    const operand = node.children![0]!;
    this._emit('env.strict.iterable(');
    this._compileExpression(operand, frame);
    this._emit(`, ${node['names']}, ${this.place(operand, this._getNodeName(operand))})`);
  }

  /**
   * `{% fragment x in xs %}`: the body becomes a function of the item, and the runtime keeps its text per item. It gets a
   * scope of its own, holding nothing but the item, so that what it sets cannot leak and the loop around it cannot be seen.
   */
  compileFragment(node: AstNode, frame?: Frame): void {
    const operand = node['arr'] as AstNode;
    const name = String((node['name'] as AstNode)['value']);
    const item = this._tmpid();
    const { isOutput } = this;
    this._emit(`${this.buffer} += env.strict.fragment(${this.place(node, `{% fragment ${name} %}`)}, `);
    const wrapped = new Iterable(operand.lineno, operand.colno, [operand]);
    wrapped['names'] = 1;
    this._compileExpression(wrapped, frame);
    this._emitLine(`, ${isOutput}, function (${item}) {`);
    const inner = new RuntimeFrame();
    inner.set(name, item);
    this._emitLine('var outer = frame;');
    this._emitLine('frame = env.strict.newScope();');
    this._emitLine(`frame.set(${JSON.stringify(name)}, ${item});`);
    const text = this._pushBuffer();
    this._emitLine('try {');
    this._withScopedSyntax(() => this.compile(node['body'] as AstNode, inner));
    this._emitLine('} finally { frame = outer; }');
    this._popBuffer();
    this._emitLine(`return ${text};`);
    this._emitLine('});');
  }

  compileOutput(node: AstNode, frame?: Frame): void {
    for (const child of node.children ?? []) {
      if (child.typename === 'TemplateData') {
        if (child['value'] === '') continue;
        this._emit(`${this.buffer} += `);
        this.compileLiteral(child, frame);
        this._emitLine(';');
        continue;
      }
      this._emit(`${this.buffer} += env.strict.print(`);
      this.compile(child, frame);
      this._emitLine(`, ${this.place(child, this._getNodeName(child))});`);
    }
  }

  /** nunjucks writes `!a == b` for `not a == b`. */
  compileNot(node: AstNode, frame?: Frame): void {
    this._emit('!(');
    this.compile(node['target'] as AstNode, frame);
    this._emit(')');
  }

  compileConcat(node: AstNode, frame?: Frame): void {
    this.operator('concat', node, frame);
  }

  compileAdd(node: AstNode, frame?: Frame): void {
    this.operator('add', node, frame);
  }

  compileSub(node: AstNode, frame?: Frame): void {
    this.operator('sub', node, frame);
  }

  compileMul(node: AstNode, frame?: Frame): void {
    this.operator('mul', node, frame);
  }

  compileDiv(node: AstNode, frame?: Frame): void {
    this.operator('div', node, frame);
  }

  compileFloorDiv(node: AstNode, frame?: Frame): void {
    this.operator('floorDiv', node, frame);
  }

  compileMod(node: AstNode, frame?: Frame): void {
    this.operator('mod', node, frame);
  }

  compilePow(node: AstNode, frame?: Frame): void {
    this.operator('pow', node, frame);
  }

  private operator(name: string, node: AstNode, frame?: Frame): void {
    const left = node['left'] as AstNode;
    const right = node['right'] as AstNode;
    this._emit(`env.strict.${name}(`);
    this._compileExpression(left, frame);
    this._emit(', ');
    this._compileExpression(right, frame);
    this._emit(`, ${this.place(node, `${this._getNodeName(left)} and ${this._getNodeName(right)}`)})`);
  }

  /** As nunjucks' own, but the error is located in this template, also when it was thrown by the language. */
  _emitFuncEnd(noReturn?: boolean): void {
    if (!noReturn) this._emitLine(`cb(null, ${this.buffer});`);
    this._closeScopeLevels();
    this._emitLine('} catch (e) {');
    this._emitLine(`  cb(env.strict.located(e, ${JSON.stringify(this.template)}, lineno));`);
    this._emitLine('}');
    this._emitLine('}');
  }
}

/**
 * A JavaScript expression without side effects for a variable, or members of members of one, named by texts under which
 * no plain object has anything of its own accord (`constructor` is none); null for anything else.
 */
function pathOf(node: AstNode, frame: Frame | undefined): string | null {
  if (node.typename === 'Symbol') {
    const local = frame?.lookup(String(node['value']));
    return typeof local === 'string' ? local : null;
  }
  if (node.typename !== 'LookupVal') return null;
  const { typename, value } = node['val'] as AstNode;
  if (typename !== 'Literal' || typeof value !== 'string') return null;
  if (value in Object.prototype || value === 'prototype') return null;
  const target = pathOf(node['target'] as AstNode, frame);
  return target === null ? null : `${target}?.[${JSON.stringify(value)}]`;
}
