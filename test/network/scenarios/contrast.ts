import { setTimeout as sleep } from 'node:timers/promises';
import { calicoConfiguration, calicoPeer } from '../../support/calico.ts';
import type { Host } from '../lab/host.ts';
import type { Lab } from '../lab/lab.ts';
import { eventually, type Finding, type Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';
import type { Traffic } from '../lab/traffic.ts';
import { CLUSTER_AS, meshCounts, seconds } from './cluster.ts';

/** How long peers keep the routes of a node that is gone: the default is 120 s, too long to watch. */
const RESTART_S = 10;
/** From the node's death until etcd is back. */
const OUTAGE_MS = 15_000;
const DOWN_MS = 2_000;

/**
 * The story once with the cache, once without, as with a confd that keeps nothing. Needs the cluster of `mesh`; the first
 * host is the one that restarts.
 */
export async function withoutCache<Name extends string>(lab: Lab<Name>, report: Report): Promise<void> {
  const [first] = Object.keys(lab.hosts) as [Name];
  const node = lab.hosts[first];
  report.scenario('The same outage, with and without the cache');
  report.say(`etcd is away for ${OUTAGE_MS / 1_000} s from the moment a node dies. Peers keep the routes of a node that is gone for
${RESTART_S} s here (maxRestartTime; BIRD's default of 120 s would take too long to watch).`);
  await report.step(`peers keep routes for ${RESTART_S} s`, 'sessions with that time Established', () =>
    shortenRestart(lab),
  );
  await withCache(lab, node, report);
  await wiped(lab, node, report);
}

async function shortenRestart<Name extends string>(lab: Lab<Name>): Promise<Finding> {
  const names = Object.keys(lab.hosts) as Name[];
  const all = { nodeSelector: 'all()', peerSelector: 'all()', maxRestartTime: `${RESTART_S}s` };
  await lab.put(
    calicoPeer('everyone', all),
    calicoConfiguration({ asNumber: CLUSTER_AS, nodeToNodeMeshEnabled: false }),
  );
  const replaced = await eventually(async () => {
    const sessions = [...(await lab.sessions(...names)).keys()];
    const mesh = sessions.filter((name) => name.includes(' Mesh_')).length;
    return {
      seen: `${sessions.length} sessions, ${mesh} of the mesh`,
      ok: sessions.length === 2 * names.length * (names.length - 1) && mesh === 0,
    };
  });
  await lab.established(meshCounts(names));
  return replaced;
}

async function withCache<Name extends string>(lab: Lab<Name>, node: Host, report: Report): Promise<void> {
  const began = await crash(lab, node);
  await report.step('with the cache: the node starts', 'BIRD runs the cached generation', async () => {
    const { code, output } = await node.initialise('--wait', '1s');
    if (code !== 0) return { seen: `birdfeed --onetime ended with ${code}: ${output}`, ok: false };
    await node.startBird();
    node.startBirdfeed();
    return eventually(async () => {
      const { headline, bird } = await node.status();
      return { seen: `${headline}, ${bird.state}`, ok: headline === 'cached' && bird.state === 'applied' };
    });
  });
  await report.step('with the cache: the outage', 'no route and no probe lost', async () => {
    await sleep(began + OUTAGE_MS - Date.now());
    return lossesOf(lab, node, began, await lab.endTraffic());
  });
  await backAgain(lab);
}

async function wiped<Name extends string>(lab: Lab<Name>, node: Host, report: Report): Promise<void> {
  const began = await crash(lab, node);
  await node.wipeCache();
  await report.step('without: the node starts', 'nothing to start BIRD from', async () => {
    const { code } = await node.initialise('--wait', '1s');
    const bird = await node.startBird().then(
      () => 'runs',
      (error: Error) =>
        /Unable to open configuration file|No such file/.exec(error.message)?.[0] ?? error.message,
    );
    return { seen: `birdfeed --onetime: exit ${code}; BIRD: ${bird}`, ok: code === 75 && bird !== 'runs' };
  });
  const routes = (lab.all.length - 1) * node.blocks.length;
  await report.step('without: the outage', `all ${routes} routes to the node are lost`, async () => {
    await sleep(began + OUTAGE_MS - Date.now());
    await lab.etcd.restart();
    await node.start();
    await backAgain(lab, false);
    const losses = await eventually(async () => {
      const open = outages(lab, node, began).filter(({ isOpen }) => isOpen).length;
      return { seen: `${open} routes still away`, ok: open === 0 };
    });
    if (!losses.ok) return losses;
    const found = lossesOf(lab, node, began, await lab.endTraffic());
    return { ...found, ok: outages(lab, node, began).length >= routes && !found.ok };
  });
}

/** etcd goes, then the node, while all others send to its pod. Returns when the node died (epoch, ms). */
async function crash<Name extends string>(lab: Lab<Name>, node: Host): Promise<number> {
  const [first, ...others] = Object.keys(lab.hosts) as [Name, ...Name[]];
  await lab.beginTraffic(others.map((name) => [name, first] as const));
  await lab.etcd.kill9();
  const began = Date.now();
  await node.kill();
  await sleep(DOWN_MS);
  return began;
}

async function backAgain<Name extends string>(lab: Lab<Name>, restart = true): Promise<void> {
  if (restart) await lab.etcd.restart();
  await Promise.all(lab.all.map((host) => host.settled()));
  await lab.established(meshCounts(Object.keys(lab.hosts) as Name[]));
}

function outages<Name extends string>(lab: Lab<Name>, node: Host, began: number) {
  return lab.outages(Object.keys(lab.hosts) as Name[], node.blocks, began);
}

function lossesOf<Name extends string>(lab: Lab<Name>, node: Host, began: number, traffic: Traffic): Finding {
  const routes = outages(lab, node, began);
  const { sent, lost, longestMs } = traffic;
  const howLong = routes.length === 0 ? '' : ` for up to ${seconds(longest(routes))}`;
  const stretch = lost === 0 ? '' : `, up to ${seconds(longestMs)} at a stretch`;
  return {
    seen: `${routes.length} routes lost${howLong}; ${lost} of ${sent} probes lost${stretch}`,
    ok: routes.length === 0 && lost === 0 && sent > 100,
  };
}
