// `npm test`: everything a contributor has to pass, from a checkout with its packages installed.
//
//   npm test                    binaries, build, lint, types, dead code, all tests
//   npm test -- ARGUMENTS       binaries, build, and vitest with these arguments
//
// The last line is `N passed, M failed` (and `, K skipped`): tests, plus one failure for each of the other steps that
// failed. The exit status is 0 only when nothing failed. BIRDFEED_TEST_REQUIRE_ALL=1 turns tests that would be skipped for
// want of a binary into failures.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const binary = (name) => join(root, 'node_modules/.bin', name);

// ip and other programs that tests call are in the sbin folders, which not every shell has on its path.
process.env.PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

/** A run that takes longer hangs. */
const VITEST_LIMIT_MS = 40 * 60_000;

/** Of the tests in networks only the essential ones, which take a minute or two; `npm run test:network` runs them all. */
const EVERYDAY = ['--exclude', 'test/network/further.test.ts'];

const PREPARATION = [
  { name: 'binaries', command: [process.execPath, 'scripts/binaries.mjs'] },
  { name: 'build', command: [process.execPath, 'scripts/build.mjs'] },
];
const CHECKS = [
  { name: 'lint', command: [binary('biome'), 'check', '.'] },
  { name: 'types', command: [binary('tsc'), '--noEmit'] },
  { name: 'dead code', command: [binary('knip')] },
];

async function main(args) {
  const failedSteps = [];
  for (const step of args.length === 0 ? [...PREPARATION, ...CHECKS] : PREPARATION) {
    const started = performance.now();
    console.log(`== ${step.name}`);
    const status = await run(step.command);
    if (status !== 0) failedSteps.push(step.name);
    console.log(
      `== ${step.name}: ${status === 0 ? 'ok' : 'FAILED'} (${seconds(performance.now() - started)})`,
    );
  }
  const tests = await runVitest(args.length === 0 ? EVERYDAY : args);
  for (const name of failedSteps) console.log(`failed step: ${name}`);
  const failed = tests.failed + failedSteps.length;
  for (const [reason, count] of Object.entries(tests.skipReasons)) console.log(`skipped ${count}: ${reason}`);
  console.log(
    `${tests.passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`,
  );
  return failed === 0 ? 0 : 1;
}

/** Runs vitest and returns its numbers; a run that ends badly without a failure on record counts as one. */
async function runVitest(args) {
  const folder = await mkdtemp(join(tmpdir(), 'birdfeed-test-'));
  const file = join(folder, 'summary.json');
  try {
    const env = { ...process.env, BIRDFEED_TEST_SUMMARY: file };
    const status = await run([binary('vitest'), 'run', ...args], { env, timeout: VITEST_LIMIT_MS });
    const nothing = { passed: 0, failed: 0, skipped: 0, skipReasons: {} };
    const summary = await readFile(file, 'utf8').then(JSON.parse, () => nothing);
    if (status === 0 || summary.failed > 0) return summary;
    console.log(`vitest ended with ${status} and without a failed test on record`);
    return { ...summary, failed: 1 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

process.exitCode = await main(process.argv.slice(2));
