// Where the figures come from.

import { statfs } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { findConfd } from './confd.mjs';
import { cleanEnvironment, measureRun } from './processes.mjs';

/** statfs(2) */
export const TMPFS = 16914836;
const FILE_SYSTEMS = {
  61267: 'ext4',
  [TMPFS]: 'tmpfs',
  2435016766: 'btrfs',
  1481003842: 'xfs',
  2035054128: 'overlay',
};

export async function machine(directory) {
  const { type } = await statfs(directory);
  return {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? null,
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
    fileSystem: FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`,
  };
}

/** Load averages over 1, 5 and 15 minutes: what else the machine was doing. */
export function loads() {
  return loadavg().map((load) => Math.round(load * 100) / 100);
}

export async function versions(bundle, { etcd, bird }) {
  const confd = findConfd();
  return {
    birdfeed: await firstLine(process.execPath, [bundle, '--version']),
    etcd: await firstLine(etcd, ['--version']),
    bird: bird === null ? null : await firstLine(bird, ['--version']),
    confd: confd === null ? null : await firstLine(confd, ['-version']),
  };
}

async function firstLine(file, args) {
  const { output } = await measureRun(file, args, { env: cleanEnvironment() });
  return output.split('\n')[0];
}
