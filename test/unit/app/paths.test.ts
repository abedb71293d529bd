import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { nodeName } from '../../../src/app/paths.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import { testDir } from '../../support/tmp.ts';

let file: string;
beforeEach(async () => {
  file = join(await testDir(), 'nodename');
});

function nameFor(env: Record<string, string>, hostname = 'Host-1'): string {
  const all = { CALICO_NODENAME_FILE: file, ...env };
  return nodeName(resolveOptions(new Map(), all, null).options, all, hostname);
}

describe('the name of the node', () => {
  it('is NODENAME before the file of calico-node, that before HOSTNAME, and that before the host name', async () => {
    expect(nameFor({})).toBe('host-1');
    expect(nameFor({ HOSTNAME: 'Pod-A' })).toBe('pod-a');
    await writeFile(file, 'from-file\n');
    expect(nameFor({ HOSTNAME: 'Pod-A' })).toBe('from-file');
    expect(nameFor({ HOSTNAME: 'Pod-A', NODENAME: 'given' })).toBe('given');
  });

  it('is not the content of an empty file', async () => {
    await writeFile(file, '\n');
    expect(nameFor({})).toBe('host-1');
  });

  it('is no guess when there is a file that cannot be read', async () => {
    await mkdir(file);
    expect(() => nameFor({})).toThrow(/cannot read the node's name from .*nodename: EISDIR/);
  });
});
