import { blockPrefix, calicoKey, endpointStatusKey, kubernetesKey } from '../../../../src/datastore/keys.ts';
import { type Parsed, parseStored } from '../../../../src/model/calico/parse.ts';
import type { Quarantined, ResourceByKind, ResourceKind } from '../../../../src/model/calico/types.ts';

const BLOCK = `${blockPrefix('n1')}/ipv4/block/10.1.0.0-26`;
/** A key of each kind; its name is `x`, or what the kind allows. */
export const KEYS: Readonly<Record<ResourceKind, string>> = {
  Node: calicoKey('Node', 'x'),
  BGPConfiguration: calicoKey('BGPConfiguration', 'default'),
  BGPPeer: calicoKey('BGPPeer', 'x'),
  BGPFilter: calicoKey('BGPFilter', 'x'),
  IPPool: calicoKey('IPPool', 'x'),
  BlockAffinity: BLOCK,
  Service: kubernetesKey('Service', 'ns', 'x'),
  EndpointSlice: kubernetesKey('EndpointSlice', 'ns', 'x'),
  Secret: kubernetesKey('Secret', 'ns', 'x'),
  EndpointStatus: endpointStatusKey('x'),
};

export function parse(kind: ResourceKind, value: unknown, key = KEYS[kind]): Parsed {
  return parseStored(kind, key, typeof value === 'string' ? value : JSON.stringify(value));
}

export function resource<K extends ResourceKind>(kind: K, value: unknown, key?: string): ResourceByKind[K] {
  const parsed = parse(kind, value, key);
  if (parsed.outcome !== 'resource') throw new Error(JSON.stringify(parsed));
  return parsed.resource as ResourceByKind[K];
}

export function quarantined(kind: ResourceKind, value: unknown, key?: string): Quarantined {
  const parsed = parse(kind, value, key);
  if (parsed.outcome !== 'quarantined') throw new Error(`accepted: ${JSON.stringify(parsed)}`);
  return parsed.quarantined;
}
