import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { type Lock, tryLock, waitForLock } from '../../../src/generation/lock.ts';
import { skipSuite } from '../../support/binaries.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { asUser, bundled, expectCode, isRoot } from './support.ts';

if (spawnSync('flock', ['--version']).error) skipSuite('flock is not installed');

async function lockOrFail(cacheDir: string): Promise<Lock> {
  const attempt = await tryLock({ cacheDir });
  if (attempt.type !== 'locked') throw new Error(`not locked: ${attempt.type}`);
  return attempt.lock;
}

/** Another process that takes the lock, prints `locked`, and keeps it. */
async function holder(cacheDir: string, ...prefix: string[]): Promise<ChildProcess> {
  const script = await bundled('hold-lock.ts');
  const [command, ...args] = [...prefix, process.execPath, script, cacheDir];
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
  });
  return child;
}

describe('the lock of a cache', () => {
  it('lets one in, within a process too, and says who that is', async () => {
    const cacheDir = await testDir();
    const lock = await lockOrFail(cacheDir);
    expect(await tryLock({ cacheDir })).toEqual({
      type: 'busy',
      holder: expect.stringContaining(`process ${process.pid} on `),
    });
    lock.release();
    lock.release();
    (await lockOrFail(cacheDir)).release();
  });

  it('is freed by kill -9, and the file stays', async () => {
    const cacheDir = await testDir();
    const child = await holder(cacheDir);
    expect(await tryLock({ cacheDir })).toMatchObject({
      type: 'busy',
      holder: expect.stringContaining(`process ${child.pid} `),
    });
    child.kill('SIGKILL');
    await until(async () => (await tryLock({ cacheDir })).type === 'locked');
    expect(readFileSync(join(cacheDir, 'lock'), 'utf8')).toContain(String(process.pid));
  });

  it.runIf(isRoot)('holds across pid, mount and network namespaces', async () => {
    const cacheDir = await testDir();
    const child = await holder(
      cacheDir,
      'unshare',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount',
      '--net',
      '--ipc',
      '--uts',
    );
    expect((await tryLock({ cacheDir })).type).toBe('busy');
    child.kill('SIGKILL');
    await until(async () => (await tryLock({ cacheDir })).type === 'locked');
  });

  it('is not kept by a child process that outlives its holder', async () => {
    const cacheDir = await testDir();
    const lock = await lockOrFail(cacheDir);
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      lock.release();
      (await lockOrFail(cacheDir)).release();
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('survives garbage collection of whoever took it', async () => {
    const cacheDir = await testDir();
    const child = await holder(cacheDir);
    // A line per collection.
    let collections = 0;
    child.stdout?.on('data', (text: Buffer) => {
      collections += text.length;
    });
    await until(() => collections > 20);
    expect((await tryLock({ cacheDir })).type).toBe('busy');
    expect(child.exitCode).toBeNull();
  });

  it('tells its holder when the file was removed behind its back', async () => {
    const cacheDir = await testDir();
    const lock = await lockOrFail(cacheDir);
    expect(lock.stillHeld()).toBe(true);
    await rm(join(cacheDir, 'lock'));
    expect(lock.stillHeld()).toBe(false);
    const second = await lockOrFail(cacheDir);
    expect([lock.stillHeld(), second.stillHeld()]).toEqual([false, true]);
    second.release();
    expect(second.stillHeld()).toBe(false);
  });

  it('is not taken on a file that was replaced while it was being locked', async () => {
    const cacheDir = await testDir();
    const path = join(cacheDir, 'lock');
    // Replaces the file once, between the opening and the locking, as a tidy-minded operator might.
    const flock = join(await testDir(), 'flock');
    const once = `${flock}.done`;
    writeFileSync(
      flock,
      `#!/bin/sh\n[ -e ${once} ] || { : > ${once}; rm ${path}; : > ${path}; }\nexec flock "$@"\n`,
    );
    await chmod(flock, 0o755);
    const attempt = await tryLock({ cacheDir, flock });
    expect(attempt.type).toBe('locked');
    expect(attempt.type === 'locked' && attempt.lock.stillHeld()).toBe(true);
    expect((await tryLock({ cacheDir })).type).toBe('busy');
  });

  it('is unavailable without the program, or with one that fails', async () => {
    const cacheDir = await testDir();
    expect(await tryLock({ cacheDir, flock: 'no-such-program' })).toEqual({
      type: 'unavailable',
      reason: expect.stringMatching(/no-such-program is not installed.*util-linux/),
    });
    const broken = join(await testDir(), 'flock');
    writeFileSync(broken, '#!/bin/sh\necho "flock: 3: Bad file descriptor" >&2\nexit 65\n');
    await chmod(broken, 0o755);
    expect(await tryLock({ cacheDir, flock: broken })).toMatchObject({
      type: 'unavailable',
      reason: expect.stringContaining('Bad file descriptor'),
    });
    const wait = waitForLock({
      cacheDir,
      flock: 'no-such-program',
      clock: systemClock,
      signal: new AbortController().signal,
    });
    await expect(wait).rejects.toEqual(expectCode('BF_LOCK_UNAVAILABLE', cacheDir, 'util-linux'));
  });

  it('names the file that cannot be opened', async () => {
    const cacheDir = await testDir();
    await expect(tryLock({ cacheDir: join(cacheDir, 'gone') })).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', 'gone/lock'),
    );
    if (!isRoot) return;
    await rename(cacheDir, `${cacheDir}-x`);
    onTestFinished(() => rm(`${cacheDir}-x`, { recursive: true }));
    await asUser({ uid: 65_534, gid: 65_534 }, () =>
      expect(tryLock({ cacheDir: `${cacheDir}-x` })).rejects.toEqual(
        expectCode('BF_CACHE_PERMISSION', 'lock'),
      ),
    );
  });
});

describe('standing by', () => {
  it('gets the lock soon after the holder dies, having said once whom it waits for', async () => {
    const cacheDir = await testDir();
    const child = await holder(cacheDir);
    const told: (string | null)[] = [];
    const waiting = waitForLock({
      cacheDir,
      clock: systemClock,
      signal: new AbortController().signal,
      everyMs: 10,
      onStandby: (who) => told.push(who),
    });
    await until(() => told.length > 0);
    child.kill('SIGKILL');
    const lock = await waiting;
    expect(lock?.stillHeld()).toBe(true);
    expect(told).toEqual([expect.stringContaining(`process ${child.pid}`)]);
    lock?.release();
  });

  it('ends without the lock when it is told to', async () => {
    const cacheDir = await testDir();
    const lock = await lockOrFail(cacheDir);
    const abort = new AbortController();
    const waiting = waitForLock({
      cacheDir,
      clock: systemClock,
      signal: abort.signal,
      onStandby: () => abort.abort(),
    });
    expect(await waiting).toBeNull();
    lock.release();
  });

  it('lets exactly one of several in at a time', async () => {
    const cacheDir = await testDir();
    let inside = 0;
    let turns = 0;
    const signal = new AbortController().signal;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const lock = await waitForLock({ cacheDir, clock: systemClock, signal, everyMs: 5 });
        inside += 1;
        expect(inside).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside -= 1;
        turns += 1;
        lock?.release();
      }),
    );
    expect(turns).toBe(4);
  });
});
