import {
  asNumber,
  endpoint,
  endpointAndPort,
  FieldError,
  MAX_RESTART_TIME,
  optional,
  orNull,
  seconds,
  secretKeyRef,
} from './fields.ts';
import { familyOf } from './ip.ts';
import { ok } from './result.ts';
import type { StoredValue } from './schemas/all.ts';
import { parseSelector } from './selector.ts';
import type { BgpPeerResource, Origin } from './types.ts';

/** BIRD refuses a file with 0 or with more than the hold time, which is 240 s unless a template says otherwise. */
const MAX_KEEPALIVE = 240;

/** @throws FieldError also where two fields contradict each other, by the rules of Calico's CRD. */
export function convertBgpPeer(stored: StoredValue<'BGPPeer'>, origin: Origin): BgpPeerResource {
  const spec = stored.spec ?? {};
  const peer = endpointAndPort(spec.peerIP, 'spec.peerIP');
  const resource: BgpPeerResource = {
    origin,
    name: origin.name,
    node: orNull(spec.node),
    nodeSelector: selector(spec.nodeSelector, 'spec.nodeSelector'),
    peerAddress: peer?.address ?? null,
    peerPort: peer?.port ?? null,
    peerSelector: selector(spec.peerSelector, 'spec.peerSelector'),
    // Felix evaluates this one; here it only says what kind of peer this is.
    localWorkloadSelector: orNull(spec.localWorkloadSelector),
    asNumber: asNumber(spec.asNumber, 'spec.asNumber'),
    localAsNumber: asNumber(spec.localASNumber, 'spec.localASNumber'),
    keepOriginalNextHop: spec.keepOriginalNextHop ?? false,
    nextHopMode: orNull(spec.nextHopMode),
    password: secretKeyRef(spec.password, 'spec.password'),
    sourceAddress: orNull(spec.sourceAddress) ?? 'UseNodeIP',
    maxRestartTime: seconds(spec.maxRestartTime, 'spec.maxRestartTime', 0, MAX_RESTART_TIME),
    keepaliveTime: seconds(spec.keepaliveTime, 'spec.keepaliveTime', 1, MAX_KEEPALIVE),
    // Calico prints neither of these two when it is 0.
    numAllowedLocalAs: spec.numAllowedLocalASNumbers || null,
    ttlSecurityHops: spec.ttlSecurity || null,
    reachableBy: endpoint(spec.reachableBy, 'spec.reachableBy'),
    filters: (spec.filters ?? []).filter(isName),
    reversePeering: orNull(spec.reversePeering) ?? 'Auto',
  };
  checkBgpPeer(resource);
  return resource;
}

function isName(name: string | null): name is string {
  return name !== null && name !== '';
}

function selector(value: string | null | undefined, field: string): string | null {
  return optional(value, field, (text) => {
    const parsed = parseSelector(text);
    return parsed.ok ? ok(text) : parsed;
  });
}

/**
 * What is allowed together. `peerIP` without `asNumber` is allowed: the peer may be a node, whose AS is known. Whether it
 * is can only be told with the whole cluster at hand.
 */
function checkBgpPeer(peer: BgpPeerResource): void {
  const clash = (field: string, other: string): never => {
    throw new FieldError(field, `must not be set together with ${other}`);
  };
  if (peer.node !== null && peer.nodeSelector !== null) clash('spec.nodeSelector', 'spec.node');
  if (peer.peerAddress !== null && peer.peerSelector !== null) clash('spec.peerSelector', 'spec.peerIP');
  if (peer.peerSelector !== null && peer.asNumber !== null) clash('spec.asNumber', 'spec.peerSelector');
  if (peer.keepOriginalNextHop && peer.nextHopMode !== null)
    clash('spec.keepOriginalNextHop', 'spec.nextHopMode');
  if (peer.localWorkloadSelector !== null) {
    if (peer.peerAddress !== null) clash('spec.peerIP', 'spec.localWorkloadSelector');
    if (peer.peerSelector !== null) clash('spec.peerSelector', 'spec.localWorkloadSelector');
    if (peer.asNumber === null)
      throw new FieldError('spec.asNumber', 'is missing: spec.localWorkloadSelector needs it');
  } else if (peer.peerAddress === null && peer.peerSelector === null)
    throw new FieldError(
      'spec.peerIP',
      'is missing: one of peerIP, peerSelector and localWorkloadSelector must be set',
    );
  if (peer.reachableBy === null) return;
  if (peer.peerAddress === null)
    throw new FieldError('spec.reachableBy', 'must be set only together with spec.peerIP');
  if (familyOf(peer.reachableBy) !== familyOf(peer.peerAddress))
    throw new FieldError(
      'spec.reachableBy',
      `must be an IPv${familyOf(peer.peerAddress)} address, as spec.peerIP is`,
    );
}
