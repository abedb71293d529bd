import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CacheFs, nodeFs } from '../../../src/generation/fs.ts';
import { loadLastGood, saveLastGood } from '../../../src/generation/last-good.ts';
import {
  type CacheState,
  INITIAL_STATE,
  withAcknowledgement,
  withApproval,
  withHold,
  withVerdict,
} from '../../../src/generation/state.ts';
import { loadState, stateStore } from '../../../src/generation/state-file.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { testDir } from '../../support/tmp.ts';
import { expectCode, mine, openTestStore, preparedStore, publish } from './support.ts';

const NOW = Date.UTC(2026, 0, 1);
const at = new Date(NOW).toISOString();
const nothing = () => ({ current: null, newest: null });

/** A state with something in every field. */
function fullState(pinned: number | null = 2): CacheState {
  let state = withAcknowledgement(INITIAL_STATE, '/run/bird.ctl', {
    generation: 2,
    contentDigest: 'c',
    ack: 'mark',
    at,
  });
  state = withVerdict(state, {
    contentDigest: 'bad',
    birdVersion: '2.0.12',
    message: 'bird.conf:3 syntax error',
    at,
  });
  state = withApproval(
    withHold(state, { digest: 'd', messages: ['6 of 10 Node vanished at once'], since: at }),
    'd',
  );
  return {
    ...state,
    pin: pinned === null ? null : { generation: pinned, by: 'operator', since: at },
    confirmedAt: at,
  };
}

async function writtenState(state: CacheState): Promise<string> {
  const path = join(await testDir(), 'state.json');
  const store = stateStore(path, INITIAL_STATE, { fs: nodeFs, clock: new FakeClock(NOW) });
  await store.update(() => state);
  return path;
}

describe('state.json', () => {
  it('gives back after a restart what was put in, readable by its owner only', async () => {
    const path = await writtenState(fullState());
    expect(loadState(path, nothing, NOW)).toEqual({ state: fullState(), problem: null });
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });

  it('starts empty in a new cache', async () => {
    expect(loadState(join(await testDir(), 'state.json'), nothing, NOW)).toEqual({
      state: INITIAL_STATE,
      problem: null,
    });
  });

  it('writes a burst of changes in order, and fewer times than there are', async () => {
    const path = join(await testDir(), 'state.json');
    let writes = 0;
    const fs: CacheFs = {
      ...nodeFs,
      writeFileAtomic: (...args) => {
        writes += 1;
        return nodeFs.writeFileAtomic(...args);
      },
    };
    const store = stateStore(path, INITIAL_STATE, { fs, clock: new FakeClock(NOW) });
    const updates = Array.from({ length: 50 }, (_, index) =>
      store.update((state) => withApproval(state, `a${index}`)),
    );
    expect(store.value.approvals).toContain('a49');
    await Promise.all(updates);
    expect(loadState(path, nothing, NOW).state).toEqual(store.value);
    expect(writes).toBeLessThan(5);
  });

  it('does not write what does not change', async () => {
    const path = join(await testDir(), 'state.json');
    const store = stateStore(path, INITIAL_STATE, { fs: nodeFs, clock: new FakeClock(NOW) });
    await store.update((state) => withApproval(state, 'a'));
    await unlink(path);
    await store.update((state) => withApproval(state, 'a'));
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });

  it('notes a confirmation at most once a minute', async () => {
    const path = join(await testDir(), 'state.json');
    const clock = new FakeClock(NOW);
    const store = stateStore(path, INITIAL_STATE, { fs: nodeFs, clock });
    const onDisk = () => loadState(path, nothing, NOW).state.confirmedAt;
    await store.confirm();
    expect(onDisk()).toBe('2026-01-01T00:00:00.000Z');
    await clock.advance(59_000);
    await store.confirm();
    expect(onDisk()).toBe('2026-01-01T00:00:00.000Z');
    await clock.advance(1_000);
    await store.confirm();
    expect(onDisk()).toBe('2026-01-01T00:01:00.000Z');
  });

  it('reports a write that fails, keeps the change in memory, and writes it with the next one', async () => {
    const path = join(await testDir(), 'gone', 'state.json');
    const store = stateStore(path, INITIAL_STATE, { fs: nodeFs, clock: new FakeClock(NOW) });
    await expect(store.update((state) => withApproval(state, 'a'))).rejects.toEqual(
      expectCode('BF_CACHE_UNWRITABLE', path),
    );
    expect(store.value.approvals).toEqual(['a']);
    await mkdir(dirname(path));
    await store.update((state) => withApproval(state, 'b'));
    expect(loadState(path, nothing, NOW).state.approvals).toEqual(['a', 'b']);
  });

  it('notices a change of any byte, and never turns one into an approval or an acknowledgement', async () => {
    const path = await writtenState(fullState());
    const good = readFileSync(path);
    const evidence = () => ({ current: 2, newest: 3 });
    for (let index = 0; index < good.length - 1; index += 1) {
      const bad = Buffer.from(good);
      bad[index] = bad[index]! ^ 1;
      writeFileSync(path, bad);
      const { state, problem } = loadState(path, evidence, NOW);
      expect(problem, `byte ${index}`).toContain(path);
      expect(state.approvals).toEqual([]);
      expect(state.acknowledged).toEqual({});
      // Pinned by what can be read, or else by what the generations look like.
      expect(state.pin, `byte ${index}`).not.toBeNull();
    }
  });
});

describe('a damaged state.json', () => {
  it('keeps a pin and a hold that can still be read', async () => {
    const path = await writtenState(fullState(2));
    writeFileSync(path, readFileSync(path, 'utf8').replace('syntax error', 'syntax ERROR'));
    const { state, problem } = loadState(path, nothing, NOW);
    expect(state).toEqual({ ...INITIAL_STATE, pin: fullState(2).pin, hold: fullState().hold });
    expect(problem).toMatch(/does not match its own digest.*generation 2 stays pinned.*hold stays/);
  });

  it.each([
    ['empty', ''],
    ['cut', '{"digest":"ab'],
    ['zeros', '\0'.repeat(300)],
    ['another thing', '[1]'],
  ])('%s: pins current when something newer was sealed', async (_what, text) => {
    const store = await preparedStore();
    await publish(store, 'one');
    await publish(store, 'two');
    await store.rollbackTo(1, mine);
    writeFileSync(store.layout.state, text);
    const next = openTestStore(store.layout.cacheDir);
    expect(next.stateProblem).toContain('generation 1 stays pinned until resume');
    expect(next.state.value.pin).toMatchObject({ generation: 1, by: 'state-lost' });
    await expect(publish(next, 'three')).rejects.toEqual(expectCode('BF_GENERATION_HELD'));
    await next.resume();
    expect((await publish(next, 'three')).number).toBe(3);
    expect(openTestStore(store.layout.cacheDir).stateProblem).toBeNull();
  });

  it('pins nothing when current is the newest', async () => {
    const store = await preparedStore();
    await publish(store, 'one');
    writeFileSync(store.layout.state, 'garbage');
    const next = openTestStore(store.layout.cacheDir);
    expect(next.stateProblem).toContain('is not JSON');
    expect(next.state.value).toEqual(INITIAL_STATE);
  });

  it('is reported also when it is a directory', async () => {
    const path = join(await testDir(), 'state.json');
    await mkdir(path);
    expect(loadState(path, nothing, NOW).problem).toContain('EISDIR');
  });
});

describe('last-good.json', () => {
  it('keeps texts for their owner only, and no longer than there are any', async () => {
    const path = join(await testDir(), 'last-good.json');
    const values = new Map([
      ['/b', 'secret'],
      ['/a', '{"x":1}'],
      ['__proto__', 'x'],
    ]);
    await saveLastGood(nodeFs, path, values);
    expect(loadLastGood(path)).toEqual({ values, problem: null });
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    await saveLastGood(nodeFs, path, new Map());
    expect(() => lstatSync(path)).toThrow('ENOENT');
    await saveLastGood(nodeFs, path, new Map());
    expect(loadLastGood(path)).toEqual({ values: new Map(), problem: null });
  });

  it('is not used when damaged, and said so without what it holds', async () => {
    const path = join(await testDir(), 'last-good.json');
    await saveLastGood(nodeFs, path, new Map([['/a', 'secret']]));
    writeFileSync(path, readFileSync(path, 'utf8').replace('secret', 'secreT'));
    const { values, problem } = loadLastGood(path);
    expect(values.size).toBe(0);
    expect(problem).toContain('does not match its own digest');
    expect(problem).not.toMatch(/secret/i);
    await rm(path);
    await mkdir(path);
    expect(loadLastGood(path).problem).toContain('EISDIR');
  });
});
