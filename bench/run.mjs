// npm run bench: what birdfeed costs, beside what the machine, and confd, cost at the same time.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changes } from './cases/change.mjs';
import { floors } from './cases/floors.mjs';
import { irrelevant } from './cases/irrelevant.mjs';
import { memoryUse, storm } from './cases/load.mjs';
import { loop } from './cases/loop.mjs';
import { boot, onetime } from './cases/startup.mjs';
import { canIsolate } from './lib/bird.mjs';
import { birdfeedArguments, publishedFile } from './lib/birdfeed.mjs';
import { judge } from './lib/budgets.mjs';
import { createCluster } from './lib/cluster.mjs';
import { comparison } from './lib/compare.mjs';
import { findConfd } from './lib/confd.mjs';
import { Etcd } from './lib/etcd.mjs';
import { loads, machine, versions } from './lib/machine.mjs';
import { readOptions, USAGE } from './lib/options.mjs';
import { measureRun } from './lib/processes.mjs';
import { table } from './lib/table.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(USAGE);
  if (options.build) await build();
  const bundle = options.birdfeed ?? join(root, 'dist', 'birdfeed.js');
  const binaries = await provisioned();
  const directory = await mkdtemp(join(tmpdir(), 'bfbench-'));
  const loadBefore = loads();
  const started = new Date();
  try {
    const sizes = [];
    for (const size of options.nodes)
      sizes.push(await measureSize(size, { options, binaries, bundle, directory }));
    const document = {
      format: 1,
      startedAt: started.toISOString(),
      tookSeconds: Math.round((Date.now() - started.getTime()) / 1000),
      command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
      quick: options.quick,
      machine: { ...(await machine(directory)), loadBefore, loadAfter: loads() },
      versions: await versions(bundle, binaries),
      sizes,
      budgets: judge(sizes.at(-1), options),
    };
    await report(document, options);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function report(document, options) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  console.error(table(document));
  if (options.compare !== null) {
    console.error(comparison(document, JSON.parse(await readFile(options.compare, 'utf8'))));
  }
  if (options.json !== null) await writeFile(options.json, text);
  process.stdout.write(text);
}

/** All cases on one cluster, in the order in which later ones need what earlier ones found. */
async function measureSize(size, { options, binaries, bundle, directory }) {
  const cluster = createCluster(size, options.valueBytes);
  const own = join(directory, String(size));
  await mkdir(own);
  const progress = (what) => console.error(`  ${size} nodes: ${what}`);
  progress('loading etcd');
  const etcd = await Etcd.start(binaries.etcd, own);
  try {
    await etcd.putAll(cluster.entries());
    const bench = createBench({ options, cluster, etcd, bundle, binaries, directory: own, progress });
    bench.sample = await sample(bench);
    const result = { nodes: size, valueBytes: options.valueBytes, outputBytes: bench.sample.bytes.length };
    const run = async (name, measure) => {
      if (options.only.has(name)) result[name] = await measure(bench);
    };
    await run('floors', floors);
    bench.floors = result.floors;
    await run('onetime', onetime);
    await run('boot', boot);
    await run('change', changes);
    await run('irrelevant', irrelevant);
    await run('loop', loop);
    await run('memory', memoryUse);
    await run('storm', storm);
    return result;
  } finally {
    await etcd.close();
  }
}

/** What a case gets. */
function createBench({ options, cluster, etcd, bundle, binaries, directory, progress }) {
  const program = [bundle];
  let counter = 0;
  const newDirectory = async (name) => {
    counter += 1;
    const path = join(directory, `${name}${counter}`);
    await mkdir(path);
    return path;
  };
  const renderOnce = async (cache) => {
    const what = { nodeName: cluster.nodeName, etcd: etcd.url, cache, check: null };
    const { code, output } = await measureRun(process.execPath, [
      ...program,
      '--onetime',
      ...birdfeedArguments(what),
    ]);
    if (code !== 0) throw new Error(`birdfeed --onetime ended with ${code}: ${output}`);
    return publishedFile(cache);
  };
  return {
    options,
    cluster,
    etcd,
    program,
    directory,
    progress,
    birdBinary: binaries.bird,
    confd: findConfd(),
    canIsolate: canIsolate(),
    node: { nodeName: cluster.nodeName, address: cluster.address },
    newDirectory,
    newCache: () => newDirectory('cache'),
    /** Renders the present state into a cache; path of the file. */
    renderOnce,
    /** Whether birdfeed's rendering of the present state has these very sessions. */
    async hasSessionsOf(content) {
      const file = await renderOnce(await newDirectory('cache'));
      return (await readFile(file)).includes(content.toString().trim());
    },
  };
}

async function sample(bench) {
  const path = await bench.renderOnce(await bench.newCache());
  return { path, bytes: await readFile(path) };
}

async function build() {
  const { code, output } = await measureRun(process.execPath, [join(root, 'scripts', 'build.mjs')]);
  if (code !== 0) throw new Error(`the build failed: ${output}`);
}

/** The binaries that `npm test` provisions; BIRD is optional. */
async function provisioned() {
  const folder = join(root, '.binaries');
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch(() => '{"binaries":{}}');
  const { binaries } = JSON.parse(text);
  const path = (key, name) => (binaries[key] === undefined ? null : join(folder, binaries[key].paths[name]));
  const etcd = path('etcd35', 'etcd') ?? path('etcd34', 'etcd');
  if (etcd === null)
    throw new Error('no etcd here; node scripts/binaries.mjs fetches what the tests and this need');
  return { etcd, bird: path('bird217', 'bird') ?? path('bird20', 'bird') };
}

await main().catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
});
