import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fixtureReader } from '../../../src/datastore/fixtures/reader.ts';
import { compatOptions, type ModelDialect, modelOptions } from '../../../src/model/bgp/options.ts';
import { createCalicoProducer } from '../../../src/model/bgp/producer.ts';
import { createEngine } from '../../../src/render/engine.ts';
import { createTree } from '../../../src/tree/tree.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';

/**
 * One folder per feature: `input.yaml`, and for each dialect the files that node `a` must get. With UPDATE_GOLDENS=1 they
 * are written instead of compared; read the diff before committing it. `options.json` may hold `routerId` and
 * `calicoCompat`.
 */
const GOLDEN = fileURLToPath(new URL('../../golden/', import.meta.url));
const TEMPLATES = fileURLToPath(new URL('../../../templates/', import.meta.url));
const UPDATE = process.env['UPDATE_GOLDENS'] === '1';

const FILES = {
  bird1: ['bird.cfg', 'bird6.cfg'],
  'bird1-calico': ['bird.cfg', 'bird6.cfg'],
  bird2: ['bird.conf'],
} as const satisfies Record<ModelDialect, readonly string[]>;

/** The fork differs in nothing but tunnels. */
const dialectsOf = (name: string): readonly ModelDialect[] =>
  name === 'pools-programmed' ? ['bird1', 'bird1-calico', 'bird2'] : ['bird1', 'bird2'];

const cases = readdirSync(GOLDEN).sort();
const engine = createEngine({ templateDirs: [TEMPLATES] });

interface GoldenOptions {
  readonly routerId?: string;
  readonly calicoCompat?: boolean;
}

function render(
  name: string,
  dialect: ModelDialect,
): { files: ReadonlyMap<string, string>; problems: string } {
  const folder = join(GOLDEN, name);
  const reader = fixtureReader();
  const { values, problems: faults } = reader.assemble(
    new Map([['input.yaml', reader.parse('input.yaml', readFileSync(join(folder, 'input.yaml')))]]),
  );
  expect(faults).toEqual([]);
  const tree = createTree();
  tree.declare(['/calico']);
  const entries = [...values].map(([key, value]) => ({ key, value, revision: 1 }));
  tree.applySnapshot({ prefix: '/calico' }, entries);
  const file = join(folder, 'options.json');
  const given: GoldenOptions = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const model = modelOptions(dialect, {
    ...(given.routerId === undefined ? {} : { routerId: given.routerId }),
    compat: compatOptions(given.calicoCompat === true),
  });
  const producer = createCalicoProducer({ nodeName: 'a', model, lastGood: new Map() });
  const { context, problems } = producer.compute(tree, undefined);
  const files = FILES[dialect].map((name) => [name, engine.render(`${name}.njk`, context)] as const);
  const lines = problems.map(
    ({ severity, id, subject, message }) => `${severity} ${id} ${subject}: ${message}\n`,
  );
  return { files: new Map(files), problems: lines.join('') };
}

function compare(path: string, text: string): void {
  if (UPDATE) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(text).toBe(readFileSync(path, 'utf8'));
}

describe.each(cases)('golden %s', (name) => {
  it.each(dialectsOf(name))('is what %s gets', (dialect) => {
    const { files, problems } = render(name, dialect);
    for (const [file, text] of files) compare(join(GOLDEN, name, dialect, file), text);
    compare(join(GOLDEN, name, dialect, 'problems.txt'), problems);
  });
});

/** What the real BIRD says about each of these goldens; nothing when it accepts them all. */
function refusals(bird: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    const { status, signal, stderr } = spawnSync(bird, ['-p', '-c', basename(path)], {
      cwd: dirname(path),
      encoding: 'utf8',
    });
    return status === 0 ? [] : [`${path}: ${signal ?? status}: ${stderr.trim()}`];
  });
}

const golden = (dialect: ModelDialect, file: string) =>
  cases.map((name) => join(GOLDEN, name, dialect, file));

describe.each(['bird16', 'bird6_16'] as const)('the goldens of BIRD 1.6 are accepted by %s', (which) => {
  const binary = requireBinary(binaries[which], which);
  it('one and all', () => {
    const file = which === 'bird16' ? 'bird.cfg' : 'bird6.cfg';
    expect(refusals(binary.bird, golden('bird1', file))).toEqual([]);
  });
});

describe.each(['bird20', 'bird217', 'bird31'] as const)(
  'the goldens of BIRD 2 are accepted by %s',
  (which) => {
    const binary = requireBinary(binaries[which], which);
    it('one and all', () => {
      expect(refusals(binary.bird, golden('bird2', 'bird.conf'))).toEqual([]);
    });
  },
);
