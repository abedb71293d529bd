import { calicoConfiguration, calicoPool, type Stored } from '../../support/calico.ts';
import type { Host } from '../lab/host.ts';
import type { Lab } from '../lab/lab.ts';
import type { Finding } from '../lab/report.ts';

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
  return ms < 100 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
