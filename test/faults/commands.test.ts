import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as lasts } from 'node:timers/promises';
import { expect } from 'vitest';
import { startBirdfeed } from '../integration/app/support.ts';
import { binaries, requireBinary } from '../support/binaries.ts';
import { testDir } from '../support/tmp.ts';
import { until } from '../support/wait.ts';
import { fault } from './runs.ts';
import { expectHarmless, makeWorld, putProbe, runsProbe, type World } from './world.ts';

const etcd35 = requireBinary(binaries.etcd35, 'etcd35');

type Kind = 'check_cmd' | 'reload_cmd';

/** What the command does before it would succeed. Each notes its process first, so that a test can look for it. */
const MISBEHAVIOURS = {
  hangs: 'sleep 1000',
  'hangs and will not be told to end': `trap '' TERM; sleep 1000 & wait; sleep 1000`,
  'forks a child that holds its output, and fails': 'sleep 30 & exit 3',
  'prints 50 MB, and fails': 'head -c 50000000 /dev/zero | tr "\\0" x; exit 3',
  'fails once': 'test -e "$0.failed" && exit 0; touch "$0.failed"; exit 3',
  'fails for ever': 'exit 3',
} as const;

interface Commanded extends World {
  readonly script: string;
  readonly dest: string;
  /** Process ids of the runs of the command, in order. */
  ran(): number[];
  /** Makes the command do this; null: succeed. */
  behave(body: string | null): void;
  readonly args: readonly string[];
  readonly kind: Kind;
}

async function makeCommanded(kind: Kind, timeout = '1s'): Promise<Commanded> {
  const directory = await testDir();
  const [confdir, script, dest, log] = ['confdir', 'command.sh', 'motd', 'ran'].map((name) =>
    join(directory, name),
  ) as [string, string, string, string];
  mkdirSync(join(confdir, 'conf.d'), { recursive: true });
  mkdirSync(join(confdir, 'templates'));
  writeFileSync(join(confdir, 'templates', 'motd.njk'), 'says {{ getv("/motd/text", "") }}\n');
  const command = `${kind} = "sh ${script}"\n`;
  const toml = `[template]\nsrc = "motd.njk"\ndest = "${dest}"\nkeys = ["/motd"]\n${command}`;
  writeFileSync(join(confdir, 'conf.d', 'motd.toml'), toml);
  const behave = (body: string | null): void =>
    writeFileSync(script, `echo $$ >> ${log}\n${body ?? 'exit 0'}\n`);
  behave(null);
  const watchArgs = ['--confdir', confdir, '--check-timeout', timeout, '--reload-timeout', timeout];
  const world = await makeWorld(etcd35, { watchArgs });
  const ran = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map(Number) : []);
  return Object.assign(world, { script, dest, ran, behave, args: watchArgs, kind });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
};

const reads = (path: string, text: string, timeout = 20_000) =>
  until(() => existsSync(path) && readFileSync(path, 'utf8') === `says ${text}\n`, {
    timeout,
    every: 10,
    what: `${path} to say ${text}`,
  });

/**
 * The command misbehaves on new content. BIRD is served all the same, the command is not run like mad, and when it is mended
 * the content is checked or loaded without another change.
 */
async function misbehavesOnce(world: Commanded, body: string, index: number): Promise<number> {
  const { etcd, dest, kind } = world;
  const [good, next] = [`good ${index}`, `next ${index}`];
  await etcd.client.put('/motd/text', good);
  await reads(dest, good);
  await world.birdfeed.settled();
  const before = world.ran().length;
  world.behave(body);
  await etcd.client.put('/motd/text', next);
  await until(() => world.ran().length > before, { what: 'the command to run', timeout: 10_000 });
  const runs = world.ran().length;
  await runsProbe(world, await putProbe(world));
  await lasts(1_500);
  // With back-off from one second, and each try taking up to a second.
  expect(world.ran().length - runs).toBeLessThanOrEqual(4);
  const once = body === MISBEHAVIOURS['fails once'];
  if (kind === 'reload_cmd') await reads(dest, next);
  else if (!once) expect(readFileSync(dest, 'utf8')).toBe(`says ${good}\n`);
  if (!once) world.behave(null);
  const mended = performance.now();
  const atMend = world.ran().length;
  if (kind === 'check_cmd') await reads(dest, next);
  else if (!once) await until(() => world.ran().length > atMend, { timeout: 20_000, what: 'another try' });
  const elapsed = performance.now() - mended;
  expectHarmless(world);
  return elapsed;
}

/** Told to end while the command is at it, birdfeed ends in order, and nothing of the command is left. */
async function endsDuring(world: Commanded, body: string, index: number): Promise<number> {
  await world.birdfeed.settled();
  const before = world.ran().length;
  world.behave(body);
  await world.etcd.client.put('/motd/text', `end ${index}`);
  await until(() => world.ran().length > before, { what: 'the command to run', timeout: 20_000 });
  const told = performance.now();
  const code = await world.birdfeed.stop();
  const elapsed = performance.now() - told;
  expect(code).toBe(0);
  const pids = world.ran().slice(before);
  expect(pids.filter(isAlive), 'processes of the command').toEqual([]);
  expectHarmless(world);
  const { commands } = world.taps[0]!;
  const asked = commands.length;
  world.behave(null);
  const { proxy, host } = world;
  const url = `http://127.0.0.1:${proxy.port}`;
  world.birdfeed = await startBirdfeed(host, { url }, world.args);
  await reads(world.dest, `end ${index}`);
  await world.birdfeed.settled();
  // What BIRD ran before, it runs still: nothing to configure.
  expect(commands.slice(asked).filter((command) => command.startsWith('configure'))).toEqual([]);
  return elapsed;
}

for (const kind of ['check_cmd', 'reload_cmd'] as const) {
  for (const [name, body] of Object.entries(MISBEHAVIOURS)) {
    fault(
      `a ${kind} that ${name}`,
      { runs: 3, short: name === 'hangs' && kind === 'reload_cmd' ? 1 : 0, bound: 8_000 },
      () => makeCommanded(kind),
      (world, _random, index) => misbehavesOnce(world, body, index),
    );
  }
  for (const name of ['hangs', 'hangs and will not be told to end', 'prints 50 MB, and fails'] as const) {
    fault(
      `SIGTERM during a ${kind} that ${name}`,
      { runs: 3, short: name === 'hangs' && kind === 'check_cmd' ? 1 : 0, bound: 9_000 },
      () => makeCommanded(kind, '60s'),
      (world, _random, index) => endsDuring(world, MISBEHAVIOURS[name], index),
    );
  }
}
