import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** One import of a source file. */
export interface ImportEdge {
  /** The importing file, relative to src/. */
  readonly from: string;
  /** The imported file relative to src/, or the name of a package or Node module. */
  readonly to: string;
  readonly isPackage: boolean;
  /** `type` vanishes when compiled, `static` loads before the file runs, `dynamic` when it is asked for. */
  readonly kind: 'type' | 'static' | 'dynamic';
  readonly line: number;
}

export interface SourceFile {
  /** Relative to src/. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly ImportEdge[];
  /** `export default`, `export * from`, `export { x } from`: what the house style does without. */
  readonly badExports: readonly string[];
}

const src = fileURLToPath(new URL('../../src/', import.meta.url));

/** All sources that people write, parsed by the TypeScript compiler. */
export function readSources(): readonly SourceFile[] {
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .sort();
  return paths.map((path) => parseSource(path, readFileSync(join(src, path), 'utf8')));
}

export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: ImportEdge[] = [];
  const badExports: string[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, kind: ImportEdge['kind']): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    const isPackage = !specifier.text.startsWith('.');
    const to = isPackage ? specifier.text : posix.join(dirname(path), specifier.text);
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    imports.push({ from: path, to, isPackage, kind, line });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, isTypeImport(node) ? 'type' : 'static');
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node, node.argument.literal, 'type');
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node, node.arguments[0], 'dynamic');
    else if (ts.isExportAssignment(node) || isDefaultExport(node) || isReExport(node))
      badExports.push(node.getText(tree).split('\n')[0]!);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { path, text, lines: text.trimEnd().split('\n').length, imports, badExports };
}

function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = importClause;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

function isDefaultExport(node: ts.Node): boolean {
  return (
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true
  );
}

function isReExport(node: ts.Node): boolean {
  return ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;
}

/** Packages (not Node's modules) that are loaded by static imports alone when this file is loaded, with the way there. */
export function packagesLoadedBy(
  entry: string,
  sources: readonly SourceFile[],
): ReadonlyMap<string, readonly string[]> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const found = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  const follow = (path: string, way: readonly string[]): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { to, isPackage, kind } of byPath.get(path)?.imports ?? []) {
      if (kind !== 'static' || to.startsWith('node:')) continue;
      if (!isPackage) follow(to, [...way, path]);
      else if (!found.has(to)) found.set(to, [...way, path]);
    }
  };
  follow(entry, []);
  return found;
}
