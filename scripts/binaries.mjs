// Provisions the real BIRD and etcd binaries that the integration tests run against.
//
//   node scripts/binaries.mjs
//
// Everything comes from Debian's packages through the machine's own apt, is unpacked below .binaries/ (nothing of it is
// installed, no service starts) and runs with the C library of its own suite, so that packages of two suites, and two
// packages that conflict, live side by side. Works without root; only iproute2 and openssl are installed system-wide,
// when missing and when we may. Prints a table, exits 0 even when something is missing: the tests decide what that means.
// Running a program through a loader of one's own: ld.so(8).

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../.binaries', import.meta.url));
const MANIFEST = join(FOLDER, 'manifest.json');
/** Raise when the layout below .binaries/ changes: an older one is then made anew. */
const LAYOUT = 1;

/** What is provisioned: `programs` maps the name used by tests to the path inside the package. */
const WANTED = [
  {
    name: 'bird16',
    suite: 'bookworm',
    packages: ['bird'],
    version: '1.6.',
    programs: birdPrograms('bird', 'bird6'),
  },
  { name: 'bird20', suite: 'bookworm', packages: ['bird2'], version: '2.0.', programs: birdPrograms('bird') },
  { name: 'bird217', suite: 'trixie', packages: ['bird2'], version: '2.17.', programs: birdPrograms('bird') },
  { name: 'bird31', suite: 'trixie', packages: ['bird3'], version: '3.1.', programs: birdPrograms('bird') },
  {
    name: 'etcd34',
    suite: 'bookworm',
    packages: ['etcd-server', 'etcd-client'],
    version: '3.4.',
    programs: etcdPrograms(),
  },
  {
    name: 'etcd35',
    suite: 'trixie',
    packages: ['etcd-server', 'etcd-client'],
    version: '3.5.',
    programs: etcdPrograms(),
  },
];

/** Programs that tests call by name, and the package each is in. */
const SYSTEM_TOOLS = [
  { program: 'ip', package: 'iproute2' },
  { program: 'openssl', package: 'openssl' },
];

function birdPrograms(...daemons) {
  return Object.fromEntries([...daemons.map((d) => [d, `usr/sbin/${d}`]), ['birdc', 'usr/sbin/birdc']]);
}

function etcdPrograms() {
  return { etcd: 'usr/bin/etcd', etcdctl: 'usr/bin/etcdctl' };
}

/** How to ask each program for its version; birdc has no such option, so it is made to fail in its own way. */
const PROBES = {
  bird: { args: ['--version'], pattern: /BIRD version (\S+)/ },
  bird6: { args: ['--version'], pattern: /BIRD version (\S+)/ },
  birdc: { args: ['-s', '/nonexistent/bird.ctl'], pattern: /(Unable to connect)/ },
  etcd: { args: ['--version'], pattern: /etcd Version: (\S+)/ },
  etcdctl: { args: ['version'], pattern: /etcdctl version: (\S+)/ },
};

async function main() {
  await mkdir(FOLDER, { recursive: true });
  const unlock = await lock(join(FOLDER, 'lock'));
  try {
    const manifest = await provision();
    const tools = await provisionTools();
    console.log(table(manifest, tools));
  } finally {
    await unlock();
  }
}

/** Brings .binaries/ up to date and returns the manifest; keeps what is there and still answers. */
async function provision() {
  const manifest = await readManifest();
  for (const wanted of WANTED) {
    const entry = manifest.binaries[wanted.name];
    if (entry === undefined) continue;
    const problem = await verify(wanted, entry.paths).then(() => undefined, messageOf);
    if (problem !== undefined) delete manifest.binaries[wanted.name];
  }
  manifest.missing = {};
  for (const suite of new Set(WANTED.map((wanted) => wanted.suite))) {
    const lacking = WANTED.filter((w) => w.suite === suite && manifest.binaries[w.name] === undefined);
    if (lacking.length > 0) await provisionSuite(suite, lacking, manifest);
  }
  await writeFile(`${MANIFEST}.new`, `${JSON.stringify(manifest, undefined, 2)}\n`);
  await rename(`${MANIFEST}.new`, MANIFEST);
  return manifest;
}

async function readManifest() {
  try {
    const manifest = JSON.parse(await readFile(MANIFEST, 'utf8'));
    // The wrapper scripts hold absolute paths, so a checkout that was moved needs new ones.
    if (manifest.layout === LAYOUT && manifest.folder === FOLDER && manifest.arch === process.arch)
      return manifest;
  } catch {}
  return { layout: LAYOUT, folder: FOLDER, arch: process.arch, binaries: {}, missing: {} };
}

/** Unpacks what is lacking of one suite; a failure is recorded for each binary it concerns and does not stop the rest. */
async function provisionSuite(suite, lacking, manifest) {
  const work = join(FOLDER, `work-${suite}`);
  try {
    const apt = await prepareApt(suite, work);
    const libraries = await unpackLibraries(
      apt,
      suite,
      lacking.flatMap((wanted) => wanted.packages),
    );
    for (const wanted of lacking) {
      try {
        manifest.binaries[wanted.name] = await provisionOne(apt, wanted, libraries);
        progress(
          `${wanted.name}: ${manifest.binaries[wanted.name].version} (${wanted.packages.join(', ')} of ${suite})`,
        );
      } catch (error) {
        fail(wanted, messageOf(error));
      }
    }
  } catch (error) {
    for (const wanted of lacking) fail(wanted, messageOf(error));
  } finally {
    await rm(work, { recursive: true, force: true });
  }

  function fail(wanted, reason) {
    manifest.missing[wanted.name] = reason;
    progress(`${wanted.name}: MISSING, ${wanted.packages.join(', ')} of ${suite}: ${reason}`);
  }
}

/**
 * Makes an apt that knows one suite only, with lists and cache of its own, from the mirrors the machine already uses.
 * Returns functions that run it.
 */
async function prepareApt(suite, work) {
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
    '-oAPT::Sandbox::User=root',
    '-oAcquire::Languages=none',
    '-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    '-oAcquire::Retries=2',
    '-oAcquire::http::Timeout=30',
    '-oAcquire::https::Timeout=30',
  ];
  progress(`reading the package lists of ${suite}`);
  await run('apt-get', [...options, '-q', 'update']);
  return {
    show: (names) => run('apt-cache', [...options, 'show', '--no-all-versions', ...names]),
    download: async (names, to) => {
      const folder = join(work, 'download', names[0]);
      await mkdir(folder, { recursive: true });
      await run('apt-get', [...options, '-q', 'download', ...names], { cwd: folder });
      for (const file of await readdir(folder)) await run('dpkg-deb', ['-x', join(folder, file), to]);
    },
  };
}

/** The machine's Debian mirrors with their suite's code name replaced: `bookworm-security` → `trixie-security`. */
async function sourcesFor(suite) {
  const format = '$(CREATED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)';
  const targets = await run('apt-get', ['indextargets', '--format', format]);
  const lines = new Set();
  for (const target of targets.split('\n')) {
    const [kind, uri, release, component, signedBy] = target.split('|');
    const known = /^(bullseye|bookworm|trixie|oldstable|stable)(-security)?\/?$/.exec(release ?? '');
    if (kind !== 'Packages' || component !== 'main' || known === null) continue;
    // An unset field comes back as the literal text of the placeholder.
    const options = signedBy.startsWith('/') ? `[signed-by=${signedBy}] ` : '';
    lines.add(`deb ${options}${uri} ${suite}${known[2] ?? ''} main`);
  }
  if (lines.size === 0) throw new Error("the machine's apt knows no Debian mirror to take the address from");
  return `${[...lines].join('\n')}\n`;
}

/**
 * Unpacks the shared libraries that the packages depend on, the C library and its loader included. Over what is there,
 * since another binary of the suite may be running from it.
 */
async function unpackLibraries(apt, suite, packages) {
  const root = join(FOLDER, `lib-${suite}`);
  const libraries = new Set();
  for (let next = packages; next.length > 0; ) {
    const found = [...(await apt.show(next)).matchAll(/^(?:Pre-)?Depends: (.*)$/gm)];
    const names = found.flatMap(([, list]) =>
      list.split(',').map((item) => item.trim().split(/[\s:]/, 1)[0]),
    );
    next = [...new Set(names)].filter((name) => /^(lib|zlib)/.test(name) && !libraries.has(name));
    for (const name of next) libraries.add(name);
  }
  progress(`unpacking ${libraries.size} libraries of ${suite}`);
  if (libraries.size > 0) await apt.download([...libraries], root);
  return root;
}

async function provisionOne(apt, wanted, libraries) {
  const folder = join(FOLDER, wanted.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'bin'), { recursive: true });
  await apt.download(wanted.packages, join(folder, 'root'));
  const paths = {};
  for (const [name, inside] of Object.entries(wanted.programs)) {
    await writeWrapper(join(folder, 'bin', name), join(folder, 'root', inside), libraries);
    paths[name] = join(wanted.name, 'bin', name);
  }
  return { version: await verify(wanted, paths), suite: wanted.suite, packages: wanted.packages, paths };
}

/** A script that becomes the program (same pid), run by the loader of its own suite. */
async function writeWrapper(wrapper, program, libraries) {
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
  await writeFile(wrapper, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  await chmod(wrapper, 0o755);
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

/** Runs every program of a binary once; returns its version or throws what is wrong. */
async function verify(wanted, paths) {
  let version;
  for (const name of Object.keys(wanted.programs)) {
    const probe = PROBES[name];
    const output = await run(join(FOLDER, paths[name]), probe.args, { anyStatus: true, timeout: 10_000 });
    const found = probe.pattern.exec(output)?.[1];
    if (found === undefined) throw new Error(`${name} does not run: ${lastLine(output)}`);
    version ??= found;
  }
  if (!version.startsWith(wanted.version))
    throw new Error(`version ${version} where ${wanted.version}x is wanted`);
  return version;
}

async function provisionTools() {
  const lacking = SYSTEM_TOOLS.filter((tool) => !onPath(tool.program));
  if (lacking.length > 0 && process.getuid?.() === 0) {
    const packages = lacking.map((tool) => tool.package);
    progress(`installing ${packages.join(', ')}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const install = () => run('apt-get', ['-qy', '--no-install-recommends', 'install', ...packages], { env });
    // The lists may be absent (a fresh container image) or old, so one update is worth a second try.
    await install()
      .catch(() => run('apt-get', ['-q', 'update']).then(install))
      .catch((error) => progress(`${packages.join(', ')}: not installed, ${messageOf(error)}`));
  }
  return SYSTEM_TOOLS.map((tool) => ({ ...tool, there: onPath(tool.program) }));
}

function onPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
  return folders.some((folder) => existsSync(join(folder, program)));
}

function table(manifest, tools) {
  const rows = WANTED.map(({ name }) => {
    const entry = manifest.binaries[name];
    return [
      name,
      entry?.version ?? 'MISSING',
      entry ? `${entry.packages.join(', ')} (${entry.suite})` : manifest.missing[name],
    ];
  });
  for (const tool of tools) rows.push([tool.program, tool.there ? 'there' : 'MISSING', tool.package]);
  return rows.map(([name, version, from]) => `${name.padEnd(9)} ${version.padEnd(10)} ${from}`).join('\n');
}

/** Runs a program without stdin; resolves to stdout and stderr together, rejects with its last line. */
function run(program, args, { anyStatus = false, timeout = 600_000, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const limits = { timeout, maxBuffer: 256 << 20, encoding: 'utf8', ...options };
    const child = execFile(program, args, limits, (error, stdout, stderr) => {
      const output = `${stdout}\n${stderr}`;
      if (error === null || (anyStatus && typeof error.code === 'number')) return resolve(output);
      const why =
        error.code === 'ENOENT' ? 'not found' : error.killed ? 'timed out' : lastLine(stderr || stdout);
      reject(new Error(`${program} ${args.filter((arg) => !arg.startsWith('-'))[0] ?? ''}: ${why}`));
    });
    child.stdin?.end();
  });
}

/** Waits for another run of this script; a lock whose owner is gone is taken over. */
async function lock(path) {
  for (let announced = false; ; announced = true) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(path, 'utf8').catch(() => '0'));
    const age =
      Date.now() -
      (await stat(path).then(
        (found) => found.mtimeMs,
        () => Date.now(),
      ));
    if (owner > 0 ? !isAlive(owner) : age > 5_000) await rm(path, { force: true });
    else if (!announced) progress(`waiting for process ${owner}, which does the same`);
    await sleep(100);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}

function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

function progress(line) {
  process.stderr.write(`binaries: ${line}\n`);
}

await main();
