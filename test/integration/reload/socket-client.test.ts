import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readMark } from '../../../src/reload/bird.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { config, connect, MARK_A } from './configs.ts';

let dir: string;

beforeEach(async (context) => {
  dir = await makeDir('bfr');
  context.onTestFinished(() => removeDir(dir));
});

describe('with a real BIRD', () => {
  const binary = requireBinary(binaries.bird20, 'bird20');
  const start = async (): Promise<BirdDaemon> => {
    const bird = await BirdDaemon.start(binary, { config: config(MARK_A), socket: join(dir, 'bird.ctl') });
    onTestFinished(() => bird.close());
    return bird;
  };

  test('commands are answered in order, each with its own reply', async () => {
    const client = await connect((await start()).socket);
    onTestFinished(() => client.close());
    const replies = await Promise.all(
      ['eval 1', 'show status', 'bogus', 'eval 2'].map((text) => client.command(text)),
    );
    expect(replies.map(({ code }) => code)).toEqual(['0023', '0013', '9001', '0023']);
    expect([replies[0]?.text, replies[3]?.text]).toEqual(['1', '2']);
  });

  test('death is noticed while idle, and in the middle of a command', async () => {
    const bird = await start();
    const idle = await connect(bird.socket);
    const busy = await connect(bird.socket);
    let seen: unknown = null;
    idle.onClose((error) => {
      seen = error;
    });
    bird.signal('SIGSTOP');
    const command = busy.command('show status');
    const waiting = busy.command('eval 1');
    const ended = Promise.allSettled([command, waiting]);
    await bird.kill9();
    for (const result of await ended) expect(result).toMatchObject({ reason: { code: 'BF_BIRD_DIED' } });
    await until(() => seen !== null);
    expect(seen).toMatchObject({ code: 'BF_BIRD_UNREACHABLE' });
    await expect(busy.command('eval 1')).rejects.toMatchObject({ code: 'BF_BIRD_DIED' });
  });

  test('a hung BIRD is given up in time, when connecting and when asking', async () => {
    const bird = await start();
    const client = await connect(bird.socket);
    bird.signal('SIGSTOP');
    await expect(client.command('show status', 100)).rejects.toMatchObject({ code: 'BF_BIRD_TIMEOUT' });
    expect(client.closed).toMatchObject({ code: 'BF_BIRD_TIMEOUT' });
    await expect(connect(bird.socket, undefined, 100)).rejects.toMatchObject({ code: 'BF_BIRD_TIMEOUT' });
    bird.signal('SIGCONT');
    const again = await connect(bird.socket);
    onTestFinished(() => again.close());
    expect(await readMark(again)).toBe(MARK_A);
  });

  test('a stale socket says that BIRD is dead, a missing one that it is not started', async () => {
    const bird = await start();
    await bird.kill9();
    await expect(connect(bird.socket)).rejects.toMatchObject({
      code: 'BF_BIRD_UNREACHABLE',
      message: expect.stringContaining('dead'),
    });
    await expect(connect(join(dir, 'none.ctl'))).rejects.toMatchObject({
      code: 'BF_BIRD_UNREACHABLE',
      message: expect.stringContaining('not started'),
    });
  });

  test.skipIf(process.getuid?.() !== 0)('a lack of permission names what has to change', async () => {
    const bird = await start();
    const asNobody = async () => {
      const groups = process.getgroups?.() ?? [];
      process.setgroups?.([65_534]);
      process.setegid?.(65_534);
      process.seteuid?.(65_534);
      return connect(bird.socket)
        .catch((error: unknown) => error)
        .finally(() => {
          process.seteuid?.(0);
          process.setegid?.(0);
          process.setgroups?.(groups);
        });
    };
    expect(await asNobody()).toMatchObject({
      code: 'BF_BIRD_PERMISSION',
      message: expect.stringContaining(`enter ${dir}`),
    });
    await chmod(dir, 0o755);
    expect(await asNobody()).toMatchObject({
      code: 'BF_BIRD_PERMISSION',
      message: expect.stringMatching(/owner 0, group 0, mode 0660.*add us to group 0/),
    });
  });

  test('closing by us is no death and tells nobody', async () => {
    const client = await connect((await start()).socket);
    let told = false;
    client.onClose(() => {
      told = true;
    });
    const command = client.command('show status');
    client.close();
    await expect(command).rejects.toMatchObject({ code: 'BF_BIRD_UNREACHABLE' });
    expect(told).toBe(false);
  });

  test('commands that BIRD would drop the connection for are not sent', async () => {
    const client = await connect((await start()).socket);
    onTestFinished(() => client.close());
    await expect(client.command(`show protocols ${'x'.repeat(900)}`)).rejects.toMatchObject({
      code: 'BF_BIRD_PROTOCOL',
    });
    await expect(client.command('eval 1\ndown')).rejects.toMatchObject({ code: 'BF_BIRD_PROTOCOL' });
    expect((await client.command('eval 1')).text).toBe('1');
  });
});

test('a plain file and a path that is too long say what is wrong', async () => {
  const file = join(dir, 'file');
  await writeFile(file, '');
  await expect(connect(file)).rejects.toMatchObject({ message: expect.stringContaining('not a socket') });
  await expect(connect(`/${'x'.repeat(120)}`)).rejects.toMatchObject({
    message: expect.stringContaining('107 bytes'),
  });
});

/** Replies that a real BIRD cannot be made to give on demand. */
describe('with a scripted other side', () => {
  const serve = async (
    onLine: (line: string, socket: Socket) => void,
    banner = '0001 BIRD 2.0.12 ready.\n',
  ) => {
    const path = join(dir, 'fake.ctl');
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.setNoDelay(true);
      socket.write(banner);
      socket.on('data', (data) => onLine(data.toString(), socket));
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    return path;
  };

  test('a reply in single bytes, with notices glued to it, is one reply', async () => {
    const notices: string[] = [];
    const path = await serve((_line, socket) => {
      const bytes = Buffer.from('+one\n1000-BIRD\n+two\n  x\n0013 up\n+three\n');
      let i = 0;
      const timer = setInterval(() => {
        if (i === bytes.length) clearInterval(timer);
        else socket.write(bytes.subarray(i, ++i));
      }, 0);
    });
    const client = await connect(path, (text) => notices.push(text));
    onTestFinished(() => client.close());
    expect((await client.command('show status')).lines.map(({ text }) => text)).toEqual(['BIRD', ' x', 'up']);
    await until(() => notices.length === 3);
  });

  test('garbage ends the connection with the text that was got', async () => {
    const client = await connect(
      await serve((_line, socket) => void socket.write('1000-ok\nHTTP/1.1 400\n')),
    );
    await expect(client.command('show status')).rejects.toMatchObject({
      code: 'BF_BIRD_PROTOCOL',
      message: expect.stringContaining('HTTP/1.1 400'),
    });
  });

  test('another greeting is not BIRD', async () => {
    const path = await serve(() => {}, '220 mail ready\n');
    await expect(connect(path)).rejects.toMatchObject({ code: 'BF_BIRD_PROTOCOL' });
  });

  test('an answer to no question ends the connection: replies and questions are out of step', async () => {
    const client = await connect(await serve((_line, socket) => void socket.write('0023 1\n0023 2\n')));
    expect((await client.command('eval 1')).text).toBe('1');
    await until(() => client.closed?.code === 'BF_BIRD_PROTOCOL');
  });

  test('a reply without an end does not fill the memory', async () => {
    const row = `1002-${'x'.repeat(1_000)}\n`.repeat(1_000);
    const path = await serve((_line, socket) => {
      for (let i = 0; i < 40; i += 1) socket.write(row);
      socket.write('0000 \n');
    });
    const client = await connect(path);
    onTestFinished(() => client.close());
    const reply = await client.command('show protocols');
    expect(reply).toMatchObject({ code: '0000', truncated: true });
    expect(reply.lines.length).toBeLessThan(20_000);
  });
});
