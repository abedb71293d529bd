// Debian packages of any suite beside those of the machine: fetched with the machine's own apt, unpacked into a folder, run
// with the C library of their suite. Nothing is installed; no root needed.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Makes an apt that knows one suite only, with lists and cache of its own below `work`, from the mirrors the machine
 * already uses. Returns functions that run it; `close` removes `work`.
 */
export async function openSuite(suite, work) {
  await rm(work, { recursive: true, force: true });
  for (const folder of ['lists/partial', 'cache/archives/partial', 'download']) {
    await mkdir(join(work, folder), { recursive: true });
  }
  const sources = join(work, 'sources.list');
  await writeFile(sources, await sourcesFor(suite));
  const options = [
    `-oDir::Etc::sourcelist=${sources}`,
    '-oDir::Etc::sourceparts=/dev/null',
    `-oDir::State::Lists=${join(work, 'lists')}`,
    `-oDir::Cache=${join(work, 'cache')}`,
    // Container images turn these two off, and then each of our calls parses the lists anew.
    '-oDir::Cache::pkgcache=pkgcache.bin',
    '-oDir::Cache::srcpkgcache=srcpkgcache.bin',
    '-oAcquire::GzipIndexes=false',
    '-oAPT::Sandbox::User=root',
    '-oAcquire::Languages=none',
    '-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    '-oAcquire::Retries=2',
    '-oAcquire::http::Timeout=30',
    '-oAcquire::https::Timeout=30',
  ];
  const updated = await run('apt-get', [...options, '-q', 'update']);
  // apt calls an update that fetched nothing a success with warnings; the reason is wanted once a package is not found.
  const warning = /^[EW]: .*/m.exec(updated)?.[0];
  return { unpack, unpackLibrariesOf, close: () => rm(work, { recursive: true, force: true }) };

  /** Downloads packages and unpacks them over what is in `to`. */
  async function unpack(packages, to) {
    const folder = join(work, 'download', packages[0]);
    await mkdir(folder, { recursive: true });
    await run('apt-get', [...options, '-q', 'download', ...packages], { cwd: folder });
    for (const file of await readdir(folder)) await run('dpkg-deb', ['-x', join(folder, file), to]);
  }

  /** Unpacks the shared libraries that the packages depend on, the C library and its loader included. */
  async function unpackLibrariesOf(packages, to) {
    const libraries = new Set();
    for (let next = packages; next.length > 0; ) {
      next = (await dependenciesOf(next)).filter((name) => /^(lib|zlib)/.test(name) && !libraries.has(name));
      for (const name of next) libraries.add(name);
    }
    if (libraries.size > 0) await unpack([...libraries], to);
  }

  /** Names of the packages that some packages need directly; of alternatives the first. */
  async function dependenciesOf(packages) {
    const shown = await run('apt-cache', [...options, 'show', '--no-all-versions', ...packages]).catch(
      (error) => {
        throw new Error(`${error.message}${warning === undefined ? '' : ` (${warning})`}`);
      },
    );
    const fields = [...shown.matchAll(/^(?:Pre-)?Depends: (.*)$/gm)].flatMap(([, list]) => list.split(','));
    return [...new Set(fields.map((item) => item.trim().split(/[\s:]/, 1)[0]))];
  }
}

/** The machine's Debian mirrors with their suite's code name replaced: `bookworm-security` → `trixie-security`. */
async function sourcesFor(suite) {
  const format = '$(CREATED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)';
  const targets = await run('apt-get', ['indextargets', '--format', format]);
  const lines = new Set();
  for (const target of targets.split('\n')) {
    const [kind, uri, release, component, signedBy] = target.split('|');
    const known = /^(bullseye|bookworm|trixie|forky|oldstable|stable|testing)(-security)?\/?$/.exec(
      release ?? '',
    );
    if (kind !== 'Packages' || component !== 'main' || known === null) continue;
    // An unset field comes back as the literal text of the placeholder.
    const options = signedBy.startsWith('/') ? `[signed-by=${signedBy}] ` : '';
    lines.add(`deb ${options}${uri} ${suite}${known[2] ?? ''} main`);
  }
  if (lines.size === 0) throw new Error("the machine's apt knows no Debian mirror to take the address from");
  return `${[...lines].join('\n')}\n`;
}

/** Writes a script that becomes the program (same pid), run by the loader found below `libraries`: see ld.so(8). */
export async function writeLauncher(launcher, program, libraries) {
  const command = [];
  const interpreter = await readInterpreter(program);
  if (interpreter !== undefined) {
    const loader = await findFile(libraries, basename(interpreter));
    if (loader === undefined) throw new Error(`no ${basename(interpreter)} among the unpacked libraries`);
    const triplet = basename(dirname(loader));
    const folders = ['lib', 'usr/lib']
      .map((lib) => join(libraries, lib, triplet))
      .filter((f) => existsSync(f));
    command.push(loader, '--library-path', folders.join(':'));
  }
  command.push(program);
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  await writeFile(launcher, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  await chmod(launcher, 0o755);
}

/** The loader an ELF program asks for (its PT_INTERP text lies in the first page); undefined for a static one. */
async function readInterpreter(program) {
  const file = await open(program);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8192), 0, 8192, 0);
    return /\/lib[\w/.-]*\/(ld[\w.-]*\.so[\w.-]*)\0/
      .exec(buffer.toString('latin1', 0, bytesRead))?.[0]
      .slice(0, -1);
  } finally {
    await file.close();
  }
}

/** A regular file by name; links are passed over, since those of libc6 may be absolute and leave the folder. */
async function findFile(folder, name) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name === name) return join(entry.parentPath ?? entry.path, name);
  }
  return undefined;
}

/** Runs a program without stdin; resolves to stdout and stderr together, rejects with its last line. */
export function run(program, args, { anyStatus = false, timeout = 600_000, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const limits = { timeout, maxBuffer: 256 << 20, encoding: 'utf8', ...options };
    const child = execFile(program, args, limits, (error, stdout, stderr) => {
      const output = `${stdout}\n${stderr}`;
      if (error === null || (anyStatus && typeof error.code === 'number')) return resolve(output);
      if (error.code === 'ENOENT') return reject(new Error(`${program} is not on this machine`));
      const action = args.find((arg) => !arg.startsWith('-')) ?? '';
      const why = error.killed ? 'timed out' : lastLine(stderr || stdout);
      reject(new Error(`${basename(program)} ${action}: ${why}`));
    });
    child.stdin?.end();
  });
}

export function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}

export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
