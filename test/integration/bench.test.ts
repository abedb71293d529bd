import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { binaries, requireBinary, requireNamespaces } from '../support/binaries.ts';
import { testDir } from '../support/tmp.ts';
import { until } from '../support/wait.ts';

requireBinary(binaries.etcd35, 'etcd35');

const BENCH = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));
/** As small as it gets: what is tested is the benchmark, not birdfeed. */
const TINY = ['--quick', '--no-build', '--changes', '1', '--runs', '1', '--storm', '20', '--events', '20'];

// biome-ignore lint/suspicious/noExplicitAny: a document for machines, looked at here member by member
type Document = any;

async function bench(...args: string[]): Promise<{ code: number; document: Document; table: string }> {
  const child = spawn(process.execPath, [BENCH, ...TINY, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let table = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    table += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, document: text === '' ? null : JSON.parse(text), table };
}

it('leaves no etcd and nothing of it behind when it is ended', async () => {
  const child = spawn(process.execPath, [BENCH, ...TINY, '--nodes', '20'], { stdio: 'ignore' });
  const ended = once(child, 'close');
  const { pid, data } = await until(() => etcdOf(child.pid!), { timeout: 60_000, what: 'etcd' });
  child.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  await until(() => !existsSync(`/proc/${pid}`), { what: 'the end of etcd' });
  expect(existsSync(data)).toBe(false);
}, 90_000);

/** The etcd that a process has started and that has written data, if there is one. */
function etcdOf(parent: number): { readonly pid: string; readonly data: string } | null {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ');
  for (const pid of children.filter((text) => text !== '')) {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const data = args[args.indexOf('--data-dir') + 1];
    if (args.includes('--data-dir') && existsSync(join(data!, 'member'))) return { pid, data: data! };
  }
  return null;
}

describe('a tiny run', () => {
  let run: Awaited<ReturnType<typeof bench>>;

  beforeAll(async () => {
    run = await bench('--nodes', '20');
  }, 300_000);

  it('prints one document of every case', () => {
    expect(run.table).not.toContain('FAILED');
    expect(run.code).toBe(0);
    expect(run.document.sizes.map(({ name }: { name: string }) => name)).toEqual(['20']);
    for (const size of run.document.sizes) {
      expect(Object.keys(size)).toEqual(
        expect.arrayContaining([
          'floors',
          'onetime',
          'boot',
          'change',
          'irrelevant',
          'loop',
          'memory',
          'storm',
        ]),
      );
      expect(run.table).toContain(`${size.nodes} nodes of`);
    }
  });

  it('has a floor or a peer beside each figure, and the ratio to it', () => {
    const [plain] = run.document.sizes;
    for (const size of [plain]) {
      expect(size.floors.putToEventMs.p50).toBeGreaterThan(0);
      expect(size.floors.publishMs.p50).toBeGreaterThan(0);
      expect(size.change.noCheck.toFloor).toBeGreaterThan(0);
      expect(size.boot.toNodeStart).toBeGreaterThan(1);
    }
    // Where there is no confd, that is what it says.
    if (run.document.versions.confd === null) expect(plain.onetime.confd).toBe('not measured');
    else {
      expect(plain.onetime.toConfd).toBeGreaterThan(0);
      expect(plain.change.noCheck.toConfd).toBeGreaterThan(0);
      expect(plain.change.confd.sameSessions).toBe(true);
    }
  });

  it('measures a cluster with policies, for which confd has no template', async () => {
    const { code, document } = await bench('--nodes', '10:3:2', '--only', 'floors,boot,onetime');
    const [size] = document.sizes;
    expect(code).toBe(0);
    expect(size).toMatchObject({ name: '10:3:2', nodes: 10, peers: 3, filters: 2 });
    expect(size.onetime.confd).toBe('not measured');
  }, 120_000);

  it('judges no cluster that the budgets are not for', () => {
    const { apply, rows } = run.document.budgets;
    expect(apply).toBe(false);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.every(({ met }: { met: boolean | null }) => met === null)).toBe(true);
  });

  it('is compared with a stored one, and fails where a ratio got much worse', async () => {
    const stored = join(await testDir(), 'stored.json');
    writeFileSync(stored, JSON.stringify(run.document));
    const same = await bench('--nodes', '20', '--only', 'floors', '--compare', stored);
    expect(same.table).toContain('no guarded figure is worse by half');
    expect(same.code).toBe(0);

    run.document.sizes[0].boot.toNodeStart = 0.01;
    writeFileSync(stored, JSON.stringify(run.document));
    const worse = await bench('--nodes', '20', '--only', 'boot', '--compare', stored);
    expect(worse.table).toMatch(/20\.boot\.toNodeStart .* WORSE/);
    expect(worse.code).toBe(1);
  }, 60_000);
});

describe('a BIRD that does not start', () => {
  requireNamespaces();

  it('is reported, and the run ends with the figures that there are', async () => {
    const bird = join(await testDir(), 'bird');
    // Parses everything, runs nothing.
    const script = 'case "$*" in *--version*) echo BIRD version 2.0.12;; *-p*) ;; *) exit 1;; esac';
    writeFileSync(bird, `#!/bin/sh\n${script}\n`);
    chmodSync(bird, 0o755);
    const { code, document } = await bench('--nodes', '20', '--only', 'boot,storm', '--bird', bird);
    const [size] = document.sizes;
    expect(size.boot.toNodeStart).toBeGreaterThan(1);
    expect(size.failed.storm).toContain('waiting for BIRD: it ended');
    expect(code).toBe(1);
  }, 120_000);
});
