import { mkdir, open, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { MAX_FILE_BYTES } from '../../../src/datastore/files/file-set.ts';
import { createFixturesSource, loadFixtures } from '../../../src/datastore/fixtures/source.ts';
import { calicoKey } from '../../../src/datastore/keys.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { FilesFollower } from './files-follower.ts';

// Twice the default, so that a short pause of a test stays a short one on a crowded machine.
const options = { clock: systemClock, log: silentLogger, settleMs: 150 };
const LONGER_THAN_SETTLING = 600;

interface Following {
  readonly dir: string;
  readonly file: string;
  readonly seen: FilesFollower;
}

/** Follows a directory whose `a.yaml` holds `/a/x` = 1, from after its first snapshot. */
async function following(more: { pollMs?: number } = {}): Promise<Following> {
  const dir = await testDir();
  const file = join(dir, 'a.yaml');
  await writeFile(file, 'a:\n  x: 1\n');
  const seen = new FilesFollower(createFixturesSource(dir, { ...options, ...more }));
  await until(() => seen.values.get('/a/x') === '1');
  return { dir, file, seen };
}

function watches(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
}

/** Waits until directories are watched, so that what follows is noticed by the watch; polling needs no such thing. */
async function attentive({ pollMs }: { pollMs?: number } = {}): Promise<void> {
  if (pollMs === undefined) await until(() => watches() > 0, { what: 'a watch' });
}

/** Saves in place, as many editors do, with a pause between the halves. */
async function saveInHalves(file: string, text: string, ms: number, cut = text.length / 2): Promise<void> {
  const handle = await open(file, 'w');
  await handle.write(text.slice(0, cut));
  await pause(ms);
  await handle.write(text.slice(cut));
  await handle.close();
}

describe.each([
  ['watched', {}],
  ['polled', { pollMs: 30 }],
])('saving a fixture, %s', (_name, how) => {
  it('in place is one change', async () => {
    const { file, seen } = await following(how);
    await attentive(how);
    await writeFile(file, 'a:\n  x: 2\n');
    await until(() => seen.values.get('/a/x') === '2');
    expect(seen.changes).toEqual([['+/a/x=2']]);
  });

  it('in two halves shortly after each other is one change', async () => {
    const { file, seen } = await following(how);
    await attentive(how);
    await saveInHalves(file, 'a:\n  x: 2\n  y: [1, 2]\n', 30, 16);
    await until(() => seen.values.get('/a/y/1') === '2');
    expect(seen.changes).toEqual([['+/a/x=2', '+/a/y/0=1', '+/a/y/1=2']]);
    expect(seen.of('problems')).toEqual([]);
  });

  it('in two halves far apart keeps the last good content and says so meanwhile', async () => {
    const { file, seen } = await following(how);
    const saved = saveInHalves(file, 'a:\n  x: 2\n  y: [1, 2]\n', LONGER_THAN_SETTLING, 16);
    await until(() => seen.problems.length === 1);
    expect(seen.problems[0]).toMatch(`${file}:3:`);
    expect(seen.problems[0]).toMatch(/its last good content stays in use$/);
    expect(seen.of('problems')[0]?.problems[0]).toMatchObject({
      code: 'BF_FIXTURE_INVALID',
      details: { file, line: 3 },
    });
    expect(seen.values.get('/a/x')).toBe('1');
    await saved;
    await until(() => seen.values.get('/a/x') === '2');
    expect(seen.problems).toEqual([]);
  });

  it('with an empty file in between keeps the last good content', async () => {
    const { file, seen } = await following(how);
    await writeFile(file, '');
    await until(() => seen.problems.length === 1);
    expect(seen.problems[0]).toContain(`${file} is empty`);
    expect(seen.values.get('/a/x')).toBe('1');
    await writeFile(file, 'a:\n  x: 2\n');
    await until(() => seen.values.get('/a/x') === '2');
    expect(seen.problems).toEqual([]);
  });

  it('by renaming over it is one change', async () => {
    const { dir, file, seen } = await following(how);
    await attentive(how);
    await writeFile(join(dir, 'a.yaml.tmp'), 'a:\n  x: 2\n');
    await rename(join(dir, 'a.yaml.tmp'), file);
    await until(() => seen.values.get('/a/x') === '2');
    await rename(file, join(dir, 'b.yaml'));
    await writeFile(join(dir, 'c.yaml'), 'c: 1\n');
    await until(() => seen.values.has('/c'));
    expect(seen.changes).toEqual([['+/a/x=2'], ['+/c=1']]);
  });

  it('as vim does, with probe, swap and backup file, is one change', async () => {
    const { dir, file, seen } = await following(how);
    await attentive(how);
    await writeFile(join(dir, '.a.yaml.swp'), 'swap');
    await writeFile(join(dir, '4913'), '');
    await unlink(join(dir, '4913'));
    await rename(file, `${file}~`);
    await writeFile(file, 'a:\n  x: 2\n');
    await unlink(`${file}~`);
    await unlink(join(dir, '.a.yaml.swp'));
    await until(() => seen.values.get('/a/x') === '2');
    expect(seen.changes).toEqual([['+/a/x=2']]);
    expect(seen.of('problems')).toEqual([]);
  });

  it('by deleting and creating it is no deletion', async () => {
    const { file, seen } = await following(how);
    await attentive(how);
    await unlink(file);
    await pause(30);
    await writeFile(file, 'a:\n  x: 2\n');
    await until(() => seen.values.get('/a/x') === '2');
    expect(seen.changes).toEqual([['+/a/x=2']]);
  });

  it('through a `..data` swap changes all files at once', async () => {
    const dir = await testDir();
    const version = async (name: string, x: number) => {
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, 'a.yaml'), `a: ${x}\n`);
      await writeFile(join(dir, name, 'b.yaml'), `b: ${x}\n`);
      await symlink(name, join(dir, '..data_tmp'));
      await rename(join(dir, '..data_tmp'), join(dir, '..data'));
    };
    await version('..2026_01', 1);
    await symlink('..data/a.yaml', join(dir, 'a.yaml'));
    await symlink('..data/b.yaml', join(dir, 'b.yaml'));
    const seen = new FilesFollower(createFixturesSource(dir, { ...options, ...how }));
    await until(() => seen.values.get('/b') === '1');
    await attentive(how);
    await version('..2026_02', 2);
    await rm(join(dir, '..2026_01'), { recursive: true });
    await until(() => seen.values.get('/b') === '2');
    expect(seen.changes).toEqual([['+/a=2', '+/b=2']]);
    await version('..2026_03', 3);
    await until(() => seen.values.get('/a') === '3');
  });

  it('follows new and deleted files and directories', async () => {
    const { dir, seen } = await following(how);
    await mkdir(join(dir, 'sub', 'deep'), { recursive: true });
    await writeFile(join(dir, 'sub', 'deep', 'b.json'), '{"b": 1}');
    await until(() => seen.values.get('/b') === '1');
    await writeFile(join(dir, 'sub', 'deep', 'b.json'), '{"b": 2}');
    await until(() => seen.values.get('/b') === '2');
    await rm(join(dir, 'sub'), { recursive: true });
    await until(() => !seen.values.has('/b'));
    expect(seen.values.get('/a/x')).toBe('1');
  });
});

describe('the fixtures source', () => {
  it('reads the files of Calico as they are', async () => {
    const path = fileURLToPath(new URL('./fixtures-calico/', import.meta.url));
    const { entries, problems } = await loadFixtures([path]);
    expect(problems).toEqual([]);
    const value = (key: string) => JSON.parse(entries.find((entry) => entry.key === key)?.value ?? 'null');
    expect(value(calicoKey('Node', 'kube-master')).metadata.labels).toEqual({ 'route-reflector': 'true' });
    expect(value(calicoKey('BGPConfiguration', 'default')).spec).toBeDefined();
    expect(entries.filter(({ key }) => key.includes('/endpointslices/default/'))).not.toHaveLength(0);
  });

  it('gives a first snapshot of the good files and a problem for the bad one, the problem first', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'bad.yaml'), 'a: [1\n');
    await writeFile(join(dir, 'good.yaml'), 'b: 1\n');
    await writeFile(join(dir, 'ignored.txt'), 'c: 1\n');
    const seen = new FilesFollower(createFixturesSource(dir, options));
    await until(() => seen.of('snapshot').length > 0);
    expect(seen.events.slice(0, 2).map((event) => event.type)).toEqual(['problems', 'snapshot']);
    expect(seen.of('snapshot')[0]).toMatchObject({ reason: 'initial', entries: [{ key: '/b', value: '1' }] });
    expect(seen.problems).toEqual([expect.stringContaining(`${dir}/bad.yaml:`)]);
  });

  it('delivers to each mount what lies below it, and nothing else', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'a.yaml'), 'sc: {n: {x: 1}, nnn: {y: 2}}\nother: 3\n');
    const seen = new FilesFollower(createFixturesSource(dir, options), ['/sc', '/sc/n', '/empty']);
    await until(() => seen.of('snapshot').length === 3);
    const keys = seen
      .of('snapshot')
      .map(({ mount, entries }) => [mount.prefix, entries.map(({ key }) => key)]);
    expect(keys).toEqual([
      ['/sc', ['/sc/nnn/y']],
      ['/sc/n', ['/sc/n/x']],
      ['/empty', []],
    ]);
    await writeFile(join(dir, 'a.yaml'), 'sc: {n: {x: 1}, nnn: {y: 3}}\nother: 4\n');
    await until(() => seen.of('changes').length > 0);
    expect(seen.of('changes').map(({ mount }) => mount.prefix)).toEqual(['/sc']);
    expect(seen.changes).toEqual([['+/sc/nnn/y=3']]);
  });

  it('reports a file that cannot be read and keeps what it held', async () => {
    const { dir, file, seen } = await following();
    await writeFile(join(dir, 'b.yaml'), 'b: 1\n');
    await until(() => seen.values.has('/b'));
    await unlink(file);
    await symlink('/proc/self/mem', file); // reading it fails with EIO, for root as well
    await until(() => seen.problems.length > 0);
    expect(seen.problems).toEqual([`${file} cannot be read: EIO`]);
    expect(seen.values.get('/a/x')).toBe('1');
  });

  it('refuses a file over the limit and a link in circles, keeps what they held, and goes on with the rest', async () => {
    const { dir, file, seen } = await following();
    await writeFile(join(dir, 'b.yaml'), 'b: 1\n');
    await writeFile(join(dir, 'c.yaml'), 'c: 1\n');
    await until(() => seen.values.has('/b') && seen.values.has('/c'));
    await truncate(file, MAX_FILE_BYTES + 1);
    await symlink('b.yaml', join(dir, '.new'));
    await rename(join(dir, '.new'), join(dir, 'b.yaml'));
    await until(() => seen.problems.length === 2);
    expect([...seen.problems].sort()).toEqual([
      `${file} has 67108865 bytes, and at most 67108864 are read; split it into several files; its last good content stays in use`,
      `${join(dir, 'b.yaml')} cannot be read: it is a link that leads in circles (ELOOP); remove it or put a file there`,
    ]);
    await writeFile(join(dir, 'c.yaml'), 'c: 2\n');
    await until(() => seen.values.get('/c') === '2');
    expect([seen.values.get('/a/x'), seen.values.get('/b')]).toEqual(['1', '1']);
    await truncate(file, 0);
    await writeFile(file, 'a:\n  x: 3\n');
    await unlink(join(dir, 'b.yaml'));
    await until(() => seen.values.get('/a/x') === '3' && !seen.values.has('/b'));
    await until(() => seen.problems.length === 0);
  });

  it('is lost without its directory, and comes when it appears', async () => {
    const dir = join(await testDir(), 'later');
    const seen = new FilesFollower(createFixturesSource(dir, options), ['/a', '/b']);
    await until(() => seen.of('lost').length === 2);
    expect(seen.of('lost')[0]?.error).toMatchObject({
      code: 'BF_DATASTORE_UNREACHABLE',
      message: expect.stringContaining(`the fixtures at ${dir} cannot be read: there is no such directory`),
    });
    await mkdir(dir);
    await writeFile(join(dir, 'a.yaml'), 'a: 1\n');
    await until(() => seen.values.get('/a') === '1');
    expect(seen.of('snapshot')[0]?.reason).toBe('initial');
    expect(seen.of('lost')).toHaveLength(2);
  });

  it('keeps everything while its directory is away, and follows the one that takes its place', async () => {
    const { dir, file, seen } = await following();
    await attentive();
    await rename(dir, `${dir}-away`);
    await until(() => seen.of('lost').length === 1);
    expect(seen.values.get('/a/x')).toBe('1');
    await mkdir(dir);
    await writeFile(file, 'a:\n  x: 2\n');
    await until(() => seen.values.get('/a/x') === '2');
    expect(seen.of('snapshot').map(({ reason }) => reason)).toEqual(['initial', 'reconnect']);
    await attentive();
    await writeFile(file, 'a:\n  x: 3\n');
    await until(() => seen.values.get('/a/x') === '3', { timeout: 3_000 });
    expect(seen.changes.flat().filter((change) => change.startsWith('-'))).toEqual([]);
    await rm(`${dir}-away`, { recursive: true });
  });

  it('follows a single file, saved in place and by renaming', async () => {
    const dir = await testDir();
    const file = join(dir, 'store');
    await writeFile(file, 'a: 1\n');
    await writeFile(join(dir, 'b.yaml'), 'b: 1\n');
    const seen = new FilesFollower(createFixturesSource(file, options));
    await until(() => seen.values.get('/a') === '1');
    await writeFile(file, 'a: 2\n');
    await until(() => seen.values.get('/a') === '2');
    await writeFile(join(dir, 'new'), 'a: 3\n');
    await rename(join(dir, 'new'), file);
    await until(() => seen.values.get('/a') === '3');
    await attentive();
    await writeFile(file, 'a: 4\n');
    await until(() => seen.values.get('/a') === '4', { timeout: 3_000 });
    expect(seen.values.has('/b')).toBe(false);
  });

  it('does not follow a link to a directory around it for ever', async () => {
    const { dir, seen } = await following();
    await mkdir(join(dir, 'sub'));
    await symlink('..', join(dir, 'sub', 'up'));
    await writeFile(join(dir, 'sub', 'b.yaml'), 'b: 1\n');
    await until(() => seen.values.get('/b') === '1');
    expect(seen.problems).toEqual([]);
  });

  it('follows a directory below that another one replaced', async () => {
    const { dir, seen } = await following();
    const sub = join(dir, 'sub');
    await mkdir(sub);
    await writeFile(join(sub, 'b.yaml'), 'b: 1\n');
    await until(() => seen.values.get('/b') === '1');
    await attentive();
    await mkdir(join(dir, '.new'));
    await writeFile(join(dir, '.new', 'b.yaml'), 'b: 2\n');
    await rename(sub, join(dir, '.old'));
    await rename(join(dir, '.new'), sub);
    await until(() => seen.values.get('/b') === '2');
    await attentive();
    await writeFile(join(sub, 'b.yaml'), 'b: 3\n');
    await until(() => seen.values.get('/b') === '3');
    expect(seen.changes.flat().filter((change) => change.startsWith('-'))).toEqual([]);
  });

  it('gives a whole snapshot when asked to', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'a.yaml'), 'a: 1\n');
    const source = createFixturesSource(dir, options);
    const seen = new FilesFollower(source);
    await until(() => seen.of('snapshot').length === 1);
    source.relist();
    await until(() => seen.of('snapshot').length === 2);
    expect(seen.of('snapshot')[1]).toMatchObject({
      reason: 'periodic',
      entries: [{ key: '/a', value: '1' }],
    });
  });

  it('has positions that grow with each change, also over a restart', async () => {
    const { dir, file, seen } = await following();
    await writeFile(file, 'a:\n  x: 2\n');
    await until(() => seen.values.get('/a/x') === '2');
    await seen.stop();
    const again = new FilesFollower(createFixturesSource(dir, options));
    await until(() => again.of('snapshot').length === 1);
    const positions = [...seen.of('snapshot'), ...seen.of('changes'), ...again.of('snapshot')].map(
      (e) => e.position,
    );
    expect(new Set(positions.map(({ datastoreId }) => datastoreId)).size).toBe(1);
    const revisions = positions.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  });

  it('keeps the entries of what did not change', async () => {
    const { dir, seen } = await following();
    await writeFile(join(dir, 'b.yaml'), 'b: 1\n');
    await until(() => seen.values.has('/b'));
    expect(seen.changes).toEqual([['+/b=1']]);
  });

  it('leaves nothing open when it is stopped', async () => {
    const before = watches();
    const { file, seen } = await following();
    await until(() => watches() > before);
    await seen.stop();
    const told = seen.events.length;
    await writeFile(file, 'a:\n  x: 2\n');
    await until(() => watches() === before);
    expect(seen.events).toHaveLength(told);
  });

  it('stops at once when it was stopped before', async () => {
    const controller = new AbortController();
    controller.abort();
    const source = createFixturesSource(await testDir(), options);
    await source.run([{ prefix: '/a', required: true }], () => expect.unreachable(), controller.signal);
  });
});

describe('loadFixtures', () => {
  it('reads several paths as one store', async () => {
    const dir = await testDir();
    await writeFile(join(dir, 'a.yaml'), 'a: 1\nb: 1\n');
    await writeFile(join(dir, 'b.yaml'), 'b: 2\nc: 2\n');
    const { entries } = await loadFixtures([join(dir, 'b.yaml'), join(dir, 'a.yaml')]);
    expect(entries).toEqual([
      { key: '/a', value: '1', revision: 0 },
      { key: '/b', value: '2', revision: 0 },
      { key: '/c', value: '2', revision: 0 },
    ]);
  });

  it('rejects when a path is not there', async () => {
    await expect(loadFixtures(['/nonexistent/fixtures'])).rejects.toMatchObject({
      code: 'BF_DATASTORE_UNREACHABLE',
      message: expect.stringContaining('/nonexistent/fixtures'),
    });
  });
});
