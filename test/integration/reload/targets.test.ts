import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { MARK_NAME } from '../../../src/reload/bird.ts';
import type { TargetFact } from '../../../src/reload/target-types.ts';
import { type SetOutcome, Targets, type TargetsOptions } from '../../../src/reload/targets.ts';
import type { Target } from '../../../src/reload/types.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon, type BirdOptions } from '../../support/bird-daemon.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { BIRDS, BROKEN, config, generation, MARK_A, MARK_B, peers } from './configs.ts';

const bird20 = requireBinary(binaries.bird20, 'bird20');
const bird16 = requireBinary(binaries.bird16, 'bird16');

const FAST = {
  connectTimeoutMs: 500,
  configureTimeoutMs: 2_000,
  settleTimeoutMs: 10_000,
  readTimeoutMs: 500,
  rereadMs: 150,
  reconnect: { initialMs: 20, maxMs: 50 },
  retry: { initialMs: 20, maxMs: 100 },
};

interface Watched {
  readonly targets: Targets;
  readonly facts: { readonly target: Target; readonly fact: TargetFact }[];
  readonly outcomes: SetOutcome[];
  count(type: TargetFact['type']): number;
}

let dir: string;

beforeEach(async (context) => {
  dir = await makeDir('bfr');
  context.onTestFinished(() => removeDir(dir));
});

function supervise(targets: readonly Target[], options: Partial<TargetsOptions> = {}): Watched {
  const facts: Watched['facts'] = [];
  const outcomes: SetOutcome[] = [];
  const supervised = new Targets({
    targets,
    dialect: null,
    clock: systemClock,
    log: silentLogger,
    timings: FAST,
    onFact: (target, fact) => facts.push({ target, fact }),
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  });
  onTestFinished(() => supervised.stop());
  supervised.start();
  return {
    targets: supervised,
    facts,
    outcomes,
    count: (type) => facts.filter(({ fact }) => fact.type === type).length,
  };
}

async function startBird(options: BirdOptions, binary = bird20): Promise<BirdDaemon> {
  const bird = await BirdDaemon.start(binary, options);
  onTestFinished(() => bird.close());
  return bird;
}

/** Generation with one file, `bird.conf`, that holds the mark. */
const single = (number: number, mark: string | null, text = config(mark)) =>
  generation(dir, number, { 'bird.conf': text }, { 'bird.conf': mark });

const target = (socket: string): Target => ({ file: 'bird.conf', socket });
const applied = (watched: Watched, number: number) => () =>
  watched.targets.outcome.type === 'applied' && watched.targets.outcome.generation === number;

/** Commands sent over the connection that is open now. */
function commands(watched: Watched): string[] {
  const sent: string[] = [];
  const client = watched.targets.supervisors[0]?.client;
  if (client == null) throw new Error('not connected');
  const original = client.command.bind(client);
  client.command = (command, timeoutMs) => {
    sent.push(command);
    return original(command, timeoutMs);
  };
  return sent;
}

/** Resolves when BIRD has been asked three times what it runs: enough to see that nothing else is done about it. */
const rereads = (sent: readonly string[]) =>
  until(() => sent.filter((command) => command.startsWith('eval')).length >= 3);

/** How often BIRD took a configuration; it keeps no count, its log does. */
const LOGGED = 'log stderr all;\n';
const reconfigured = (bird: BirdDaemon): number => bird.output.split('Reconfigured').length - 1;

describe('one BIRD', () => {
  test('that already runs what is wanted is adopted without a configure', async () => {
    const bird = await startBird({ config: LOGGED + config(MARK_A) });
    const watched = supervise([target(bird.socket)]);
    watched.targets.want(await single(7, MARK_A));
    await until(applied(watched, 7));
    expect(watched.facts.map(({ fact }) => fact)).toContainEqual(
      expect.objectContaining({ type: 'applied', ack: 'mark', adopted: true }),
    );
    expect(reconfigured(bird)).toBe(0);
  });

  test('loads what it does not run, by the real path of the generation', async () => {
    const bird = await startBird({ config: LOGGED + config(MARK_A) });
    const watched = supervise([target(bird.socket)]);
    await until(() => watched.count('running') === 1);
    watched.targets.want(await single(8, MARK_B, LOGGED + config(MARK_B)));
    await until(applied(watched, 8));
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_B);
    expect(reconfigured(bird)).toBe(1);
  });

  test('that starts after birdfeed gets the configuration then', async () => {
    const socket = join(dir, 'late.ctl');
    const watched = supervise([target(socket)]);
    watched.targets.want(await single(1, MARK_B));
    await until(() => watched.count('condition') === 1);
    expect(watched.targets.outcome.targets[0]?.result).toMatchObject({
      type: 'pending',
      error: { code: 'BF_BIRD_UNREACHABLE', message: expect.stringContaining('not started') },
    });
    await startBird({ config: config(MARK_A), socket });
    await until(applied(watched, 1));
  });

  test('that was killed is missed at once and served again when it is back', async () => {
    const bird = await startBird({ config: config(MARK_A) });
    const watched = supervise([target(bird.socket)]);
    watched.targets.want(await single(1, MARK_B));
    await until(applied(watched, 1));
    const killed = performance.now();
    const gone = bird.kill9();
    await until(() => watched.count('disconnected') === 1, { every: 1 });
    expect(performance.now() - killed).toBeLessThan(1_000);
    await gone;
    await until(() => watched.targets.outcome.targets[0]?.result);
    await until(() =>
      watched.facts.some(({ fact }) => fact.type === 'condition' && fact.error.message.includes('stale')),
    );
    expect(watched.targets.outcome.type).toBe('pending');
    await bird.restart();
    await until(applied(watched, 1));
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_B);
  });

  test('whose configuration was undone by somebody gets it again', async () => {
    const bird = await startBird({ config: config(MARK_A) });
    const watched = supervise([target(bird.socket)]);
    watched.targets.want(await single(1, MARK_B));
    await until(applied(watched, 1));
    await bird.cmd('configure undo');
    await until(() => watched.count('applied') === 2);
    expect(watched.facts.map(({ fact }) => fact)).toContainEqual({ type: 'running', mark: MARK_A });
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_B);
  });

  test('without a mark: an undo is seen by the time of the last reconfiguration', async () => {
    const bird = await startBird({ config: config(null) });
    const watched = supervise([target(bird.socket)]);
    watched.targets.want(await single(1, null));
    await until(applied(watched, 1));
    await bird.cmd('configure undo');
    await until(() => watched.count('applied') === 2);
    await rereads(commands(watched));
    expect(watched.count('applied')).toBe(2);
  });

  test('that refuses a generation is not asked again until the content changes', async () => {
    const bird = await startBird({ config: config(MARK_A) });
    const watched = supervise([target(bird.socket)]);
    const refused = await single(1, 'never', BROKEN);
    watched.targets.want(refused);
    await until(() => watched.targets.outcome.type === 'refused');
    expect(watched.targets.outcome.targets[0]?.result).toMatchObject({ birdVersion: '2.0.12' });
    const sent = commands(watched);
    await rereads(sent);
    watched.targets.want(await single(2, MARK_B));
    await until(applied(watched, 2));
    // The same content under another number.
    watched.targets.want({ ...refused, generation: 3 });
    await until(() => watched.targets.outcome.type === 'refused');
    expect(watched.facts.at(-1)?.fact).toMatchObject({ type: 'refused', remembered: true });
    expect(sent.filter((command) => command.startsWith('configure'))).toHaveLength(1);
  });

  test('of another version is asked again about what the old one refused', async () => {
    const socket = join(dir, 'up.ctl');
    const old = await startBird({ config: config(MARK_A), socket }, bird16);
    const watched = supervise([target(socket)]);
    // A channel is an error in 1.6 and needed in 2.x.
    const modern = config(MARK_B, 'protocol static { ipv4; route 10.0.0.0/8 blackhole; }\n');
    watched.targets.want(await single(1, MARK_B, modern));
    await until(() => watched.targets.outcome.type === 'refused');
    await old.close();
    await startBird({ config: config(MARK_A), socket });
    await until(applied(watched, 1));
  });

  test('that hangs is given up after the time-out and served when it goes on', async () => {
    const bird = await startBird({ config: config(MARK_A) });
    const watched = supervise([target(bird.socket)]);
    watched.targets.want(await single(1, MARK_A));
    await until(applied(watched, 1));
    bird.signal('SIGSTOP');
    watched.targets.want(await single(2, MARK_B));
    // The reading of what it runs comes first and has the time-out of any command; then connecting has its own.
    await until(
      () =>
        watched.facts.some(
          ({ fact }) => fact.type === 'disconnected' && fact.error.code === 'BF_BIRD_TIMEOUT',
        ),
      {
        timeout: 15_000,
      },
    );
    await until(() =>
      watched.facts.some(({ fact }) => fact.type === 'condition' && fact.error.code === 'BF_BIRD_TIMEOUT'),
    );
    watched.targets.want(await single(3, MARK_B));
    bird.signal('SIGCONT');
    await until(applied(watched, 3));
  });

  test('that does not speak the dialect is told nothing', async () => {
    const bird = await startBird({ config: LOGGED + config(MARK_A) });
    const watched = supervise([target(bird.socket)], { dialect: 'bird1' });
    watched.targets.want(await single(1, MARK_B));
    await until(() => watched.count('condition') === 1);
    const result = watched.targets.outcome.targets[0]?.result;
    expect(result).toMatchObject({ type: 'pending', error: { code: 'BF_BIRD_DIALECT' } });
    expect(result?.type === 'pending' && result.error?.message).toMatch(/bird1.*2\.0\.12/);
    watched.targets.want(await single(2, MARK_B));
    watched.targets.retry();
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_A);
    expect(reconfigured(bird)).toBe(0);
    expect(watched.targets.supervisors[0]?.state.phase).toBe('contradicted');
  });

  test('gets the newest of many generations and is not told all of them', async () => {
    const under = BIRDS[2]!;
    const bird = await startBird({ config: LOGGED + config(MARK_A, peers(under, 50, 90)) });
    const watched = supervise([target(bird.socket)]);
    await until(() => watched.count('running') === 1);
    const many = Array.from({ length: 20 }, (_, n) =>
      single(n + 1, `m${n + 1}`, LOGGED + config(`m${n + 1}`, peers(under, 50, 90 + n))),
    );
    for (const wanted of await Promise.all(many)) watched.targets.want(wanted);
    await until(applied(watched, 20), { timeout: 20_000 });
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe('m20');
    expect(reconfigured(bird)).toBeLessThanOrEqual(2);
  });

  test('that dies of a file twice is not given it a third time', async () => {
    const socket = join(dir, 'crash.ctl');
    const deadly = config(MARK_B, `define x = "${'a'.repeat(4_096)}";\n`);
    const bird = await startBird({ config: config(MARK_A), socket });
    const watched = supervise([target(socket)]);
    const wanted = await single(1, MARK_B, deadly);
    watched.targets.want(wanted);
    await until(() => watched.count('disconnected') === 1);
    expect(watched.facts.at(-1)?.fact).toMatchObject({ during: 'loading', error: { code: 'BF_BIRD_DIED' } });
    await bird.restart();
    await until(() => watched.targets.outcome.type === 'refused');
    await bird.restart();
    await until(() => watched.facts.filter(({ fact }) => fact.type === 'running').length === 3);
    await rereads(commands(watched));
    expect(bird.isRunning).toBe(true);
    watched.targets.want(await single(2, MARK_B));
    await until(applied(watched, 2));
  });

  test('keeps its refusals over a restart of birdfeed', async () => {
    const bird = await startBird({ config: config(MARK_A) });
    const first = supervise([target(bird.socket)]);
    const wanted = await single(1, MARK_B, BROKEN);
    first.targets.want(wanted);
    await until(() => first.targets.outcome.type === 'refused');
    const verdicts = JSON.parse(JSON.stringify(first.targets.verdicts));
    first.targets.stop();
    // Fixed behind our back: who asks again would find it applied.
    await single(1, MARK_B);
    const second = supervise([target(bird.socket)], { verdicts });
    second.targets.want(wanted);
    await until(() => second.targets.outcome.type === 'refused');
    await rereads(commands(second));
    expect(second.targets.outcome.type).toBe('refused');
    second.targets.retry();
    await until(applied(second, 1));
  });
});

describe('bird and bird6 of 1.6', () => {
  const both = (number: number, v4: string, v6: string, mark: string) =>
    generation(dir, number, { 'bird.cfg': v4, 'bird6.cfg': v6 }, { 'bird.cfg': mark, 'bird6.cfg': mark });

  async function pair(): Promise<{ bird: BirdDaemon; bird6: BirdDaemon; targets: Target[] }> {
    const bird = await startBird({ config: config(MARK_A) }, bird16);
    const bird6 = await startBird({ config: config(MARK_A), ipv6: true }, bird16);
    const targets = [
      { file: 'bird.cfg', socket: bird.socket },
      { file: 'bird6.cfg', socket: bird6.socket },
    ];
    return { bird, bird6, targets };
  }

  test('each load their own file', async () => {
    const { bird, bird6, targets } = await pair();
    const watched = supervise(targets, { dialect: 'bird1' });
    const text = (route: string) => config(MARK_B, `protocol static { route ${route} blackhole; }\n`);
    watched.targets.want(await both(1, text('10.0.0.0/8'), text('fd00::/8'), MARK_B));
    await until(applied(watched, 1));
    for (const daemon of [bird, bird6]) expect((await daemon.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_B);
  });

  test('one refuses: the other is brought back to the generation before', async () => {
    const { bird, bird6, targets } = await pair();
    const watched = supervise(targets, { dialect: 'bird1' });
    const previous = await both(1, config(MARK_A), config(MARK_A), MARK_A);
    watched.targets.want(previous);
    await until(applied(watched, 1));
    watched.targets.want(await both(2, config(MARK_B), BROKEN, MARK_B));
    await until(() => {
      const [v4, v6] = watched.targets.outcome.targets;
      return v4?.result.type === 'applied' && v6?.result.type === 'refused';
    });
    expect(watched.targets.outcome).toMatchObject({ type: 'refused', generation: 2 });
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_B);
    const outcome = await watched.targets.revertTo(previous, 5_000);
    expect(outcome).toMatchObject({ type: 'applied', generation: 1 });
    const adopted = outcome.targets.map(({ result }) => result.type === 'applied' && result.adopted);
    expect(adopted).toEqual([false, true]);
    for (const daemon of [bird, bird6]) expect((await daemon.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_A);
  });

  test('an owner may revert in the very moment it learns of the refusal', async () => {
    const { bird, targets } = await pair();
    const previous = await both(1, config(MARK_A), config(MARK_A), MARK_A);
    const watched: Watched = supervise(targets, {
      onOutcome: (outcome) => {
        if (outcome.type === 'refused') watched.targets.want(previous);
      },
    });
    watched.targets.want(previous);
    await until(applied(watched, 1));
    watched.targets.want(await both(2, config(MARK_B), BROKEN, MARK_B));
    await until(applied(watched, 1));
    expect((await bird.cmd(`eval ${MARK_NAME}`)).text).toBe(MARK_A);
  });

  test('settled() gives what there is when a daemon stays away', async () => {
    const bird = await startBird({ config: config(MARK_A) }, bird16);
    const targets = [
      { file: 'bird.cfg', socket: bird.socket },
      { file: 'bird6.cfg', socket: join(dir, 'none.ctl') },
    ];
    const watched = supervise(targets);
    watched.targets.want(await both(1, config(MARK_B), config(MARK_B), MARK_B));
    const outcome = await watched.targets.settled(300);
    expect(outcome.type).toBe('pending');
    expect(outcome.targets.map(({ result }) => result.type)).toEqual(['applied', 'pending']);
  });
});

test('stop() ends the connection and says nothing more', async () => {
  const bird = await startBird({ config: config(MARK_A) });
  const [stopped, control] = [supervise([target(bird.socket)]), supervise([target(bird.socket)])];
  await until(() => stopped.count('running') + control.count('running') === 2);
  stopped.targets.stop();
  const count = stopped.facts.length;
  await bird.kill9();
  await until(() => control.count('condition') === 1);
  expect(stopped.facts).toHaveLength(count);
});
