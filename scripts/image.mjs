// Assembles the whole content of birdfeed's container image in a folder: this Node, `flock`, a shell, the libraries of
// these, and birdfeed as it was built. There is nothing else in the image; Containerfile copies the folder.
//
//   node scripts/image.mjs FOLDER      the folder must not exist, or be empty

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Where birdfeed is in the image. */
const HOME = 'usr/lib/birdfeed';
/** The user that it runs as, and the group that BIRD shares with it. */
const ID = 65532;

/** Path in the image → program on this machine. `flock` locks the cache; check_cmd and reload_cmd go through a shell. */
const PROGRAMS = { 'usr/bin/node': process.execPath, 'usr/bin/flock': which('flock'), 'bin/sh': which('sh') };

const FILES = {
  'etc/passwd': `root:x:0:0::/:/bin/sh\nbirdfeed:x:${ID}:${ID}::/:/bin/sh\n`,
  'etc/group': `root:x:0:\nbirdfeed:x:${ID}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

/** Something is mounted on these: an image that is read-only cannot have them made later. */
const MOUNT_POINTS = ['etc/birdfeed', 'var/lib/birdfeed', 'run/bird', 'proc', 'dev', 'sys', 'tmp'];

async function main(folder) {
  if (folder === undefined) throw new Error('usage: node scripts/image.mjs FOLDER');
  if (existsSync(folder) && (await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
  if (!existsSync(join(repository, 'dist/birdfeed.js'))) throw new Error('nothing is built: npm run build');
  const inImage = (path) => join(folder, path);
  for (const path of MOUNT_POINTS) await mkdir(inImage(path), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) await writeFile(inImage(path), text);
  for (const [path, program] of Object.entries(PROGRAMS)) await install(program, inImage(path));
  for (const library of new Set(Object.values(PROGRAMS).flatMap(librariesOf)))
    await install(library, inImage(library));
  await installBirdfeed(inImage(HOME));
  await symlink(`../lib/birdfeed/dist/birdfeed.js`, inImage('usr/bin/birdfeed'));
}

async function installBirdfeed(home) {
  const filter = (path) => !path.endsWith('.map');
  for (const name of ['dist', 'templates', 'conf.d', 'package.json', 'LICENSE'])
    await cp(join(repository, name), join(home, name), { recursive: true, filter });
  // There is no `env` for the usual first line.
  const launcher = join(home, 'dist/birdfeed.js');
  const text = readFileSync(launcher, 'utf8').replace(/^#!.*/, '#!/usr/bin/node');
  await writeFile(launcher, text);
}

async function install(source, target) {
  await mkdir(dirname(target), { recursive: true });
  await copyFile(realpathSync(source), target);
  await chmod(target, 0o755);
}

/** The shared libraries that a program is linked with, the loader included, by the paths that they are looked for at. */
function librariesOf(program) {
  const listing = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...listing.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path);
}

function which(program) {
  return execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
}

await main(process.argv[2]).catch((error) => {
  console.error(`image: ${error.message}`);
  process.exitCode = 1;
});
