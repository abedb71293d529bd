import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../lab/lab.ts';
import { eventually, type Report } from '../lab/report.ts';
import { blocksInKernels, MESH, meshCounts, startAll } from './cluster.ts';

/** Nodes in full mesh: sessions of both families, blocks in all kernels, pods that reach each other. */
export async function mesh<Name extends string>(lab: Lab<Name>, report: Report): Promise<void> {
  const names = Object.keys(lab.hosts) as Name[];
  const count = names.length;
  report.scenario(`${count} nodes in full mesh`);
  report.say(`etcd holds ${count} Nodes with a block of pod addresses of each family, two pools and the mesh.
On every node an init container renders the first generation, BIRD starts from it, and birdfeed follows etcd.`);
  await lab.put(...MESH, ...names.flatMap((name) => lab.objectsOf(name)));
  await report.step(
    'start every node',
    'birdfeed everywhere fresh, BIRD runs what it published',
    async () => {
      await startAll(lab.all);
      return { seen: `${count} of ${count} fresh and applied`, ok: true };
    },
  );
  await report.step('sessions', `${count * (count - 1)} over IPv4, as many over IPv6`, async () => {
    await lab.established(meshCounts(names));
    const all = [...(await lab.sessions(...names)).keys()];
    const v6 = all.filter((name) => name.includes('__')).length;
    return {
      seen: `${all.length - v6} over IPv4, ${v6} over IPv6`,
      ok: all.length === 2 * v6 && v6 === count * (count - 1),
    };
  });
  await report.step('kernel routes', `${2 * count * count}: each node's blocks on every node`, () =>
    eventually(() => blocksInKernels(lab, names)),
  );
  const pairs = names.map((name, index) => [name, names[(index + 1) % count] as Name] as const);
  await report.step('pods reach pods', 'every probe answered, each to the next, both families', async () => {
    await lab.beginTraffic(pairs);
    await sleep(1_000);
    const { sent, lost } = await lab.endTraffic();
    return { seen: `${lost} of ${sent} lost`, ok: lost === 0 && sent >= 20 * count };
  });
}
