import { spawn } from 'node:child_process';
import { readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadState } from '../../../src/generation/state-file.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { bundled, litter, mine, openTestStore, publish, recordingFs, request, sound } from './support.ts';

// Starting a process is what takes the time; BIRDFEED_TEST_KILLS=200 for a thorough run.
const KILLS = Number(process.env['BIRDFEED_TEST_KILLS'] ?? 40);

/** A process that dies before its call number `at`: that call and all later ones do nothing. */
function dyingFs(root: string, at: number) {
  const log: string[] = [];
  let calls = 0;
  const fs = recordingFs(root, log, (call, path) => {
    // Closing is what the kernel does for the dead.
    if (call.startsWith('close ')) return;
    calls += 1;
    // Removing a directory is many calls: it dies after the first of them.
    if (calls === at && call.startsWith('remove ')) rmSync(join(path, 'bird.cfg'), { force: true });
    if (calls >= at) throw new Error(`died before ${call}`);
  });
  return { fs, died: () => calls >= at };
}

describe('a death at any call', () => {
  it('of publishing leaves the old generation or the new one, whole, and the next run publishes', async () => {
    const seen = new Set<number>();
    let at = 1;
    for (let alive = false; !alive; at += 1) {
      const cache = join(await testDir(), 'cache');
      const first = openTestStore(cache);
      await first.prepare();
      await publish(first, 'old');

      const { fs, died } = dyingFs(cache, at);
      const doomed = openTestStore(cache, { fs });
      await publish(doomed, 'new').catch(() => undefined);
      alive = !died();

      const next = openTestStore(cache);
      const boot = next.bootCurrent(mine);
      expect(boot, `death at ${at}`).toMatchObject({ inPlace: true, refusals: [] });
      seen.add(boot.generation!.number);
      await next.prepare();
      expect(await litter(next), `death at ${at}`).toEqual([]);
      const again = await publish(next, 'next');
      expect(sound(next.verify(again.number, mine)).stamp.parent).toBe(boot.generation!.number);
      expect(openTestStore(cache).bootCurrent(mine)).toMatchObject({
        generation: { number: again.number },
        inPlace: true,
      });
    }
    expect(at).toBeGreaterThan(20);
    expect([...seen]).toEqual([1, 2]);
  });

  it('of the first publication leaves nothing or something whole', async () => {
    for (let at = 1, alive = false; !alive; at += 1) {
      const cache = join(await testDir(), 'cache');
      const { fs, died } = dyingFs(cache, at);
      const doomed = openTestStore(cache, { fs });
      await doomed
        .prepare()
        .then(() => publish(doomed, 'new'))
        .catch(() => undefined);
      alive = !died();
      const next = openTestStore(cache);
      expect(next.bootCurrent(mine).refusals, `death at ${at}`).toEqual([]);
      await next.prepare();
      expect(await litter(next)).toEqual([]);
      await publish(next, 'next');
      expect(openTestStore(cache).bootCurrent(mine).inPlace).toBe(true);
    }
  });

  it('of rolling back is either not begun or completed at the next start', async () => {
    for (let at = 1, alive = false; !alive; at += 1) {
      const cache = join(await testDir(), 'cache');
      const first = openTestStore(cache);
      await first.prepare();
      await publish(first, 'one');
      await publish(first, 'two');
      const { fs, died } = dyingFs(cache, at);
      await openTestStore(cache, { fs })
        .rollbackTo(1, mine)
        .catch(() => undefined);
      alive = !died();
      const next = openTestStore(cache);
      const { pin } = next.state.value;
      expect(next.bootCurrent(mine).generation?.number, `death at ${at}`).toBe(pin === null ? 2 : 1);
      expect(next.stateProblem).toBeNull();
    }
  });

  it('of pruning never leaves half a generation under its name', async () => {
    for (let at = 1, alive = false; !alive; at += 1) {
      const cache = join(await testDir(), 'cache');
      const first = openTestStore(cache);
      await first.prepare();
      for (const text of ['one', 'two', 'three', 'four']) await publish(first, text);
      const { fs, died } = dyingFs(cache, at);
      await openTestStore(cache, { fs })
        .prune(1)
        .catch(() => undefined);
      alive = !died();
      const next = openTestStore(cache);
      await next.prepare();
      for (const { number } of next.list()) expect(sound(next.verify(number, mine)).number).toBe(number);
      expect(await litter(next)).toEqual([]);
      expect(next.bootCurrent(mine).generation?.number).toBe(4);
    }
  });

  it('of writing the state leaves the old state or the new one', async () => {
    for (let at = 1, alive = false; !alive; at += 1) {
      const cache = join(await testDir(), 'cache');
      const first = openTestStore(cache);
      await first.prepare();
      await first.state.update((state) => ({ ...state, confirmedAt: 'old' }));
      const { fs, died } = dyingFs(cache, at);
      const doomed = openTestStore(cache, { fs });
      await doomed.state.update((state) => ({ ...state, confirmedAt: 'new' })).catch(() => undefined);
      alive = !died();
      const loaded = loadState(first.layout.state, () => ({ current: null, newest: null }), 0);
      expect(loaded.problem).toBeNull();
      expect(['old', 'new']).toContain(loaded.state.confirmedAt);
    }
  });
});

describe('kill -9', () => {
  it('of a publishing process, at random times, leaves current whole and never sets it back', {
    timeout: 120_000,
  }, async () => {
    const script = await bundled('publish-forever.ts');
    const cache = join(await testDir(), 'cache');
    await openTestStore(cache).prepare();
    let before = 0;
    let interrupted = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const child = spawn(process.execPath, [script, cache], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.once('close', resolve));
      // It says "ready" when it is about to publish; from then on it is never idle.
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      child.kill('SIGKILL');
      await ended;

      const store = openTestStore(cache);
      const boot = store.bootCurrent(mine);
      if (!boot.inPlace) {
        // Only before the first switch may there be no current.
        expect([before, boot.refusals]).toEqual([0, []]);
        await store.prepare();
        continue;
      }
      expect(boot.refusals).toEqual([]);
      expect(boot.generation?.number).toBeGreaterThanOrEqual(before);
      before = boot.generation?.number ?? 0;
      expect(store.stateProblem).toBeNull();
      if ((await litter(store)).length > 0) interrupted += 1;
      await store.prepare();
      expect(await litter(store)).toEqual([]);
    }
    // Otherwise the kills missed what they were meant to hit.
    expect(interrupted).toBeGreaterThan(KILLS / 20);
    expect(before).toBeGreaterThan(KILLS / 10);
  });
});

describe('readers', () => {
  it('see one whole generation through current at any time', async () => {
    const script = await bundled('publish-forever.ts');
    const cache = join(await testDir(), 'cache');
    const store = openTestStore(cache);
    await store.prepare();
    await publish(store, 'first');
    const child = spawn(process.execPath, [script, cache], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      const seen = new Set<string>();
      await until(
        () => {
          const target = readlinkSync(store.layout.current);
          seen.add(target);
          const number = Number(target.slice(-8));
          expect(sound(openTestStore(cache).verify(number, mine)).number).toBe(number);
          return seen.size > 8;
        },
        { timeout: 40_000, every: 1 },
      );
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    expect(request('x').files).toHaveLength(2);
  });
});
