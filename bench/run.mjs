// npm run bench: what birdfeed costs, beside what the machine, and confd, cost at the same time.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changes } from './cases/change.mjs';
import { measureFleet } from './cases/fleet.mjs';
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
import { cleanedUp, measureRun } from './lib/processes.mjs';
import { measureScale, nameOf } from './lib/scale.mjs';
import { scalePlot } from './lib/scale-plot.mjs';
import { table } from './lib/table.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(USAGE);
  if (options.build) await build();
  const bundle = options.birdfeed ?? join(root, 'dist', 'birdfeed.js');
  const binaries = await provisioned(options);
  const directory = await mkdtemp(join(tmpdir(), 'bfbench-'));
  const loadBefore = loads();
  const started = new Date();
  try {
    const given = { options, binaries, bundle, directory };
    const sizes = [];
    for (const size of options.sizes) sizes.push(await measureSize(size, given));
    const scale = options.scale
      ? await measureScale(
          (size) => measureSize(size, { ...given, options: sparing(options) }),
          options.quick,
        )
      : null;
    const fleet = options.fleet ? await measureFleet(given) : null;
    const document = {
      format: 1,
      startedAt: started.toISOString(),
      tookSeconds: Math.round((Date.now() - started.getTime()) / 1000),
      command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
      quick: options.quick,
      machine: { ...(await machine(directory)), loadBefore, loadAfter: loads() },
      versions: await versions(bundle, binaries),
      sizes,
      ...(scale === null ? {} : { scale }),
      ...(fleet === null ? {} : { fleet }),
      budgets: judge(sizes, options),
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
    const { lines, worse } = comparison(document, JSON.parse(await readFile(options.compare, 'utf8')));
    console.error(lines.join('\n'));
    if (worse.length > 0) process.exitCode = 1;
  }
  if (options.svg !== null && document.scale !== undefined)
    await writeFile(options.svg, scalePlot(document.scale));
  if (options.json !== null) await writeFile(options.json, text);
  await new Promise((resolve) => process.stdout.write(text, resolve));
}

/** For many clusters, each measured a few times: a curve shows by its neighbours what is off. */
function sparing(options) {
  return { ...options, changes: Math.min(options.changes, 12), runs: Math.min(options.runs, 5) };
}

/** All cases on one cluster, in the order in which later ones need what earlier ones found. */
async function measureSize(size, { options, binaries, bundle, directory }) {
  const cluster = createCluster(size, options.valueBytes);
  const label = nameOf(size);
  const own = await mkdtemp(join(directory, `${label.replaceAll(':', '-')}-`));
  const progress = (what) => console.error(`  ${label} nodes: ${what}`);
  progress('loading etcd');
  const etcd = await Etcd.start(binaries.etcd, own);
  try {
    await etcd.putAll(cluster.entries());
    const bench = createBench({ options, cluster, etcd, bundle, binaries, directory: own, progress });
    // The template for confd has nodes only.
    if ((size.peers ?? 0) > 0) bench.confd = null;
    bench.sample = await sample(bench);
    const result = { name: label, ...size, valueBytes: options.valueBytes };
    result.outputBytes = bench.sample.bytes.length;
    for (const [name, measure] of Object.entries(size.cases ?? CASES)) {
      if (!options.only.has(name)) continue;
      try {
        result[name] = await cleanedUp(() => measure(bench));
      } catch (error) {
        // The other figures are still worth having.
        progress(`${name} failed: ${error.message}`);
        result.failed = { ...result.failed, [name]: error.message };
        process.exitCode = 1;
      }
      if (name === 'floors') bench.floors = result.floors;
    }
    return result;
  } finally {
    await etcd.close();
  }
}

const CASES = { floors, onetime, boot, change: changes, irrelevant, loop, memory: memoryUse, storm };

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
async function provisioned({ bird }) {
  const folder = join(root, '.binaries');
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch(() => '{"binaries":{}}');
  const { binaries } = JSON.parse(text);
  const path = (key, name) => (binaries[key] === undefined ? null : join(folder, binaries[key].paths[name]));
  const etcd = path('etcd35', 'etcd') ?? path('etcd34', 'etcd');
  if (etcd === null)
    throw new Error('no etcd here; node scripts/binaries.mjs fetches what the tests and this need');
  return { etcd, bird: bird ?? path('bird217', 'bird') ?? path('bird20', 'bird') };
}

await main().catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
});
// Not left to the event loop: something that was started and got lost would keep it going for ever.
process.exit();
