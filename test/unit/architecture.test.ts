import { describe, expect, test } from 'vitest';
import { type ImportEdge, packagesLoadedBy, parseSource, readSources } from '../support/imports.ts';

/** A stage imports earlier ones. `cli` and `app` come last: only they put stages together. */
const ORDER = [
  'core',
  'config',
  'datastore',
  'tree',
  'model',
  'render',
  'generation',
  'reload',
  'status',
  'app',
  'cli',
];

/** Imports of a later stage that are meant, with the reason. */
const ALLOWED: readonly { from: RegExp; to: string; kinds: readonly ImportEdge['kind'][]; why: string }[] = [
  {
    from: /^datastore\//,
    to: 'tree/types.ts',
    kinds: ['type'],
    why: 'a source speaks in entries and changes of the tree; it knows nothing of how the tree keeps them',
  },
  {
    from: /^config\/options\.ts$/,
    to: 'render/types.ts',
    kinds: ['static'],
    why: '--bird takes the dialects that render knows, and a list of names is all that is imported',
  },
];

/** Where a package may be imported. What is not listed here is not a dependency of the product. */
const PACKAGES: Readonly<Record<string, { in: RegExp; kind: 'static' | 'dynamic'; why: string }>> = {
  yaml: {
    in: /^datastore\/(fixtures\/documents|kubernetes\/kubeconfig)\.ts$/,
    kind: 'static',
    why: 'loaded with the sources that read YAML',
  },
  '@kubernetes/client-node': {
    in: /^datastore\/kubernetes\/kubeconfig\.ts$/,
    kind: 'dynamic',
    why: 'its kubeconfig and authentication are wanted, and nothing of the rest',
  },
  chokidar: {
    in: /^(datastore\/files\/watcher|app\/watch-configuration)\.ts$/,
    kind: 'static',
    why: 'loaded late',
  },
  ajv: { in: /^model\/keys\/schema\.ts$/, kind: 'dynamic', why: 'only resources with a schema pay for it' },
  'ajv-formats': { in: /^model\/keys\/schema\.ts$/, kind: 'dynamic', why: 'as ajv' },
  nunjucks: {
    in: /^render\/nunjucks-internals\.ts$/,
    kind: 'static',
    why: 'one place knows its private parts',
  },
  'write-file-atomic': {
    in: /^generation\/fs\.ts$/,
    kind: 'dynamic',
    why: 'a boot from cache writes nothing',
  },
  diff: { in: /^app\/changes\.ts$/, kind: 'dynamic', why: 'only a shown diff pays for it' },
  pino: { in: /^app\/log\.ts$/, kind: 'dynamic', why: 'loaded after the cache is in place' },
  'prom-client': { in: /^status\/metrics\.ts$/, kind: 'dynamic', why: 'loaded at the first scrape' },
  'smol-toml': {
    in: /^(config\/resources|cli\/main)\.ts$/,
    kind: 'static',
    why: 'in cli/main only with a file',
  },
  'ipaddr.js': { in: /^(datastore|model|render)\//, kind: 'static', why: 'small' },
};

/** Longer than the house style wants, and why it stays so. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'config/options.ts': 'one table',
  'config/resources.ts': 'one file format',
  'datastore/etcd/source.ts': 'one life',
};
const MAX_LINES = 320;

const sources = readSources();
const edges = sources.flatMap((source) => source.imports);
const show = ({ from, line, to, kind }: ImportEdge): string => `${from}:${line} imports ${to} (${kind})`;

function stageOf(path: string): string {
  return path.split('/')[0]!;
}

function isLater(edge: ImportEdge): boolean {
  return !edge.isPackage && ORDER.indexOf(stageOf(edge.to)) > ORDER.indexOf(stageOf(edge.from));
}

function isAllowed(edge: ImportEdge): boolean {
  return ALLOWED.some(
    ({ from, to, kinds }) => from.test(edge.from) && to === edge.to && kinds.includes(edge.kind),
  );
}

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

describe('stages', () => {
  test('every folder of src is one, and the other way round', () => {
    expect([...new Set(sources.map(({ path }) => stageOf(path)))].sort()).toEqual([...ORDER].sort());
  });

  test('import earlier stages and core, never a later one, types included', () => {
    expect(edges.filter((edge) => isLater(edge) && !isAllowed(edge)).map(show)).toEqual([]);
  });

  test('have no exception that nothing needs', () => {
    const used = ALLOWED.filter(({ from, to }) =>
      edges.some((edge) => from.test(edge.from) && to === edge.to),
    );
    expect(used).toEqual(ALLOWED);
  });

  test('status is a sink: of other stages it knows types only', () => {
    const values = edges.filter(
      ({ from, to, isPackage, kind }) =>
        stageOf(from) === 'status' &&
        !isPackage &&
        kind !== 'type' &&
        !['core', 'status'].includes(stageOf(to)),
    );
    expect(values.map(show)).toEqual([]);
  });

  test('tree and model are pure: no files, sockets, processes, clock or chance', () => {
    const impure = /^node:(?!(crypto|buffer)$)/;
    const pure = sources.filter(({ path }) => ['tree', 'model'].includes(stageOf(path)));
    expect(pure.flatMap(({ imports }) => imports.filter(({ to }) => impure.test(to)).map(show))).toEqual([]);
    const uses =
      /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval|process\.\w+)\b|new Date\(\)/;
    expect(pure.filter(({ text }) => uses.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe('packages', () => {
  const packages = edges.filter(({ to, isPackage }) => isPackage && !to.startsWith('node:'));

  test('are imported where they belong', () => {
    const strays = packages.filter((edge) => {
      const rule = PACKAGES[packageOf(edge.to)];
      return rule === undefined || (edge.kind !== 'type' && !rule.in.test(edge.from));
    });
    expect(strays.map(show)).toEqual([]);
  });

  test('that are slow to load are loaded when they are needed', () => {
    const eager = packages.filter(
      (edge) => edge.kind === 'static' && PACKAGES[packageOf(edge.to)]?.kind === 'dynamic',
    );
    expect(eager.map(show)).toEqual([]);
  });

  test.each(['cli/main.ts', 'cli/probe.ts', 'cli/status.ts', 'cli/generations.ts', 'app/cache.ts'])(
    'are not loaded at all by %s',
    (entry) => {
      expect([...packagesLoadedBy(entry, sources)]).toEqual([]);
    },
  );

  test('that a daemon loads before it looks at its cache are the small ones and the template engine', () => {
    const allowed = ['smol-toml', 'ipaddr.js', 'nunjucks'];
    const loaded = [...packagesLoadedBy('app/daemon.ts', sources)];
    expect(loaded.filter(([name]) => !allowed.includes(packageOf(name)))).toEqual([]);
  });
});

describe('files', () => {
  test('have no default exports and no barrels', () => {
    expect(sources.flatMap(({ path, badExports }) => badExports.map((text) => `${path}: ${text}`))).toEqual(
      [],
    );
  });

  test(`have at most ${MAX_LINES} lines`, () => {
    const long = sources.filter(({ path, lines }) => lines > MAX_LINES && LONG_FILES[path] === undefined);
    expect(long.map(({ path, lines }) => `${path}: ${lines} lines`)).toEqual([]);
  });

  test('write to no console: what is logged goes through the logger, what is printed through the command', () => {
    expect(sources.filter(({ text }) => /\bconsole\./.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

/** The tests above are worth what the parser sees. */
describe('the parser of imports', () => {
  const parsed = parseSource(
    'render/x.ts',
    `import type { A } from '../app/a.ts';
import { type B, type C } from '../core/b.ts';
import { type D, e } from '../tree/d.ts';
import pino from 'pino';
type F = import('../app/f.ts').F;
const g = await import('ajv');
export * from './y.ts';
export default g;`,
  );

  test('tells types, static and dynamic imports apart', () => {
    expect(parsed.imports.map(({ to, kind }) => `${to} ${kind}`)).toEqual([
      'app/a.ts type',
      'core/b.ts type',
      'tree/d.ts static',
      'pino static',
      'app/f.ts type',
      'ajv dynamic',
    ]);
  });

  test('finds default exports and re-exports', () => {
    expect(parsed.badExports).toEqual([`export * from './y.ts';`, 'export default g;']);
  });

  test('follows static imports only', () => {
    const chain = [
      parseSource('cli/a.ts', `import { b } from '../app/b.ts';\nconst c = () => import('../app/c.ts');`),
      parseSource('app/b.ts', `import yaml from 'yaml';`),
      parseSource('app/c.ts', `import pino from 'pino';`),
    ];
    expect([...packagesLoadedBy('cli/a.ts', chain)]).toEqual([['yaml', ['cli/a.ts', 'app/b.ts']]]);
  });
});
