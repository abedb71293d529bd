import { createHash } from 'node:crypto';
import { ipv4FromNumber, parseAddress } from '../calico/ip.ts';
import type { Cluster, NodeResource } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import type { ModelOptions } from './options.ts';
import type { NodeSettings } from './types.ts';

/** The AS number of a cluster that sets none (Calico's implicit default). */
const DEFAULT_AS = 64_512;

/** Networks on these are workload addresses (Felix's interfaces) and cluster IPs (kube-proxy's): not this node's to announce. */
const WORKLOAD_INTERFACES = ['cali*', 'kube-ipvs*'] as const;

interface Settled {
  readonly settings: NodeSettings;
  readonly problems: readonly Problem[];
}

/** A node's own settings: its BGPConfiguration `node.NAME` before `default`, its Node resource before both. */
export function nodeSettings(
  cluster: Cluster,
  nodeName: string,
  node: NodeResource | undefined,
  options: ModelOptions,
): Settled {
  const shared = cluster.defaultConfig;
  const own = cluster.nodeConfigs.get(nodeName);
  const clusterAsNumber = shared?.asNumber ?? DEFAULT_AS;
  const problems: Problem[] = [];
  return {
    problems,
    settings: {
      nodeName,
      routerId: routerId(nodeName, node, options, problems),
      asNumber: node?.asNumber ?? clusterAsNumber,
      clusterAsNumber,
      clusterId: node?.clusterId ?? null,
      debug: debugFlags(own?.logSeverity ?? shared?.logSeverity ?? null),
      listenPort: listenPortOf(cluster, nodeName),
      clusterListenPort: shared?.listenPort ?? null,
      bindToNodeAddress: shared?.bindMode === 'NodeIP',
      interfaces: [
        ...[...(shared?.ignoredInterfaces ?? []), ...WORKLOAD_INTERFACES].map((pattern) => ({
          pattern,
          use: false,
        })),
        { pattern: '*', use: true },
      ],
      scanTime: options.scanTime,
      gracefulRestartWait:
        options.dialect === 'bird2' || options.compat.longGracefulRestartWait
          ? null
          : options.gracefulRestartWait,
    },
  };
}

/** The port that a node listens on; null where nothing sets one. */
export function listenPortOf(cluster: Cluster, nodeName: string): number | null {
  return cluster.nodeConfigs.get(nodeName)?.listenPort ?? cluster.defaultConfig?.listenPort ?? null;
}

function routerId(
  nodeName: string,
  node: NodeResource | undefined,
  options: ModelOptions,
  problems: Problem[],
): string {
  const asCalico = options.compat.routerIdUnchecked;
  const hashed = hashedRouterId(nodeName, asCalico);
  if (options.routerId === 'hash') return hashed;
  if (options.routerId !== 'auto') {
    if (isUsableRouterId(options.routerId, asCalico)) return options.routerId;
    problems.push(badRouterId(nodeName, 'the configured router id'));
  }
  const address = node?.ipv4?.address;
  if (address === undefined) return hashed;
  if (isUsableRouterId(address, asCalico)) return address;
  problems.push(badRouterId(nodeName, `the address ${address}`));
  return hashed;
}

function badRouterId(nodeName: string, what: string): Problem {
  return {
    severity: 'warning',
    id: 'router-id-unusable',
    subject: `Node/${nodeName}`,
    field: null,
    message: `${what} cannot be a router id (0.x, 127.x and 224.x or higher are not accepted everywhere); another one is used`,
  };
}

/** BIRD ignores 0.0.0.0; other vendors refuse a BGP identifier that no host could have as its address. */
function isUsableRouterId(text: string, asCalico: boolean): boolean {
  const address = parseAddress(text);
  if (!address.ok || address.value.family !== 4) return false;
  if (asCalico) return address.value.text !== '0.0.0.0';
  const first = address.value.words[0]! >> 8;
  return first !== 0 && first !== 127 && first < 224;
}

/**
 * A router id from the node's name, as Calico makes it: the first four bytes of the SHA-256, with 32 taken off a first byte
 * above 223. A first byte of 0 or 127 is moved up by one, unless it must be as Calico has it.
 */
export function hashedRouterId(nodeName: string, asCalico = false): string {
  const digest = createHash('sha256').update(nodeName).digest();
  const number = digest.readUInt32BE(0);
  const first = digest[0]!;
  const unusable = (first === 0 || first === 127) && !asCalico;
  const reduced = first > 223 ? first - 32 : unusable ? first + 1 : first;
  return ipv4FromNumber(reduced * 2 ** 24 + (number % 2 ** 24));
}

function debugFlags(severity: string | null): NodeSettings['debug'] {
  const level = (severity ?? 'info').toLowerCase();
  if (level === 'debug') return { protocols: ['all'], sessions: ['all'] };
  if (level === 'info') return { protocols: ['states'], sessions: ['states', 'routes', 'filters', 'events'] };
  return { protocols: [], sessions: [] };
}
