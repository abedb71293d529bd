import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calicoKey } from '../../../src/datastore/keys.ts';
import { calicoBlock, calicoFilter, calicoPeer, calicoPool } from '../../support/calico.ts';
import type { Host } from '../lab/host.ts';
import type { Lab } from '../lab/lab.ts';
import { cut, type Files, publishPerFile } from '../lab/per-file.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { seconds } from './cluster.ts';

/** A pool with a block, which stay inside their node by a BGPFilter. */
const POOL = calicoPool('private', '10.245.0.0/16');
const BLOCK = '10.245.1.0/26';
const FILTER = calicoFilter('keep-private', {
  exportV4: [{ action: 'Reject', matchOperator: 'In', cidr: '10.245.0.0/16' }],
});
const ROUNDS = 5;

/**
 * One change of the datastore: a pool goes, its block with it, and the filter that kept them private. Between the files of a
 * reload for each file there is a configuration that nobody asked for: the block without the filter. Needs the cluster of
 * `withoutCache`, with BIRD 1.6; the first host changes, the second one looks.
 */
export async function perFile<Name extends string>(lab: Lab<Name>, report: Report): Promise<void> {
  const [first, second] = Object.keys(lab.hosts) as [Name, Name];
  const [node, peer] = [lab.hosts[first], lab.hosts[second]];
  report.scenario('One change, three files');
  report.say(`A pool whose addresses no peer may learn of comes and goes with its block and the filter that says so, ${ROUNDS} times:
by birdfeed, and by a publisher that puts each file in its place by itself and reloads each time, as confd does.`);
  let apart: readonly [Files, Files] | undefined;
  await report.step('birdfeed', 'the peer never hears of the private block', async () => {
    const began = Date.now();
    apart = await rounds(lab, node);
    const seen = peer.watch.appearances(BLOCK, began);
    return { seen: `${2 * ROUNDS} changes, told the peer ${seen.length} times`, ok: seen.length === 0 };
  });
  await report.step('file by file', 'it does', () => fileByFile(node, peer, apart!));
}

/** Has birdfeed follow the datastore to and fro; returns the files that it made of both. */
async function rounds(lab: Lab, node: Host): Promise<readonly [Files, Files]> {
  const everyone = (filters: readonly string[]) =>
    calicoPeer('everyone', { nodeSelector: 'all()', peerSelector: 'all()', maxRestartTime: '10s', filters });
  const block = calicoBlock(node.name, BLOCK);
  let files: [string, string] = ['', ''];
  for (let round = 0; round < ROUNDS; round += 1) {
    await lab.put(POOL, block, FILTER, everyone(['keep-private']));
    const withPool = await rendered(node, true);
    await lab.etcd.client.txn([
      { put: everyone([]) },
      { del: POOL[0] },
      { del: block[0] },
      { del: calicoKey('BGPFilter', 'keep-private') },
    ]);
    files = [withPool, await rendered(node, false)];
  }
  return [cut(files[0]), cut(files[1])];
}

/** What is current, once BIRD runs it and it mentions the pool, or no longer does. */
async function rendered(node: Host, hasPool: boolean): Promise<string> {
  const path = join(node.cache, 'current', node.flavour.daemons[0]!.file);
  const found = await eventually(async () => {
    const text = await readFile(path, 'utf8');
    const { bird } = await node.status();
    return { seen: text, ok: text.includes('10.245.0.0/16') === hasPool && bird.state === 'applied' };
  });
  if (!found.ok) throw new Error(`${path} ${hasPool ? 'does not have' : 'has'} the pool`);
  return found.seen;
}

async function fileByFile(
  node: Host,
  peer: Host,
  [withPool, without]: readonly [Files, Files],
): Promise<Finding> {
  await node.stopBirdfeed();
  const options = { ...node.birdFiles(), directory: join(node.cache, '../per-file') };
  await publishPerFile(withPool, null, options);
  const began = Date.now();
  let reloads = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [now, before] of [
      [without, withPool],
      [withPool, without],
    ] as const) {
      const count = await publishPerFile(now, before, options);
      reloads += count.reloads;
      refused += count.refused;
      await eventually(async () => ({ seen: '', ok: (await peer.paths(BLOCK)).length === 0 }), 10_000);
    }
  }
  const seen = peer.watch.appearances(BLOCK, began);
  const ms = Math.max(0, ...seen.map((appearance) => appearance.ms));
  return {
    seen: `${2 * ROUNDS} changes, ${reloads} reloads, ${refused} refused, told the peer ${seen.length} times, for up to ${seconds(ms)}`,
    ok: seen.length > 0,
  };
}
