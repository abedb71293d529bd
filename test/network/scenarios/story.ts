import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/wait.ts';
import type { Host } from '../lab/host.ts';
import type { Lab } from '../lab/lab.ts';
import type { Finding, Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';
import type { Traffic } from '../lab/traffic.ts';
import { expectation, meshCounts, movingMs, seconds } from './cluster.ts';

/** How long the node is without BIRD and birdfeed, as while its pod is replaced. */
const DOWN_MS = 2_000;

/**
 * What birdfeed exists for. Needs the cluster of {@link mesh}. The first host is the one that restarts while etcd is away; all
 * others send to its pod all the time, and its pod to the second one's.
 */
export async function story<Name extends string>(lab: Lab<Name>, report: Report): Promise<void> {
  const scene = sceneOf(lab);
  await outage(scene, report);
  await orderly(scene, report);
  await terminated(scene, report);
}

interface Scene<Name extends string> {
  readonly lab: Lab<Name>;
  readonly names: readonly Name[];
  readonly others: readonly Name[];
  readonly node: Host;
}

function sceneOf<Name extends string>(lab: Lab<Name>): Scene<Name> {
  const names = Object.keys(lab.hosts) as Name[];
  const [first, ...others] = names as [Name, ...Name[]];
  return { lab, names, others, node: lab.hosts[first] };
}

async function outage<Name extends string>(scene: Scene<Name>, report: Report): Promise<void> {
  const { lab, node } = scene;
  const published = (await node.status()).generation?.number;
  report.scenario('A node restarts while etcd is away');
  report.say(`Every pod of the cluster sends to the pod on ${node.name}, a hundred times a second over each family.
etcd is killed. Then BIRD and birdfeed of ${node.name} are killed, and started again ${DOWN_MS / 1_000} s later.`);
  const began = await begin(scene);
  await report.step('etcd is killed', 'birdfeed everywhere stale, and still ready', () => loseEtcd(lab));
  await report.step(
    'BIRD and birdfeed of the node are killed',
    'the others have its routes all the time',
    async () => {
      await node.kill();
      await sleep(DOWN_MS);
      return noOutage(scene, began);
    },
  );
  await report.step('the node boots', 'from the cache: same generation, applied, not ready', async () => {
    const { code, output } = await node.initialise('--wait', '1s');
    if (code !== 0) return { seen: `the init container ended with ${code}: ${output}`, ok: false };
    await node.startBird();
    node.startBirdfeed();
    return bootedFromCache(node, published);
  });
  await report.step('sessions', 'all Established again', () => sessionsBack(scene));
  await report.step('routes', 'no other kernel lost one', async () => noOutage(scene, began));
  await keptTraffic(scene, report);
  await report.step('a rolling update asks', '`birdfeed probe ready` says no, and why', async () => {
    const { code, output } = await node.command('probe', 'ready');
    const { reason } = JSON.parse(output) as { reason: string };
    return { seen: `exit ${code}: ${reason.split(';')[0]}`, ok: code === 1 && reason.includes('cached') };
  });
  await report.step('etcd is back', 'fresh, ready, same generation, no reload', () =>
    etcdBack(lab, node, published),
  );
}

async function orderly<Name extends string>(scene: Scene<Name>, report: Report): Promise<void> {
  const { node } = scene;
  const how = node.flavour.dialect === 'bird2' ? 'graceful restart' : 'SIGKILL';
  report.scenario('A pod is replaced in order');
  report.say(
    `birdfeed gets SIGTERM; BIRD ${node.flavour.binary.version} ends by ${how === 'SIGKILL' ? 'SIGKILL' : '`birdc graceful restart`'}, as docs/operations.md has it.`,
  );
  const began = await begin(scene);
  await report.step(
    `birdfeed stops, BIRD ends by ${how}`,
    'sessions back, no other kernel lost a route',
    async () => {
      await replace(scene, how);
      return noOutage(scene, began);
    },
  );
  await keptTraffic(scene, report);
}

async function terminated<Name extends string>(scene: Scene<Name>, report: Report): Promise<void> {
  const { lab, node, others } = scene;
  report.scenario('What SIGTERM alone costs');
  report.say(
    'The same, but BIRD is only sent SIGTERM, as a container runtime does by default: it takes leave of its peers.',
  );
  const began = await begin(scene);
  const routes = others.length * node.blocks.length;
  await report.step(
    'BIRD ends by SIGTERM',
    `all ${routes} routes to the node are lost until it is back`,
    async () => {
      await replace(scene, 'SIGTERM');
      const lost = await until(
        () => {
          const outages = lab.outages(others, node.blocks, began);
          return outages.every(({ isOpen }) => !isOpen) && outages;
        },
        { timeout: 30_000, every: 50, what: 'the routes to be back' },
      );
      return {
        seen: `${lost.length} routes lost, up to ${seconds(longest(lost))}`,
        ok: lost.length >= routes,
      };
    },
  );
  await report.step('traffic', 'is lost as long', async () => {
    const traffic = await lab.endTraffic();
    return { seen: inWords(traffic), ok: traffic.longestMs > 1_000 };
  });
}

/** Has the traffic flow; returns when that was (epoch, ms). */
async function begin<Name extends string>({ lab, names, others }: Scene<Name>): Promise<number> {
  const [node, second] = names as [Name, Name];
  await lab.beginTraffic([...others.map((name) => [name, node] as const), [node, second]]);
  return Date.now();
}

async function replace<Name extends string>(
  scene: Scene<Name>,
  how: 'SIGTERM' | 'SIGKILL' | 'graceful restart',
): Promise<void> {
  const { node } = scene;
  await Promise.all([node.stopBirdfeed(), node.stopBird(how)]);
  await sleep(DOWN_MS);
  await node.start();
  await node.settled();
  await sessionsBack(scene);
}

async function loseEtcd(lab: Lab): Promise<Finding> {
  await lab.etcd.kill9();
  await until(
    async () => {
      const all = await Promise.all(lab.all.map((host) => host.status()));
      return all.every(({ data }) => data.state === 'stale');
    },
    { timeout: 30_000, every: 100, what: 'all to be stale' },
  );
  const ready = await Promise.all(lab.all.map((host) => host.readiness()));
  const count = ready.filter((answer) => answer.ready).length;
  return { seen: `${ready.length} stale, ${count} ready`, ok: count === ready.length };
}

async function bootedFromCache(node: Host, published: number | undefined): Promise<Finding> {
  const status = await until(
    async () => {
      const now = await node.status();
      return now.data.state === 'cached' && now.data.reason !== null && now.bird.state === 'applied' && now;
    },
    { timeout: 30_000, every: 50, what: 'cached and applied' },
  );
  const { ready } = await node.readiness();
  const generation = status.generation?.number;
  return {
    seen: `generation ${generation}, ${status.headline}, ${status.bird.state}, ${ready ? 'ready' : 'not ready'}`,
    ok: generation === published && !ready && status.headline === 'cached',
  };
}

async function sessionsBack<Name extends string>({ lab, names }: Scene<Name>): Promise<Finding> {
  await lab.established(meshCounts(names));
  return { seen: `${2 * names.length * (names.length - 1)} Established`, ok: true };
}

async function etcdBack(lab: Lab, node: Host, published: number | undefined): Promise<Finding> {
  await lab.etcd.restart();
  const status = await node.settled();
  await Promise.all(lab.all.map((host) => host.settled()));
  const { ready } = await node.readiness();
  const number = status.generation?.number;
  const reloads = node.reconfigurations;
  return {
    seen: `${status.headline}, ${ready ? 'ready' : 'not ready'}, generation ${number}, ${reloads} reloads`,
    ok: ready && number === published && status.counters.published === 0 && reloads === 0,
  };
}

/** Whether any kernel was without a route to a block since then: the others to the node's, the node itself to theirs. */
function noOutage<Name extends string>({ lab, names, others, node }: Scene<Name>, since: number): Finding {
  const theirs = others.flatMap((name) => lab.hosts[name].blocks);
  const lost = lab.outages(others, node.blocks, since);
  const ownLost = lab.outages(names.slice(0, 1), theirs, since);
  const own =
    ownLost.length === 0
      ? ''
      : `; its own kernel lost ${ownLost.length} for up to ${seconds(longest(ownLost))}`;
  return {
    seen: `${lost.length === 0 ? 'no route lost' : `${lost.length} routes lost, up to ${seconds(longest(lost))}`}${own}`,
    ok: lost.length === 0 && longest(ownLost) <= movingMs(node.flavour),
  };
}

async function keptTraffic<Name extends string>({ lab, node }: Scene<Name>, report: Report): Promise<void> {
  const bound = movingMs(node.flavour);
  await report.step('traffic', expectation('lost', bound), async () => {
    const traffic = await lab.endTraffic();
    return { seen: inWords(traffic), ok: traffic.longestMs <= bound && traffic.sent > 100 };
  });
}

function inWords({ sent, lost, longestMs }: Traffic): string {
  return `${lost} of ${sent} probes lost${lost === 0 ? '' : `, up to ${seconds(longestMs)} at a stretch`}`;
}
