// node scripts/code-cache.cjs DIST: runs the bundle through what it does at a start, and writes the code cache of every
// chunk beside it. A cache holds what was compiled by then: functions that a start needs are in, others are not.

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const v8 = require('node:v8');

const dist = process.argv[2];
const { load, modules, scripts } = require(join(dist, 'birdfeed.js'));
const fixtures = join(__dirname, 'code-cache-cluster.yaml');
const cache = mkdtempSync(join(tmpdir(), 'birdfeed-build-'));

const COMMON = [
  ...['--node-name', 'n1', '--bird', 'bird2', '--cache', cache],
  ...['--reload', 'none', '--syntax-check', 'off', '--log-format', 'json'],
];
/** Nothing listens on that port: the code that speaks to etcd is loaded all the same. */
const NO_ETCD = ['--datastore', 'etcd', '--etcd-endpoints', 'http://127.0.0.1:9', '--listen', 'none'];

async function main() {
  // A cache is good for the flags of the moment when it is written, and birdfeed changes some at run time.
  v8.setFlagsFromString = () => {};
  await run(['--onetime', '--fixtures', fixtures, ...COMMON], () => process.exitCode !== undefined);
  if (process.exitCode !== 0) throw new Error(`birdfeed --onetime ended with ${process.exitCode}`);
  const sizes = scripts.size;
  await run([...NO_ETCD, ...COMMON], () => scripts.size > sizes);
  await sleep(1_000);
  for (const [file, script] of scripts) writeFileSync(`${file}.cache`, script.createCachedData());
}

/** Runs birdfeed in this process, until `done` says so. */
async function run(args, done) {
  process.exitCode = undefined;
  process.argv = [process.execPath, join(dist, 'birdfeed.js'), ...args];
  modules.delete('./main.js');
  load('./main.js');
  for (let turns = 0; !done(); turns += 1) {
    if (turns === 200) throw new Error(`birdfeed ${args.join(' ')} did not get anywhere in 10 s`);
    await sleep(50);
  }
}

main()
  .then(() => 0)
  .catch((error) => {
    console.error(error.message);
    return 1;
  })
  .then((code) => {
    rmSync(cache, { recursive: true, force: true });
    // The second run goes on by itself.
    process.exit(code);
  });
