// The shipped templates as code in the bundle: parsing, checking and compiling them takes longer than booting from cache.

import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/** An esbuild plugin. `root`: of the package, with its `templates`. */
export function shippedTemplates(root) {
  return {
    name: 'shipped-templates',
    setup({ onLoad }) {
      onLoad({ filter: /src\/render\/shipped-templates\.ts$/ }, async () => {
        const compiled = await compileWithSources(root);
        return { contents: moduleOf(compiled), loader: 'js' };
      });
    },
  };
}

/** Runs the compiler as it is in src/, of which nothing has been built yet. */
async function compileWithSources(root) {
  const directory = await mkdtemp(join(tmpdir(), 'birdfeed-build-'));
  try {
    const outfile = join(directory, 'compiler.cjs');
    await build({
      stdin: {
        contents: `export { precompile } from './src/render/engine.ts';
          export { loadTemplates } from './src/render/load.ts';
          export { KEY_FUNCTION_NAMES } from './src/model/keys/functions.ts';`,
        resolveDir: root,
        loader: 'ts',
      },
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      logLevel: 'warning',
    });
    const { precompile, loadTemplates, KEY_FUNCTION_NAMES } = createRequire(outfile)(outfile);
    return precompile(loadTemplates([join(root, 'templates')]), { contextFunctions: KEY_FUNCTION_NAMES });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function moduleOf({ digest, places, templates }) {
  const members = templates.map(
    ({ name, pinned, code }) =>
      `{ name: ${JSON.stringify(name)}, pinned: ${JSON.stringify(pinned)}, make: function () {${code}} }`,
  );
  return `export const SHIPPED_TEMPLATES = {
    digest: ${JSON.stringify(digest)},
    places: ${JSON.stringify(places)},
    templates: [${members.join(',\n')}],
  };`;
}
