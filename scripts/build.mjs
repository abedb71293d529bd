// Bundles src/cli/main.ts into dist/: a launcher, birdfeed.js, and one chunk per lazy import, so that `birdfeed status`
// never loads etcd's client. Whitespace goes, names stay: a stack trace can be read without the source map.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { kubeconfigOnly } from './kubeconfig-only.mjs';
import { shippedTemplates } from './shipped-templates.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = `${root}src/cli/main.ts`;
const outdir = `${root}dist`;
const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

async function main() {
  // npm runs this script after every install, also in a checkout that has no sources to build.
  if (!existsSync(entry)) return console.error('build: nothing built, there is no src/cli/main.ts');
  const { outputFiles } = await bundle();
  await rm(outdir, { recursive: true, force: true });
  await mkdir(`${outdir}/chunks`, { recursive: true });
  // The package is one of ES modules; what is built is not.
  await writeFile(`${outdir}/package.json`, '{"type":"commonjs"}\n');
  await copyFile(`${root}scripts/launcher.cjs`, `${outdir}/birdfeed.js`);
  await chmod(`${outdir}/birdfeed.js`, 0o755);
  const texts = new Map(outputFiles.map((file) => [file.path, file.text]));
  await Promise.all(
    [...texts.keys()].filter((path) => path.endsWith('.js')).map((path) => writeChunk(path, texts)),
  );
  makeCodeCache();
}

function bundle() {
  return build({
    absWorkingDir: root,
    entryPoints: [{ in: entry, out: 'main' }],
    outdir: `${outdir}/chunks`,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    define: { __BIRDFEED_VERSION__: JSON.stringify(version), 'import.meta.dirname': '__dirname' },
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'external',
    legalComments: 'none',
    chunkNames: '[name]-[hash]',
    logLevel: 'warning',
    plugins: [kubeconfigOnly, shippedTemplates(root)],
  });
}

/**
 * esbuild splits ES modules only, and Node has no code cache for those: each chunk becomes CommonJS afterwards, with its
 * source map carried along.
 */
async function writeChunk(path, texts) {
  const inlined = Buffer.from(texts.get(`${path}.map`)).toString('base64');
  const source = `${texts.get(path)}\n//# sourceMappingURL=data:application/json;base64,${inlined}`;
  const { code, map } = await transform(source, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    supported: { 'dynamic-import': false },
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'external',
    sourcefile: basename(path),
    logLevel: 'error',
  });
  await writeFile(path, `${code}//# sourceMappingURL=${basename(path)}.map\n`);
  await writeFile(`${path}.map`, map);
}

/** Without it birdfeed only starts later. */
function makeCodeCache() {
  const { status, stderr } = spawnSync(process.execPath, [`${root}scripts/code-cache.cjs`, outdir], {
    encoding: 'utf8',
  });
  if (status !== 0) console.error(`build: no code cache: ${stderr}`);
}

await main().catch((error) => {
  console.error(`build: ${error.message}`);
  process.exitCode = 1;
});
