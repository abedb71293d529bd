import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as lasts } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import {
  BIRD1,
  BIRD2,
  currentFiles,
  FLAVOURS,
  type Flavour,
  readState,
  reconfigurations,
  shippedTemplate,
  startBird,
} from '../integration/app/support.ts';
import { binaries, requireBinary } from '../support/binaries.ts';
import { BirdDaemon } from '../support/bird-daemon.ts';
import { calicoMesh, calicoPeer, peerKey } from '../support/calico.ts';
import { testDir } from '../support/tmp.ts';
import { until } from '../support/wait.ts';
import { between, fault, type Random } from './runs.ts';
import {
  changePeers,
  expectHarmless,
  isWhatOnetimeRenders,
  makeWorld,
  putProbe,
  runsProbe,
  type World,
} from './world.ts';

const etcd35 = requireBinary(binaries.etcd35, 'etcd35');

/**
 * One round: the fault, its end, and the probe. Resolves to the time from the end until BIRD runs the newest generation.
 * `reloads` is how often each BIRD may have been given a configuration since the strike, besides once per generation.
 */
async function settles(
  world: World,
  random: Random,
  strike: () => Promise<() => Promise<void>>,
  reloads: number,
): Promise<number> {
  const { birdfeed } = world;
  const before = await birdfeed.settled();
  const processes = world.birds.map((bird) => [bird.pid, reconfigurations(bird)] as const);
  const end = await strike();
  await changePeers(world, random, between(random, 0, 2));
  const probe = await putProbe(world);
  await until(
    () => currentFiles(world.host).some((file) => readFileSync(file, 'utf8').includes(`${probe}`)),
    {
      what: 'publication, which waits for no BIRD',
      timeout: 8_000,
    },
  );
  await end();
  const started = performance.now();
  await runsProbe(world, probe);
  const elapsed = performance.now() - started;
  await isWhatOnetimeRenders(world);
  const published = (await birdfeed.status()).counters.published - before.counters.published;
  for (const [at, bird] of world.birds.entries()) {
    const [pid, loaded] = processes[at]!;
    const given = reconfigurations(bird) - (bird.pid === pid ? loaded : 0);
    expect(given, 'reloads').toBeLessThanOrEqual(published + reloads);
  }
  expect(readState(world.host).verdicts, 'what BIRD refused').toEqual([]);
  expectHarmless(world);
  return elapsed;
}

for (const [name, flavour] of FLAVOURS) {
  const short = name.startsWith('BIRD 2') ? 1 : 0;
  const untapped = () => makeWorld(etcd35, { flavour, tapped: false });

  fault(
    `${name} killed with -9, and started with an old file`,
    { runs: 8, short, bound: 4_000 },
    untapped,
    async (world, random) =>
      settles(
        world,
        random,
        async () => {
          await Promise.all(world.birds.map((bird) => bird.kill9()));
          return async () => void (await Promise.all(world.birds.map((bird) => bird.restart())));
        },
        1,
      ),
  );

  fault(
    `${name} stopped, away for a while, and started from current`,
    { runs: 6, short: 0, bound: 4_000 },
    untapped,
    async (world, random) =>
      settles(
        world,
        random,
        async () => {
          await Promise.all(world.birds.map((bird) => bird.stop()));
          await lasts(between(random, 0, 3_000));
          return async () => {
            for (const [at, bird] of world.birds.entries()) {
              await bird.close();
              const bare = { ...world.host, sockets: world.birds.map(({ socket }) => socket) };
              world.birds[at] = await startBird(bare, at, { from: currentFiles(world.host) });
            }
          };
        },
        1,
      ),
  );

  fault(`${name} hung`, { runs: 6, short, bound: 5_000 }, untapped, async (world, random) =>
    settles(
      world,
      random,
      async () => {
        await Promise.all(world.birds.map((bird) => bird.pause()));
        await lasts(between(random, 0, 3_000));
        return async () => world.birds.forEach((bird) => void bird.resume());
      },
      1,
    ),
  );

  fault(
    `${name} slow: 300 ms for each word, both ways`,
    { runs: 5, short: 0, bound: 5_000 },
    () => makeWorld(etcd35, { flavour }),
    async (world, random) =>
      settles(
        world,
        random,
        async () => {
          for (const tap of world.taps) tap.delayMs = 300;
          return async () => {
            for (const tap of world.taps) tap.delayMs = 0;
          };
        },
        0,
      ),
  );

  fault(
    `${name} killed at one of the commands that it is given`,
    { runs: 12, short, bound: 6_000 },
    // Without a binary of its own it has the running BIRD check, too.
    () => makeWorld(etcd35, { flavour, watchArgs: ['--bird-binary', '/nonexistent/bird'] }),
    async (world, random, index) => {
      const { birdfeed } = world;
      await birdfeed.settled();
      let victim: Promise<void> | null = null;
      let countdown = index % 5;
      for (const [at, tap] of world.taps.entries()) {
        tap.onCommand = async () => {
          if (victim === null && countdown === 0) victim = world.birds[at]!.kill9();
          countdown -= 1;
          await victim;
        };
      }
      await changePeers(world, random, 2);
      const probe = await putProbe(world);
      // A round has fewer commands than five when the BIRD that is told needs no check; killed it is all the same.
      await until(() => victim, { timeout: 3_000 }).catch(() => {
        victim = world.birds[0]!.kill9();
      });
      await victim;
      for (const tap of world.taps) tap.onCommand = () => {};
      for (const bird of world.birds) if (!bird.isRunning) await bird.restart();
      const started = performance.now();
      await runsProbe(world, probe);
      const elapsed = performance.now() - started;
      await isWhatOnetimeRenders(world);
      expect(readState(world.host).verdicts, 'a lost connection is no verdict').toEqual([]);
      expectHarmless(world);
      return elapsed;
    },
  );
}

/** Templates of a flavour that go wrong for as long as there is a BGPPeer `bad`, in the last of its files. */
async function badTemplate({ daemons }: Flavour, text: string): Promise<string> {
  const confdir = await testDir();
  const name = `${daemons.at(-1)!.file}.njk`;
  const peers = name.startsWith('bird6') ? 'ipv6' : 'ipv4';
  await mkdir(join(confdir, 'templates'));
  const bad = `{% for session in ${peers}.sessions %}{% if session.asNumber == 65000 %}${text}\n{% endif %}{% endfor %}`;
  await writeFile(join(confdir, 'templates', name), `${shippedTemplate(name)}${bad}`);
  return confdir;
}

const BAD = calicoPeer('bad', { peerIP: '172.30.0.1', asNumber: 65_000 });
const BAD6 = calicoPeer('bad', { peerIP: 'fd30::1', asNumber: 65_000 });

/** `bad` comes, is refused in the end, and what was served before is; then something good comes. */
async function refuses(world: World, flavour: Flavour, configures: number): Promise<number> {
  const { birdfeed, host, taps, etcd } = world;
  const before = await birdfeed.settled();
  const asked = () =>
    taps.map((tap) => tap.commands.filter((command) => command.startsWith('configure')).length);
  const asks = asked();
  await etcd.client.put(...(flavour === BIRD1 ? BAD6 : BAD));
  const put = performance.now();
  await birdfeed.reaches('refused, the last good one is back', ({ config, bird, generation }) => {
    const isBack = generation?.contentDigest === before.generation?.contentDigest;
    return config.state === 'degraded' && bird.state === 'applied' && isBack;
  });
  const elapsed = performance.now() - put;
  expect(readlinkSync(join(host.cache, 'current'))).toMatch(`${before.generation?.number}`);
  // Whatever makes birdfeed look again must not make it try again.
  await etcd.client.put(
    '/calico/resources/v3/projectcalico.org/nodes/n2',
    calicoMesh(2)[1]![1].replace('{', '{ '),
  );
  await lasts(1_500);
  for (const [at, count] of asked().entries()) expect(count - asks[at]!).toBeLessThanOrEqual(configures);
  await etcd.client.del(peerKey('bad'));
  world.changes += 2;
  await runsProbe(world, await putProbe(world));
  await isWhatOnetimeRenders(world);
  expectHarmless(world);
  return elapsed;
}

describe('a configuration', () => {
  for (const [name, flavour] of [
    ['BIRD 2.0.12 refuses the configuration: new content each time', BIRD2],
    ['BIRD 1.6.8 refuses the configuration: one of two daemons, new content each time', BIRD1],
  ] as const) {
    fault(
      name,
      { runs: 5, short: 0, bound: 5_000 },
      async () => {
        const confdir = await badTemplate(flavour, 'nonsense here;');
        return makeWorld(etcd35, {
          flavour,
          args: ['--confdir', confdir, '--syntax-check', 'off'],
        });
      },
      async (world) => refuses(world, flavour, 2),
    );
  }

  fault(
    'BIRD 2.0.12 dies of the configuration, its supervisor starts it from current',
    { runs: 4, short: 1, bound: 10_000 },
    async () => {
      const confdir = await badTemplate(BIRD2, `define deadly = "${'a'.repeat(4_096)}";`);
      const world = await makeWorld(etcd35, {
        flavour: BIRD2,
        args: ['--confdir', confdir, '--syntax-check', 'off'],
      });
      const supervisor = superviseBird(world);
      onTestFinished(supervisor.stop);
      return Object.assign(world, { supervisor });
    },
    async (world) => {
      const deaths = world.supervisor.deaths();
      const elapsed = await refuses(world, BIRD2, 3);
      expect(world.supervisor.deaths() - deaths).toBe(2);
      return elapsed;
    },
  );
});

/** As runit would: a BIRD that ends is started again half a second later, from `current`. */
function superviseBird(world: World) {
  let isStopped = false;
  let deaths = 0;
  const bare = { ...world.host, sockets: world.birds.map(({ socket }) => socket) };
  const done = (async () => {
    while (!isStopped) {
      const bird = world.birds[0]!;
      await Promise.race([bird.ended(), lasts(50)]);
      if (bird.isRunning || isStopped) continue;
      deaths += 1;
      await lasts(500);
      world.birds[0] = await startBird(bare, 0, { from: currentFiles(world.host) });
    }
  })();
  return {
    deaths: () => deaths,
    stop: async () => {
      isStopped = true;
      await done;
      // It may have been started again when the end of the test had closed it.
      await world.birds[0]?.close();
    },
  };
}

fault(
  'a BIRD of the wrong version in the place of the right one',
  { runs: 4, short: 1, bound: 4_000 },
  () => makeWorld(etcd35),
  async (world, random) => {
    const { birdfeed, taps } = world;
    return settles(
      world,
      random,
      async () => {
        const [right] = world.birds as [BirdDaemon];
        await right.kill9();
        const asked = taps[0]!.commands.length;
        const wrong = await BirdDaemon.start(BIRD1.binary, {
          config: 'router id 10.0.0.1;\nprotocol device {}\n',
          socket: right.socket,
        });
        onTestFinished(() => wrong.close());
        const status = await birdfeed.reaches('contradicted', ({ bird }) => bird.reason?.includes('1.6.8'));
        expect(status.bird.state).toBe('unapplied');
        expect(taps[0]!.commands.slice(asked).filter((command) => command.startsWith('configure'))).toEqual(
          [],
        );
        return async () => {
          await wrong.close();
          expect(existsSync(right.socket)).toBe(true);
          await right.restart();
        };
      },
      1,
    );
  },
);
