import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));

/** What `script` prints as JSON, in a Node with `flags`. `load` and `scripts` are the launcher's. */
function inNode(flags: readonly string[], script: string, env: NodeJS.ProcessEnv = {}): unknown {
  const whole = `const { load, scripts } = require(${JSON.stringify(`${dist}/birdfeed.js`)});\n${script}`;
  const output = execFileSync(process.execPath, [...flags, '-e', whole], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return JSON.parse(output);
}

const SMALL_HEAP = ['--max-semi-space-size=2', '--max-old-space-size=96'];

describe('the code cache', () => {
  const PARTS = `
    const names = require('node:fs').readdirSync(${JSON.stringify(`${dist}/chunks`)});
    for (const name of names.filter((name) => name.endsWith('.js.cache'))) load('./' + name.slice(0, -6));
    console.log(JSON.stringify([...scripts.values()].map((script) => script.cachedDataRejected)));`;

  it.each([
    ['no flags', [], {}],
    ['the flags for little memory', SMALL_HEAP, {}],
    ['these in the environment', [], { NODE_OPTIONS: SMALL_HEAP.join(' ') }],
  ])('is accepted whole with %s', (_, flags, env) => {
    const rejected = inNode(flags, PARTS, env) as readonly boolean[];
    expect(rejected.length).toBeGreaterThan(10);
    expect(rejected).not.toContain(true);
  });

  it('leaves the heap as small as the flags said', () => {
    const limit = 'console.log(require("node:v8").getHeapStatistics().heap_size_limit)';
    expect(inNode(SMALL_HEAP, limit)).toBeLessThan(110 * 1024 * 1024);
  });
});

describe('the young generation', () => {
  const heap = readdirSync(`${dist}/chunks`).find((name) => /^heap-\w+\.js$/.test(name));
  const CHURN = `
    const young = () => require('node:v8').getHeapSpaceStatistics()
      .find((space) => space.space_name === 'new_space').space_size / 1024 / 1024;
    let turns = 0;
    let kept = [];
    const turn = () => {
      for (let n = 0; n < 4_000; n += 1) kept.push({ n, text: 'text ' + n });
      if (turns % 50 === 0) kept = [];
      turns += 1;
      if (turns < 600) setImmediate(turn);
      else console.log(young()), process.exit();
    };
    turn();`;

  it('grows to 8 MiB and no further while birdfeed watches', () => {
    expect(inNode([], CHURN)).toBeGreaterThan(8);
    expect(inNode([], `load('./${heap}').holdHeap();${CHURN}`)).toBe(8);
  });
});
