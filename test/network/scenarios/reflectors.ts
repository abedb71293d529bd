import { calicoConfiguration, calicoPeer, type Stored } from '../../support/calico.ts';
import type { Lab } from '../lab/lab.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';
import { Tor } from '../lab/tor.ts';
import { CLUSTER_AS, keptRoutes, keptTraffic, seconds } from './cluster.ts';

/** Within which the routes are back whose only sessions are reset: those of a node that becomes a reflector. */
const RESET_BOUND_MS = { bird1: 40_000, bird2: 15_000 } as const;

/** The six of the cluster: two that become reflectors, four that become their clients. */
export const REFLECTORS = ['n1', 'n2'] as const;
export const CLIENTS = ['n3', 'n4', 'n5', 'n6'] as const;
export type Six = (typeof REFLECTORS)[number] | (typeof CLIENTS)[number];

const SHARED_ID = '244.0.0.1';
const OTHER_ID = '244.0.0.2';

/** Sessions of one family on each host, at each stage. */
const STAGES = {
  firstReflector: { n1: 6, n2: 5, n3: 5, n4: 5, n5: 5, n6: 5 },
  bothReflectors: { n1: 6, n2: 6, n3: 5, n4: 5, n5: 5, n6: 5 },
  withoutMesh: { n1: 6, n2: 6, n3: 2, n4: 2, n5: 2, n6: 2 },
} as const satisfies Record<string, Record<Six, number>>;

/** The BGPPeers of the cluster with reflectors; `tor` is the switch outside. */
export function peers(
  tor: { readonly ipv4: string; readonly ipv6: string },
  more: { readonly filters?: readonly string[] } = {},
): readonly Stored[] {
  const isReflector = 'has(route-reflector)';
  const outside = { nodeSelector: isReflector, asNumber: Tor.AS, nextHopMode: 'Keep', ...more };
  return [
    calicoPeer('clients-to-reflectors', { nodeSelector: '!has(route-reflector)', peerSelector: isReflector }),
    calicoPeer('between-reflectors', { nodeSelector: isReflector, peerSelector: isReflector }),
    calicoPeer('tor-v4', { ...outside, peerIP: tor.ipv4 }),
    calicoPeer('tor-v6', { ...outside, peerIP: tor.ipv6 }),
  ];
}

/** The Node of a reflector. */
export function reflector(lab: Pick<Lab<Six>, 'objectsOf'>, name: Six, clusterId: string): readonly Stored[] {
  const labels = { 'route-reflector': 'true' };
  return lab.objectsOf(name, { labels, bgp: { routeReflectorClusterID: clusterId } });
}

/** Turns the cluster of `mesh` into two redundant reflectors with four clients, and a switch outside. */
export async function reflectors(lab: Lab<Six>, tor: Tor, report: Report): Promise<void> {
  const began = Date.now();
  report.scenario('From full mesh to two reflectors');
  report.say(`By edits of the datastore alone, one reflector after the other: n1 and n2 get a cluster id and a label, four
BGPPeers say who peers with whom, then the mesh is switched off. Pods of the clients send to one another meanwhile.`);
  await lab.beginTraffic(CLIENTS.map((name, index) => [name, CLIENTS[(index + 1) % CLIENTS.length] as Six]));
  await report.step(
    'BGPPeers, and n1 becomes a reflector',
    'n1 leaves the mesh; 62 sessions Established',
    async () => {
      await lab.put(...peers(lab.network.nodes['tor']!), ...reflector(lab, 'n1', SHARED_ID));
      return established(lab, STAGES.firstReflector);
    },
  );
  await report.step('n2 becomes one, same cluster id', '64 sessions Established', async () => {
    await lab.put(...reflector(lab, 'n2', SHARED_ID));
    return established(lab, STAGES.bothReflectors);
  });
  await report.step('clients know both ways', 'originator 10.99.0.5, cluster list 244.0.0.1, twice', () =>
    eventually(() => reflected(lab, { n1: [SHARED_ID], n2: [SHARED_ID] })),
  );
  await report.step(
    'the mesh is switched off',
    'no mesh session anywhere; 40 sessions Established',
    async () => {
      await lab.put(calicoConfiguration({ asNumber: CLUSTER_AS, nodeToNodeMeshEnabled: false }));
      const counts = await established(lab, STAGES.withoutMesh);
      const mesh = [...(await lab.sessions(...REFLECTORS, ...CLIENTS)).keys()].filter((name) =>
        name.includes(' Mesh_'),
      );
      return { seen: `${counts.seen}, ${mesh.length} of the mesh`, ok: counts.ok && mesh.length === 0 };
    },
  );
  await report.step('the switch outside', 'every block, straight to its node', () =>
    eventually(() => blocksOnTor(lab, tor)),
  );
  await losses(lab, report, began);
  await distinctIds(lab, report);
}

async function losses(lab: Lab<Six>, report: Report, began: number): Promise<void> {
  const clientBlocks = CLIENTS.flatMap((name) => lab.hosts[name].blocks);
  const reflectorBlocks = REFLECTORS.flatMap((name) => lab.hosts[name].blocks);
  const all = [...REFLECTORS, ...CLIENTS];
  await keptRoutes(lab, report, CLIENTS, began);
  const reset = [
    ...lab.outages(all, reflectorBlocks, began),
    ...lab.outages(REFLECTORS, clientBlocks, began),
  ];
  const bound = RESET_BOUND_MS[lab.hosts.n3.flavour.dialect];
  await report.step('routes to and on the reflectors', `away for at most ${seconds(bound)}`, async () => {
    const ms = longest(reset);
    return { seen: ms === 0 ? 'none away' : `away for up to ${seconds(ms)}`, ok: ms <= bound };
  });
  await keptTraffic(lab, report, CLIENTS);
  await report.step('the guard', 'held nothing, all fresh and good', async () => {
    const all = await Promise.all(lab.all.map((host) => host.status()));
    const odd = all.filter(({ headline, held }) => headline !== 'fresh' || held !== null);
    return {
      seen: odd.length === 0 ? 'all fresh, nothing held' : odd.map((s) => `${s.node} ${s.headline}`).join(),
      ok: odd.length === 0,
    };
  });
}

async function distinctIds(lab: Lab<Six>, report: Report): Promise<void> {
  const began = Date.now();
  await report.step('n2 gets a cluster id of its own', 'each way has its own cluster list', async () => {
    await lab.put(...reflector(lab, 'n2', OTHER_ID));
    const seen = await eventually(() => reflected(lab, { n1: [SHARED_ID], n2: [OTHER_ID] }));
    const counts = await established(lab, STAGES.withoutMesh);
    return { seen: seen.seen, ok: seen.ok && counts.ok };
  });
  await keptRoutes(lab, report, CLIENTS, began);
}

async function established(lab: Lab<Six>, perFamily: Readonly<Record<Six, number>>): Promise<Finding> {
  const counts = Object.fromEntries(Object.entries(perFamily).map(([name, count]) => [name, 2 * count]));
  await lab.established(counts);
  const total = Object.values(counts).reduce((all, count) => all + count, 0);
  return { seen: `${total} Established`, ok: true };
}

/** How n3 knows the block of n5 from each reflector: originator, and cluster list as given. */
async function reflected(
  lab: Lab<Six>,
  lists: Readonly<Record<'n1' | 'n2', readonly string[]>>,
): Promise<Finding> {
  const origin = lab.hosts.n5;
  const found: string[] = [];
  let ok = true;
  for (const block of origin.blocks) {
    const paths = await lab.hosts.n3.paths(block);
    for (const name of REFLECTORS) {
      const { ipv4, ipv6 } = lab.hosts[name].node;
      const session = `Node_${(block.includes(':') ? ipv6 : ipv4).replace(/[.:]/g, '_')}`;
      // A reflector tells of several ways (add paths), also of the one by the other reflector: the direct one counts.
      const [path] = paths
        .filter(({ protocol }) => protocol === session)
        .sort((a, b) => a.clusterList.length - b.clusterList.length);
      found.push(`${name}: ${path?.originatorId ?? 'no path'} [${path?.clusterList.join(' ') ?? ''}]`);
      ok &&= path?.originatorId === origin.node.ipv4 && path.clusterList.join() === lists[name].join();
    }
  }
  return { seen: [...new Set(found)].join(', '), ok };
}

async function blocksOnTor(lab: Lab<Six>, tor: Tor): Promise<Finding> {
  const missing: string[] = [];
  for (const { node, blocks } of lab.all)
    for (const block of blocks) {
      const best = (await tor.paths(block)).find(({ isBest }) => isBest);
      const wanted = block.includes(':') ? node.ipv6 : node.ipv4;
      if (best?.via !== wanted) missing.push(`${block} by ${best?.via ?? 'nothing'}`);
    }
  const total = lab.all.flatMap(({ blocks }) => blocks).length;
  return {
    seen: `${total - missing.length} of ${total} blocks${missing.length > 0 ? `; ${missing[0]}` : ''}`,
    ok: missing.length === 0,
  };
}
