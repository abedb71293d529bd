// Upstream confd beside birdfeed, where it is on PATH, with a template that prints the same sessions.

import { accessSync, constants, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Background, cleanEnvironment, whenReady } from './processes.mjs';
import { Switches } from './switches.mjs';

export function findConfd() {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      const path = join(folder, 'confd');
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

const SOURCE = fileURLToPath(new URL('../confd', import.meta.url));

/** A confd configuration below `directory` for one node; `sample` is birdfeed's file, whose node it is taken from. */
export function prepareConfd(directory, { nodeName, address }) {
  const dest = join(directory, 'dest', 'bird.conf');
  mkdirSync(join(directory, 'dest'), { recursive: true });
  cpSync(SOURCE, directory, { recursive: true });
  const resource = join(directory, 'conf.d', 'bird.toml');
  writeFileSync(resource, readFileSync(resource, 'utf8').replaceAll('@DEST@', dest));
  const template = join(directory, 'templates', 'bird.conf.tmpl');
  const text = readFileSync(template, 'utf8').replaceAll('@NODE@', nodeName).replaceAll('@ADDRESS@', address);
  writeFileSync(template, text);
  return { directory, dest };
}

export function confdArguments({ directory }, etcd, mode) {
  const config = join(directory, 'confd.toml');
  return [
    mode,
    '-backend',
    'etcdv3',
    '-node',
    etcd.replace('http://', ''),
    '-confdir',
    directory,
    '-config-file',
    config,
    '-log-level',
    'error',
  ];
}

export class Confd {
  static async start(binary, prepared, etcd, complete) {
    const switches = new Switches(join(prepared.directory, 'dest'), 'bird.conf');
    const confd = new Confd(
      new Background(binary, confdArguments(prepared, etcd, '-watch'), { env: cleanEnvironment() }),
      switches,
      prepared.dest,
    );
    try {
      await whenReady(confd.process, () => complete(confd.content()), 'the first file of confd');
    } catch (error) {
      switches.close();
      throw error;
    }
    return confd;
  }

  constructor(background, switches, dest) {
    this.process = background;
    this.switches = switches;
    this.dest = dest;
  }

  get pid() {
    return this.process.pid;
  }

  content() {
    try {
      return readFileSync(this.dest);
    } catch {
      return Buffer.alloc(0);
    }
  }

  async stop() {
    this.switches.close();
    await this.process.stop();
  }
}
