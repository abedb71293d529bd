import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import {
  checkOnSocket,
  confirm,
  findMark,
  loadFile,
  readMark,
  showProtocols,
  showStatus,
  undo,
} from '../../../src/reload/bird.ts';
import type { BirdClient } from '../../../src/reload/socket-client.ts';
import { requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { makeDir, removeDir, testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { BIRDS, BROKEN, config, connect, MARK_A, MARK_B, peers } from './configs.ts';

const clock = systemClock;

describe.each(BIRDS)('$name', (under) => {
  const binary = requireBinary(under.binary, under.name);
  let dir: string;
  let bird: BirdDaemon;
  let client: BirdClient;

  beforeAll(async () => {
    dir = await makeDir('bfr');
    // BIRD names protocols and times in its own format; the long one has a space in it.
    bird = await BirdDaemon.start(binary, { config: config(MARK_A, 'timeformat protocol iso long;\n') });
    client = await connect(bird.socket);
  });
  afterAll(async () => {
    client.close();
    await bird.close();
    await removeDir(dir);
  });

  const file = async (name: string, text: string): Promise<string> => {
    const path = join(dir, name);
    await writeFile(path, text);
    return path;
  };
  const load = (path: string, mark: string | null = null) => loadFile(client, path, { clock, mark });

  test('tells its version in the banner', () => {
    expect(client.version).toBe(under.binary?.version);
  });

  test('applies a file and proves it by the mark', async () => {
    const text = config(MARK_B);
    expect(findMark(Buffer.from(text))).toBe(MARK_B);
    expect(await load(await file('b.conf', text), MARK_B)).toEqual({ type: 'applied', ack: 'mark' });
    expect(await readMark(client)).toBe(MARK_B);
  });

  test('applies a file without a mark, with a weak acknowledgement', async () => {
    expect(await load(await file('plain.conf', config(null)))).toEqual({ type: 'applied', ack: 'weak' });
    expect(await readMark(client)).toBeNull();
  });

  test('says so when BIRD took the file but runs something else', async () => {
    const outcome = await load(await file('other.conf', config(MARK_A)), MARK_B);
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_MISMATCH' } });
    const unmarked = await load(await file('unmarked.conf', config(null)), MARK_B);
    expect(unmarked).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_MISMATCH' } });
  });

  test('reports a refusal with file and line, and keeps what it ran', async () => {
    await load(await file('good.conf', config(MARK_A)), MARK_A);
    const path = await file('bad.conf', BROKEN);
    const outcome = await load(path, MARK_B);
    expect(outcome).toMatchObject({ type: 'refused', birdVersion: client.version });
    expect(outcome.type === 'refused' && outcome.message).toContain(`${path}:3:`);
    expect(await readMark(client)).toBe(MARK_A);
  });

  test('takes a file it cannot open for a condition, not for a refusal', async () => {
    const missing = await load(join(dir, 'gone.conf'), MARK_A);
    expect(missing).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_FILE' } });
    expect(missing.type === 'condition' && missing.error.message).toContain('same path');
    const include = await load(
      await file('inc.conf', config(MARK_A, `include "${dir}/none.conf";\n`)),
      MARK_A,
    );
    expect(include).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_FILE' } });
  });

  test('checks without loading', async () => {
    const before = await readMark(client);
    expect(await checkOnSocket(client, await file('c.conf', config('unused')), 5_000)).toMatchObject({
      code: '0020',
    });
    expect(await checkOnSocket(client, await file('d.conf', BROKEN), 5_000)).toMatchObject({ code: '8002' });
    expect(await readMark(client)).toBe(before);
  });

  test('goes back one configuration on undo, once', async () => {
    await load(await file('one.conf', config(MARK_A)), MARK_A);
    await load(await file('two.conf', config(MARK_B)), MARK_B);
    const before = (await showStatus(client)).lastReconfiguration;
    expect(await undo(client, { clock })).toBe(true);
    expect(await readMark(client)).toBe(MARK_A);
    expect(await undo(client, { clock })).toBe(false);
    if (before !== null) expect((await showStatus(client)).lastReconfiguration).not.toBeNull();
  });

  test('keeps a confirmed configuration and undoes an unconfirmed one, with a notice', async () => {
    const notices: string[] = [];
    const own = await connect(bird.socket, (text) => notices.push(text));
    onTestFinished(() => own.close());
    const options = { clock, mark: MARK_B, undoAfterSeconds: 60 };
    await load(await file('one.conf', config(MARK_A)), MARK_A);
    expect(await loadFile(own, await file('two.conf', config(MARK_B)), options)).toMatchObject({
      ack: 'mark',
    });
    expect(await confirm(own)).toBe(true);
    expect(await confirm(own)).toBe(false);
    await load(await file('one.conf', config(MARK_A)), MARK_A);
    await loadFile(own, join(dir, 'two.conf'), { ...options, undoAfterSeconds: 1 });
    await until(() => notices.some((text) => text.includes('undo')));
    await until(async () => (await readMark(own)) === MARK_A);
  });

  test('waits for a reconfiguration in progress and for a queued one', async () => {
    const one = await file('p1.conf', config(MARK_A, peers(under, 100, 90)));
    const two = await file('p2.conf', config(MARK_B, peers(under, 100, 120)));
    expect(await load(one, MARK_A)).toMatchObject({ ack: 'mark' });
    const codes: string[] = [];
    const spy = watchCodes(client, codes);
    expect(await load(two, MARK_B)).toMatchObject({ ack: 'mark' });
    // Another client's change is under way when ours arrives: it is queued, and done when we say that it is.
    await client.command(`configure "${one}"`);
    expect(await load(two, MARK_B)).toMatchObject({ ack: 'mark' });
    spy();
    expect(codes.some((code) => code === '0004' || code === '0005')).toBe(true);
    expect((await showStatus(client)).state).toBe('running');
    const rows = await showProtocols(client);
    expect(rows.filter((row) => row.proto === 'BGP')).toHaveLength(100);
    await load(await file('good.conf', config(MARK_A)), MARK_A);
  });

  test('reads sessions with long names, times with spaces and empty infos', async () => {
    const session = peers(under, 1, 90).replace('bgp p0', 'bgp Node_a_name_that_is_wider_than_the_column');
    await load(await file('s.conf', config(MARK_A, `timeformat protocol iso long;\n${session}`)), MARK_A);
    const rows = await showProtocols(client);
    expect(rows.find((row) => row.proto === 'BGP')).toMatchObject({
      name: 'Node_a_name_that_is_wider_than_the_column',
      state: 'start',
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/),
      info: 'Passive',
    });
    expect(rows.find((row) => row.proto === 'Device')).toMatchObject({
      name: 'device1',
      state: 'up',
      info: '',
    });
  });

  test('says what it is', async () => {
    expect(await showStatus(client)).toMatchObject({
      state: 'running',
      version: under.binary?.version,
      routerId: '10.0.0.1',
      lastReboot: expect.stringMatching(/\d/),
      lastReconfiguration: expect.stringMatching(/\d/),
      gracefulRestart: null,
    });
  });

  test('refuses to send a path that BIRD could not be told', async () => {
    const outcome = await load(`${dir}/with"quote.conf`);
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_USAGE' } });
    expect(await load(`/${'x'.repeat(950)}`)).toMatchObject({
      type: 'condition',
      error: { code: 'BF_BIRD_PROTOCOL' },
    });
    expect(client.closed).toBeNull();
  });

  test('names the permission when its socket is restricted', async () => {
    const own = await connect(bird.socket);
    onTestFinished(() => own.close());
    await own.command('restrict');
    const outcome = await loadFile(own, await file('good.conf', config(MARK_A)), { clock, mark: MARK_A });
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_PERMISSION' } });
  });
});

describe('a BIRD under a user of its own', () => {
  const binary = requireBinary(BIRDS[2]?.binary, 'bird20');

  test.skipIf(process.getuid?.() !== 0)('that may not read the file gets it again later', async () => {
    const dir = await testDir('bfr');
    await chmod(dir, 0o777);
    const [path, secret] = [join(dir, 'bird.conf'), join(dir, 'secret.conf')];
    await writeFile(path, config(MARK_A));
    await writeFile(secret, config(MARK_B));
    await chmod(secret, 0o600);
    const options = { config: { path }, socket: join(dir, 'bird.ctl'), args: ['-u', 'nobody'] };
    const bird = await BirdDaemon.start(binary, options);
    onTestFinished(() => bird.close());
    const client = await connect(bird.socket);
    onTestFinished(() => client.close());
    const outcome = await loadFile(client, secret, { clock, mark: MARK_B });
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_FILE' } });
    expect(outcome.type === 'condition' && outcome.error.message).toContain('--file-group');
  });
});

describe.each(BIRDS.filter((bird) => bird.name !== 'bird6_16'))(
  'recovery of $name after a start with -R',
  (under) => {
    const binary = requireBinary(under.binary, under.name);

    test('is told by show status', async () => {
      const session = peers(under, 1, 90).replace('passive;', 'graceful restart on;');
      const text = config(MARK_A, `graceful restart wait 20;\n${session}`);
      const bird = await BirdDaemon.start(binary, { config: text, args: ['-R'] });
      onTestFinished(() => bird.close());
      const client = await connect(bird.socket);
      onTestFinished(() => client.close());
      expect((await showStatus(client)).gracefulRestart).toMatchObject({ waitingFor: 1, waitSeconds: 20 });
    });
  },
);

/** Records the codes of the replies from here on; the returned function ends that. */
function watchCodes(client: BirdClient, codes: string[]): () => void {
  const original = client.command.bind(client);
  client.command = async (...args) => {
    const reply = await original(...args);
    codes.push(reply.code);
    return reply;
  };
  return () => {
    client.command = original;
  };
}
