import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calicoConfiguration } from '../../support/calico.ts';
import type { Host } from '../lab/host.ts';
import type { Lab } from '../lab/lab.ts';
import { cut, type Files, publishPerFile } from '../lab/per-file.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { CLUSTER_AS, seconds } from './cluster.ts';

/** Addresses of services, which nodes announce, and which must never be a blackhole in a node's own kernel. */
const RANGE = '203.0.113.0/24';
const ROUNDS = 10;

/**
 * One field of one object, which concerns two files of Calico's confd: with a range of service addresses, one gets the route
 * that is announced, the other keeps it from the kernel. Between their reloads BIRD has the one without the other. Needs
 * a cluster of `mesh`, with BIRD 1.6.
 */
export async function perFile<Name extends string>(lab: Lab<Name>, report: Report): Promise<void> {
  const [node] = lab.all as [Host];
  report.scenario('One change, two files');
  report.say(`A range of service addresses comes and goes, ${ROUNDS} times: one field of the BGPConfiguration. BIRD announces the range
with a blackhole route, which a filter keeps from the node's own kernel; for Calico's confd these are in two files. First
birdfeed publishes, then a publisher that puts each file in its place by itself and reloads each time, as confd does.`);
  let apart: readonly [Files, Files] | undefined;
  await report.step('birdfeed', 'the blackhole is never in the kernel', async () => {
    const began = Date.now();
    apart = await rounds(lab, node);
    const seen = node.watch.blackholes(RANGE, began);
    return { seen: `${2 * ROUNDS} changes, ${inWords(seen)}`, ok: seen.length === 0 };
  });
  await report.step('file by file', 'it is, between two files', () => fileByFile(node, apart!));
}

/** Has birdfeed follow the datastore to and fro; returns the files as they are with and without the range. */
async function rounds(lab: Lab, node: Host): Promise<readonly [Files, Files]> {
  const configuration = (ranges: readonly string[]) =>
    calicoConfiguration({
      asNumber: CLUSTER_AS,
      nodeToNodeMeshEnabled: true,
      serviceLoadBalancerIPs: ranges.map((cidr) => ({ cidr })),
    });
  let texts: [string, string] = ['', ''];
  for (let round = 0; round < ROUNDS; round += 1) {
    await lab.put(configuration([RANGE]));
    const withRange = await rendered(node, true);
    await lab.put(configuration([]));
    texts = [withRange, await rendered(node, false)];
  }
  return [cut(texts[0]), cut(texts[1])];
}

/** What is current, once BIRD runs it and it has the range, or no longer has it. */
async function rendered(node: Host, hasRange: boolean): Promise<string> {
  const path = join(node.cache, 'current', node.flavour.daemons[0]!.file);
  const found = await eventually(async () => {
    const text = await readFile(path, 'utf8');
    const { bird } = await node.status();
    return { seen: text, ok: text.includes(RANGE) === hasRange && bird.state === 'applied' };
  });
  if (!found.ok) throw new Error(`${path} ${hasRange ? 'does not have' : 'has'} ${RANGE}`);
  return found.seen;
}

async function fileByFile(node: Host, [withRange, without]: readonly [Files, Files]): Promise<Finding> {
  await node.stopBirdfeed();
  const options = { ...node.birdFiles(), directory: join(node.cache, '../per-file') };
  await publishPerFile(without, null, options);
  const began = Date.now();
  let [reloads, refused] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [now, before] of [
      [withRange, without],
      [without, withRange],
    ] as const) {
      const count = await publishPerFile(now, before, options);
      reloads += count.reloads;
      refused += count.refused;
    }
  const seen = node.watch.blackholes(RANGE, began);
  return {
    seen: `${2 * ROUNDS} changes, ${reloads} reloads, ${refused} refused, ${inWords(seen)}`,
    ok: seen.length > 0,
  };
}

function inWords(blackholes: readonly { readonly ms: number }[]): string {
  if (blackholes.length === 0) return 'never in the kernel';
  const longest = Math.max(...blackholes.map(({ ms }) => ms));
  return `in the kernel ${blackholes.length} times, for up to ${seconds(longest)}`;
}
