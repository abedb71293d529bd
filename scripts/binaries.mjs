// Provisions the real BIRD and etcd binaries that the integration tests run against.
//
//   node scripts/binaries.mjs
//
// Everything comes from Debian's packages through the machine's own apt, is unpacked below .binaries/ (nothing of it is
// installed, no service starts) and runs with the C library of its own suite, so that packages of two suites, and two
// packages that conflict, live side by side. Works without root; only iproute2 and openssl are installed system-wide,
// when missing and when we may. Prints a table, exits 0 even when something is missing: the tests decide what that means.

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lastLine, messageOf, openSuite, run, writeLauncher } from './debian-packages.mjs';

/** Where it really is: several checkouts may share one folder by a link, and launchers have absolute paths in them. */
const FOLDER = realFolder(fileURLToPath(new URL('../.binaries', import.meta.url)));
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

function realFolder(path) {
  mkdirSync(path, { recursive: true });
  return realpathSync(path);
}

async function main() {
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
  const libraries = join(FOLDER, `lib-${suite}`);
  const packages = lacking.flatMap((wanted) => wanted.packages);
  let apt;
  try {
    progress(`reading the package lists of ${suite}`);
    apt = await openSuite(suite, work);
    progress(`unpacking libraries of ${suite}`);
    // Over what is there, since another binary of the suite may be running from it.
    await apt.unpackLibrariesOf(packages, libraries);
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
    await apt?.close();
  }

  function fail(wanted, reason) {
    manifest.missing[wanted.name] = reason;
    progress(`${wanted.name}: MISSING, ${wanted.packages.join(', ')} of ${suite}: ${reason}`);
  }
}

async function provisionOne(apt, wanted, libraries) {
  const folder = join(FOLDER, wanted.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'bin'), { recursive: true });
  await apt.unpack(wanted.packages, join(folder, 'root'));
  const paths = {};
  for (const [name, inside] of Object.entries(wanted.programs)) {
    await writeLauncher(join(folder, 'bin', name), join(folder, 'root', inside), libraries);
    paths[name] = join(wanted.name, 'bin', name);
  }
  return { version: await verify(wanted, paths), suite: wanted.suite, packages: wanted.packages, paths };
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
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
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
    // Empty for the moment between creation and writing; for longer only if its owner died right there.
    const modified = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (owner > 0 ? !isAlive(owner) : Date.now() - modified > 5_000) await rm(path, { force: true });
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

function progress(line) {
  process.stderr.write(`binaries: ${line}\n`);
}

await main();
