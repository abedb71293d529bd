import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { type CheckedFile, checkStaged, type Scan } from '../../../src/reload/check.ts';
import { findLocalBird, type LocalBird, probeLocalBird } from '../../../src/reload/local-bird.ts';
import type { BirdClient } from '../../../src/reload/socket-client.ts';
import type { Dialect } from '../../../src/render/types.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { BIRDS, BROKEN, config, connect, MARK_A } from './configs.ts';

const bird20 = requireBinary(binaries.bird20, 'bird20');
const bird16 = requireBinary(binaries.bird16, 'bird16');
const deps = { clock: systemClock };

/** A stand-in for the real scan: finds what crashes BIRD 2 and 3. */
const scan: Scan = (content) =>
  /"[^"]{4096,}"/.test(Buffer.from(content).toString()) ? [{ line: 2, message: 'string too long' }] : [];

const DEADLY = config(MARK_A, `define x = "${'a'.repeat(4_096)}";\n`);

let dir: string;

beforeEach(async (context) => {
  dir = await makeDir('bfr');
  context.onTestFinished(() => removeDir(dir));
});

interface CheckWith {
  readonly local?: LocalBird | null;
  readonly client?: BirdClient | null;
  readonly birdVersion?: string | null;
  readonly dialect?: Dialect | null;
  readonly file?: string;
  readonly scan?: Scan;
}

async function check(text: string, how: CheckWith = {}) {
  const file: CheckedFile = {
    file: how.file ?? 'bird.conf',
    local: how.local ?? null,
    client: how.client ?? null,
    birdVersion: how.birdVersion ?? how.client?.version ?? null,
  };
  await writeFile(join(dir, file.file), text);
  return checkStaged(dir, [file], { ...deps, dialect: how.dialect ?? null, scan: how.scan ?? scan });
}

async function running(under = bird20): Promise<{ bird: BirdDaemon; client: BirdClient }> {
  const bird = await BirdDaemon.start(under, { config: config(MARK_A) });
  onTestFinished(() => bird.close());
  const client = await connect(bird.socket);
  onTestFinished(() => client.close());
  return { bird, client };
}

describe.each(BIRDS)('bird -p of $name', (under) => {
  const binary = requireBinary(under.binary, under.name);

  test('passes, fails with the line, and survives what kills it', async () => {
    const local = await probeLocalBird(binary.bird, deps);
    expect(local).toEqual({ path: binary.bird, version: binary.version });
    expect(await check(config(MARK_A), { local })).toMatchObject({ type: 'passed', how: 'bird -p' });
    const failed = await check(BROKEN, { local });
    expect(failed).toMatchObject({ type: 'failed', file: 'bird.conf', line: 3, birdVersion: binary.version });
    expect(failed.type === 'failed' && failed.message).not.toContain(dir);
    const deadly = await check(DEADLY, { local });
    if (under.major === 1) expect(deadly.type).toBe('passed');
    else
      expect(deadly).toMatchObject({
        type: 'failed',
        message: expect.stringMatching(/died of SIG(ABRT|SEGV)/),
      });
  });

  test('takes a missing include for a condition', async () => {
    const local = await probeLocalBird(binary.bird, deps);
    const outcome = await check(config(MARK_A, `include "${dir}/none";\n`), { local });
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_FILE' } });
  });
});

describe('which binary', () => {
  test('bird6.cfg is parsed by bird6', async () => {
    const v6 = config(MARK_A, 'protocol static { route fd00::/8 blackhole; }\n');
    const path = findLocalBird('bird6.cfg', bird16.bird, {});
    expect(path).toBe(bird16.bird6);
    const local = await probeLocalBird(path ?? '', deps);
    expect(await check(v6, { local, file: 'bird6.cfg' })).toMatchObject({ type: 'passed' });
    const wrong = await probeLocalBird(findLocalBird('bird.cfg', bird16.bird, {}) ?? '', deps);
    expect(await check(v6, { local: wrong, file: 'bird6.cfg' })).toMatchObject({ type: 'failed' });
  });

  test('is looked for on the PATH; what is no BIRD is none', async () => {
    expect(findLocalBird('bird.conf', null, { PATH: `/nowhere:${join(bird20.bird, '..')}` })).toBe(
      bird20.bird,
    );
    expect(findLocalBird('bird.conf', '/no/such/bird', {})).toBeNull();
    expect(await probeLocalBird('/bin/true', deps)).toBeNull();
    expect(await probeLocalBird('/no/such/bird', deps)).toBeNull();
  });

  test('of another version than the running BIRD is not asked', async () => {
    const { client } = await running();
    const local = await probeLocalBird(bird16.bird, deps);
    // A channel is an error in 1.6.
    const modern = config(MARK_A, 'protocol static { ipv4; }\n');
    expect(await check(modern, { local, client })).toMatchObject({ type: 'passed', how: 'configure check' });
  });

  test('that does not read the dialect is not asked either', async () => {
    const local = await probeLocalBird(bird20.bird, deps);
    for (const dialect of ['bird1', 'bird1-calico'] as const) {
      const outcome = await check(config(MARK_A), { local, dialect });
      expect(outcome).toMatchObject({ type: 'not-checked', why: expect.stringContaining('2.0.12') });
    }
    const old = await probeLocalBird(bird16.bird, deps);
    expect(await check(config(MARK_A), { local: old, dialect: 'bird1' })).toMatchObject({ type: 'passed' });
    expect(await check(config(MARK_A), { local: old, dialect: 'bird1-calico' })).toMatchObject({
      type: 'not-checked',
    });
  });
});

describe('without a binary', () => {
  test('the running BIRD is asked', async () => {
    const { client } = await running();
    expect(await check(config(MARK_A), { client })).toMatchObject({ type: 'passed', how: 'configure check' });
    expect(await check(BROKEN, { client })).toMatchObject({ type: 'failed', file: 'bird.conf', line: 3 });
  });

  test('what would kill the running BIRD is found before it is asked', async () => {
    const { bird, client } = await running();
    expect(await check(DEADLY, { client })).toMatchObject({
      type: 'failed',
      line: 2,
      message: 'string too long',
    });
    expect(bird.isRunning).toBe(true);
    expect((await bird.cmd('show status')).code).toBe('0013');
  });

  test('a BIRD that dies during the check has given no verdict', async () => {
    const { client } = await running();
    const outcome = await check(DEADLY, { client, scan: () => [] });
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_DIED' } });
  });

  test('a cache that BIRD does not see at the same path leaves it unchecked, and says why', async () => {
    const { client } = await running();
    // Two containers with different mounts, as far as BIRD can tell: the file is there for us, and not for it.
    const vanishing: Scan = () => {
      rmSync(join(dir, 'bird.conf'));
      return [];
    };
    const outcome = await check(config(MARK_A), { client, scan: vanishing });
    expect(outcome).toMatchObject({ type: 'not-checked', why: expect.stringContaining('same path') });
  });

  test('and without a BIRD nothing is checked but the bytes', async () => {
    expect(await check(config(MARK_A))).toMatchObject({
      type: 'not-checked',
      why: expect.stringContaining('no bird binary'),
    });
    expect(await check(DEADLY)).toMatchObject({ type: 'failed' });
  });
});

test('of two files the worse outcome counts', async () => {
  const local = await probeLocalBird(bird16.bird, deps);
  await writeFile(join(dir, 'bird.cfg'), config(MARK_A));
  await writeFile(join(dir, 'other.cfg'), BROKEN);
  const file = (name: string): CheckedFile => ({ file: name, local, client: null, birdVersion: null });
  const outcome = await checkStaged(dir, [file('bird.cfg'), file('other.cfg')], {
    ...deps,
    dialect: 'bird1',
    scan,
  });
  expect(outcome).toMatchObject({ type: 'failed', file: 'other.cfg' });
});
