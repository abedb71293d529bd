import { setTimeout as lasts } from 'node:timers/promises';
import { binaries, requireBinary } from '../support/binaries.ts';
import { between, fault } from './runs.ts';
import { changePeers, makeWorld, type Strike, strikeOnce } from './world.ts';

const ETCDS = [
  ['etcd 3.4', requireBinary(binaries.etcd34, 'etcd34')],
  ['etcd 3.5', requireBinary(binaries.etcd35, 'etcd35')],
] as const;

interface EtcdFault {
  readonly strike: Strike;
  readonly runs: number;
  /** Runs under `npm test`, default 1, of one etcd. */
  readonly short?: number;
  readonly bound: number;
}

const FAULTS: Readonly<Record<string, EtcdFault>> = {
  'killed with -9 and started again': {
    bound: 6_000,
    runs: 6,
    strike: async (world, random) => {
      await changePeers(world, random, between(random, 0, 3));
      await world.etcd.kill9();
      return () => world.etcd.restart();
    },
  },
  'told to end and started again': {
    bound: 6_000,
    runs: 5,
    short: 0,
    strike: async (world, random) => {
      await changePeers(world, random, between(random, 0, 2));
      await world.etcd.stop();
      await lasts(between(random, 0, 2_000));
      return () => world.etcd.restart();
    },
  },
  'stopped in place for a while': {
    bound: 6_000,
    runs: 5,
    short: 0,
    strike: async (world, random) => {
      await changePeers(world, random, between(random, 0, 1));
      await world.etcd.pause();
      await lasts(between(random, 100, 4_000));
      return async () => world.etcd.resume();
    },
  },
  'stopped in place until it is given up': {
    bound: 6_000,
    runs: 3,
    short: 0,
    strike: async ({ etcd, birdfeed }) => {
      await etcd.pause();
      await birdfeed.reaches('stale', ({ data }) => data.state === 'stale', { timeout: 30_000 });
      return async () => etcd.resume();
    },
  },
  'refusing connections': { bound: 4_000, runs: 6, strike: behindProxy('refuse') },
  'accepting connections and saying nothing': {
    bound: 6_000,
    runs: 5,
    short: 0,
    strike: behindProxy('silent'),
  },
  'behind a firewall that drops SYNs': { bound: 6_000, runs: 5, strike: behindProxy('drop') },
  'behind a network that loses everything': {
    bound: 6_000,
    runs: 5,
    short: 0,
    strike: behindProxy('freeze'),
  },
  'cut off after some bytes of a backlog': {
    bound: 4_000,
    runs: 30,
    short: 2,
    strike: async (world, random, index) => {
      await world.proxy.setMode('refuse');
      await changePeers(world, random, 5);
      world.proxy.cutAfter(1 + index * 130);
      return () => world.proxy.setMode('pass');
    },
  },
  'reset again and again': {
    bound: 4_000,
    runs: 6,
    short: 0,
    strike: async (world, random) => {
      for (let more = between(random, 2, 6); more > 0; more -= 1) {
        await changePeers(world, random);
        world.proxy.cut();
        await lasts(between(random, 0, 300));
      }
      return async () => {};
    },
  },
  '300 ms away': {
    bound: 6_000,
    runs: 5,
    short: 0,
    strike: async (world, random) => {
      world.proxy.setLatency(300);
      if (random() < 0.5) world.proxy.cut();
      await changePeers(world, random, between(random, 0, 2));
      await lasts(between(random, 0, 2_000));
      return async () => world.proxy.setLatency(0);
    },
  },
  'compacted while away': {
    bound: 4_000,
    runs: 6,
    strike: async (world, random) => {
      await world.proxy.setMode('refuse');
      await changePeers(world, random, between(random, 0, 3));
      await world.etcd.client.put('/elsewhere', `${random()}`);
      await world.etcd.client.compact();
      return () => world.proxy.setMode('pass');
    },
  },
};

/** Something is in the way for up to three seconds, during which keys change. */
function behindProxy(mode: 'refuse' | 'silent' | 'drop' | 'freeze'): Strike {
  return async (world, random) => {
    await world.proxy.setMode(mode);
    if (mode === 'silent') world.proxy.cut();
    await changePeers(world, random, between(random, 0, 3));
    await lasts(between(random, 0, 3_000));
    return () => world.proxy.setMode('pass');
  };
}

for (const [version, binary] of ETCDS) {
  for (const [name, { bound, runs, short = 1, strike }] of Object.entries(FAULTS)) {
    fault(
      `${version} ${name}`,
      { runs, short: version === 'etcd 3.5' ? short : 0, bound },
      () => makeWorld(binary),
      (world, random, index) => strikeOnce(world, random, index, strike),
    );
  }
}
