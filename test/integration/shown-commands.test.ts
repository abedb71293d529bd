import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { builtProgram } from '../support/birdfeed-command.ts';
import { masked, runShown, shownCommands, withOutputs } from '../support/console-blocks.ts';
import { testDir } from '../support/tmp.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`);
const docs = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const documents = ['README.md', 'examples/README.md', ...examples, ...docs]
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  .filter(({ text }) => shownCommands(text).length > 0);

/** UPDATE_DOCS=1 writes what the commands really print into the documents. */
const isUpdate = process.env['UPDATE_DOCS'] === '1';

describe.each(documents)('$path', ({ path, text }) => {
  test('shows what its commands print', { timeout: 120_000 }, async () => {
    const shown = shownCommands(text);
    const commands = shown.map(({ command }) => command);
    const outputs = await runShown(commands, await testDir('bf-doc'), builtProgram());
    const differing = shown.some(({ output }, index) => masked(output) !== masked(outputs[index] ?? ''));
    if (isUpdate && differing) writeFileSync(join(root, path), withOutputs(text, shown, outputs));
    else
      for (const [index, { command, output }] of shown.entries())
        expect({ command, output: masked(outputs[index] ?? '') }).toEqual({
          command,
          output: masked(output),
        });
  });
});

test('there are documents that show commands', () => {
  expect(documents.map(({ path }) => path)).toContain('README.md');
});
