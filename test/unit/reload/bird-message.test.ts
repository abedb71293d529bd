import { describe, expect, test } from 'vitest';
import { BirdfeedError } from '../../../src/core/errors.ts';
import {
  blamesOtherFile,
  findBirdMessage,
  parseBirdMessage,
  unreadableReason,
} from '../../../src/reload/bird-message.ts';
import type { CommandResult } from '../../../src/reload/command.ts';
import { judgeParse } from '../../../src/reload/local-bird.ts';

describe('a message of BIRD', () => {
  test.each([
    ['1.6', 'bird: /c/bird.cfg:3:18 syntax error', 'syntax error'],
    ['1.6, IPv6', 'bird6: /c/bird.cfg:3:18 syntax error', 'syntax error'],
    [
      '2.x',
      'bird: /c/bird.cfg:3:18 syntax error, unexpected CF_SYM_UNDEFINED',
      'syntax error, unexpected CF_SYM_UNDEFINED',
    ],
    ['3.x', 'bird: 2026-11-30 14:03:53.308 [0001] <FATAL> /c/bird.cfg:3:18 syntax error', 'syntax error'],
    ['a reply', '/c/bird.cfg:3:18 syntax error', 'syntax error'],
    ['older 1.x', 'bird: /c/bird.cfg, line 3: syntax error', 'syntax error'],
  ])('of %s has file, line and text', (_of, text, message) => {
    expect(parseBirdMessage(text)).toEqual({ file: '/c/bird.cfg', line: 3, message });
  });

  test('is found behind warnings', () => {
    const output = [
      'bird: 2026-11-30 12:39:59.263 [0000] <WARN> /c/bird.conf:9:1 Missing authentication option, assuming MD5',
      'bird: 2026-11-30 12:39:59.264 [0000] <FATAL> /c/bird.conf:12:1 syntax error',
      '',
    ].join('\n');
    expect(findBirdMessage(output)).toMatchObject({ line: 12, message: 'syntax error' });
  });

  test('about a file that cannot be opened is told from one about its content', () => {
    const reason = (text: string) => unreadableReason(parseBirdMessage(text), '/c/x.conf');
    expect(reason('/c/x.conf: No such file or directory')).toBe('No such file or directory');
    expect(reason('bird: Unable to open configuration file /c/x.conf: Permission denied')).toBe(
      'Permission denied',
    );
    expect(reason('/c/x.conf:3:1 syntax error')).toBeNull();
    expect(reason('/c/y.conf: No such file or directory')).toBeNull();
    const other = (text: string) => blamesOtherFile(parseBirdMessage(text));
    expect(other('/c/x.conf:2:10 Unable to open included file /c/n: No such file or directory')).toBe(true);
    expect(other("/c/x.conf:1:24 Unable to open log file '/n/x.log': No such file or directory")).toBe(true);
    expect(other('/c/x.conf:2:10 syntax error')).toBe(false);
  });
});

describe('the end of bird -p', () => {
  const end = (change: Partial<CommandResult>) =>
    judgeParse(
      { exitCode: null, signal: null, output: '', stoppedBy: null, durationMs: 1, ...change },
      '/c/bird.conf',
      '2.0.12',
    );

  test('0 passes, with warnings too', () => {
    expect(end({ exitCode: 0, output: 'bird: <WARN> x' })).toMatchObject({ type: 'passed', how: 'bird -p' });
  });

  test.each([
    [{ signal: 'SIGABRT' }, 'SIGABRT'],
    [{ signal: 'SIGSEGV' }, 'SIGSEGV'],
    [{ exitCode: 139 }, 'SIGSEGV'],
    [{ exitCode: 134 }, 'SIGABRT'],
  ] as const)('a crash fails: %j', (change, name) => {
    expect(end(change)).toMatchObject({ type: 'failed', message: expect.stringContaining(name) });
  });

  test('being killed from outside is a condition, a time-out too', () => {
    expect(end({ signal: 'SIGKILL' })).toMatchObject({ type: 'condition' });
    const timeout = end({ signal: 'SIGTERM', stoppedBy: 'timeout' });
    expect(timeout.type === 'condition' && timeout.error).toBeInstanceOf(BirdfeedError);
    expect(timeout).toMatchObject({ error: { code: 'BF_BIRD_TIMEOUT' } });
  });

  test('a refusal has its place; one without says what BIRD said', () => {
    expect(end({ exitCode: 1, output: 'bird: /c/bird.conf:7:1 syntax error\n' })).toMatchObject({
      type: 'failed',
      file: '/c/bird.conf',
      line: 7,
    });
    expect(end({ exitCode: 1, output: 'bird: odd\n' })).toMatchObject({
      type: 'failed',
      line: null,
      message: 'odd',
    });
    expect(end({ exitCode: 3 })).toMatchObject({
      type: 'failed',
      message: expect.stringContaining('exit status 3'),
    });
  });
});
