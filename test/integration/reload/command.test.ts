import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { checkWithCommand } from '../../../src/reload/check.ts';
import { runProgram, runShell } from '../../../src/reload/command.ts';
import { runReloadCommand } from '../../../src/reload/reload-command.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { BROKEN, config, MARK_A } from './configs.ts';

const options = { clock: systemClock, timeoutMs: 10_000 };

let dir: string;

beforeEach(async (context) => {
  dir = await makeDir('bfr');
  context.onTestFinished(() => removeDir(dir));
});

/** The pid that a command wrote to a file. */
const pidFrom = async (name: string): Promise<number> =>
  Number(await until(async () => (await readFile(join(dir, name), 'utf8')).trim()));

/** True while the process runs; a zombie that nobody reaps in a container does not. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
}

describe('a command', () => {
  test('gives its exit status and both outputs', async () => {
    const result = await runShell('echo out; echo err >&2; exit 3', options);
    expect(result).toMatchObject({ exitCode: 3, signal: null, stoppedBy: null });
    expect(result.output).toContain('out\n');
    expect(result.output).toContain('err\n');
  });

  test('keeps only the end of much output', async () => {
    const result = await runShell('head -c 5000000 /dev/zero | tr "\\0" x; echo END', options);
    expect(result.output.length).toBeLessThanOrEqual(64 * 1024);
    expect(result.output.endsWith('END\n')).toBe(true);
  });

  test('that leaves a child behind which holds the output is not waited for', async () => {
    const started = performance.now();
    const result = await runShell(`sleep 30 & echo $! > ${dir}/pid; echo done`, options);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(result).toMatchObject({ exitCode: 0, output: 'done\n' });
    const pid = await pidFrom('pid');
    expect(await isAlive(pid)).toBe(true);
    process.kill(pid);
  });

  test('that hangs is ended with all of its children, also those that ignore SIGTERM', async () => {
    const stubborn = `trap '' TERM; sh -c 'trap "" TERM; echo $$ > ${dir}/child; while :; do sleep 0.1; done' & wait; sleep 60`;
    const result = await runShell(stubborn, { ...options, timeoutMs: 300, graceMs: 200 });
    expect(result).toMatchObject({ stoppedBy: 'timeout', exitCode: null, signal: 'SIGKILL' });
    const child = await pidFrom('child');
    await until(async () => !(await isAlive(child)));
  });

  test('may finish after an abort, within a bound', async () => {
    const abort = new AbortController();
    const quick = runShell(`echo > ${dir}/go; sleep 0.3; echo done`, { ...options, signal: abort.signal });
    await until(() => readFile(join(dir, 'go')));
    abort.abort();
    expect(await quick).toMatchObject({ exitCode: 0, output: 'done\n', stoppedBy: null });
    const slow = runShell('sleep 60', { ...options, signal: abort.signal, abortWaitMs: 100, graceMs: 100 });
    expect(await slow).toMatchObject({ stoppedBy: 'abort', signal: 'SIGTERM' });
  });

  test('that cannot be started says so', async () => {
    await expect(runProgram('/no/such/program', [], options)).rejects.toMatchObject({
      code: 'BF_COMMAND_FAILED',
    });
    await expect(runShell('true', { ...options, cwd: join(dir, 'gone') })).rejects.toMatchObject({
      code: 'BF_COMMAND_FAILED',
    });
  });
});

describe('check_cmd', () => {
  const paths = () => ({ src: join(dir, 'staged file'), dest: '/etc/x' });
  const check = (command: string) =>
    checkWithCommand(command, 'x.conf', paths(), { clock: systemClock, timeoutMs: 300 });

  test('sees the staged file, whatever its name', async () => {
    await writeFile(paths().src, 'good\n');
    expect(await check('grep -q good {{.src}}')).toMatchObject({ type: 'passed', how: 'check_cmd' });
    expect(await check('grep -q good "{{src}}"')).toMatchObject({ type: 'passed' });
    expect(await check('echo "line 3 is wrong"; grep -q bad {{src}}')).toMatchObject({
      type: 'failed',
      file: 'x.conf',
      message: expect.stringContaining('line 3 is wrong'),
    });
  });

  test('that did not look at the file is a condition', async () => {
    for (const command of ['no-such-command-here', '/dev/null {{src}}', 'sleep 60']) {
      expect(await check(command)).toMatchObject({ type: 'condition', error: { code: 'BF_COMMAND_FAILED' } });
    }
  });
});

describe.each([
  ['bird16', binaries.bird16],
  ['bird20', binaries.bird20],
] as const)('reload_cmd with the birdc of %s', (name, found) => {
  const binary = requireBinary(found, name);

  test('is judged by what birdc says', async () => {
    const bird = await BirdDaemon.start(binary, { config: config(MARK_A) });
    onTestFinished(() => bird.close());
    const reload = () =>
      runReloadCommand(
        `${binary.birdc} -s ${bird.socket} configure`,
        { src: '/s', dest: '/d' },
        { clock: systemClock },
      );
    expect(await reload()).toEqual({ type: 'applied', ack: 'weak' });
    await writeFile(bird.configPath, BROKEN);
    expect(await reload()).toMatchObject({ type: 'refused', message: expect.stringContaining(':3:') });
    await bird.kill9();
    expect(await reload()).toMatchObject({ type: 'condition', error: { code: 'BF_BIRD_UNREACHABLE' } });
  });
});
