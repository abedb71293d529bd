import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/core/log.ts';
import { writeDestination } from '../../../src/generation/destination.ts';
import { nodeFs } from '../../../src/generation/fs.ts';
import { withApproval } from '../../../src/generation/state.ts';
import { skipSuite } from '../../support/binaries.ts';
import { testDir } from '../../support/tmp.ts';
import {
  canMount,
  expectCode,
  litter,
  mine,
  mount,
  openTestStore,
  publish,
  request,
  smallDisk,
  sound,
} from './support.ts';

if (!canMount()) skipSuite('file systems cannot be mounted here (needs root)');

describe('a full disk', () => {
  it('keeps the last good generation, leaves no litter, and is over when there is space again', async () => {
    const disk = await smallDisk(128);
    const store = openTestStore(join(disk, 'cache'));
    await store.prepare();
    await publish(store, 'one');
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(80 * 1024));
    const big = { ...request('big'), files: [{ name: 'bird.cfg', content: [Buffer.alloc(64 * 1024, 'x')] }] };
    await expect(store.stage(big)).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', 'generations', 'ENOSPC', 'free space'),
    );
    expect(await litter(store)).toEqual([]);
    expect(openTestStore(join(disk, 'cache')).bootCurrent(mine)).toMatchObject({
      generation: { number: 1 },
      inPlace: true,
    });
    await nodeFs.remove(join(disk, 'ballast'));
    const stage = await store.stage(big);
    expect((await stage.seal()).number).toBe(2);
    expect(sound(store.verify(2, mine)).number).toBe(2);
  });

  it('never replaces the state by half of it', async () => {
    const disk = await smallDisk(64);
    const store = openTestStore(join(disk, 'cache'));
    await store.prepare();
    await store.state.update((state) => withApproval(state, 'before'));
    fill(disk);
    const grown = store.state.update((state) => withApproval(state, 'x'.repeat(30_000)));
    await expect(grown).rejects.toEqual(expectCode('BF_CACHE_UNWRITABLE', 'state.json', 'ENOSPC'));
    const after = openTestStore(join(disk, 'cache'));
    expect(after.stateProblem).toBeNull();
    expect(after.state.value.approvals).toEqual(['before']);
  });

  it('never replaces a destination by half of it, though the first write is only short', async () => {
    const disk = await smallDisk(64);
    const path = join(disk, 'bird.conf');
    writeFileSync(path, 'old');
    const cacheDir = await testDir();
    const deps = {
      fs: nodeFs,
      log: silentLogger,
      cacheDir,
      backups: join(cacheDir, 'backups'),
      fileGroup: null,
    };
    const written = writeDestination(
      deps,
      { file: 'x', path, mode: null, uid: null, gid: null },
      Buffer.alloc(100_000, 'y'),
    );
    await expect(written).rejects.toEqual(expectCode('BF_DEST_UNWRITABLE', path, 'ENOSPC'));
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(await nodeFs.readdir(disk)).toEqual(['bird.conf']);
  });
});

describe('a read-only file system', () => {
  it('still boots, and says what to do when it should publish', async () => {
    const disk = await smallDisk(256);
    const cache = join(disk, 'cache');
    const first = openTestStore(cache);
    await first.prepare();
    await publish(first, 'one');
    await mount(disk, '-o', 'remount,ro');
    const store = openTestStore(cache);
    expect(store.bootCurrent(mine)).toMatchObject({ generation: { number: 1 }, inPlace: true });
    await store.prepare();
    await expect(publish(store, 'two')).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', cache, 'EROFS', 'writable'),
    );
    await expect(store.state.update((state) => withApproval(state, 'a'))).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', 'EROFS'),
    );
    await expect(openTestStore(join(disk, 'other')).prepare()).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', 'EROFS'),
    );
  });
});

describe('bind mounts', () => {
  it('of a file as destination are written in place, with a backup', async () => {
    const root = await testDir();
    const [host, path] = [join(root, 'host-file'), join(root, 'etc-hosts')];
    writeFileSync(host, 'old');
    writeFileSync(path, '');
    await mount(path, '--bind', host);
    const cacheDir = join(root, 'cache');
    await mkdir(cacheDir);
    const deps = {
      fs: nodeFs,
      log: silentLogger,
      cacheDir,
      backups: join(cacheDir, 'backups'),
      fileGroup: null,
    };
    const destination = { file: 'x', path, mode: null, uid: null, gid: null };
    expect(await writeDestination(deps, destination, Buffer.from('new'))).toBe('in-place');
    expect(readFileSync(host, 'utf8')).toBe('new');
    const [backup] = await nodeFs.readdir(deps.backups);
    expect(readFileSync(join(deps.backups, backup!), 'utf8')).toBe('old');
    expect((await nodeFs.readdir(root)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('of current itself are recognised', async () => {
    const store = openTestStore(join(await testDir(), 'cache'));
    await store.prepare();
    await mkdir(store.layout.current);
    await mount(store.layout.current, '--bind', await testDir());
    await expect(publish(store, 'one')).rejects.toEqual(expectCode('BF_CACHE_UNWRITABLE', 'current'));
    expect(await litter(store)).toEqual([]);
  });

  it('of the cache directory work, with the link valid on both sides', async () => {
    const root = await testDir();
    const [host, inside] = [join(root, 'host'), join(root, 'inside')];
    await mkdir(host);
    await mkdir(inside);
    await mount(inside, '--bind', host);
    const store = openTestStore(inside);
    await store.prepare();
    await publish(store, 'one');
    expect(openTestStore(host).bootCurrent(mine)).toMatchObject({ generation: { number: 1 }, inPlace: true });
    expect(readFileSync(join(host, 'current/bird6.cfg'), 'utf8')).toBe('# six one\n');
  });
});

describe('a cache on an overlay, filled in a lower layer', () => {
  it('boots, publishes, rolls back and prunes', async () => {
    const root = await testDir();
    const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) =>
      join(root, name),
    ) as [string, string, string, string];
    for (const path of [lower, upper, work, merged]) await mkdir(path);
    const baked = openTestStore(join(lower, 'cache'));
    await baked.prepare();
    for (const text of ['one', 'two', 'three']) await publish(baked, text);
    await mount(
      merged,
      '-t',
      'overlay',
      '-o',
      `lowerdir=${lower},upperdir=${upper},workdir=${work}`,
      'overlay',
    );
    const store = openTestStore(join(merged, 'cache'));
    expect(store.bootCurrent(mine)).toMatchObject({ generation: { number: 3 }, inPlace: true });
    await store.prepare();
    expect((await publish(store, 'four')).stamp).toMatchObject({ generation: 4, parent: 3 });
    expect(await store.prune(1)).toEqual([1, 2]);
    expect((await store.rollbackTo(3, mine)).number).toBe(3);
    expect(store.list().map(({ number }) => number)).toEqual([3, 4]);
    expect(await litter(store)).toEqual([]);
  });
});

/** Leaves less than 16 KiB free. */
function fill(disk: string): void {
  const pages = Array.from({ length: 64 }, (_, index) => join(disk, `ballast-${index}`));
  for (const page of pages) {
    if (freeBytes(disk) < 16 * 1024) return;
    writeFileSync(page, Buffer.alloc(4096));
  }
}

function freeBytes(disk: string): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}
