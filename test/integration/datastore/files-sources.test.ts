import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { createEndpointStatusSource } from '../../../src/datastore/files/endpoint-status.ts';
import { createSecretsDirectorySource } from '../../../src/datastore/files/secrets.ts';
import { endpointStatusKey, kubernetesKey } from '../../../src/datastore/keys.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { FilesFollower } from './files-follower.ts';

const options = { clock: systemClock, log: silentLogger };

/** Permissions do not stop root: until the test ends, this process acts as nobody. */
function dropRoot(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.(65_534);
  onTestFinished(() => process.seteuid?.(0));
}

/** Puts a new version of a Secret volume in place, as the kubelet does. */
async function mountVersion(
  volume: string,
  version: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(join(volume, version), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(volume, version, name), text);
  await symlink(version, join(volume, '..data_tmp'));
  await rename(join(volume, '..data_tmp'), join(volume, '..data'));
}

const data = (seen: FilesFollower, key: string) => JSON.parse(seen.values.get(key) ?? '{}').data;

describe('the secrets directory source', () => {
  const key = kubernetesKey('Secret', 'kube-system', 'bgp');

  it('follows a mounted Secret from version to version, all its keys at once', async () => {
    const dir = await testDir();
    const volume = join(dir, 'bgp');
    await mountVersion(volume, '..2026_01', { a: 'one-a', b: 'one-b' });
    for (const name of ['a', 'b']) await symlink(`..data/${name}`, join(volume, name));
    const seen = new FilesFollower(createSecretsDirectorySource(dir, options), [key]);
    await until(() => seen.of('snapshot').length === 1);
    expect(data(seen, key)).toEqual({ a: 'b25lLWE=', b: 'b25lLWI=' });
    await mountVersion(volume, '..2026_02', { a: 'two-a', b: 'two-b' });
    await rm(join(volume, '..2026_01'), { recursive: true });
    await until(() => seen.of('changes').length === 1);
    expect(data(seen, key)).toEqual({ a: 'dHdvLWE=', b: 'dHdvLWI=' });
    expect(seen.of('problems')).toEqual([]);
  });

  it('is lost without its directory', async () => {
    const dir = join(await testDir(), 'secrets');
    const seen = new FilesFollower(createSecretsDirectorySource(dir, options));
    await until(() => seen.of('lost').length === 1);
    await mkdir(join(dir, 'ns', 'bgp'), { recursive: true });
    await writeFile(join(dir, 'ns', 'bgp', 'a'), 'x');
    await until(() => seen.values.has(kubernetesKey('Secret', 'ns', 'bgp')));
  });

  it('reports files and directories that it may not read, and keeps what they held', async () => {
    dropRoot();
    const dir = await testDir();
    const [open, shut] = [join(dir, 'open', 'a'), join(dir, 'shut')];
    for (const name of ['open', 'shut']) {
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, 'a'), 'x');
    }
    const seen = new FilesFollower(createSecretsDirectorySource(dir, options));
    await until(() => seen.values.size === 2);
    await chmod(open, 0);
    await chmod(shut, 0);
    await until(() => seen.problems.length === 2);
    expect(seen.problems.every((text) => text.includes('permission denied'))).toBe(true);
    expect(seen.values.size).toBe(2);
    await chmod(shut, 0o700);
    await until(() => seen.problems.length === 1);
  });
});

describe('the endpoint status source', () => {
  const status = (peer: string) =>
    JSON.stringify({ ifaceName: 'cali1', ipv4Nets: ['10.0.0.1/32'], bgpPeerName: peer });

  it('has nothing to say without its directory, and reads it when it appears', async () => {
    const dir = join(await testDir(), 'endpoint-status');
    const seen = new FilesFollower(createEndpointStatusSource(dir, options));
    await until(() => seen.of('snapshot').length === 1);
    expect(seen.of('snapshot')[0]).toMatchObject({ entries: [], reason: 'initial' });
    await mkdir(dir);
    await writeFile(join(dir, 'pod1'), status('x'));
    await until(() => seen.values.has(endpointStatusKey('pod1')));
    expect(seen.of('lost')).toEqual([]);
    expect(seen.of('problems')).toEqual([]);
  });

  it('follows the files of endpoints that come and go', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'pod1'), status('x'));
    const seen = new FilesFollower(createEndpointStatusSource(dir, options));
    await until(() => seen.values.size === 1);
    await writeFile(join(dir, 'pod2'), status('y'));
    await until(() => seen.values.size === 2);
    await rm(join(dir, 'pod1'));
    await until(() => seen.values.size === 1);
    expect([...seen.values.keys()]).toEqual([endpointStatusKey('pod2')]);
    await rm(dir, { recursive: true });
    await until(() => seen.values.size === 0);
  });

  it('keeps the last good content of a file that is not JSON', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'pod1'), status('x'));
    await writeFile(join(dir, 'pod2'), '{"bgpPeer');
    const seen = new FilesFollower(createEndpointStatusSource(dir, options));
    await until(() => seen.values.size === 1);
    expect(seen.problems).toEqual([`${dir}/pod2 is not JSON`]);
    await writeFile(join(dir, 'pod1'), '{"bgpPeer');
    await until(() => seen.problems.length === 2);
    expect(seen.values.get(endpointStatusKey('pod1'))).toBe(status('x'));
    await writeFile(join(dir, 'pod1'), status('y'));
    await writeFile(join(dir, 'pod2'), status('z'));
    await until(() => seen.problems.length === 0);
    expect(seen.values.get(endpointStatusKey('pod1'))).toBe(status('y'));
  });
});
