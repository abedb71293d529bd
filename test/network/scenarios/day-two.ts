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
import { type Lab, sessionChanges } from '../lab/lab.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';
import type { Tor } from '../lab/tor.ts';
import { CLUSTER_AS, POOLS, seconds, startAll } from './cluster.ts';
import { CLIENTS, peers, REFLECTORS, reflector, type Six } from './reflectors.ts';

/** The six, and one that joins. */
export type Seven = Six | 'n7';

const SIX = [...REFLECTORS, ...CLIENTS] as const;
const SPARE = { cidr: '10.245.0.0/16', block: '10.245.3.0/26' };
const SERVICE = { range: '203.0.113.0/24', address: '203.0.113.5' };

/** How many sessions an edit may touch, counted at both ends. */
interface Expected {
  readonly reset: number;
  readonly added: number;
  readonly gone: number;
}

const UNTOUCHED: Expected = { reset: 0, added: 0, gone: 0 };

interface Scene {
  readonly lab: Lab<Seven>;
  readonly tor: Tor;
  readonly report: Report;
}

/** What happens to a cluster with reflectors in its life. Begins with hosts that do not run yet. */
export async function dayTwo(lab: Lab<Seven>, tor: Tor, report: Report): Promise<void> {
  const scene = { lab, tor, report };
  report.scenario('Day two: what changes, and what does not');
  report.say(`Two reflectors, four clients, a switch outside. Each change is to touch the sessions and routes that it is about, and
no others: sessions are counted at both ends on all six hosts. Pods of the clients send to one another all the time.`);
  await report.step('the cluster starts', '40 sessions Established', () => start(lab));
  await lab.beginTraffic(CLIENTS.map((name, index) => [name, CLIENTS[(index + 1) % CLIENTS.length] as Six]));
  const began = Date.now();
  await reflectorDies(scene);
  await nodeComesAndGoes(scene);
  await poolsAndFilters(scene);
  await service(scene);
  await report.step('routes between clients until here', 'none away', async () => {
    const away = longest(outagesOfClients(lab, began));
    return { seen: away === 0 ? 'no route lost' : `away for up to ${seconds(away)}`, ok: away === 0 };
  });
  await report.step('traffic between clients until here', 'no probe lost', async () => {
    const { sent, lost } = await lab.endTraffic();
    return { seen: `${lost} of ${sent} lost`, ok: lost === 0 && sent > 100 };
  });
  await password(scene);
}

async function start(lab: Lab<Seven>): Promise<Finding> {
  await lab.put(
    ...POOLS,
    calicoConfiguration({ asNumber: CLUSTER_AS, nodeToNodeMeshEnabled: false }),
    ...peers(lab.network.nodes['tor']!),
    ...REFLECTORS.flatMap((name) => reflector(lab, name, '244.0.0.1')),
    ...CLIENTS.flatMap((name) => lab.objectsOf(name)),
  );
  await startAll(SIX.map((name) => lab.hosts[name]));
  await allEstablished(lab);
  return { seen: '40 Established', ok: true };
}

function allEstablished(lab: Lab<Seven>): Promise<void> {
  return lab.established({ n1: 12, n2: 12, n3: 4, n4: 4, n5: 4, n6: 4 });
}

async function reflectorDies({ lab, report }: Scene): Promise<void> {
  await report.step('a reflector dies', 'clients have each route by the other one', async () => {
    await lab.hosts.n2.stopBird('SIGTERM');
    await lab.hosts.n2.stopBirdfeed('SIGKILL');
    return eventually(async () => {
      const paths = await lab.hosts.n3.paths(lab.hosts.n5.blocks[0]!);
      return { seen: paths.map(({ protocol }) => protocol).join(', '), ok: paths.length === 1 };
    });
  });
  await report.step('it comes back', 'all 40 sessions', async () => {
    await lab.hosts.n2.start();
    await allEstablished(lab);
    return { seen: '40 Established', ok: true };
  });
}

async function nodeComesAndGoes(scene: Scene): Promise<void> {
  const { lab } = scene;
  const { n7 } = lab.hosts;
  const routes = (isThere: boolean) => async () => {
    const kernels = await Promise.all(SIX.map((name) => lab.hosts[name].kernelRoutes(4)));
    const count = kernels.filter((kernel) => kernel.has(n7.blocks[0]!)).length;
    return { seen: `${count} of 6 have its block`, ok: count === (isThere ? 6 : 0) };
  };
  await change(
    scene,
    'a node joins',
    'its block everywhere',
    { ...UNTOUCHED, added: 4 },
    async () => {
      const revision = await lab.put(...lab.objectsOf('n7'));
      await n7.start();
      return revision;
    },
    async () => {
      const sessions = [...(await n7.sessions()).values()];
      const found = await routes(true)();
      return { seen: found.seen, ok: found.ok && sessions.every(({ isEstablished }) => isEstablished) };
    },
  );
  await change(
    scene,
    'the node is deleted',
    'its block nowhere',
    { ...UNTOUCHED, gone: 4 },
    async () => {
      await n7.stopBird('SIGTERM');
      await n7.stopBirdfeed();
      const blocks = n7.blocks.map((cidr) => ({ del: calicoBlock('n7', cidr)[0] }));
      return lab.etcd.client.txn([{ del: nodeKey('n7') }, ...blocks]);
    },
    routes(false),
  );
}

async function poolsAndFilters(scene: Scene): Promise<void> {
  const { lab, tor } = scene;
  const spare = (spec: object) => calicoPool('spare', SPARE.cidr, { ...spec });
  const onTor = (prefix: string, isThere: boolean) => async (): Promise<Finding> => {
    const known = (await tor.paths(prefix)).length > 0;
    return { seen: `${prefix} ${known ? 'is there' : 'is away'}`, ok: known === isThere };
  };
  const edit = (what: string, expected: string, objects: readonly Stored[], look: () => Promise<Finding>) =>
    change(scene, what, expected, UNTOUCHED, () => lab.put(...objects), look);
  await edit(
    'a pool and a block in it',
    'the switch learns of it',
    [spare({}), calicoBlock('n3', SPARE.block)],
    onTor(SPARE.block, true),
  );
  await edit(
    '`disabled` on the pool',
    'is about new addresses, not routes',
    [spare({ disabled: true })],
    onTor(SPARE.block, true),
  );
  await edit(
    '`disableBGPExport` on the pool',
    'its block is withdrawn',
    [spare({ disableBGPExport: true })],
    onTor(SPARE.block, false),
  );
  const [hidden, other] = [lab.hosts.n3.blocks[0]!, lab.hosts.n4.blocks[0]!];
  const filter = (cidr: string) =>
    calicoFilter('tor', { exportV4: [{ action: 'Reject', matchOperator: 'In', cidr }] });
  const withFilter = peers(lab.network.nodes['tor']!, { filters: ['tor'] });
  await edit(
    'a BGPFilter for the switch',
    `${hidden} is withdrawn from it`,
    [filter(hidden), ...withFilter],
    onTor(hidden, false),
  );
  await edit('its rule changes', `${hidden} is back, ${other} is withdrawn`, [filter(other)], async () => {
    const [back, gone] = [await onTor(hidden, true)(), await onTor(other, false)()];
    return { seen: `${back.seen}, ${gone.seen}`, ok: back.ok && gone.ok };
  });
}

async function service(scene: Scene): Promise<void> {
  const { lab, tor } = scene;
  const { n4 } = lab.hosts;
  await change(
    scene,
    'a service address appears',
    `the switch sends it to ${n4.name}, which has the endpoint`,
    UNTOUCHED,
    () => lab.put(...serviceObjects(n4.name)),
    async () => {
      const best = (await tor.paths(`${SERVICE.address}/32`)).find(({ isBest }) => isBest);
      return { seen: `${SERVICE.address} by ${best?.via ?? 'nothing'}`, ok: best?.via === n4.node.ipv4 };
    },
  );
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
  const { lab } = scene;
  const ends = 2 * 2 * 2 * CLIENTS.length;
  const established = async (): Promise<Finding> => {
    const all = [...(await lab.sessions(...SIX)).values()];
    const up = all.filter(({ isEstablished }) => isEstablished).length;
    return { seen: `${up} of ${all.length} Established`, ok: up === all.length };
  };
  await lab.secret('bgp-passwords', 'fabric', 'first');
  const secretKeyRef = { name: 'bgp-passwords', key: 'fabric' };
  const withPassword = calicoPeer('clients-to-reflectors', {
    ...{ nodeSelector: '!has(route-reflector)', peerSelector: 'has(route-reflector)' },
    password: { secretKeyRef },
  });
  await change(
    scene,
    'clients and reflectors get a password',
    'their sessions, and no others',
    { ...UNTOUCHED, reset: ends },
    () => lab.put(withPassword),
    established,
  );
  const began = Date.now();
  await change(
    scene,
    'the password changes',
    'their sessions, and no others',
    { ...UNTOUCHED, reset: ends },
    async () => {
      await lab.secret('bgp-passwords', 'fabric', 'second');
      return null;
    },
    established,
  );
  await scene.report.step('routes between clients', 'away until a reflector is back', async () => {
    const away = longest(outagesOfClients(lab, began));
    return { seen: away === 0 ? 'no route lost' : `away for up to ${seconds(away)}`, ok: away < 20_000 };
  });
}

/** Makes an edit, and looks until it shows; then everything else has to be as it was. */
async function change(
  { lab, report }: Scene,
  step: string,
  expected: string,
  sessions: Expected,
  edit: () => Promise<number | null>,
  look: () => Promise<Finding>,
): Promise<void> {
  await report.step(step, `${expected}; ${inWords(sessions)}`, async () => {
    const before = await lab.sessions(...SIX);
    const revision = await edit();
    await caughtUp(lab, revision);
    return eventually(async () => {
      const found = await look();
      const { reset, added, gone } = sessionChanges(before, await lab.sessions(...SIX));
      const touched = { reset: reset.length, added: added.length, gone: gone.length };
      const ok = found.ok && inWords(touched) === inWords(sessions);
      return { seen: `${found.seen}; ${inWords(touched)}`, ok };
    }, 30_000);
  });
}

/** Waits until every birdfeed has seen this revision and its BIRD runs what came of it. */
async function caughtUp(lab: Lab<Seven>, revision: number | null): Promise<void> {
  for (const name of SIX) {
    const found = await eventually(async () => {
      const { mounts, bird, data } = await lab.hosts[name].status();
      const newest = Math.max(...mounts.filter(({ kind }) => kind === 'etcd').map((mount) => mount.revision));
      const ok =
        (revision === null || newest >= revision) && bird.state === 'applied' && data.state === 'fresh';
      return { seen: `revision ${newest}, ${bird.state}`, ok };
    }, 30_000);
    if (!found.ok) throw new Error(`${name} has not caught up with revision ${revision}: ${found.seen}`);
  }
}

function inWords({ reset, added, gone }: Expected): string {
  const parts = [`${reset} sessions reset`];
  if (added > 0) parts.push(`${added} new`);
  if (gone > 0) parts.push(`${gone} gone`);
  return parts.join(', ');
}

function outagesOfClients(lab: Lab<Seven>, since: number) {
  const blocks = CLIENTS.flatMap((name) => lab.hosts[name].blocks);
  return lab.outages(CLIENTS, blocks, since);
}
