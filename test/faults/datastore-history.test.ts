import { expect } from 'vitest';
import { readState, reconfigurations } from '../integration/app/support.ts';
import { binaries, requireBinary } from '../support/binaries.ts';
import { calicoMesh, calicoPeer } from '../support/calico.ts';
import { fault } from './runs.ts';
import {
  isWhatOnetimeRenders,
  isWhatOnetimeServes,
  makeWorld,
  putProbe,
  runsProbe,
  type World,
} from './world.ts';

const ETCDS = [
  ['etcd 3.4', requireBinary(binaries.etcd34, 'etcd34')],
  ['etcd 3.5', requireBinary(binaries.etcd35, 'etcd35')],
] as const;

/**
 * The datastore comes back without what it had. What is served stays, as it does for a fresh `--onetime` with the same
 * cache, until `mend` has put back what is missing. Resolves to the longer of the two times: until the loss is held, and
 * until what etcd then has is run by BIRD.
 */
async function losesAndMends(
  world: World,
  lose: () => Promise<void>,
  mend: () => Promise<unknown>,
): Promise<number> {
  const { birdfeed, birds, host } = world;
  const before = await birdfeed.settled();
  const loaded = birds.map(reconfigurations);
  await lose();
  const lost = performance.now();
  await birdfeed.reaches('held', ({ config, data }) => config.state === 'held' && data.state === 'fresh', {
    timeout: 30_000,
    every: 10,
  });
  const untilHeld = performance.now() - lost;
  await isWhatOnetimeServes(world);
  expect((await birdfeed.status()).generation).toEqual(before.generation);
  expect(readState(host).hold).not.toBeNull();
  expect(birds.map(reconfigurations)).toEqual(loaded);
  await mend();
  const mended = performance.now();
  await runsProbe(world, await putProbe(world));
  const untilRun = performance.now() - mended;
  await isWhatOnetimeRenders(world);
  expect(readState(host).hold).toBeNull();
  return Math.max(untilHeld, untilRun);
}

for (const [version, binary] of ETCDS) {
  fault(
    `${version} wiped, and filled again`,
    { runs: 4, short: version === 'etcd 3.4' ? 1 : 0, bound: 6_000 },
    () => makeWorld(binary, { data: calicoMesh(5) }),
    async (world) => {
      const { client } = world.etcd;
      const all = await client.list('');
      return losesAndMends(
        world,
        () => world.etcd.restart({ wipe: true }),
        () => client.putAll(all),
      );
    },
  );

  fault(
    `${version} restored from an older snapshot`,
    { runs: 4, short: version === 'etcd 3.5' ? 1 : 0, bound: 6_000 },
    () => makeWorld(binary, { data: calicoMesh(5) }),
    async (world, _random, index) => {
      const snapshot = await world.etcd.snapshot();
      const newer = calicoPeer(`newer-${index}`, { peerIP: `172.20.0.${index + 1}`, asNumber: 64_999 });
      await world.etcd.client.put(...newer);
      await runsProbe(world, await putProbe(world));
      return losesAndMends(
        world,
        () => world.etcd.restore(snapshot),
        () => world.etcd.client.put(...newer),
      );
    },
  );
}
