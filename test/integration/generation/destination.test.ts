import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Logger } from '../../../src/core/log.ts';
import { silentLogger } from '../../../src/core/log.ts';
import {
  copyToDestinations,
  type DestinationDeps,
  resolveDestination,
  sweepDestination,
  writeDestination,
} from '../../../src/generation/destination.ts';
import { type CacheFs, nodeFs } from '../../../src/generation/fs.ts';
import type { Destination } from '../../../src/generation/types.ts';
import { testDir } from '../../support/tmp.ts';
import { asUser, expectCode, isRoot, preparedStore, publish, withUmask } from './support.ts';

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);
const ownerOf = (path: string): string => `${lstatSync(path).uid}:${lstatSync(path).gid}`;
const bytes = (text: string): Uint8Array => Buffer.from(text);

function dest(path: string, change: Partial<Destination> = {}): Destination {
  return { file: 'bird.cfg', path, mode: null, uid: null, gid: null, ...change };
}

interface World {
  readonly deps: DestinationDeps;
  /** A folder for destinations. */
  readonly etc: string;
  readonly warnings: object[];
}

async function world(fs: CacheFs = nodeFs, fileGroup: number | null = null): Promise<World> {
  const root = await testDir();
  const [cacheDir, etc] = [join(root, 'cache'), join(root, 'etc')];
  await mkdir(cacheDir);
  await mkdir(etc);
  const warnings: object[] = [];
  const log: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
  return { deps: { fs, log, cacheDir, backups: join(cacheDir, 'backups'), fileGroup }, etc, warnings };
}

/** Fails renames onto `path` as a bind mount does. */
function fsWith(failing: Partial<CacheFs>): CacheFs {
  return { ...nodeFs, ...failing };
}

const errno = (code: string) => Object.assign(new Error(code), { code });

describe('copies', () => {
  it('come from the sealed files, and an equal one is not written again', async () => {
    const store = await preparedStore();
    const generation = await publish(store, 'one');
    const { deps, etc } = await world();
    const destinations = [dest(join(etc, 'bird.cfg')), dest(join(etc, 'six.conf'), { file: 'bird6.cfg' })];
    const how = async () =>
      (await copyToDestinations(deps, generation, destinations)).map((result) => result.how);
    expect(await how()).toEqual(['replaced', 'replaced']);
    const inode = lstatSync(join(etc, 'six.conf')).ino;
    expect(await how()).toEqual(['unchanged', 'unchanged']);
    expect(lstatSync(join(etc, 'six.conf')).ino).toBe(inode);
    expect(readFileSync(join(etc, 'six.conf'), 'utf8')).toBe('# six one\n');
    expect(readdirSync(etc)).toEqual(['bird.cfg', 'six.conf']);
  });

  it('are put right when something else changed the bytes or the mode', async () => {
    const { deps, etc } = await world();
    const path = join(etc, 'x');
    await writeDestination(deps, dest(path), bytes('good'));
    writeFileSync(path, 'goof');
    expect(await writeDestination(deps, dest(path), bytes('good'))).toBe('replaced');
    expect(await writeDestination(deps, dest(path, { mode: 0o600 }), bytes('good'))).toBe('replaced');
    expect(modeOf(path)).toBe('600');
  });

  it.each([0o000, 0o077, 0o777])(
    'are 0640 when new and nothing else is asked, under the umask %o',
    async (mask) => {
      const { deps, etc } = await world();
      await withUmask(mask, () => writeDestination(deps, dest(join(etc, 'x')), bytes('a')));
      expect(modeOf(join(etc, 'x'))).toBe('640');
    },
  );

  it.runIf(isRoot)('keep the mode and owner of what was there, unless told otherwise', async () => {
    const { deps, etc } = await world(nodeFs, 4242);
    const path = join(etc, 'munge.key');
    writeFileSync(path, 'old');
    chownSync(path, 1234, 5678);
    chmodSync(path, 0o440);
    await writeDestination(deps, dest(path), bytes('new'));
    expect([modeOf(path), ownerOf(path), readFileSync(path, 'utf8')]).toEqual(['440', '1234:5678', 'new']);
    await writeDestination(deps, dest(path, { mode: 0o604, uid: 1, gid: 2 }), bytes('newer'));
    expect([modeOf(path), ownerOf(path)]).toEqual(['604', '1:2']);
    await writeDestination(deps, dest(join(etc, 'fresh')), bytes('x'));
    expect(ownerOf(join(etc, 'fresh'))).toBe('0:4242');
  });

  it.runIf(isRoot)('inherit the group of a setgid directory', async () => {
    const { deps, etc } = await world();
    chownSync(etc, 0, 5678);
    chmodSync(etc, 0o2755);
    await writeDestination(deps, dest(join(etc, 'x')), bytes('a'));
    expect(ownerOf(join(etc, 'x'))).toBe('0:5678');
  });

  it('never show contents under looser permissions than they end with', async () => {
    const { deps, etc } = await world();
    const path = join(etc, 'secret');
    const modes: string[] = [];
    // Looks at everything in the directory each time that something happens in it.
    const watcher = watch(etc, () => {
      for (const name of readdirSync(etc)) {
        try {
          modes.push(modeOf(join(etc, name)));
        } catch {
          // Renamed meanwhile.
        }
      }
    });
    onTestFinished(() => watcher.close());
    const observed: CacheFs = fsWith({
      rename: async (from, to) => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        await nodeFs.rename(from, to);
      },
    });
    await withUmask(0, async () => {
      for (let round = 0; round < 30; round += 1)
        await writeDestination({ ...deps, fs: observed }, dest(path, { mode: 0o400 }), bytes(`${round}`));
    });
    expect(modes.length).toBeGreaterThan(0);
    expect([...new Set(modes)].filter((mode) => mode !== '400' && mode !== '600')).toEqual([]);
  });

  it('do not appear beside the destination under a name that an include of * would read', async () => {
    const { deps, etc } = await world();
    const names = new Set<string>();
    const look = () => {
      for (const name of readdirSync(etc)) names.add(name);
    };
    const fs = fsWith({
      writeFileAtomic: async (...args) => {
        await nodeFs.writeFileAtomic(...args);
        look();
      },
    });
    await writeDestination({ ...deps, fs }, dest(join(etc, 'bird.conf')), bytes('x'));
    look();
    expect([...names].sort()).toEqual(['.bird.conf.birdfeed-new', 'bird.conf']);
  });

  it('that a death left half done are swept, and nothing else', async () => {
    const { deps, etc } = await world();
    const keep = ['x', 'x.123', '.x.birdfeed-newer', '.y.birdfeed-new', '.x.birdfeed-new.bak'];
    for (const name of [...keep, '.x.birdfeed-new', '.x.birdfeed-new.4711'])
      writeFileSync(join(etc, name), '');
    const removed = await sweepDestination(deps.fs, join(etc, 'x'), deps.cacheDir);
    expect([...removed].sort()).toEqual(
      ['.x.birdfeed-new', '.x.birdfeed-new.4711'].map((name) => join(etc, name)),
    );
    expect(readdirSync(etc).sort()).toEqual([...keep].sort());
  });
});

describe('a destination that is a link', () => {
  it('stays one; what it points at is replaced', async () => {
    const { deps, etc } = await world();
    await mkdir(join(etc, 'real'));
    writeFileSync(join(etc, 'real/bird.conf'), 'old');
    await symlink('real/bird.conf', join(etc, 'bird.conf'));
    await symlink('bird.conf', join(etc, 'again.conf'));
    expect(await writeDestination(deps, dest(join(etc, 'again.conf')), bytes('new'))).toBe('replaced');
    expect(readlinkSync(join(etc, 'again.conf'))).toBe('bird.conf');
    expect(readlinkSync(join(etc, 'bird.conf'))).toBe('real/bird.conf');
    expect(readFileSync(join(etc, 'real/bird.conf'), 'utf8')).toBe('new');
  });

  it('to nothing makes what it points at', async () => {
    const { deps, etc } = await world();
    await mkdir(join(etc, 'run'));
    await symlink('../etc/run/x', join(etc, 'x'));
    await writeDestination(deps, dest(join(etc, 'x')), bytes('a'));
    expect(readFileSync(join(etc, 'run/x'), 'utf8')).toBe('a');
  });

  it('in circles is refused', async () => {
    const { deps, etc } = await world();
    await symlink('b', join(etc, 'a'));
    await symlink('a', join(etc, 'b'));
    await expect(writeDestination(deps, dest(join(etc, 'a')), bytes('x'))).rejects.toEqual(
      expectCode('BF_DEST_REFUSED', 'circles'),
    );
  });
});

describe('a destination is refused', () => {
  it('inside the cache, however it gets there', async () => {
    const { deps, etc } = await world();
    const { cacheDir } = deps;
    await mkdir(join(cacheDir, 'generations'));
    await symlink(join(cacheDir, 'generations'), join(etc, 'dir'));
    await symlink(join(cacheDir, 'new.conf'), join(etc, 'file'));
    const inside = [
      join(cacheDir, 'x'),
      join(cacheDir, 'generations/x'),
      `${etc}/../cache/x`,
      join(etc, 'dir/x'),
      join(etc, 'file'),
      cacheDir,
    ];
    for (const path of inside) {
      await expect(writeDestination(deps, dest(path), bytes('x')), path).rejects.toEqual(
        expectCode('BF_DEST_REFUSED', path, 'cache'),
      );
    }
    expect(readdirSync(cacheDir)).toEqual(['generations']);
    // A neighbour whose name begins the same is none of it.
    await mkdir(`${cacheDir}-2`);
    expect(await resolveDestination(nodeFs, `${cacheDir}-2/x`, cacheDir)).toBe(`${cacheDir}-2/x`);
  });

  it('when the cache is reached by a link itself', async () => {
    const { deps, etc } = await world();
    await symlink(deps.cacheDir, join(etc, 'cache'));
    const linked = { ...deps, cacheDir: join(etc, 'cache') };
    await expect(writeDestination(linked, dest(join(deps.cacheDir, 'x')), bytes('x'))).rejects.toEqual(
      expectCode('BF_DEST_REFUSED'),
    );
  });

  it.each(['relative/x', '', '/', '/tmp/', '/tmp/a\0b'])('as %j', async (path) => {
    const { deps } = await world();
    await expect(writeDestination(deps, dest(path), bytes('x'))).rejects.toEqual(
      expectCode('BF_DEST_REFUSED', 'absolute path of a file'),
    );
  });

  it('when a directory or a device is there', async () => {
    const { deps, etc } = await world();
    await expect(writeDestination(deps, dest(etc), bytes('x'))).rejects.toEqual(
      expectCode('BF_DEST_REFUSED', 'not a regular file'),
    );
    await expect(writeDestination(deps, dest('/dev/null'), bytes('x'))).rejects.toEqual(
      expectCode('BF_DEST_REFUSED', '/dev/null'),
    );
  });

  it('for now, when its directory is missing', async () => {
    const { deps, etc } = await world();
    await expect(writeDestination(deps, dest(join(etc, 'no/x')), bytes('x'))).rejects.toEqual(
      expectCode('BF_DEST_UNWRITABLE', join(etc, 'no/x'), 'does not exist', 'create it'),
    );
  });
});

describe('a destination that cannot be replaced', () => {
  const busy = fsWith({
    rename: (from, to) => (to.endsWith('/hosts') ? Promise.reject(errno('EBUSY')) : nodeFs.rename(from, to)),
  });

  it('is written in place, with its old contents saved and a warning', async () => {
    const { deps, etc, warnings } = await world(busy);
    const path = join(etc, 'hosts');
    writeFileSync(path, 'a longer old text', { mode: 0o604 });
    const inode = lstatSync(path).ino;
    expect(await writeDestination(deps, dest(path, { mode: 0o600 }), bytes('new'))).toBe('in-place');
    expect([readFileSync(path, 'utf8'), modeOf(path), lstatSync(path).ino]).toEqual(['new', '600', inode]);
    expect(readdirSync(etc)).toEqual(['hosts']);
    const [warning] = warnings as { errno: string; backup: string }[];
    expect(warning?.errno).toBe('EBUSY');
    expect(readFileSync(warning!.backup, 'utf8')).toBe('a longer old text');
    expect(modeOf(warning!.backup)).toBe('600');
    expect(await writeDestination(deps, dest(path, { mode: 0o600 }), bytes('new'))).toBe('unchanged');
    expect(warnings).toHaveLength(1);
  });

  it('is whole again after the next call, when a death came in the middle', async () => {
    const { deps, etc } = await world(busy);
    const path = join(etc, 'hosts');
    writeFileSync(path, 'old');
    const dying = fsWith({
      ...busy,
      open: async (...args) => {
        const file = await nodeFs.open(...args);
        let dead = false;
        const write = async ([all]: readonly Uint8Array[]) => {
          if (!dead) await file.write([all!.subarray(0, 2)]);
          dead = true;
          throw new Error('died');
        };
        return { ...file, write };
      },
    });
    await expect(writeDestination({ ...deps, fs: dying }, dest(path), bytes('new text'))).rejects.toThrow(
      'died',
    );
    expect(readFileSync(path, 'utf8')).toBe('ned');
    await writeDestination(deps, dest(path), bytes('new text'));
    expect(readFileSync(path, 'utf8')).toBe('new text');
  });

  it('gets its old contents back when the disk is full in the middle', async () => {
    const { deps, etc } = await world(busy);
    const path = join(etc, 'hosts');
    writeFileSync(path, 'old text');
    const full = fsWith({
      ...busy,
      open: async (...args) => {
        const file = await nodeFs.open(...args);
        const write = async ([all]: readonly Uint8Array[]) => {
          await file.write([all!.subarray(0, 8)]);
          if (all!.length > 8) throw errno('ENOSPC');
        };
        return { ...file, write };
      },
    });
    await expect(
      writeDestination({ ...deps, fs: full }, dest(path), bytes('a far longer text')),
    ).rejects.toEqual(expectCode('BF_DEST_UNWRITABLE', path, 'ENOSPC', 'free space'));
    expect(readFileSync(path, 'utf8')).toBe('old text');
  });

  it('for lack of a right to its directory is written in place too, if the file may be written', async () => {
    if (!isRoot) return;
    const { deps, etc } = await world();
    const path = join(etc, 'x');
    writeFileSync(path, 'old');
    for (const open of [deps.cacheDir, join(deps.cacheDir, '..')]) chmodSync(open, 0o777);
    chmodSync(path, 0o666);
    await asUser({ uid: 65_534, gid: 65_534 }, async () => {
      expect(await writeDestination(deps, dest(path), bytes('new'))).toBe('in-place');
      const forbidden = join(etc, 'new');
      await expect(writeDestination(deps, dest(forbidden), bytes('x'))).rejects.toEqual(
        expectCode('BF_DEST_PERMISSION', forbidden),
      );
    });
    expect(readFileSync(path, 'utf8')).toBe('new');
  });
});
