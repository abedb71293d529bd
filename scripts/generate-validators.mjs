// Compiles the schemas of src/model/calico/schemas into src/model/calico/validators.generated.js (and its .d.ts), so that
// ajv, which costs 50 ms to load and compile, is not needed at run time.
//
//   node scripts/generate-validators.mjs            write the files
//   node scripts/generate-validators.mjs --check    exit 1 when they are not what would be written
//
// A unit test holds that the committed files are current.

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build, transform } from 'esbuild';

const folder = new URL('../src/model/calico/', import.meta.url);

/** The text of each generated file, by its URL. */
export async function generateValidators() {
  const schemas = await loadSchemas();
  const ajv = new Ajv({
    strict: true,
    allowUnionTypes: true,
    // validators.ts words its own messages, from the schema.
    messages: false,
    inlineRefs: false,
    // Lengths in UTF-16 units: code points would need a helper from ajv at run time. All limits are generous.
    unicode: false,
    // It only says that `unicode` is deprecated; whatever else is wrong throws.
    logger: false,
    code: { source: true, esm: true },
    schemas: Object.entries(schemas).map(([kind, schema]) => ({ $id: kind, ...schema.json })),
  });
  const names = Object.fromEntries(Object.keys(schemas).map((kind) => [`validate${kind}`, kind]));
  const code = withoutParameters(standalone.default(ajv, names));
  if (/\brequire\(|^import /m.test(code)) throw new Error('the validators need ajv at run time');
  const header = '// Made by scripts/generate-validators.mjs from schemas/. Do not edit.\n';
  const { code: readable } = await transform(code, { format: 'esm', minifySyntax: true, treeShaking: true });
  return new Map([
    [new URL('validators.generated.js', folder).href, header + readable],
    [new URL('validators.generated.d.ts', folder).href, header + declarations(Object.keys(schemas))],
  ]);
}

/** Errors need no parameters, and without them no schema has to stay in the code. */
function withoutParameters(code) {
  return code.replace(/,\s*params:\s*\{[^{}]*\}/g, '');
}

async function loadSchemas() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('schemas/all.ts', folder))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const bundle = Buffer.from(outputFiles[0].contents).toString('base64');
  const { schemas } = await import(`data:text/javascript;base64,${bundle}`);
  return schemas;
}

function declarations(kinds) {
  const functions = kinds.map((kind) => `export declare const validate${kind}: Validator<'${kind}'>;\n`);
  return `import type { Validator } from './validators.ts';\n\n${functions.join('')}`;
}

async function main() {
  const check = process.argv.includes('--check');
  for (const [url, text] of await generateValidators()) {
    const current = await readFile(new URL(url), 'utf8').catch(() => '');
    if (current === text) continue;
    if (check) {
      console.error(`${fileURLToPath(url)} is out of date; run node scripts/generate-validators.mjs`);
      process.exitCode = 1;
    } else {
      await writeFile(new URL(url), text);
      console.log(`wrote ${fileURLToPath(url)}`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
