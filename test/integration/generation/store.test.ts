import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { cp, mkdir, rename, rm, symlink, truncate, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type CacheFs, nodeFs } from '../../../src/generation/fs.ts';
import { generationName } from '../../../src/generation/layout.ts';
import { withAcknowledgement } from '../../../src/generation/state.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import {
  asUser,
  expectCode,
  isRoot,
  litter,
  mine,
  openTestStore,
  preparedStore,
  publish,
  recordingFs,
  request,
  sound,
  withUmask,
} from './support.ts';

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);
const ownerOf = (path: string): string => `${lstatSync(path).uid}:${lstatSync(path).gid}`;
const directoryOf = (cache: string, number: number): string =>
  join(cache, 'generations', generationName(number));

describe('publishing', () => {
  it('makes a verified generation with the number in its path, and current a relative link to it', async () => {
    const store = await preparedStore();
    const generation = await publish(store, 'one');
    expect(generation.directory).toBe(directoryOf(store.layout.cacheDir, 1));
    expect(readlinkSync(store.layout.current)).toBe('generations/00000001');
    expect(sound(store.verify(1, mine)).stamp).toEqual(generation.stamp);
    expect(readFileSync(join(store.layout.current, 'bird6.cfg'), 'utf8')).toBe('# six one\n');
    expect(store.current).toBe(generation);
    expect(await litter(store)).toEqual([]);
  });

  it('names the generation that was current as parent', async () => {
    const store = await preparedStore();
    expect((await publish(store, 'one')).stamp.parent).toBeNull();
    expect((await publish(store, 'two')).stamp.parent).toBe(1);
    expect((await publish(openTestStore(store.layout.cacheDir), 'three')).stamp.parent).toBe(2);
  });

  it('keeps other sets apart', async () => {
    const store = await preparedStore();
    const other = openTestStore(store.layout.cacheDir, { set: 'nginx' });
    await other.prepare();
    await publish(store, 'bird');
    await publish(other, 'nginx', { set: 'nginx' });
    expect(readlinkSync(join(store.layout.cacheDir, 'sets/nginx/current'))).toBe('generations/00000001');
    expect(sound(other.bootCurrent({ ...mine, set: 'nginx' }).generation).stamp.set).toBe('nginx');
    expect(store.bootCurrent({ ...mine, set: 'nginx' }).refusals[0]?.reason).toBe('foreign-set');
  });

  it('does everything in the order that survives a power loss', async () => {
    const log: string[] = [];
    const cache = join(await testDir(), 'cache');
    const store = openTestStore(cache, { fs: recordingFs(cache, log) });
    await store.prepare();
    log.length = 0;
    await publish(store, 'one');
    const at = (call: string): number => {
      const found = log.indexOf(call);
      expect(found, `${call} in ${log.join('\n')}`).toBeGreaterThanOrEqual(0);
      return found;
    };
    const stage = 'generations/.stage';
    for (const file of ['bird.cfg', 'bird6.cfg', 'stamp.json']) {
      const steps = ['open', 'chmod', 'write', 'sync', 'close'].map((step) => at(`${step} ${stage}/${file}`));
      expect(steps).toEqual([...steps].sort((a, b) => a - b));
    }
    const order = [
      Math.max(at(`synced ${stage}/bird.cfg`), at(`synced ${stage}/bird6.cfg`)),
      at(`open ${stage}/stamp.json`),
      at(`synced ${stage}/stamp.json`),
      at(`syncDirectory ${stage}`),
      at(`synced ${stage}`),
      at(`rename ${stage} generations/00000001`),
      at('syncDirectory generations'),
      at('synced generations'),
      at('symlink generations/00000001 .current'),
      at('rename .current current'),
      at('syncDirectory .'),
      at('synced .'),
    ];
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order.at(-1)).toBe(log.length - 1);
  });

  it('lets a check read the staged files before they are sealed, and leaves nothing of a discarded stage', async () => {
    const store = await preparedStore();
    const stage = await store.stage(request('one'));
    expect(readFileSync(join(stage.directory, 'bird6.cfg'), 'utf8')).toBe('# six one\n');
    expect(modeOf(stage.directory)).toBe('750');
    await stage.discard();
    await stage.discard();
    expect(await litter(store)).toEqual([]);
    await expect(stage.seal()).rejects.toEqual(expectCode('BF_INTERNAL', 'discarded'));
    expect(store.current).toBeNull();
    expect((await publish(store, 'two')).number).toBe(1);
  });

  it('never seals a stage that a newer one superseded', async () => {
    const store = await preparedStore();
    const old = await store.stage(request('old'));
    const young = await store.stage(request('young'));
    await expect(old.seal()).rejects.toEqual(expectCode('BF_INTERNAL', 'superseded'));
    await old.discard();
    expect((await young.seal()).number).toBe(1);
    expect(await litter(store)).toEqual([]);
  });

  it('counts from the highest directory or link, not from current', async () => {
    const store = await preparedStore();
    await publish(store, 'one');
    await mkdir(directoryOf(store.layout.cacheDir, 41));
    expect((await publish(store, 'two')).number).toBe(42);
    await rm(directoryOf(store.layout.cacheDir, 42), { recursive: true });
    await rm(directoryOf(store.layout.cacheDir, 41), { recursive: true });
    const next = await publish(store, 'three');
    expect([next.number, next.stamp.parent]).toEqual([43, null]);
  });

  it.each(['../evil', 'a/b', '/etc/passwd', '.profile', 'stamp.json'])(
    'refuses to write a file called %s',
    async (name) => {
      const store = await preparedStore();
      const evil = { ...request('x'), files: [{ name, content: [Buffer.from('x')] }] };
      await expect(store.stage(evil)).rejects.toEqual(expectCode('BF_DEST_REFUSED', 'cannot be a file'));
      expect(await litter(store)).toEqual([]);
    },
  );

  it('says what is wrong when current is a directory, and piles nothing up', async () => {
    const store = await preparedStore();
    await mkdir(store.layout.current);
    for (const text of ['one', 'two', 'three']) {
      await expect(publish(store, text)).rejects.toEqual(
        expectCode('BF_CACHE_UNWRITABLE', 'current', 'EISDIR'),
      );
    }
    expect(readdirSync(store.layout.generations)).toEqual([]);
    expect(await litter(store)).toEqual([]);
  });
});

describe('a disk that fails', () => {
  /** A store whose calls fail with EIO wherever `when` says so. */
  async function failing(when: (call: string) => boolean) {
    const cache = join(await testDir(), 'cache');
    const broken = { now: false };
    const store = openTestStore(cache, {
      fs: recordingFs(cache, [], (call) => {
        if (broken.now && when(call)) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      }),
    });
    await store.prepare();
    await publish(store, 'one');
    broken.now = true;
    return { store, broken };
  }

  it.each([
    'write generations/.stage/bird6.cfg',
    'sync generations/.stage/bird.cfg',
    'sync generations/.stage/stamp.json',
    'syncDirectory generations/.stage',
    'rename generations/.stage generations/00000002',
    'syncDirectory generations',
    'symlink generations/00000002 .current',
    'rename .current current',
  ])('at %s keeps the old generation and leaves nothing behind', async (call) => {
    const { store, broken } = await failing((made) => made === call);
    await expect(publish(store, 'two')).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', 'EIO', 'kernel log'),
    );
    expect(store.current?.number).toBe(1);
    expect(readlinkSync(store.layout.current)).toBe('generations/00000001');
    expect(readdirSync(store.layout.generations)).toEqual(['00000001']);
    expect(await litter(store)).toEqual([]);
    broken.now = false;
    expect((await publish(store, 'two')).number).toBe(2);
  });

  it('after the switch never removes what current names', async () => {
    const { store } = await failing((made) => made === 'syncDirectory .');
    await expect(publish(store, 'two')).rejects.toEqual(expectCode('BF_CACHE_UNWRITABLE', 'EIO'));
    expect(readlinkSync(store.layout.current)).toBe('generations/00000002');
    expect(store.current?.number).toBe(2);
    expect(sound(store.verify(2, mine)).number).toBe(2);
  });
});

describe('modes and owners', () => {
  it.each([0o000, 0o022, 0o077, 0o777])('are 0640 and 0750 under the umask %o', async (mask) => {
    await withUmask(mask, async () => {
      const store = await preparedStore();
      const { directory } = await publish(store, 'one');
      await store.state.confirm();
      const files = [...readdirSync(directory).map((name) => modeOf(join(directory, name)))];
      expect(files).toEqual(['640', '640', '640']);
      expect([directory, store.layout.generations, store.layout.cacheDir].map(modeOf)).toEqual([
        '750',
        '750',
        '750',
      ]);
      expect(modeOf(store.layout.state)).toBe('600');
    });
  });

  it('never have a file readable by more than in the end, nor with contents before its owner is set', async () => {
    const cache = join(await testDir(), 'cache');
    const seen: string[] = [];
    let stageDir = '';
    const store = openTestStore(cache, {
      fileGroup: isRoot ? 4242 : null,
      fs: recordingFs(cache, seen, (call) => {
        // Before each call: what an observer would find at this moment.
        if (!call.includes('.stage/')) return;
        stageDir =
          readdirSync(join(cache, 'generations')).find((name) => name.startsWith('.stage')) ?? stageDir;
        for (const name of readdirSync(join(cache, 'generations', stageDir))) {
          const { mode, size, gid } = lstatSync(join(cache, 'generations', stageDir, name));
          expect(mode & 0o027).toBe(0);
          if (size > 0) expect([mode & 0o777, gid]).toEqual([0o640, isRoot ? 4242 : gid]);
          else expect([0o600, 0o640]).toContain(mode & 0o777);
        }
      }),
    });
    await withUmask(0, async () => {
      await store.prepare();
      await publish(store, 'one');
    });
    expect(seen.filter((call) => call.startsWith('write '))).toHaveLength(3);
  });

  it.runIf(isRoot)('give everything to the file group', async () => {
    const store = await preparedStore({ fileGroup: 4242 });
    const { directory } = await publish(store, 'one');
    const paths = [
      directory,
      join(directory, 'bird.cfg'),
      join(directory, 'stamp.json'),
      store.layout.generations,
    ];
    expect(paths.map(ownerOf)).toEqual(paths.map(() => '0:4242'));
  });

  it.runIf(isRoot)(
    'let an unprivileged user use a group that it is a member of, and explain when it is not',
    async () => {
      const parent = await testDir();
      chmodSync(parent, 0o777);
      await asUser({ uid: 65_534, gid: 65_534, groups: [65_534, 4242] }, async () => {
        const store = openTestStore(join(parent, 'member'), { fileGroup: 4242 });
        await store.prepare();
        const { directory } = await publish(store, 'one');
        expect(ownerOf(join(directory, 'bird.cfg'))).toBe('65534:4242');
        const stranger = openTestStore(join(parent, 'stranger'), { fileGroup: 4243 });
        await expect(stranger.prepare()).rejects.toEqual(
          expectCode('BF_CACHE_PERMISSION', 'stranger', '--file-group'),
        );
      });
    },
  );

  it('leaves the mode of a cache directory that was there', async () => {
    const cache = await testDir();
    chmodSync(cache, 0o755);
    await openTestStore(cache).prepare();
    expect(modeOf(cache)).toBe('755');
  });

  it.runIf(isRoot)('explain a cache that belongs to somebody else', async () => {
    const store = await preparedStore();
    await publish(store, 'one');
    chmodSync(join(store.layout.cacheDir, '..'), 0o755);
    chmodSync(store.layout.cacheDir, 0o755);
    chmodSync(store.layout.generations, 0o755);
    await asUser({ uid: 65_534, gid: 65_534 }, async () => {
      await expect(publish(store, 'two')).rejects.toEqual(
        expectCode('BF_CACHE_PERMISSION', 'generations', 'EACCES'),
      );
      expect(store.verify(1, mine)).toMatchObject({
        reason: 'unreadable',
        message: expect.stringContaining('EACCES'),
      });
    });
  });

  it('names a missing parent of the cache directory', async () => {
    const missing = join(await testDir(), 'no', 'cache');
    await expect(openTestStore(missing).prepare()).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', missing, 'does not exist'),
    );
  });
});

describe('verifying', () => {
  it('finds every change of a byte in every file', async () => {
    const store = await preparedStore();
    const { directory } = await publish(store, 'one');
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      const good = readFileSync(path);
      const file = openSync(path, 'r+');
      for (let at = 0; at < good.length; at += 1) {
        writeSync(file, Uint8Array.of(good[at]! ^ (1 << (at % 8))), 0, 1, at);
        const where = `${name} at ${at}`;
        expect(store.verify(1, mine), where).toMatchObject({ reason: expect.stringMatching(/torn|edited/) });
        writeSync(file, good, at, 1, at);
      }
      closeSync(file);
    }
    expect(sound(store.verify(1, mine)).number).toBe(1);
  });

  it('finds every shortening of every file', async () => {
    const store = await preparedStore();
    const { directory } = await publish(store, 'one');
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      const good = readFileSync(path);
      for (let size = 0; size < good.length; size += 7) {
        await truncate(path, size);
        expect(store.verify(1, mine)).toMatchObject({
          reason: 'torn',
          message: expect.stringContaining(path),
        });
        writeFileSync(path, good);
      }
    }
  });

  it.each([
    ['a missing file', 'torn', 'bird.cfg', (at: string) => unlink(join(at, 'bird.cfg'))],
    ['a missing stamp', 'torn', 'stamp.json', (at: string) => unlink(join(at, 'stamp.json'))],
    [
      'a file too many',
      'edited',
      'extra.conf',
      async (at: string) => writeFileSync(join(at, 'extra.conf'), ''),
    ],
    ['an editor’s hidden file', 'edited', '.swp', async (at: string) => writeFileSync(join(at, '.swp'), '')],
    [
      'a longer file',
      'edited',
      'bird6.cfg',
      async (at: string) => writeFileSync(join(at, 'bird6.cfg'), 'x', { flag: 'a' }),
    ],
    [
      'a link in place of a file',
      'edited',
      'bird6.cfg',
      async (at: string) => {
        await rename(join(at, 'bird6.cfg'), `${at}.copy`);
        await symlink(`${at}.copy`, join(at, 'bird6.cfg'));
      },
    ],
  ])('refuses %s as %s', async (_what, reason, name, damage) => {
    const store = await preparedStore();
    const { directory } = await publish(store, 'one');
    await damage(directory);
    expect(store.verify(1, mine)).toMatchObject({
      directory,
      reason,
      message: expect.stringContaining(join(directory, name)),
    });
  });

  it('refuses what belongs to somebody else, and says to whom', async () => {
    const store = await preparedStore();
    await publish(store, 'one');
    expect(store.verify(1, { ...mine, nodeName: 'n2' })).toMatchObject({
      reason: 'foreign-node',
      message: expect.stringMatching(/n1.*n2/),
    });
    expect(store.verify(1, { ...mine, dialect: 'bird1' })).toMatchObject({ reason: 'foreign-dialect' });
    expect(sound(store.verify(1, { ...mine, nodeName: null, dialect: null })).number).toBe(1);
  });

  it('refuses a copy under another number', async () => {
    const store = await preparedStore();
    const { directory } = await publish(store, 'one');
    await cp(directory, directoryOf(store.layout.cacheDir, 2), { recursive: true });
    expect(store.verify(2, mine)).toMatchObject({
      reason: 'edited',
      message: expect.stringContaining('copied'),
    });
  });

  it('takes a file whose permissions were opened', async () => {
    const store = await preparedStore();
    const { directory } = await publish(store, 'one');
    chmodSync(join(directory, 'bird.cfg'), 0o644);
    expect(sound(store.verify(1, mine)).number).toBe(1);
  });

  it('says that a generation does not exist', async () => {
    const store = await preparedStore();
    expect(store.verify(7, mine)).toMatchObject({
      reason: 'torn',
      message: expect.stringContaining('00000007'),
    });
  });
});

describe('starting from the cache', () => {
  it('finds nothing in a cache that does not exist, and does not make one', async () => {
    const store = openTestStore(join(await testDir(), 'cache'));
    expect(store.bootCurrent(mine)).toEqual({ generation: null, inPlace: false, refusals: [] });
    expect(() => statSync(store.layout.cacheDir)).toThrow('ENOENT');
  });

  it('finds current in place', async () => {
    const { layout } = await published('one', 'two');
    const store = openTestStore(layout.cacheDir);
    expect(store.bootCurrent(mine)).toMatchObject({ generation: { number: 2 }, inPlace: true, refusals: [] });
    expect(store.current?.number).toBe(2);
    expect(store.current?.stamp.sessions[0]?.name).toBe('Mesh_1');
  });

  it('falls back to the one before, says why, and puts it in place when told to', async () => {
    const { layout } = await published('one', 'two', 'three');
    await unlink(join(directoryOf(layout.cacheDir, 3), 'bird.cfg'));
    writeFileSync(join(directoryOf(layout.cacheDir, 2), 'bird.cfg'), 'protocol device {}');
    const store = openTestStore(layout.cacheDir);
    const boot = store.bootCurrent(mine);
    expect(boot).toMatchObject({
      generation: { number: 1 },
      inPlace: false,
      refusals: [{ reason: 'torn' }, { reason: 'torn' }],
    });
    expect(readlinkSync(layout.current)).toBe('generations/00000003');
    expect(store.current).toBeNull();
    await store.putInPlace(boot.generation!);
    expect(readlinkSync(layout.current)).toBe('generations/00000001');
    expect((await publish(store, 'four')).stamp).toMatchObject({ generation: 4, parent: 1 });
  });

  it('prefers one that was in use to one that was sealed but never switched to', async () => {
    const { layout } = await published('one', 'two', 'three');
    await rm(layout.current);
    // 3 is nobody's parent and nobody acknowledged it.
    expect(openTestStore(layout.cacheDir).bootCurrent(mine).generation?.number).toBe(2);
    const store = openTestStore(layout.cacheDir);
    await store.state.update((state) =>
      withAcknowledgement(state, 's', { generation: 3, contentDigest: 'x', ack: 'mark', at: '' }),
    );
    expect(openTestStore(layout.cacheDir).bootCurrent(mine).generation?.number).toBe(3);
  });

  it('takes the only one, though it never became current', async () => {
    const { layout } = await published('one');
    await rm(layout.current);
    expect(openTestStore(layout.cacheDir).bootCurrent(mine)).toMatchObject({
      generation: { number: 1 },
      inPlace: false,
    });
  });

  it('reports a current that leads nowhere', async () => {
    const { layout } = await published('one', 'two');
    await rm(directoryOf(layout.cacheDir, 2), { recursive: true });
    const boot = openTestStore(layout.cacheDir).bootCurrent(mine);
    expect(boot).toMatchObject({
      generation: { number: 1 },
      refusals: [{ message: expect.stringContaining('does not exist') }],
    });
  });

  it('refuses another node’s cache as a whole and leaves current alone', async () => {
    const { layout } = await published('one', 'two');
    const boot = openTestStore(layout.cacheDir).bootCurrent({ ...mine, nodeName: 'n2' });
    expect(boot.generation).toBeNull();
    expect(boot.refusals.map(({ reason }) => reason)).toEqual(['foreign-node', 'foreign-node']);
    expect(readlinkSync(layout.current)).toBe('generations/00000002');
  });

  it('sweeps what an interrupted run left, and only that', async () => {
    const store = await published('one');
    const { layout } = store;
    await mkdir(join(layout.generations, '.stage-Ab12'));
    await mkdir(join(layout.generations, '.prune-ffff/deep'), { recursive: true });
    await symlink('generations/00000009', join(layout.root, '.current-00'));
    for (const name of [
      '.state.json.birdfeed-new',
      '.state.json.birdfeed-new.123',
      '.last-good.json.birdfeed-new.9',
      '.keep',
    ]) {
      writeFileSync(join(layout.root, name), '');
    }
    await openTestStore(layout.cacheDir).prepare();
    expect(await litter(store)).toEqual(['.keep']);
    expect(sound(store.verify(1, mine)).number).toBe(1);
  });
});

describe('equal content', () => {
  it('is current until another content, node or dialect comes', async () => {
    const store = await published('one');
    const { stamp } = request('one');
    expect(await store.isCurrent(stamp)).toBe(true);
    expect(await store.isCurrent(request('two').stamp)).toBe(false);
    expect(await store.isCurrent({ ...stamp, nodeName: 'n2' })).toBe(false);
    expect(await store.isCurrent({ ...stamp, dialect: 'bird1' })).toBe(false);
    const again = openTestStore(store.layout.cacheDir);
    expect(await again.isCurrent(stamp)).toBe(false);
    again.bootCurrent(mine);
    expect(await again.isCurrent(stamp)).toBe(true);
  });

  it.each([
    ['current is gone', (cache: string) => rm(join(cache, 'current'))],
    ['the generation is gone', (cache: string) => rm(join(cache, 'generations'), { recursive: true })],
    ['a file was cut', (cache: string) => truncate(join(cache, 'current', 'bird.cfg'), 3)],
  ])('is not current any more when %s', async (_what, damage) => {
    const store = await published('one');
    await damage(store.layout.cacheDir);
    expect(await store.isCurrent(request('one').stamp)).toBe(false);
  });
});

describe('rolling back', () => {
  it('switches, pins across restarts, and holds off newer generations until resume', async () => {
    const store = await published('one', 'two');
    expect((await store.rollbackTo(1, mine)).number).toBe(1);
    expect(readlinkSync(store.layout.current)).toBe('generations/00000001');
    await expect(publish(store, 'three')).rejects.toEqual(
      expectCode('BF_GENERATION_HELD', '1 is pinned', 'resume'),
    );

    const restarted = openTestStore(store.layout.cacheDir);
    await restarted.prepare();
    expect(restarted.bootCurrent(mine)).toMatchObject({ generation: { number: 1 }, inPlace: true });
    expect(restarted.state.value.pin).toMatchObject({ generation: 1, by: 'operator' });
    expect(restarted.list().map(({ number, current, pinned }) => ({ number, current, pinned }))).toEqual([
      { number: 1, current: true, pinned: true },
      { number: 2, current: false, pinned: false },
    ]);
    await restarted.resume();
    expect((await publish(restarted, 'three')).stamp).toMatchObject({ generation: 3, parent: 1 });
    expect(openTestStore(store.layout.cacheDir).state.value.pin).toBeNull();
  });

  it('is completed at the next start when a death interrupted it', async () => {
    const store = await published('one', 'two');
    await store.rollbackTo(1, mine);
    await rm(store.layout.current);
    await symlink('generations/00000002', store.layout.current);
    expect(openTestStore(store.layout.cacheDir).bootCurrent(mine)).toMatchObject({
      generation: { number: 1 },
      inPlace: false,
    });
  });

  it('refuses a damaged, foreign or missing generation and changes nothing', async () => {
    const store = await published('one', 'two');
    await unlink(join(directoryOf(store.layout.cacheDir, 1), 'bird6.cfg'));
    for (const attempt of [
      store.rollbackTo(1, mine),
      store.rollbackTo(9, mine),
      store.rollbackTo(2, { ...mine, nodeName: 'x' }),
    ]) {
      await expect(attempt).rejects.toEqual(expectCode('BF_GENERATION_REFUSED', 'cannot roll back'));
    }
    expect(store.state.value.pin).toBeNull();
    expect(readlinkSync(store.layout.current)).toBe('generations/00000002');
  });

  it('is not undone by a generation that was being sealed when it came', async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let isSlow = false;
    let hasArrived = false;
    const fs: CacheFs = {
      ...nodeFs,
      async syncDirectory(path) {
        if (isSlow && path.endsWith('/generations')) {
          hasArrived = true;
          await gate;
        }
        return nodeFs.syncDirectory(path);
      },
    };
    const store = await preparedStore({ fs });
    await publish(store, 'one');
    await publish(store, 'two');
    isSlow = true;
    const sealing = publish(store, 'three');
    await until(() => hasArrived);
    const rollback = store.rollbackTo(1, mine);
    await Promise.race([rollback, sleep(200)]);
    open();
    await Promise.allSettled([sealing, rollback]);
    expect(readlinkSync(store.layout.current)).toBe('generations/00000001');
    expect(store.current?.number).toBe(1);
  });

  it('keeps the former pin when it cannot switch', async () => {
    const store = await published('one', 'two');
    await rm(store.layout.current);
    await mkdir(store.layout.current);
    await expect(store.rollbackTo(1, mine)).rejects.toEqual(expectCode('BF_CACHE_UNWRITABLE', 'EISDIR'));
    expect(openTestStore(store.layout.cacheDir).state.value.pin).toBeNull();
  });
});

describe('taking back', () => {
  it('switches only while what is taken back is current', async () => {
    const store = await preparedStore();
    const one = await publish(store, 'one');
    const two = await publish(store, 'two');
    expect(await store.replaceCurrent(two.number, one)).toBe(true);
    expect(readlinkSync(store.layout.current)).toBe('generations/00000001');
    await publish(store, 'three');
    expect(await store.replaceCurrent(two.number, one)).toBe(false);
    expect(readlinkSync(store.layout.current)).toBe('generations/00000003');
  });
});

describe('pruning', () => {
  it('keeps the newest, current and its parent, what is pinned, acknowledged or protected, and one older than an hour', async () => {
    const store = await published(...Array.from({ length: 12 }, (_, index) => `g${index}`));
    const { cacheDir } = store.layout;
    await store.rollbackTo(7, mine);
    await store.state.update((state) =>
      withAcknowledgement(state, 's', { generation: 2, contentDigest: 'x', ack: 'mark', at: '' }),
    );
    const past = new Date(Date.now() - 7_200_000);
    for (const old of [1, 3, 4]) await utimes(directoryOf(cacheDir, old), past, past);
    expect(await store.prune(2, [9])).toEqual([1, 3, 5, 8, 10]);
    expect(store.list().map(({ number }) => number)).toEqual([2, 4, 6, 7, 9, 11, 12]);
    expect(await store.prune(2, [9])).toEqual([]);
    expect(await litter(store)).toEqual([]);
  });

  it('never takes the last one, nor what current names', async () => {
    const store = await published('one', 'two', 'three');
    expect(await store.prune(0)).toEqual([1]);
    expect(sound(openTestStore(store.layout.cacheDir).bootCurrent(mine).generation).number).toBe(3);
  });
});

describe('listing', () => {
  it('shows what is wrong with a generation beside the good ones', async () => {
    const store = await published('one', 'two');
    await truncate(join(directoryOf(store.layout.cacheDir, 1), 'stamp.json'), 10);
    const [torn, good] = openTestStore(store.layout.cacheDir).list();
    expect(torn).toMatchObject({ number: 1, current: false, found: { reason: 'torn' } });
    expect(good).toMatchObject({ number: 2, current: true, found: { stamp: { nodeName: 'n1' } } });
  });
});

async function published(...texts: string[]) {
  const store = await preparedStore();
  for (const text of texts) await publish(store, text);
  return store;
}
