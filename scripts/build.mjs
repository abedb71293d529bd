// Bundles src/cli/main.ts into dist/birdfeed.js and its chunks.
//
// One file per lazy import (ESM splitting), so that `birdfeed status` never loads etcd's client. Whitespace goes, names
// stay: a stack trace can be read without the source map. What a bundle breaks stays in node_modules.

import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = `${root}src/cli/main.ts`;
const outdir = `${root}dist`;
const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

/**
 * etcd3 and its gRPC read .proto files next to their own code; the Kubernetes client is 60 MB of generated code, of which
 * Node loads what is needed.
 */
const EXTERNAL = ['etcd3', '@grpc/*', '@kubernetes/client-node'];

/** CommonJS packages inside an ES module bundle expect these names. */
const COMMONJS_NAMES = `
import { createRequire as $createRequire } from 'node:module';
import { dirname as $dirname } from 'node:path';
import { fileURLToPath as $fileURLToPath } from 'node:url';
const require = $createRequire(import.meta.url);
const __filename = $fileURLToPath(import.meta.url);
const __dirname = $dirname(__filename);
`;

async function main() {
  // npm runs this script after every install, also in a checkout that has no sources to build.
  if (!existsSync(entry)) return console.error('build: nothing built, there is no src/cli/main.ts');
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: [{ in: entry, out: 'birdfeed' }],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: EXTERNAL,
    define: { __BIRDFEED_VERSION__: JSON.stringify(version) },
    banner: { js: COMMONJS_NAMES },
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    legalComments: 'none',
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'warning',
  });
  await makeExecutable(`${outdir}/birdfeed.js`);
}

/** The banner begins with an empty line, which the interpreter line takes: line numbers of the source map stay right. */
async function makeExecutable(path) {
  const text = await readFile(path, 'utf8');
  if (!text.startsWith('#!')) await writeFile(path, `#!/usr/bin/env node${text}`);
  await chmod(path, 0o755);
}

await main().catch((error) => {
  console.error(`build: ${error.message}`);
  process.exitCode = 1;
});
