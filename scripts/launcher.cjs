#!/usr/bin/env node
'use strict';

// dist/birdfeed.js: loads the bundle's chunks with V8's code cache, which saves compiling them at every start. The caches
// lie beside the chunks and are only ever read. V8 refuses one that another version of it, or other flags, made; then,
// and where there is none, the chunk is compiled as usual.

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const directory = join(__dirname, 'chunks');
const scripts = new Map();
const modules = new Map();

/** A chunk's exports; runs it when it is first asked for. `name` as chunks name each other, `./x.js`. */
function load(name) {
  let module = modules.get(name);
  if (module !== undefined) return module.exports;
  module = { exports: {} };
  modules.set(name, module);
  const file = join(directory, name);
  const script = compile(file);
  scripts.set(file, script);
  script.runInThisContext()(module.exports, requireFrom, module, file, directory);
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
  return new Script(source, { filename: file, cachedData });
}

if (require.main === module) load('./main.js');
else module.exports = { load, modules, scripts };
