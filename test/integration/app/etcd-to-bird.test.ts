import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import {
  calicoConfiguration,
  calicoMesh,
  calicoNode,
  calicoPeer,
  calicoPool,
  fillEtcd,
  meshNode,
  nodeKey,
  peerKey,
} from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { until } from '../../support/wait.ts';
import {
  BIRD2,
  birdsHave,
  currentFiles,
  FLAVOURS,
  makeHost,
  readState,
  reconfigurations,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());
beforeEach(() => fillEtcd(etcd.client, calicoMesh(3)));

const MESH = ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3'];

describe.each(FLAVOURS)('from etcd to %s', (_name, flavour) => {
  it('gives BIRD the sessions of a put key, and takes them away with the key', async () => {
    const host = await makeHost(flavour);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    await birdsHave(birds, MESH);
    await etcd.client.put(...meshNode(4));
    await birdsHave(birds, [...MESH, 'Mesh_10_0_0_4', 'Mesh_fd00__4']);
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 65001 }));
    await birdsHave(birds, [...MESH, 'Mesh_10_0_0_4', 'Mesh_fd00__4', 'Global_172_16_0_1']);
    await etcd.client.del(nodeKey('n4'));
    await etcd.client.del(peerKey('tor'));
    await birdsHave(birds, MESH);
    const status = await birdfeed.settled();
    expect(status.headline).toBe('fresh');
    expect(status.generation?.sessions).toBe(4);
  });

  it('calls a generation applied only when every daemon has read back its mark', async () => {
    const host = await makeHost(flavour);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    const { targets, generation } = await birdfeed.settled();
    expect(targets.map(({ socket, applied, ack }) => ({ socket, applied, ack }))).toEqual(
      host.sockets.map((socket) => ({ socket, applied: true, ack: 'mark' })),
    );
    for (const [index, bird] of birds.entries()) {
      const { text } = await bird.cmd('eval birdfeed_mark');
      expect(readFileSync(currentFiles(host)[index] as string, 'utf8')).toContain(`"${text.trim()}"`);
    }
    const expected = { contentDigest: generation?.contentDigest, ack: 'mark' };
    await until(() => {
      const { acknowledged } = readState(host);
      for (const socket of host.sockets) expect(acknowledged[socket]).toMatchObject(expected);
      return true;
    });
  });

  it('does not render, publish or reload for a change that touches nothing it reads', async () => {
    const host = await makeHost(flavour);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    const before = await birdfeed.settled();
    const loaded = birds.map(reconfigurations);
    await etcd.client.putAll([
      ['/calico/resources/v3/projectcalico.org/networkpolicies/default/x', '{}'],
      ['/calico/resources/v3/projectcalico.org/nodesx/n9', '{}'],
      ['/other', 'x'],
    ]);
    // A later change that does count shows that the others have been passed over by then.
    await etcd.client.put(...meshNode(4));
    const after = await birdfeed.reaches('the next generation', ({ generation, bird }) => {
      return generation?.number === (before.generation?.number ?? 0) + 1 && bird.state === 'applied';
    });
    expect(after.counters.runs).toBe(before.counters.runs + 1);
    expect(birds.map(reconfigurations)).toEqual(loaded.map((count) => count + 1));
  });

  it('keeps generation and BIRD as they are when a put changes nothing that is rendered', async () => {
    const host = await makeHost(flavour);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    const before = await birdfeed.settled();
    const loaded = birds.map(reconfigurations);
    const [key, value] = meshNode(2);
    await etcd.client.put(key, value);
    const node = JSON.parse(value) as { metadata: Record<string, unknown>; status?: unknown };
    node.metadata['annotations'] = { 'example.org/comment': 'only a comment' };
    await etcd.client.put(key, JSON.stringify(node));
    await etcd.client.put(
      ...calicoConfiguration({ logSeverityScreen: 'Info', nodeToNodeMeshEnabled: true, asNumber: 64512 }),
    );
    const revision = await etcd.client.revision();
    const after = await birdfeed.reaches('all changes read', ({ mounts, counters }) => {
      const seen = mounts.some((mount) => mount.revision >= revision);
      return seen && counters.unchanged > before.counters.unchanged;
    });
    expect(after.generation).toEqual(before.generation);
    expect(after.counters).toMatchObject({
      published: before.counters.published,
      reloads: before.counters.reloads,
    });
    expect(birds.map(reconfigurations)).toEqual(loaded);
  });

  it('ends on SIGTERM with 0 and leaves BIRD with its sessions', async () => {
    const host = await makeHost(flavour);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    await birdfeed.settled();
    expect(await birdfeed.stop()).toBe(0);
    await birdsHave(birds, MESH);
  });
});

it('publishes what one transaction changes in several kinds at once, not in steps', async () => {
  const host = await makeHost(BIRD2);
  const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
  const before = (await birdfeed.settled()).counters.published;
  const transactions = 10;
  for (let number = 1; number <= transactions; number += 1) {
    const asNumber = 65_000 + number;
    await etcd.client.putAll([
      calicoNode('n2', { v4: `10.0.1.${number}/24` }),
      calicoPool('pool4', `192.168.${number}.0/24`),
      calicoConfiguration({ nodeToNodeMeshEnabled: true, asNumber }),
    ]);
    await until(() => {
      const text = readFileSync(currentFiles(host)[0] as string, 'utf8');
      return [`as ${asNumber};`, `192.168.${number}.0/24`, `10.0.1.${number} `].every((part) =>
        text.includes(part),
      );
    });
    await birdfeed.settled();
  }
  const { published } = (await birdfeed.status()).counters;
  // In steps it would be twice as many. A machine that stalls may come between two messages of etcd's.
  expect(published - before).toBeLessThanOrEqual(transactions + 3);
});
