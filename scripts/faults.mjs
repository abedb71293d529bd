// `npm run test:faults`: the whole fault suite (test/faults) with a fixed seed, and a table of what it came to.
//
//   npm run test:faults                       everything
//   npm run test:faults -- datastore -t kill  vitest's arguments choose what runs
//
// BIRDFEED_FAULT_SCALE=0.1 makes a tenth of the runs, BIRDFEED_FAULT_SEED=2 other ones. `npm test` makes a few runs of each.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './run.mjs';

process.env.PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

async function main(args) {
  const folder = await mkdtemp(join(tmpdir(), 'birdfeed-faults-'));
  const file = join(folder, 'table.jsonl');
  try {
    for (const step of ['scripts/binaries.mjs', 'scripts/build.mjs']) {
      if ((await run([process.execPath, step])) !== 0) return 1;
    }
    const vitest = [join(root, 'node_modules/.bin/vitest'), 'run', '--project', 'faults', '--retry', '0'];
    const env = { ...process.env, BIRDFEED_FAULTS: 'full', BIRDFEED_FAULT_TABLE: file };
    const started = performance.now();
    const status = await run([...vitest, ...args], { env });
    const rows = await readFile(file, 'utf8').then(
      (text) => text.trim().split('\n').map(JSON.parse),
      () => [],
    );
    console.log(`\n${table(rows)}\n`);
    const runs = rows.reduce((sum, row) => sum + row.runs, 0);
    const converged = rows.reduce((sum, row) => sum + row.converged, 0);
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    const seed = process.env.BIRDFEED_FAULT_SEED ?? 1;
    console.log(
      `${rows.length} faults, ${runs} runs, ${converged} converged, seed ${seed}, ${minutes} minutes`,
    );
    return status;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The rows as a Markdown table, file by file. */
function table(unsorted) {
  const rows = unsorted.toSorted((a, b) => (a.group < b.group ? -1 : Number(a.group > b.group)));
  const cells = rows.map(({ fault, runs, converged, bound, worst, peakMiB }) => [
    fault,
    runs,
    converged,
    bound === null ? '' : seconds(bound),
    bound === null && worst === 0 ? '' : seconds(worst),
    peakMiB ?? '',
  ]);
  const lines = [['fault', 'runs', 'converged', 'bound', 'worst', 'peak MiB'], ...cells];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => String(line[column]).length)));
  const text = lines.map((line) => {
    const padded = line.map((cell, column) =>
      column === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[column]),
    );
    return `| ${padded.join(' | ')} |`;
  });
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  text.splice(1, 0, `| ${rule.join(' | ')} |`);
  return text.join('\n');
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

process.exitCode = await main(process.argv.slice(2));
