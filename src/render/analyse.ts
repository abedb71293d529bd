import type { Position } from './fault.ts';
import { type AstNode, nodes } from './nunjucks-internals.ts';

/** A name used somewhere in a template, with its place. */
export interface NameUse {
  readonly name: string;
  readonly at: Position;
}

export interface TemplateRef extends NameUse {
  readonly kind: 'include' | 'import' | 'extends';
  /** Names taken by `from … import`. */
  readonly takes: readonly NameUse[];
  readonly optional: boolean;
}

/** What a template says about itself, before anything is known about the others. */
export interface TemplateFacts {
  readonly name: string;
  readonly tree: AstNode;
  readonly refs: readonly TemplateRef[];
  /** True when some include, import or extends has a computed name. */
  readonly hasDynamicRef: boolean;
  /** Names bound by macro, set, for, import and macro parameters, anywhere. */
  readonly bound: ReadonlySet<string>;
  /** Names that `set` or `macro` bind, anywhere. */
  readonly assigned: ReadonlySet<string>;
  /** Macros bound by imports at the top level, without context, of a fixed template: alias → template. */
  readonly imported: ReadonlyMap<string, string>;
  readonly calls: readonly NameUse[];
  readonly filters: readonly NameUse[];
  readonly tests: readonly NameUse[];
  readonly names: readonly NameUse[];
  readonly fragments: readonly AstNode[];
}

const NodeBase = nodes['Node']!;

/** The node's children in source order, including those that nunjucks' own walker forgets (`set` targets and bodies). */
export function childNodes(node: AstNode): AstNode[] {
  const out: AstNode[] = [];
  const fields = node.children === undefined ? [...node.fields] : ['children'];
  if (node.typename === 'Set') fields.push('body');
  for (const field of fields) {
    const value = node[field];
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item instanceof NodeBase) out.push(item);
    }
  }
  return out;
}

export function placeOf(template: string, node: AstNode): Position {
  return { template, line: node.lineno + 1, column: node.colno + 1 };
}

export function analyse(name: string, tree: AstNode): TemplateFacts {
  const facts = {
    name,
    tree,
    refs: [] as TemplateRef[],
    hasDynamicRef: false,
    bound: new Set<string>(),
    assigned: new Set<string>(),
    imported: new Map<string, string>(),
    calls: [] as NameUse[],
    filters: [] as NameUse[],
    tests: [] as NameUse[],
    names: [] as NameUse[],
    fragments: [] as AstNode[],
  };
  for (const node of tree.children ?? []) collectImport(node, facts.imported);
  visit(tree, facts);
  return facts;
}

type Mutable = { -readonly [K in keyof TemplateFacts]: TemplateFacts[K] } & {
  refs: TemplateRef[];
  bound: Set<string>;
  assigned: Set<string>;
  calls: NameUse[];
  filters: NameUse[];
  tests: NameUse[];
  names: NameUse[];
  fragments: AstNode[];
};

function visit(node: AstNode, facts: Mutable): void {
  const use = (symbol: AstNode): NameUse => ({
    name: String(symbol['value']),
    at: placeOf(facts.name, symbol),
  });
  switch (node.typename) {
    case 'Symbol':
      facts.names.push(use(node));
      break;
    case 'FunCall': {
      const callee = node['name'] as AstNode;
      if (callee.typename === 'Symbol') facts.calls.push(use(callee));
      break;
    }
    case 'Filter':
      facts.filters.push(use(node['name'] as AstNode));
      visit(node['args'] as AstNode, facts);
      return;
    case 'Is':
      visitTest(node, facts);
      return;
    case 'Set':
      for (const target of node['targets'] as AstNode[]) bind(facts, target, true);
      break;
    case 'Macro':
      bind(facts, node['name'] as AstNode, true);
      bindParameters(facts, node);
      break;
    case 'Caller':
      bindParameters(facts, node);
      break;
    case 'For': {
      const target = node['name'] as AstNode;
      for (const symbol of target.children ?? [target]) bind(facts, symbol, false);
      break;
    }
    case 'Fragment':
      bind(facts, node['name'] as AstNode, false);
      facts.fragments.push(node);
      break;
    case 'Include':
    case 'Import':
    case 'FromImport':
    case 'Extends':
      visitRef(node, facts);
      break;
    case 'Pair': {
      // The key of a dict or keyword argument is a word, not a name.
      visit(node['value'] as AstNode, facts);
      return;
    }
  }
  for (const child of childNodes(node)) visit(child, facts);
}

function visitTest(node: AstNode, facts: Mutable): void {
  visit(node['left'] as AstNode, facts);
  const right = node['right'] as AstNode;
  const symbol = right.typename === 'FunCall' ? (right['name'] as AstNode) : right;
  // `is none` arrives as the literal null, for which nunjucks has a test of that name.
  facts.tests.push({ name: String(symbol['value']), at: placeOf(facts.name, symbol) });
  if (right.typename === 'FunCall') visit(right['args'] as AstNode, facts);
}

function visitRef(node: AstNode, facts: Mutable): void {
  const target = node['template'] as AstNode;
  if (node.typename === 'Import') bind(facts, node['target'] as AstNode, false);
  const takes: NameUse[] = [];
  if (node.typename === 'FromImport') {
    for (const item of (node['names'] as AstNode).children ?? []) {
      const [source, alias] = fromNames(item);
      takes.push({ name: String(source['value']), at: placeOf(facts.name, source) });
      bind(facts, alias, false);
    }
  }
  if (target.typename !== 'Literal') {
    facts.hasDynamicRef = true;
    return;
  }
  const kind = node.typename === 'Include' ? 'include' : node.typename === 'Extends' ? 'extends' : 'import';
  const at = placeOf(facts.name, target);
  facts.refs.push({
    kind,
    name: String(target['value']),
    at,
    takes,
    optional: node['ignoreMissing'] === true,
  });
}

function fromNames(item: AstNode): [source: AstNode, alias: AstNode] {
  return item.typename === 'Pair' ? [item['key'] as AstNode, item['value'] as AstNode] : [item, item];
}

function bind(facts: Mutable, symbol: AstNode, assigned: boolean): void {
  const name = String(symbol['value']);
  facts.bound.add(name);
  if (assigned) facts.assigned.add(name);
}

function bindParameters(facts: Mutable, node: AstNode): void {
  for (const arg of (node['args'] as AstNode).children ?? []) {
    if (arg.typename === 'Symbol') bind(facts, arg, false);
    for (const pair of arg.children ?? []) bind(facts, pair['key'] as AstNode, false);
  }
}

function collectImport(node: AstNode, imported: Map<string, string>): void {
  if (node.typename !== 'Import' && node.typename !== 'FromImport') return;
  const target = node['template'] as AstNode;
  if (target.typename !== 'Literal' || node['withContext'] === true) return;
  const template = String(target['value']);
  if (node.typename === 'Import') imported.set(String((node['target'] as AstNode)['value']), template);
  for (const item of (node['names'] as AstNode | undefined)?.children ?? []) {
    imported.set(String(fromNames(item)[1]['value']), template);
  }
}
