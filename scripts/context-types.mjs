// Reads the TypeScript declarations of what templates see, without a type check: names, types as written, doc comments.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const source = new URL('../src/model/', import.meta.url);
const TYPE_FILES = ['bgp/types.ts', 'bgp/policy.ts', 'calico/types.ts'];

/**
 * The top-level names of the calico context, and every declared type that can be reached from them, in the order in which
 * a reader meets them: `{ names: [{ name, type, doc }], types: [{ name, doc, members | variants | text }] }`.
 */
export function readContextTypes() {
  const declarations = new Map();
  for (const file of TYPE_FILES) collectDeclarations(parse(file), declarations);
  const names = contextNames(parse('bgp/producer.ts'), declarations);
  const types = new Map();
  for (const { node } of names) visitReferences(node, declarations, types);
  return { names: names.map(({ node: _node, ...name }) => name), types: [...types.values()] };
}

function parse(file) {
  const path = fileURLToPath(new URL(file, source));
  return ts.createSourceFile(file, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2023, true);
}

function collectDeclarations(file, declarations) {
  for (const statement of file.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      declarations.set(statement.name.text, statement);
    }
  }
}

/** The producer's `context: { node: model.settings, … }`, each name with the declaration of that member of NodeModel. */
function contextNames(file, declarations) {
  let literal;
  const find = (node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'context') literal = node.initializer;
    else ts.forEachChild(node, find);
  };
  find(file);
  if (literal === undefined || !ts.isObjectLiteralExpression(literal))
    throw new Error('producer.ts: no context found');
  const model = declarations.get('NodeModel');
  return literal.properties.map((property) => {
    const value = property.initializer;
    if (!ts.isPropertyAccessExpression(value) || value.expression.getText() !== 'model') {
      throw new Error(`producer.ts: the context's ${property.name.getText()} is not a member of the model`);
    }
    const member = model.members.find(({ name }) => name.getText() === value.name.text);
    return { ...describeMember(member), name: property.name.getText(), node: member.type };
  });
}

function visitReferences(node, declarations, types) {
  if (ts.isTypeReferenceNode(node)) {
    const name = node.typeName.getText();
    const declaration = declarations.get(name);
    if (declaration !== undefined && !types.has(name)) {
      types.set(name, describeType(declaration));
      ts.forEachChild(declaration, (child) => visitReferences(child, declarations, types));
    }
  }
  ts.forEachChild(node, (child) => visitReferences(child, declarations, types));
}

function describeType(declaration) {
  const name = declaration.name.text;
  const doc = docOf(declaration);
  if (ts.isInterfaceDeclaration(declaration))
    return { name, doc, members: declaration.members.map(describeMember) };
  const { type } = declaration;
  if (ts.isUnionTypeNode(type) && type.types.some(ts.isTypeLiteralNode)) {
    return {
      name,
      doc,
      variants: type.types.map((variant) => ({ type: textOf(variant), doc: leadingDoc(variant) })),
    };
  }
  return { name, doc, text: textOf(type) };
}

function describeMember(member) {
  return { name: member.name.getText(), type: textOf(member.type), doc: docOf(member) };
}

/** The type as written, on one line, without what is the same everywhere. */
function textOf(node) {
  return node
    .getText()
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replace(/^\| /, '')
    .replace(/;? \}/g, ' }');
}

/** The doc comment right above. One at the very beginning of a file is about the file. */
function docOf(node) {
  const own = ts.getJSDocCommentsAndTags(node).filter((comment) => comment.pos > 0);
  const comments = own.map((comment) => ts.getTextOfJSDocComment(comment.comment) ?? '');
  return comments.join(' ').replace(/\s+/g, ' ').trim();
}

/** Doc comments of union members do not belong to a declaration; they stand before the `|`. */
function leadingDoc(node) {
  const text = node.getSourceFile().text;
  const before = text.slice(0, node.getStart()).match(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\|?\s*$/);
  return before === null ? '' : before[1].replace(/\s*\*?\s+/g, ' ').trim();
}
