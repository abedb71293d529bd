import { describe, expect, test } from 'vitest';
import { judgeBirdcOutput, judgeReload } from '../../../src/reload/reload-command.ts';

// Output of the birdc of 1.6.8, 2.0.12 and 2.17.6, which differ in nothing but the version and the objection.
const READING = 'BIRD 1.6.8 ready.\nReading configuration from /c/bird.cfg\n';

describe('the output of birdc configure', () => {
  test.each([
    [`${READING}Reconfigured\n`, 'reconfigured'],
    ['0001 BIRD 1.6.8 ready.\n0002-Reading configuration from b.conf\n0003 Reconfigured\n', 'reconfigured'],
    [`${READING}Reconfiguration in progress\n`, 'in-progress'],
    [`${READING}Reconfiguration already in progress, queueing new config\n`, 'in-progress'],
    [`${READING}Undo scheduled in 300 s\nReconfigured\n`, 'reconfigured'],
    [`${READING}Configuration OK\n`, 'unknown'],
    ["BIRD 1.6.8 ready.\nNo such command. Press `?' for help.\n", 'unknown'],
    ['nginx: configuration file test is successful\n', 'unknown'],
    ['', 'unknown'],
  ])('%j', (output, type) => {
    expect(judgeBirdcOutput(output).type).toBe(type);
  });

  test.each([
    [`${READING}/c/bird.cfg:3:18 syntax error\n`],
    [
      '0001 BIRD 1.6.8 ready.\n0002-Reading configuration from /c/bird.cfg\n8002 /c/bird.cfg:3:18 syntax error\n',
    ],
  ])('with an objection is a refusal: %j', (output) => {
    expect(judgeBirdcOutput(output)).toEqual({
      type: 'refused',
      message: '/c/bird.cfg:3:18 syntax error',
      birdVersion: '1.6.8',
    });
  });

  test.each([
    ['Unable to connect to server control socket (/x): Connection refused\n', 'BF_BIRD_UNREACHABLE'],
    ['Unable to connect to server control socket (/x): Permission denied\n', 'BF_BIRD_PERMISSION'],
    ['BIRD 2.0.12 ready.\nAccess restricted\nAccess denied\n', 'BF_BIRD_PERMISSION'],
    [`${READING}/c/bird.cfg: No such file or directory\n`, 'BF_BIRD_FILE'],
    [
      `${READING}/c/bird.cfg:2:1 Unable to open included file /n: No such file or directory\n`,
      'BF_BIRD_FILE',
    ],
    [`${READING}Reconfiguration ignored, shutting down\n`, 'BF_BIRD_UNREACHABLE'],
  ])('that may be better next time is a condition: %j', (output, code) => {
    expect(judgeBirdcOutput(output)).toMatchObject({ type: 'condition', code });
  });

  test('of two daemons counts as the worse of both', () => {
    const good = `${READING}Reconfigured\n`;
    const bad = `${READING}/c/bird6.cfg:1:1 syntax error\n`;
    expect(judgeBirdcOutput(good + bad).type).toBe('refused');
    expect(judgeBirdcOutput(bad + good).type).toBe('refused');
  });
});

describe('a reload command', () => {
  const result = (output: string, exitCode: number) =>
    judgeReload('cmd', { exitCode, signal: null, output, stoppedBy: null, durationMs: 3 });

  test('that exits 0 over a refusal, as birdc of 1.6 does, is a refusal', () => {
    expect(result(`${READING}/c/bird.cfg:3:18 syntax error\n`, 0).type).toBe('refused');
  });

  test('that exits 0 and says nothing of BIRD is applied, weakly', () => {
    expect(result('ok\n', 0)).toEqual({ type: 'applied', ack: 'weak' });
  });

  test('that fails is a condition with its last words', () => {
    const outcome = result('one\ntwo\n', 3);
    expect(outcome).toMatchObject({ type: 'condition', error: { code: 'BF_COMMAND_FAILED' } });
    expect(outcome.type === 'condition' && outcome.error.message).toBe(
      'reload_cmd "cmd" failed (exit status 3): one; two',
    );
  });
});
