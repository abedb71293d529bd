import { blockKey, calicoKey } from '../../src/datastore/keys.ts';
import type { EtcdClient } from './etcd-client.ts';

/** A key of Calico's and what is stored under it. */
export type Stored = readonly [key: string, value: string];

type Spec = Readonly<Record<string, unknown>>;

function stored(kind: Parameters<typeof calicoKey>[0], name: string, spec: Spec, labels?: Spec): Stored {
  const metadata = { name, uid: `uid-of-${name}`, creationTimestamp: '2024-01-01T00:00:00Z', labels };
  const resource = { kind, apiVersion: 'projectcalico.org/v3', metadata, spec };
  return [calicoKey(kind, name), JSON.stringify(resource)];
}

export interface NodeSpec {
  /** With a length: `10.0.0.1/24`. */
  readonly v4?: string;
  readonly v6?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly bgp?: Spec;
}

export function calicoNode(name: string, { v4, v6, labels, bgp }: NodeSpec): Stored {
  return stored('Node', name, { bgp: { ipv4Address: v4, ipv6Address: v6, ...bgp } }, labels);
}

export function calicoPeer(name: string, spec: Spec): Stored {
  return stored('BGPPeer', name, spec);
}

export function calicoFilter(name: string, spec: Spec): Stored {
  return stored('BGPFilter', name, spec);
}

export function calicoPool(name: string, cidr: string, spec: Spec = {}): Stored {
  return stored('IPPool', name, { cidr, ipipMode: 'Never', vxlanMode: 'Never', natOutgoing: true, ...spec });
}

export function calicoConfiguration(spec: Spec, name = 'default'): Stored {
  return stored('BGPConfiguration', name, spec);
}

export function calicoBlock(node: string, cidr: string): Stored {
  const key = blockKey(node, cidr);
  if (key === null) throw new Error(`not a network: ${cidr}`);
  return [key, JSON.stringify({ state: 'confirmed', deleted: false })];
}

/** `n1` … `nCOUNT`, each with `10.0.0.N/24` and `fd00::N/64`, in a full mesh, with one pool of each family. */
export function calicoMesh(count: number): Stored[] {
  return [
    ...Array.from({ length: count }, (_, index) => meshNode(index + 1)),
    calicoPool('pool4', '192.168.0.0/16'),
    calicoPool('pool6', 'fd10::/48'),
    calicoConfiguration({ logSeverityScreen: 'Info', nodeToNodeMeshEnabled: true, asNumber: 64512 }),
  ];
}

export function meshNode(number: number): Stored {
  return calicoNode(`n${number}`, { v4: `10.0.0.${number}/24`, v6: `fd00::${number.toString(16)}/64` });
}

/** Empties the datastore and fills it with these. */
export async function fillEtcd(client: EtcdClient, entries: readonly Stored[]): Promise<void> {
  await client.delPrefix('');
  await client.putAll(entries);
}

export const nodeKey = (name: string): string => calicoKey('Node', name);
export const peerKey = (name: string): string => calicoKey('BGPPeer', name);
