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
/** What runs first, and what it loads on the way to the cached generation. */
const BOOT_ENTRIES = ['src/cli/main.ts', 'src/cli/watch.ts', 'src/app/daemon.ts'];
const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

async function main() {
  // npm runs this script after every install, also in a checkout that has no sources to build.
  if (!existsSync(entry)) return console.error('build: nothing built, there is no src/cli/main.ts');
  const { outputFiles, metafile } = await bundle();
  await rm(outdir, { recursive: true, force: true });
  await mkdir(`${outdir}/chunks`, { recursive: true });
  // The package is one of ES modules; what is built is not.
  await writeFile(`${outdir}/package.json`, '{"type":"commonjs"}\n');
  await copyFile(`${root}scripts/launcher.cjs`, `${outdir}/birdfeed.js`);
  await chmod(`${outdir}/birdfeed.js`, 0o755);
  const texts = new Map(outputFiles.map((file) => [file.path, file.text]));
  const paths = [...texts.keys()].filter((path) => path.endsWith('.js'));
  const chunks = await Promise.all(paths.map((path) => commonJsChunk(path, texts)));
  const atBoot = bootChunks(metafile);
  const others = chunks.filter(({ name }) => !atBoot.has(name));
  await Promise.all([packed(chunks.filter(({ name }) => atBoot.has(name))), ...others].map(writeChunk));
  makeCodeCache();
}

function bundle() {
  return build({
    absWorkingDir: root,
    entryPoints: [{ in: entry, out: 'main' }],
    outdir: `${outdir}/chunks`,
    write: false,
    metafile: true,
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
async function commonJsChunk(path, texts) {
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
  return { name: basename(path), code, map };
}

/** Names of the chunks that are loaded until the cached generation is in place. */
function bootChunks({ outputs }) {
  const names = new Set();
  const add = ([path, { imports }]) => {
    if (names.has(basename(path))) return;
    names.add(basename(path));
    for (const { path, kind } of imports)
      if (kind === 'import-statement' && path in outputs) add([path, outputs[path]]);
  };
  Object.entries(outputs)
    .filter(([, { entryPoint }]) => BOOT_ENTRIES.includes(entryPoint))
    .forEach(add);
  return names;
}

/** One chunk whose exports are the functions of `chunks`: reading one file is faster than reading twenty. */
function packed(chunks) {
  let code = '';
  const sections = [];
  for (const chunk of chunks) {
    code += `exports["./${chunk.name}"]=(function(exports,require,module,__filename,__dirname){\n`;
    sections.push({ offset: { line: code.split('\n').length - 1, column: 0 }, map: JSON.parse(chunk.map) });
    code += `${chunk.code}\n});\n`;
  }
  return { name: 'boot.js', code, map: JSON.stringify({ version: 3, sections }) };
}

async function writeChunk({ name, code, map }) {
  const path = `${outdir}/chunks/${name}`;
  await writeFile(path, `${code}//# sourceMappingURL=${name}.map\n`);
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
