import { kubernetesKey } from '../../../src/datastore/keys.ts';
import {
  calicoBlock,
  calicoConfiguration,
  calicoFilter,
  calicoPeer,
  calicoPool,
  nodeKey,
  type Stored,
} from '../../support/calico.ts';
import type { Lab } from '../lab/lab.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';
import type { Tor } from '../lab/tor.ts';
import {
  change,
  type Expected,
  everywhere,
  onSwitch,
  RESET_BOUND_MS,
  routesNow,
  type Scene,
  type Seven,
  SIX,
} from './change.ts';
import { CLUSTER_AS, keptRoutes, keptTraffic, POOLS, seconds, startAll } from './cluster.ts';
import { CLIENTS, peers, REFLECTORS, reflector, type Six } from './reflectors.ts';

/** Over which time resets are spread, where they are. */
const SPLAY_S = 40;
const SPARE = { cidr: '10.245.0.0/16', block: '10.245.3.0/26' };
const SERVICE = { range: '203.0.113.0/24', address: '203.0.113.5' };

/** What happens to a cluster with reflectors in its life. Begins with hosts that do not run yet. */
export async function dayTwo(lab: Lab<Seven>, tor: Tor, report: Report): Promise<void> {
  const scene = { lab, tor, report };
  report.scenario('Day two: what changes, and what does not');
  report.say(`Two reflectors, four clients, a switch outside. Each change is to touch the sessions and routes that it is about, and
no others: sessions are counted at both ends on all six hosts. Pods of the clients send to one another all the time.`);
  await report.step('the cluster starts', '40 sessions Established, every block everywhere', () =>
    start(lab, tor),
  );
  await lab.beginTraffic(CLIENTS.map((name, index) => [name, CLIENTS[(index + 1) % CLIENTS.length] as Six]));
  const began = Date.now();
  await reflectorDies(scene);
  await nodeComesAndGoes(scene);
  await poolsAndFilters(scene);
  await service(scene);
  await keptRoutes(lab, report, CLIENTS, began);
  await keptTraffic(lab, report, CLIENTS);
  await password(scene);
  await spread(scene);
}

async function start(lab: Lab<Seven>, tor: Tor): Promise<Finding> {
  await lab.put(
    ...POOLS,
    calicoConfiguration({ asNumber: CLUSTER_AS, nodeToNodeMeshEnabled: false }),
    ...peers(lab.network.nodes['tor']!),
    ...REFLECTORS.flatMap((name) => reflector(lab, name, '244.0.0.1')),
    ...CLIENTS.flatMap((name) => lab.objectsOf(name)),
  );
  await startAll(SIX.map((name) => lab.hosts[name]));
  await allEstablished(lab);
  const blocks = SIX.flatMap((name) => lab.hosts[name].blocks).flatMap(everywhere);
  return eventually(async () => {
    const routes = await routesNow(lab, tor);
    const missing = blocks.filter((route) => !routes.has(route));
    return { seen: `40 Established, ${missing.length} blocks missing`, ok: missing.length === 0 };
  });
}

function allEstablished(lab: Lab<Seven>): Promise<void> {
  return lab.established({ n1: 12, n2: 12, n3: 4, n4: 4, n5: 4, n6: 4 });
}

async function reflectorDies({ lab, tor, report }: Scene): Promise<void> {
  const before = await routesNow(lab, tor);
  await report.step('a reflector dies', 'clients have each route by the other one', async () => {
    await lab.hosts.n2.stopBird('SIGTERM');
    await lab.hosts.n2.stopBirdfeed('SIGKILL');
    return eventually(async () => {
      const paths = await lab.hosts.n3.paths(lab.hosts.n5.blocks[0]!);
      return { seen: paths.map(({ protocol }) => protocol).join(', '), ok: paths.length === 1 };
    });
  });
  await report.step('it comes back', '40 sessions Established, routes as before', async () => {
    await lab.hosts.n2.start();
    await allEstablished(lab);
    return eventually(async () => {
      const now = await routesNow(lab, tor);
      const away = [...before].filter((route) => !now.has(route));
      return { seen: `40 Established, ${away.length} routes away`, ok: away.length === 0 };
    });
  });
}

async function nodeComesAndGoes(scene: Scene): Promise<void> {
  const { lab } = scene;
  const { n7 } = lab.hosts;
  const routes = n7.blocks.flatMap(everywhere);
  await change(scene, 'a node joins', { added: 4, routesAdded: routes }, async () => {
    const revision = await lab.put(...lab.objectsOf('n7'));
    await n7.start();
    return revision;
  });
  await change(scene, 'the node is deleted', { gone: 4, routesGone: routes }, async () => {
    await n7.stopBird('SIGTERM');
    await n7.stopBirdfeed();
    const blocks = n7.blocks.map((cidr) => ({ del: calicoBlock('n7', cidr)[0] }));
    return lab.etcd.client.txn([{ del: nodeKey('n7') }, ...blocks]);
  });
}

async function poolsAndFilters(scene: Scene): Promise<void> {
  const { lab } = scene;
  const edit = (step: string, expected: Expected, ...objects: readonly Stored[]) =>
    change(scene, step, expected, () => lab.put(...objects));
  const spare = (spec: object) => calicoPool('spare', SPARE.cidr, { ...spec });
  const routes = everywhere(SPARE.block);
  await edit('a pool and a block', { routesAdded: routes }, spare({}), calicoBlock('n3', SPARE.block));
  // It says that no more addresses are to be had from it; those that are in use stay reachable.
  await edit('`disabled` on the pool', {}, spare({ disabled: true }));
  await edit('`disableBGPExport` on it', { routesGone: routes }, spare({ disableBGPExport: true }));
  const filter = (cidr: string) =>
    calicoFilter('tor', { exportV4: [{ action: 'Reject', matchOperator: 'In', cidr }] });
  const [one, other] = [lab.hosts.n3.blocks[0]!, lab.hosts.n4.blocks[0]!];
  const [hidden, alsoHidden] = [onSwitch(one), onSwitch(other)];
  const peersWithFilter = peers(lab.network.nodes['tor']!, { filters: ['tor'] });
  await edit('a BGPFilter for the switch', { routesGone: [hidden] }, filter(one), ...peersWithFilter);
  await edit('its rule changes', { routesAdded: [hidden], routesGone: [alsoHidden] }, filter(other));
}

async function service({ lab, tor, report }: Scene): Promise<void> {
  const { n4 } = lab.hosts;
  // Every node announces the whole range, and the one with an endpoint the single address.
  const routesAdded = [SERVICE.range, `${SERVICE.address}/32`].map(onSwitch);
  await change({ lab, tor, report }, 'a service address appears', { routesAdded }, () =>
    lab.put(...serviceObjects(n4.name)),
  );
  await report.step('the switch sends it', `to ${n4.name}, which has the endpoint`, async () => {
    const best = (await tor.paths(`${SERVICE.address}/32`)).find(({ isBest }) => isBest);
    return { seen: `${SERVICE.address} by ${best?.via ?? 'nothing'}`, ok: best?.via === n4.node.ipv4 };
  });
}

function serviceObjects(nodeName: string): readonly Stored[] {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const service = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7'],
      externalTrafficPolicy: 'Local',
    },
    status: { loadBalancer: { ingress: [{ ip: SERVICE.address }] } },
  };
  const slice = {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 'web-1', namespace: 'default', labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.4.10'], nodeName, conditions: { ready: true } }],
  };
  return [
    calicoConfiguration({
      asNumber: CLUSTER_AS,
      nodeToNodeMeshEnabled: false,
      serviceLoadBalancerIPs: [{ cidr: SERVICE.range }],
    }),
    [kubernetesKey('Service', 'default', 'web'), JSON.stringify(service)],
    [kubernetesKey('EndpointSlice', 'default', 'web-1'), JSON.stringify(slice)],
  ];
}

async function password(scene: Scene): Promise<void> {
  const { lab, report } = scene;
  // Each client with each reflector, both families, both ends; not the reflectors with each other or the switch.
  const reset = CLIENTS.length * REFLECTORS.length * 2 * 2;
  await lab.secret('bgp-passwords', 'fabric', 'first');
  await change(scene, 'clients and reflectors get a password', { reset }, () => lab.put(clientsPeer({})));
  const began = Date.now();
  const bound = RESET_BOUND_MS[lab.hosts.n3.flavour.dialect];
  await change(scene, 'the password changes', { reset }, async () => {
    await lab.secret('bgp-passwords', 'fabric', 'second');
    return null;
  });
  await report.step('routes between clients', `away for at most ${seconds(bound)}`, async () => {
    const away = longest(outagesOfClients(lab, began));
    return { seen: away === 0 ? 'no route lost' : `for up to ${seconds(away)}`, ok: away < bound };
  });
}

/** The BGPPeer between clients and reflectors, with the password. */
function clientsPeer(more: object): Stored {
  return calicoPeer('clients-to-reflectors', {
    nodeSelector: '!has(route-reflector)',
    peerSelector: 'has(route-reflector)',
    password: { secretKeyRef: { name: 'bgp-passwords', key: 'fabric' } },
    ...more,
  });
}

/** A change of the same sessions that need not be made at both ends at once, spread over the fleet. */
async function spread({ lab, report }: Scene): Promise<void> {
  for (const name of SIX) {
    await lab.hosts[name].stopBirdfeed();
    lab.hosts[name].startBirdfeed('--splay-hard', `${SPLAY_S}s`);
  }
  await Promise.all(SIX.map((name) => lab.hosts[name].settled()));
  const apart = SPLAY_S / 4;
  const step = `a timer changes, with \`--splay-hard ${SPLAY_S}s\``;
  const began = Date.now();
  await report.step(step, `the reflectors at least ${apart} s apart, all sessions back`, async () => {
    const generations = await generationsOf(lab);
    await lab.put(clientsPeer({ maxRestartTime: '60s' }));
    const moments = new Map<Six, number>();
    await eventually(async () => {
      for (const [name, number] of await generationsOf(lab))
        if (number !== generations.get(name) && !moments.has(name)) moments.set(name, Date.now() - began);
      return { seen: '', ok: moments.size === SIX.length };
    }, 2_000 * SPLAY_S);
    await allEstablished(lab);
    const seen = SIX.map((name) => `${name} at ${seconds(moments.get(name) ?? Number.NaN)}`).join(', ');
    const ok = Math.abs((moments.get('n1') ?? 0) - (moments.get('n2') ?? 0)) >= apart * 1_000;
    return { seen, ok: ok && moments.size === SIX.length };
  });
  const bound = RESET_BOUND_MS[lab.hosts.n3.flavour.dialect];
  await report.step('routes between clients', `away for at most ${seconds(bound)}`, async () => {
    const away = longest(outagesOfClients(lab, began));
    return { seen: away === 0 ? 'none away' : `for up to ${seconds(away)}`, ok: away < bound };
  });
}

async function generationsOf(lab: Lab<Seven>): Promise<ReadonlyMap<Six, number | undefined>> {
  const all = SIX.map(async (name) => [name, (await lab.hosts[name].status()).generation?.number] as const);
  return new Map(await Promise.all(all));
}

function outagesOfClients(lab: Lab<Seven>, since: number) {
  const blocks = CLIENTS.flatMap((name) => lab.hosts[name].blocks);
  return lab.outages(CLIENTS, blocks, since);
}
