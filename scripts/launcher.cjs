#!/usr/bin/env node
'use strict';

// dist/birdfeed.js: loads the bundle's chunks with V8's code cache, which saves compiling them at every start. The caches
// lie beside the chunks and are only ever read. V8 refuses one that another version of it, or other flags, made; then,
// and where there is none, the chunk is compiled as usual.
//
// What a start needs until the cached generation is in place comes as one chunk, boot.js, whose exports are the functions
// of chunks by name.

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const directory = join(__dirname, 'chunks');
const scripts = new Map();
const modules = new Map();
/** V8 looks at these only while the process starts. Taken back, they are no other flags than those of the code cache. */
const HEAP_FLAGS = ['--max-semi-space-size', '--max-old-space-size'];
let boot = {};

/** A chunk's exports; runs it when it is first asked for. `name` as chunks name each other, `./x.js`. */
function load(name) {
  let module = modules.get(name);
  if (module !== undefined) return module.exports;
  module = { exports: {} };
  modules.set(name, module);
  const file = join(directory, name);
  const run = boot[name] ?? compile(file).runInThisContext();
  run(module.exports, requireFrom, module, file, directory);
  return module.exports;
}

function requireFrom(name) {
  return name.startsWith('./') ? load(name) : require(name);
}

function compile(file) {
  let cachedData;
  try {
    cachedData = readFileSync(`${file}.cache`);
  } catch {
    // Not there: a build for another machine, perhaps.
  }
  // esbuild writes ASCII, which is read faster as such. The first line stays the first: the source map counts lines.
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`;
  const script = new Script(source, { filename: file, cachedData });
  scripts.set(file, script);
  return script;
}

function takeBackHeapFlags() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-');
  for (const flag of HEAP_FLAGS) if (given.includes(flag)) require('node:v8').setFlagsFromString(`${flag}=0`);
}

takeBackHeapFlags();
boot = load('./boot.js');
if (require.main === module) load('./main.js');
else module.exports = { load, modules, scripts };
