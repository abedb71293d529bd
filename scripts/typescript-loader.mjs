// Module hooks (see node:module, `register`) that let Node import .ts files: esbuild takes the types away, file by file, so
// that import.meta.url stays what it is. Types are checked elsewhere.

import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const text = await readFile(new URL(url), 'utf8');
  const { code } = await transform(text, { loader: 'ts', format: 'esm', target: 'node20' });
  return { format: 'module', source: code, shortCircuit: true };
}
