import { matches, parseSelector, type SelectorNode } from '../calico/selector.ts';

type Labels = Readonly<Record<string, string>>;

/**
 * Why a selector does not select something with these labels, down to the term that fails: `rack == 'a' fails: label rack
 * is "b"`. Null when it does select it.
 */
export function selectorFault(selector: string, labels: Labels): string | null {
  const parsed = parseSelector(selector);
  if (!parsed.ok) return parsed.reason;
  return matches(parsed.value, labels) ? null : fault(parsed.value.root, labels);
}

function fault(node: SelectorNode, labels: Labels): string {
  const holds = (operand: SelectorNode): boolean => matches({ text: '', root: operand }, labels);
  switch (node.type) {
    case 'and':
      return fault(node.operands.find((operand) => !holds(operand))!, labels);
    case 'or':
      return node.operands.map((operand) => fault(operand, labels)).join(', and ');
    case 'all':
    case 'global':
    case 'not':
      return `${print(node)} fails`;
    default:
      return `${print(node)} fails: ${describe(node.label, labels)}`;
  }
}

function describe(label: string, labels: Labels): string {
  return Object.hasOwn(labels, label)
    ? `label ${label} is ${JSON.stringify(labels[label])}`
    : `there is no label ${label}`;
}

const OPERATORS = {
  equals: '==',
  notEquals: '!=',
  contains: 'contains',
  startsWith: 'starts with',
  endsWith: 'ends with',
  in: 'in',
  notIn: 'not in',
} as const;

function print(node: SelectorNode): string {
  switch (node.type) {
    case 'all':
    case 'global':
      return `${node.type}()`;
    case 'has':
      return `has(${node.label})`;
    case 'and':
    case 'or':
      return `(${node.operands.map(print).join(node.type === 'and' ? ' && ' : ' || ')})`;
    case 'not':
      return `!${print(node.operand)}`;
    case 'in':
    case 'notIn':
      return `${node.label} ${OPERATORS[node.type]} {${node.values.map(quote).join(', ')}}`;
    default:
      return `${node.label} ${OPERATORS[node.type]} ${quote(node.value)}`;
  }
}

/** Strings of the language have no escapes; one holds at most one kind of quote. */
function quote(value: string): string {
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}
