import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import type { ModelDialect } from '../../src/model/bgp/options.ts';
import { compatOptions, modelOptions } from '../../src/model/bgp/options.ts';
import { createCalicoProducer } from '../../src/model/bgp/producer.ts';
import type { ProducerResult } from '../../src/model/types.ts';
import { createEngine } from '../../src/render/engine.ts';
import { scanBirdFile } from '../../src/render/scan.ts';
import { createTree } from '../../src/tree/tree.ts';
import { binaries, requireBinary } from '../support/binaries.ts';
import { BirdDaemon } from '../support/bird-daemon.ts';
import { type Batch, hostileBatch, INTRUDER, INTRUDING_PREFIX, lexBird } from '../support/hostile.ts';
import { testDir } from '../support/tmp.ts';
import { fault } from './runs.ts';

const TEMPLATES = fileURLToPath(new URL('../../templates/', import.meta.url));
const engine = createEngine({ templateDirs: [TEMPLATES] });
const PER_BATCH = 200;
/** A running BIRD is asked what it made of the file, now and then. */
const ASK_EVERY = 10;

const bird16 = requireBinary(binaries.bird16, 'bird16');

interface Reader {
  readonly dialect: ModelDialect;
  readonly files: readonly { readonly file: string; readonly bird: string; readonly ipv6?: true }[];
  readonly binary: typeof bird16;
}

const bird2 = (binary: typeof bird16): Reader => ({
  dialect: 'bird2',
  binary,
  files: [{ file: 'bird.conf', bird: binary.bird }],
});

const READERS: readonly (readonly [name: string, reader: Reader, runs: number])[] = [
  [
    'bird1, BIRD 1.6',
    {
      dialect: 'bird1',
      binary: bird16,
      files: [
        { file: 'bird.cfg', bird: bird16.bird },
        { file: 'bird6.cfg', bird: bird16.bird6!, ipv6: true },
      ],
    },
    780,
  ],
  ['bird2, BIRD 2.0', bird2(requireBinary(binaries.bird20, 'bird20')), 780],
  ['bird2, BIRD 2.17', bird2(requireBinary(binaries.bird217, 'bird217')), 160],
  ['bird2, BIRD 3.1', bird2(requireBinary(binaries.bird31, 'bird31')), 160],
];

describe.each(READERS)('strings from the datastore in %s', (name, reader, runs) => {
  fault(
    `${PER_BATCH} hostile resources a run, ${name}`,
    { runs, short: 6, bound: null, patience: 20_000 },
    async () => ({ directory: await testDir('bfh') }),
    async ({ directory }, random, index) => {
      const batch = hostileBatch(random, PER_BATCH);
      const { files, result } = render(reader.dialect, batch, index % 4 === 3);
      // What is right must be there, or nothing has been tried.
      expect(result.sessions.length).toBeGreaterThan(0);
      for (const { file, bird, ipv6 } of reader.files) {
        const text = files.get(file)!;
        checkText(file, text, result);
        const path = join(directory, file);
        writeFileSync(path, text);
        const { status, signal, stderr } = spawnSync(bird, ['-p', '-c', path], {
          encoding: 'utf8',
          timeout: 20_000,
        });
        // BIRD warns with status 0.
        expect(signal ?? status, `bird -p of ${path}: ${stderr}`).toBe(0);
        if (index % ASK_EVERY === 0) await askBird(reader, path, ipv6 ?? false, result);
      }
      return 0;
    },
  );
});

function render(dialect: ModelDialect, { entries }: Batch, calicoCompat: boolean) {
  const tree = createTree();
  tree.declare(['/calico']);
  // The last one of a key counts, as in a datastore.
  const stored = [...new Map(entries)].map(([key, value]) => ({ key, value, revision: 1 }));
  tree.applySnapshot({ prefix: '/calico' }, stored);
  const model = modelOptions(dialect, { compat: compatOptions(calicoCompat) });
  const producer = createCalicoProducer({ nodeName: 'a', model, lastGood: new Map() });
  const result = producer.compute(tree, undefined);
  const names = dialect === 'bird2' ? ['bird.conf'] : ['bird.cfg', 'bird6.cfg'];
  return {
    result,
    files: new Map(names.map((name) => [name, engine.render(`${name}.njk`, result.context)])),
  };
}

/** What a reader of the bare text sees: as many definitions as the model has, and nothing of the intruder. */
function checkText(file: string, text: string, result: ProducerResult): void {
  scanBirdFile({ name: file, content: Buffer.from(text) });
  const { words, definitions, statements, longestString, broken } = lexBird(text);
  expect(broken, `${file}: braces and quotes match`).toBe(false);
  expect(words.filter((word) => word === INTRUDER || word.startsWith(INTRUDING_PREFIX))).toEqual([]);
  expect(longestString, 'longest string').toBeLessThanOrEqual(255);
  const families = familiesIn(file, result);
  const of = (kind: string): string[] => definitions.filter((each) => each.startsWith(`${kind} `));
  const sessions = families.flatMap((family) => family.sessions.map(({ name }) => name));
  const names = of('protocol bgp').map((each) => each.split(' ')[2]!.replaceAll("'", ''));
  expect(names.sort()).toEqual(sessions.sort());
  expect(of('function').length, `${file}: functions`).toBe(sum(families, 'functions'));
  // The kernel's filter comes on top.
  expect(of('filter').length, `${file}: filters`).toBe(sum(families, 'filters') + families.length);
  const others = definitions.filter((each) => !/^(protocol bgp|function|filter) /.test(each));
  expect(others.filter((each) => !FIXED.test(each))).toEqual([]);
  expect(new Set(others).size, 'fixed definitions, each once').toBe(others.length);
  expect(statements.filter((each) => !STATEMENTS.has(each))).toEqual([]);
}

/** What the shipped templates print whatever the data are. */
const FIXED = /^(template bgp \w+|protocol (device|direct|kernel|static)( \w+)?)$/;
const STATEMENTS = new Set(['router', 'define', 'log', 'debug', 'listen', 'graceful', 'timeformat']);

interface FamilyContext {
  readonly sessions: readonly { readonly name: string }[];
  readonly functions: readonly unknown[];
  readonly filters: readonly unknown[];
}

function familiesIn(file: string, { context }: ProducerResult): readonly FamilyContext[] {
  const { ipv4, ipv6 } = context as { ipv4: FamilyContext; ipv6: FamilyContext };
  return file === 'bird.cfg' ? [ipv4] : file === 'bird6.cfg' ? [ipv6] : [ipv4, ipv6];
}

function sum(families: readonly FamilyContext[], what: keyof FamilyContext): number {
  return families.reduce((total, family) => total + family[what].length, 0);
}

/** A running BIRD has exactly the sessions of the model. */
async function askBird(reader: Reader, path: string, ipv6: boolean, result: ProducerResult): Promise<void> {
  const file = path.split('/').at(-1)!;
  const daemon = await BirdDaemon.start(reader.binary, { config: { path }, ipv6, args: ['-d'] });
  try {
    const protocols = await daemon.protocols();
    const bgp = [...protocols].filter(([, row]) => row.startsWith('BGP')).map(([name]) => name);
    const wanted = familiesIn(file, result).flatMap(({ sessions }) => sessions.map(({ name }) => name));
    expect(bgp.sort()).toEqual(wanted.sort());
    const others = [...protocols]
      .filter(([, row]) => !row.startsWith('BGP'))
      .map(([, row]) => row.split(' ')[0]!);
    expect(new Set(others)).toEqual(
      new Set(others.filter((kind) => /^(Device|Direct|Kernel|Static)$/.test(kind))),
    );
    expect(protocols.has(INTRUDER)).toBe(false);
  } finally {
    await daemon.close();
  }
}
