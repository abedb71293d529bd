import { expect } from 'vitest';
import { binaries, requireBinary } from '../support/binaries.ts';
import { calicoConfiguration, calicoMesh, calicoNode, calicoPeer, type Stored } from '../support/calico.ts';
import { fault, residentMiB } from './runs.ts';
import { makeWorld, strikeOnce } from './world.ts';

const etcd34 = requireBinary(binaries.etcd34, 'etcd34');
const etcd35 = requireBinary(binaries.etcd35, 'etcd35');

/** A stored object with `bytes` more in its annotations, which nobody renders. */
function padded([key, value]: Stored, bytes: number): Stored {
  const object = JSON.parse(value) as { metadata: object };
  const annotations = { 'example.org/padding': 'x'.repeat(bytes) };
  return [key, JSON.stringify({ ...object, metadata: { ...object.metadata, annotations } })];
}

const peer = (name: string, number: number, more: object = {}): Stored =>
  calicoPeer(name, {
    peerIP: `172.16.${number >> 8}.${number & 255}`,
    asNumber: 4_210_000_000 + number,
    ...more,
  });

const NO_MESH = calicoConfiguration({ nodeToNodeMeshEnabled: false, asNumber: 64_512 });

fault(
  'etcd 3.5 with 20 MB of keys, compacted while away',
  { runs: 3, short: 0, bound: 10_000, patience: 40_000 },
  () =>
    makeWorld(etcd35, {
      etcd: { args: ['--max-request-bytes', '20000000'] },
      data: [
        ...Array.from({ length: 2_000 }, (_, at) =>
          padded(calicoNode(`n${at + 1}`, { v4: `10.${at >> 8}.${at & 255}.1/24` }), 10_000),
        ),
        NO_MESH,
      ],
    }),
  (world, random, index) =>
    strikeOnce(world, random, index, async ({ proxy, etcd }) => {
      await proxy.setMode('refuse');
      await etcd.client.put('/elsewhere', `${index}`);
      await etcd.client.compact();
      return () => proxy.setMode('pass');
    }),
);

fault(
  'etcd 3.4 with a value of 1 MB, cut while it is on its way',
  { runs: 5, short: 0, bound: 5_000 },
  () => makeWorld(etcd34),
  (world, random, index) =>
    strikeOnce(world, random, index, async ({ proxy, etcd }) => {
      world.changes += 1;
      proxy.cutAfter(Math.floor(random() * 1_000_000));
      await etcd.client.put(...padded(peer('heavy', index), 1_000_000));
      return async () => {};
    }),
);

fault(
  'etcd 3.5 with 5,000 events in one revision',
  { runs: 5, bound: 10_000, patience: 30_000 },
  () => makeWorld(etcd35, { etcd: { args: ['--max-txn-ops', '8192', '--max-request-bytes', '20000000'] } }),
  (world, random, index) =>
    strikeOnce(world, random, index, async ({ etcd }) => {
      world.changes += 1;
      const puts = Array.from({ length: 5_000 }, (_, at) => ({
        put: peer(`many-${at}`, at, at === 0 ? { asNumber: 4_220_000_000 + index } : { node: 'n2' }),
      }));
      await etcd.client.txn(puts);
      return async () => {};
    }),
);

const STORM_KEYS = 125;

fault(
  'etcd 3.5 in a storm of 10,000 puts',
  { runs: 10, bound: 5_000, patience: 40_000 },
  async () => {
    const peers = Array.from({ length: STORM_KEYS }, (_, at) => peer(`storm-${at}`, at));
    const world = await makeWorld(etcd35, { data: [...calicoMesh(3), ...peers] });
    return Object.assign(world, { memory: [] as number[] });
  },
  async (world, random, index) => {
    const ms = await strikeOnce(world, random, index, async ({ etcd }) => {
      for (let wave = 0; wave < 80; wave += 1) {
        world.changes += 1;
        const asNumber = 4_230_000_000 + index * 100 + wave;
        const puts = Array.from({ length: STORM_KEYS }, (_, at) => ({
          put: peer(`storm-${at}`, at, { asNumber }),
        }));
        await etcd.client.txn(puts);
      }
      return async () => {};
    });
    world.memory.push(residentMiB(world.pid));
    // The first storms fill V8's heap; from then on it must not grow.
    const settled = world.memory.slice(3);
    if (settled.length > 3)
      expect(Math.min(...settled.slice(-3)) - Math.max(...settled.slice(0, 3))).toBeLessThan(20);
    return ms;
  },
);
