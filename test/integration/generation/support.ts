import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { type CacheFs, nodeFs } from '../../../src/generation/fs.ts';
import { openStore, type Store, type StoreOptions } from '../../../src/generation/store.ts';
import type { Generation, PublishRequest, Refusal, StampInput } from '../../../src/generation/types.ts';
import { type Expectation, isRefusal } from '../../../src/generation/verify.ts';
import { testDir } from '../../support/tmp.ts';

export const isRoot = process.getuid?.() === 0;

export const mine: Expectation = { set: 'default', nodeName: 'n1', dialect: 'bird2' };

export function openTestStore(cacheDir: string, options: Partial<StoreOptions> = {}): Store {
  return openStore({
    cacheDir,
    set: 'default',
    version: '0.0.1',
    clock: systemClock,
    log: silentLogger,
    ...options,
  });
}

/** A cache directory of the running test, and a store on it that is ready to publish. */
export async function preparedStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = openTestStore(join(await testDir(), 'cache'), options);
  await store.prepare();
  return store;
}

/** A request whose two files and digest follow from `text`. */
export function request(text: string, stamp: Partial<StampInput> = {}): PublishRequest {
  return {
    files: [
      { name: 'bird.cfg', content: [Buffer.from(`# ${text}\n`.repeat(20))] },
      { name: 'bird6.cfg', content: [Buffer.from(`# six ${text}\n`)] },
    ],
    stamp: {
      set: 'default',
      nodeName: 'n1',
      dialect: 'bird2',
      contentDigest: createHash('sha256').update(text).digest('hex'),
      templatesDigest: 't',
      renderTime: null,
      mounts: [],
      sessions: [
        { name: 'Mesh_1', address: '10.0.0.2', family: 4, asNumber: 64512, type: 'mesh', hardDigest: 'h' },
      ],
      census: { counts: { Node: 2 }, address4: '10.0.0.1', address6: null },
      ...stamp,
    },
  };
}

export async function publish(store: Store, text: string, stamp?: Partial<StampInput>): Promise<Generation> {
  const stage = await store.stage(request(text, stamp));
  try {
    return await stage.seal();
  } catch (error) {
    // Its writes may still be under way, and would meet a directory that a sweep takes away.
    await stage.discard();
    throw error;
  }
}

/** The verified generation, or a failed test. */
export function sound(found: Generation | Refusal | null): Generation {
  if (found === null || isRefusal(found)) throw new Error(`not fit: ${found?.message ?? 'nothing there'}`);
  return found;
}

/** Names in a store's folders that belong to nothing finished. */
export async function litter(store: Store): Promise<readonly string[]> {
  const names = [...(await readdir(store.layout.root)), ...(await readdir(store.layout.generations))];
  return names.filter((name) => name.startsWith('.'));
}

/**
 * One line per call, with paths as seen from `root`, and `synced PATH` when an fsync has come to its end, which takes a
 * little longer here than on a fast disk. `intercept` runs before each call and may fail it.
 */
export function recordingFs(
  root: string,
  log: string[],
  intercept: (call: string, path: string) => void = () => undefined,
): CacheFs {
  const short = (value: unknown): string =>
    typeof value !== 'string'
      ? ''
      : value
          .replace(`${root}/`, '')
          .replace(root, '.')
          .replace(/\.(stage|current|prune)-\w+/, '.$1');
  const wrap = <T extends object>(target: T, prefix: (method: string, args: unknown[]) => string): T =>
    new Proxy(target, {
      get(of, method) {
        const member = Reflect.get(of, method);
        if (typeof member !== 'function' || typeof method !== 'string') return member;
        return async (...args: unknown[]) => {
          const call = prefix(method, args);
          intercept(call, typeof args[0] === 'string' ? args[0] : '');
          log.push(call);
          const result: unknown = await Reflect.apply(member, of, args);
          if (method === 'sync' || method === 'syncDirectory') {
            await new Promise((resolve) => setTimeout(resolve, 3));
            log.push(call.replace(/^\w+/, 'synced'));
          }
          if (method !== 'open') return result;
          return wrap(result as object, (inner) => `${inner} ${short(args[0])}`);
        };
      },
    });
  return wrap(nodeFs, (method, args) =>
    [method, ...args.slice(0, method === 'rename' || method === 'symlink' ? 2 : 1).map(short)].join(' '),
  );
}

/** Runs `work` with another effective user and group, and no supplementary groups but `groups`. */
export async function asUser<T>(
  id: { uid: number; gid: number; groups?: number[] },
  work: () => Promise<T>,
): Promise<T> {
  process.setgroups!(id.groups ?? [id.gid]);
  process.setegid!(id.gid);
  process.seteuid!(id.uid);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
    process.setgroups!([0]);
  }
}

/** Runs `work` under another umask. */
export async function withUmask<T>(mask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(mask);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

/** Mounts for the running test; undone when it ends. */
export async function mount(at: string, ...args: string[]): Promise<void> {
  execFileSync('mount', [...args, at]);
  onTestFinished(() => void spawnSync('umount', ['-l', at]));
}

export async function smallDisk(kilobytes: number): Promise<string> {
  const at = join(await testDir(), 'disk');
  await mkdir(at);
  await mount(at, '-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs');
  return at;
}

/** Whether file systems can be mounted here, tried once. */
export function canMount(): boolean {
  if (!isRoot) return false;
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
}

/** A script of this folder as something that Node runs. */
export async function bundled(script: string): Promise<string> {
  const outfile = join(await testDir(), `${script}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, script)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url), __filename = import.meta.filename;",
    },
  });
  return outfile;
}

/** An asymmetric matcher for a BirdfeedError with this code and these texts, in this order, in its message. */
export function expectCode(code: string, ...texts: string[]): unknown {
  const escaped = texts.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return expect.objectContaining({
    code,
    message: expect.stringMatching(new RegExp(escaped.join('.*'), 's')),
  });
}
