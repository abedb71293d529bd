import { calicoConfiguration, calicoPool, type Stored } from '../../support/calico.ts';
import type { Flavour } from '../lab/flavour.ts';
import type { Host } from '../lab/host.ts';
import type { Lab } from '../lab/lab.ts';
import type { Finding, Report } from '../lab/report.ts';
import { longest } from '../lab/route-watch.ts';

/** AS numbers of the cluster and of the switch outside. */
export const CLUSTER_AS = 64_512;

export const POOLS: readonly Stored[] = [
  calicoPool('pods4', '10.244.0.0/16'),
  calicoPool('pods6', 'fd00:10:244::/48'),
];

/** What a cluster in full mesh has, without its nodes. */
export const MESH: readonly Stored[] = [
  ...POOLS,
  calicoConfiguration({ asNumber: CLUSTER_AS, nodeToNodeMeshEnabled: true }),
];

/** Starts these hosts at once, and waits until each birdfeed has what it wants. */
export async function startAll(hosts: readonly Host[]): Promise<void> {
  await Promise.all(hosts.map((host) => host.start()));
  await Promise.all(hosts.map((host) => host.settled()));
}

/** Sessions of every host in a mesh of so many, of both families. */
export function meshCounts<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 2 * (names.length - 1)])) as Record<Name, number>;
}

/** Whether every host's kernel has every other one's blocks, by way of that host; names the first that is missing. */
export async function blocksInKernels(lab: Lab, names: readonly string[]): Promise<Finding> {
  let count = 0;
  for (const name of names) {
    const host = lab.hosts[name] as Host;
    const routes = new Map([...(await host.kernelRoutes(4)), ...(await host.kernelRoutes(6))]);
    for (const other of names) {
      const { node, blocks } = lab.hosts[other] as Host;
      for (const block of blocks) {
        const wanted = other === name ? 'blackhole' : block.includes(':') ? node.ipv6 : node.ipv4;
        const found = routes.get(block);
        if (found !== wanted)
          return { seen: `${name} has ${block} by ${found ?? 'nothing'} instead of ${wanted}`, ok: false };
        count += 1;
      }
    }
  }
  return { seen: `${count} routes in ${names.length} kernels`, ok: true };
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/**
 * For how long a kernel's own BIRD may leave it without a route when it moves the route from one session to another, or
 * takes it over after a restart. BIRD 2 replaces a route in the kernel. 1.6 deletes the old one, then adds the new one, and
 * a packet may come in between; 3 does so when it starts again after it was killed.
 */
export function movingMs({ binary }: Flavour): number {
  return binary.version.startsWith('2.') ? 0 : 250;
}

/** A step of a scenario: the kernels of these hosts kept their routes to one another, but for the moment of a move. */
export function keptRoutes<Name extends string>(
  lab: Lab<Name>,
  report: Report,
  names: readonly Name[],
  since: number,
) {
  const bound = boundOf(lab, names);
  const blocks = names.flatMap((name) => lab.hosts[name].blocks);
  return report.step('routes between clients', expectation('away', bound), async () => {
    const away = longest(lab.outages(names, blocks, since));
    return { seen: away === 0 ? 'none away' : `away for up to ${seconds(away)}`, ok: away <= bound };
  });
}

/** The same of their pods' traffic, which ends here. */
export function keptTraffic<Name extends string>(lab: Lab<Name>, report: Report, names: readonly Name[]) {
  const bound = boundOf(lab, names);
  return report.step('traffic between clients', expectation('lost', bound), async () => {
    const { sent, lost, longestMs } = await lab.endTraffic();
    const stretch = lost === 0 ? '' : `, up to ${seconds(longestMs)} at a stretch`;
    return { seen: `${lost} of ${sent} lost${stretch}`, ok: longestMs <= bound && sent > 100 };
  });
}

function boundOf<Name extends string>(lab: Lab<Name>, names: readonly Name[]): number {
  return Math.max(...names.map((name) => movingMs(lab.hosts[name].flavour)));
}

export function expectation(what: string, bound: number): string {
  return bound === 0 ? `none ${what}` : `none ${what} for over ${seconds(bound)}`;
}
