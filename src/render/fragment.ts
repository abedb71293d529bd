import { childNodes, placeOf, type TemplateFacts } from './analyse.ts';
import { TemplateFault } from './fault.ts';
import type { Templates, Vocabulary } from './link.ts';
import type { AstNode } from './nunjucks-internals.ts';

/** Tags that would let a fragment's text depend on more than its item. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  Include: 'include',
  Import: 'import',
  FromImport: 'from',
  Extends: 'extends',
  Block: 'block',
  Super: 'super',
  Macro: 'macro',
};

/**
 * Checks the body of one `{% fragment %}`. Its text is kept per item for as long as the item is the same object, so
 * whatever else it read would go stale without a sign. It may use its item, what it sets itself, macros imported at the top
 * of the template from files that are pure, and functions and filters that give equal results for equal arguments.
 * Returns the functions it counts on, which a context must not hide.
 */
export function checkFragment(
  fragment: AstNode,
  facts: TemplateFacts,
  all: Templates,
  vocabulary: Vocabulary,
): ReadonlySet<string> {
  const used = new Set<string>();
  const refuse = (node: AstNode, message: string): never => {
    throw new TemplateFault('BF_TEMPLATE_SYNTAX', message, placeOf(facts.name, node));
  };
  const checkName = (node: AstNode, name: string): void => {
    const from = facts.imported.get(name);
    if (from !== undefined && !facts.assigned.has(name)) {
      const why = impurity(from, all, vocabulary, new Set());
      if (why !== undefined) refuse(node, `a fragment cannot use ${name}: ${why}`);
      return;
    }
    if (vocabulary.globals.has(name) && !facts.bound.has(name)) {
      if (vocabulary.impure.has(name))
        refuse(node, `a fragment cannot call ${name}: its result changes by itself`);
      used.add(name);
      return;
    }
    refuse(
      node,
      `a fragment may use only its item and macros imported at the top of the template, so that its text can be kept; ${name} comes from outside`,
    );
  };
  walk(fragment['body'] as AstNode, new Set([String((fragment['name'] as AstNode)['value'])]), {
    name: checkName,
    filter(node, name) {
      if (vocabulary.impure.has(name))
        refuse(node, `a fragment cannot use ${name}: its result changes by itself`);
    },
    tag: (node, tag) => refuse(node, `{% ${tag} %} is not possible in a fragment`),
  });
  return used;
}

interface Visitor {
  name(node: AstNode, name: string): void;
  filter(node: AstNode, name: string): void;
  tag(node: AstNode, tag: string): void;
}

/** Visits the free names below `node`. `scope` grows by what `set` binds, so order matters as it does in the template. */
function walk(node: AstNode, scope: Set<string>, visitor: Visitor): void {
  const tag = FORBIDDEN[node.typename];
  if (tag !== undefined) return visitor.tag(node, tag);
  const on = (child: unknown, names = scope): void => {
    if (child !== null && child !== undefined) walk(child as AstNode, names, visitor);
  };
  switch (node.typename) {
    case 'Symbol': {
      const name = String(node['value']);
      if (!scope.has(name)) visitor.name(node, name);
      return;
    }
    case 'Filter': {
      const symbol = node['name'] as AstNode;
      visitor.filter(symbol, String(symbol['value']));
      return on(node['args']);
    }
    case 'Is': {
      const right = node['right'] as AstNode;
      on(node['left']);
      return right.typename === 'FunCall' ? on(right['args']) : undefined;
    }
    case 'Pair':
      return on(node['value']);
    case 'For': {
      const target = node['name'] as AstNode;
      on(node['arr']);
      on(node['body'], new Set([...scope, 'loop', ...symbols(target.children ?? [target])]));
      return on(node['else_']);
    }
    case 'Fragment':
      // The body of an inner fragment is checked for itself, with only its own item.
      return on(node['arr']);
    case 'Set':
      on(node['value']);
      on(node['body']);
      for (const name of symbols(node['targets'] as AstNode[])) scope.add(name);
      return;
    case 'Caller':
      return on(node['body'], new Set([...scope, ...symbols((node['args'] as AstNode).children ?? [])]));
    default:
      for (const child of childNodes(node)) on(child);
  }
}

function symbols(list: readonly AstNode[]): string[] {
  return list.filter((node) => node.typename === 'Symbol').map((node) => String(node['value']));
}

/** Why the macros of `template` may print something else for equal arguments, or undefined when they cannot. */
function impurity(
  template: string,
  all: Templates,
  vocabulary: Vocabulary,
  seen: Set<string>,
): string | undefined {
  if (seen.has(template)) return undefined;
  seen.add(template);
  const facts = all.facts.get(template);
  if (facts === undefined) return `${template} cannot be used`;
  if (facts.hasDynamicRef) return `${template} includes or imports by a computed name`;
  const impure = [...facts.names, ...facts.filters].find((use) => vocabulary.impure.has(use.name));
  if (impure !== undefined)
    return `${template}:${impure.at.line} uses ${impure.name}, whose result changes by itself`;
  for (const ref of facts.refs) {
    const why = impurity(ref.name, all, vocabulary, seen);
    if (why !== undefined) return why;
  }
  return undefined;
}
