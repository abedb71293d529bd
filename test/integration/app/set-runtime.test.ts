import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FeedView } from '../../../src/app/feed.ts';
import type { SetPlan } from '../../../src/app/set-plan.ts';
import { SetRuntime } from '../../../src/app/set-runtime.ts';
import { createStatusBoard } from '../../../src/app/status-board.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import type { OptionName } from '../../../src/config/options.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { sha256 } from '../../../src/core/digest.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { type CacheFs, nodeFs } from '../../../src/generation/fs.ts';
import { openStore, type Store } from '../../../src/generation/store.ts';
import { createLookups } from '../../../src/render/resolve.ts';
import type { Status } from '../../../src/status/status.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

/** What a plain resource renders, and how many keys it has. */
interface Data {
  text: string;
  keys: number;
}

const READ_WHOLE: FeedView = {
  regressions: 0,
  complete: () => true,
  fresh: () => true,
  trouble: () => null,
  unread: () => null,
  positions: () => [],
};

function planOf(data: Data, more: Partial<SetPlan> = {}): SetPlan {
  return {
    name: 'web',
    dialect: null,
    mounts: [],
    templatesDigest: 't',
    daemonFiles: [],
    destinations: [],
    checks: [],
    reloads: [],
    prepare() {},
    warmUp: async () => {},
    compute: () => ({
      problems: [],
      sessions: [],
      census: null,
      keys: [{ resource: 'web.toml', next: data.keys, minKeys: null }],
      lastGood: new Map(),
      mounts: [],
    }),
    model: () => null,
    reflectorHalf: () => null,
    keep: () => [],
    contexts: () => new Map(),
    explain: () => null,
    render: async () => ({
      files: [{ name: 'web.conf', content: [Buffer.from(data.text)] }],
      contentDigest: sha256(data.text),
      faults: [],
      asked: [],
    }),
    lookups: createLookups({
      clock: systemClock,
      dns: { addresses: async () => [], services: async () => [] },
      fileExists: async () => false,
    }),
    ...more,
  };
}

interface Setup {
  /** Of an earlier set, as after a restart. */
  readonly directory?: string;
  readonly options?: readonly (readonly [OptionName, string])[];
  readonly noop?: boolean;
  readonly plan?: (paths: { readonly directory: string }) => Partial<SetPlan>;
  readonly feed?: Partial<FeedView>;
  readonly fs?: CacheFs;
}

/** A set of one plain resource with a real cache. Runs happen when the test says so. */
async function setUp({ plan, feed, fs = nodeFs, noop = false, options = [], ...more }: Setup = {}) {
  const directory = more.directory ?? (await testDir());
  const data: Data = { text: 'one\n', keys: 1 };
  const deps = { clock: systemClock, log: silentLogger };
  const store: Store = openStore({
    ...deps,
    cacheDir: join(directory, 'cache'),
    set: 'web',
    version: '0',
    fs,
  });
  await mkdir(join(directory, 'cache'), { recursive: true });
  store.bootCurrent({ set: 'web', nodeName: 'n1', dialect: null });
  await store.prepare();
  const board = createStatusBoard({ version: '0', node: 'n1', set: 'web' }, deps);
  const seen: Status['config']['state'][] = [];
  const runtime = new SetRuntime({
    ...deps,
    plan: planOf(data, plan?.({ directory })),
    options: resolveOptions(new Map([['reload', 'command'], ...options]), {}, null).options,
    nodeName: 'n1',
    env: {},
    view: { get: () => undefined, range: () => [], version: () => 0 },
    feed: { ...READ_WHOLE, ...feed },
    fs,
    requireMounts: () => true,
    mountsOpen: () => true,
    outerProblems: () => [],
    store,
    board: {
      get status() {
        return board.status;
      },
      report(fact) {
        board.report(fact);
        if (seen.at(-1) !== board.status.config.state) seen.push(board.status.config.state);
      },
    },
    random: () => 0,
    signal: new AbortController().signal,
    fileGroup: null,
    targets: [],
    noop,
    onChange() {},
    onPublished() {},
  });
  onTestFinished(() => runtime.stop());
  return { directory, data, store, board, runtime, configStates: seen };
}

function copyTo(path: string) {
  return { file: 'web.conf', path, mode: null, uid: null, gid: null };
}

function command(text: string, dest: string | null = null) {
  return { resource: 'web.toml', file: 'web.conf', command: text, dest };
}

/** As `birdc configure` answers; the file must exist, for BIRD names it. */
function refuseWhen(word: string): string {
  return `if grep -q ${word} {{src}}; then echo "Reading configuration from {{src}}"; echo "{{src}}:1:1 syntax error"; fi`;
}

describe('a set', () => {
  it('lets the event loop turn before it renders, and stamps what was computed and not what came meanwhile', async () => {
    let revision = 1;
    let renderedAt = 0;
    const { runtime, data, store } = await setUp({
      feed: {
        positions: () => [{ prefix: '/web', kind: 'etcd', datastoreId: 'd', revision }],
      },
      plan: () => ({
        compute: () => {
          setImmediate(() => (revision = 2));
          return planOf(data).compute({ get: () => undefined, range: () => [], version: () => 0 });
        },
        render: () => {
          renderedAt = revision;
          return planOf(data).render();
        },
      }),
    });
    // The first run waits for the disk before it renders.
    await runtime.run();
    data.text = 'two\n';
    revision = 1;
    await runtime.run();
    expect(renderedAt).toBe(2);
    expect(store.current?.number).toBe(2);
    expect(store.current?.stamp.mounts.map((mount) => mount.revision)).toEqual([1]);
  });

  it('goes on when it cannot note that a reload command is done', async () => {
    let isFull = false;
    const fs: CacheFs = {
      ...nodeFs,
      async writeFileAtomic(path, bytes) {
        if (isFull && path.includes('state.json')) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
        return nodeFs.writeFileAtomic(path, bytes);
      },
    };
    const { runtime, data, board } = await setUp({ fs, plan: () => ({ reloads: [command('true')] }) });
    await runtime.run();
    await until(() => board.status.bird.state === 'applied');
    isFull = true;
    data.text = 'two\n';
    await runtime.run();
    await until(() => board.status.bird.state === 'applied');
  });

  it('keeps a copy owed until it is made, whatever else happens, and says so all the time', async () => {
    const { runtime, data, directory, board, configStates } = await setUp({
      plan: ({ directory }) => ({ destinations: [copyTo(join(directory, 'etc/web.conf'))] }),
    });
    await runtime.run();
    expect(board.status.config.reason).toContain('etc does not exist');
    await runtime.run();
    await runtime.run();
    expect(configStates).toEqual(['good', 'degraded']);
    await mkdir(join(directory, 'etc'));
    Object.assign(data, { text: '', keys: 0 });
    expect((await runtime.run()).type).toBe('held');
    expect(readFileSync(join(directory, 'etc/web.conf'), 'utf8')).toBe('one\n');
    Object.assign(data, { text: 'one\n', keys: 1 });
    await runtime.run();
    expect(board.status.config).toMatchObject({ state: 'good', reason: null });
  });

  it('copies to a destination that new resource files name, though nothing else changed', async () => {
    const { runtime, data, directory } = await setUp({
      plan: ({ directory }) => ({ destinations: [copyTo(join(directory, 'old.conf'))] }),
    });
    await runtime.run();
    runtime.usePlan(planOf(data, { destinations: [copyTo(join(directory, 'new.conf'))] }));
    expect((await runtime.run()).type).toBe('unchanged');
    expect(readFileSync(join(directory, 'new.conf'), 'utf8')).toBe('one\n');
  });

  it('knows from new resource files whether anybody is told', async () => {
    const { runtime, data, board } = await setUp();
    expect(board.status.tellsBird).toBe(false);
    runtime.usePlan(planOf(data, { reloads: [command('true')] }));
    expect(board.status.tellsBird).toBe(true);
    await runtime.run();
    await until(() => board.status.bird.state === 'applied');
  });

  it('runs a mended check command on the content that the broken one refused', async () => {
    const { runtime, data, board } = await setUp({ plan: () => ({ checks: [command('exit 3')] }) });
    expect((await runtime.run()).type).toBe('failed');
    runtime.usePlan(planOf(data, { checks: [command('true')] }));
    expect((await runtime.run()).type).toBe('published');
    expect(board.status.config.state).toBe('good');
  });

  it('asks a local BIRD again when it has become another one, and not before', async () => {
    const directory = await testDir();
    const bird = join(directory, 'bird');
    const asked = join(directory, 'asked');
    const install = (version: string, status: number): void =>
      writeFileSync(
        bird,
        `#!/bin/sh\n[ "$1" = --version ] && echo "BIRD version ${version}" && exit\necho "$3:1:1 syntax error"; echo x >>${asked}; exit ${status}\n`,
        { mode: 0o755 },
      );
    const start = () =>
      setUp({ directory, options: [['birdBinary', bird]], plan: () => ({ daemonFiles: ['web.conf'] }) });
    install('2.0.12', 1);
    const first = await start();
    expect([(await first.runtime.run()).type, (await first.runtime.run()).type]).toEqual([
      'failed',
      'failed',
    ]);
    expect((await (await start()).runtime.run()).type).toBe('failed');
    expect(readFileSync(asked, 'utf8')).toBe('x\n');
    install('2.17.6', 0);
    expect((await (await start()).runtime.run()).type).toBe('published');
  });

  it('tells what a pin keeps back', async () => {
    const { runtime, data, store, directory } = await setUp();
    await runtime.run();
    await store.rollbackTo(1, { set: 'web', nodeName: 'n1', dialect: null });
    expect(await runtime.run()).toMatchObject({ type: 'pinned', change: null });
    data.text = 'two\n';
    expect(await runtime.run()).toMatchObject({ type: 'pinned', change: { rendering: expect.anything() } });
    const looking = await setUp({ directory, noop: true });
    looking.data.text = 'two\n';
    expect(await looking.runtime.run()).toMatchObject({ type: 'pinned', change: expect.anything() });
  });

  it('no longer says that something is held when it passes the guard and fails the check', async () => {
    const { runtime, data, board } = await setUp({
      plan: () => ({ checks: [command('! grep -q bad {{src}}')] }),
    });
    await runtime.run();
    Object.assign(data, { text: 'bad\n', keys: 0 });
    await runtime.run();
    expect(board.status.held).not.toBeNull();
    data.keys = 1;
    expect((await runtime.run()).type).toBe('failed');
    expect(board.status.held).toBeNull();
  });

  it('takes back what a daemon refused, copies included', async () => {
    const { runtime, data, store, directory, board } = await setUp({
      plan: ({ directory }) => ({
        destinations: [copyTo(join(directory, 'web.conf'))],
        reloads: [command(refuseWhen('bad'))],
      }),
    });
    await runtime.run();
    await until(() => board.status.bird.state === 'applied');
    data.text = 'bad\n';
    await runtime.run();
    await until(() => readFileSync(join(directory, 'web.conf'), 'utf8') === 'one\n');
    expect(store.current?.number).toBe(1);
    expect(board.status.config).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('refused'),
    });
  });

  it('goes back past generations that were refused, too', async () => {
    const { runtime, data, store, board, directory } = await setUp({
      plan: ({ directory }) => ({
        reloads: [command(refuseWhen('bad'))],
        checks: [command(`while test -e ${directory}/slow; do sleep 0.02; done; true {{src}}`)],
      }),
    });
    await runtime.run();
    await until(() => board.status.bird.state === 'applied');
    data.text = 'bad 1\n';
    writeFileSync(join(directory, 'slow'), '');
    const second = runtime.run();
    await rm(join(directory, 'slow'));
    await second;
    // Staged on top of the second before that is taken back.
    data.text = 'bad 2\n';
    writeFileSync(join(directory, 'slow'), '');
    const third = runtime.run();
    await until(() => store.current?.number === 1);
    await rm(join(directory, 'slow'));
    await third;
    const current: (number | undefined)[] = [];
    await until(() => {
      if (current.at(-1) !== store.current?.number) current.push(store.current?.number);
      return store.state.value.verdicts.length === 2 && current.at(-1) === 1;
    });
    expect(current).not.toContain(2);
  });

  it('serves and copies the newer generation when an older one is refused while that is published', async () => {
    let isOpen = true;
    let store: Store | null = null;
    const fs: CacheFs = {
      ...nodeFs,
      async writeFileAtomic(path, bytes) {
        // The copy, after the third one has become current and before it is told.
        if (store?.current?.number === 3 && path.includes('web.conf')) await until(() => isOpen);
        return nodeFs.writeFileAtomic(path, bytes);
      },
    };
    const set = await setUp({
      fs,
      plan: ({ directory }) => ({
        destinations: [copyTo(join(directory, 'web.conf'))],
        reloads: [command(`until test -e ${directory}/go; do sleep 0.02; done; ${refuseWhen('bad')}`)],
      }),
    });
    const { runtime, data, board, directory } = set;
    store = set.store;
    writeFileSync(join(directory, 'go'), '');
    await runtime.run();
    await until(() => board.status.bird.state === 'applied');
    await rm(join(directory, 'go'));
    data.text = 'bad\n';
    await runtime.run();
    data.text = 'good again\n';
    isOpen = false;
    const running = runtime.run();
    await until(() => set.store.current?.number === 3);
    writeFileSync(join(directory, 'go'), '');
    await until(() => set.store.state.value.verdicts.length > 0);
    isOpen = true;
    await running;
    await until(() => board.status.bird.state === 'applied');
    expect(set.store.current?.number).toBe(3);
    expect(readFileSync(join(directory, 'web.conf'), 'utf8')).toBe('good again\n');
    expect(board.status.config.state).toBe('good');
  });
});
