import { setTimeout as sleep } from 'node:timers/promises';
import { calicoConfiguration, calicoPeer } from '../../support/calico.ts';
import type { Lab } from '../lab/lab.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';
import { CLUSTER_AS, POOLS, seconds, startAll } from './cluster.ts';

/** A reflector that is no node of Kubernetes and has no workloads, and the nodes that it serves. */
export const OUTSIDE = ['rr'] as const;
export const NODES = ['n1', 'n2', 'n3'] as const;
export type Standalone = (typeof OUTSIDE)[number] | (typeof NODES)[number];

const CLUSTER_ID = '244.0.0.9';
const RESTART_BOUND_MS = 20_000;

/** One route reflector outside the cluster: BIRD 2 and birdfeed, nothing else. The nodes may have another BIRD. */
export async function standalone(lab: Lab<Standalone>, report: Report): Promise<void> {
  const { rr } = lab.hosts;
  report.scenario('A route reflector outside the cluster');
  report.say(`rr has no pods and runs BIRD ${rr.flavour.binary.version} and birdfeed, nothing else; the nodes run BIRD
${lab.hosts.n1.flavour.binary.version}. Its Node resource has a cluster id and no blocks; one BGPPeer has all others peer with it.`);
  await report.step('everything starts', 'every node has 2 sessions, rr has 6, all Established', async () => {
    await lab.put(
      ...POOLS,
      calicoConfiguration({ asNumber: CLUSTER_AS, nodeToNodeMeshEnabled: false }),
      calicoPeer('reflector', { nodeSelector: '!has(outside)', peerSelector: 'has(outside)' }),
      ...lab.objectsOf('rr', { labels: { outside: 'true' }, bgp: { routeReflectorClusterID: CLUSTER_ID } }),
      ...NODES.flatMap((name) => lab.objectsOf(name)),
    );
    await startAll(lab.all);
    await lab.established({ rr: 6, n1: 2, n2: 2, n3: 2 });
    return { seen: '12 ends Established', ok: true };
  });
  await report.step(
    'reflection',
    `each block on each node, originator kept, cluster list ${CLUSTER_ID}`,
    () => eventually(() => reflected(lab)),
  );
  await report.step('it only reflects', 'no block of its own, no pod behind it', async () => {
    const own = [...(await rr.kernelRoutes(4)).values()].filter((via) => via === 'blackhole');
    return { seen: `${own.length} blocks of its own`, ok: own.length === 0 };
  });
  const pairs = NODES.map((name, index) => [name, NODES[(index + 1) % NODES.length] as Standalone] as const);
  await report.step('pods reach pods', 'every probe answered', async () => {
    await lab.beginTraffic(pairs);
    await sleep(1_000);
    const { sent, lost } = await lab.endTraffic();
    return { seen: `${lost} of ${sent} lost`, ok: lost === 0 && sent > 100 };
  });
  await restart(lab, report, pairs);
}

/**
 * BIRD 2 does not wait for all its peers after a restart: the first one to come back hears the end of the routes before the
 * last one has told its own. Two reflectors make up for that, see `reflectors`.
 */
async function restart(
  lab: Lab<Standalone>,
  report: Report,
  pairs: readonly (readonly [Standalone, Standalone])[],
): Promise<void> {
  const { rr } = lab.hosts;
  const expected = `routes back within ${seconds(RESTART_BOUND_MS)}: one reflector is not enough`;
  await report.step('the only reflector is killed and starts again', expected, async () => {
    const began = Date.now();
    await lab.beginTraffic(pairs);
    await rr.kill();
    await rr.start();
    await lab.established({ rr: 6, n1: 2, n2: 2, n3: 2 });
    const routes = await eventually(() => reflected(lab));
    const { sent, lost } = await lab.endTraffic();
    const blocks = NODES.flatMap((name) => lab.hosts[name].blocks);
    const away = lab.outages(NODES, blocks, began);
    const seen = `routes away ${away.length} times, for up to ${seconds(longest(away))}; ${lost} of ${sent} probes lost`;
    return { seen, ok: routes.ok && longest(away) <= RESTART_BOUND_MS };
  });
}

async function reflected(lab: Lab<Standalone>): Promise<Finding> {
  const wrong: string[] = [];
  let count = 0;
  for (const name of NODES)
    for (const origin of NODES.filter((other) => other !== name)) {
      const { node, blocks } = lab.hosts[origin];
      for (const block of blocks) {
        const [path] = await lab.hosts[name].paths(block);
        const via = block.includes(':') ? node.ipv6 : node.ipv4;
        const ok =
          path?.originatorId === node.ipv4 && path.clusterList.join() === CLUSTER_ID && path.via === via;
        if (!ok)
          wrong.push(
            `${name} has ${block} by ${path?.via} from ${path?.originatorId} [${path?.clusterList}]`,
          );
        count += 1;
      }
    }
  return {
    seen: `${count - wrong.length} of ${count} as expected${wrong.map((line) => `; ${line}`).join('')}`,
    ok: wrong.length === 0,
  };
}
