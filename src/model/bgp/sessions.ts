import { compareAddresses } from '../calico/ip.ts';
import type { BgpPeerResource, Family } from '../calico/types.ts';
import { sessionName } from './names.ts';
import type { CompatOptions, ModelOptions } from './options.ts';
import type { Password, PasswordFault } from './passwords.ts';
import type { PolicyFilter } from './policy.ts';
import type { Session, SessionRule, SessionType } from './types.ts';

/** What all sessions of a node's family depend on. The same object while nothing in it changed. */
export interface SessionContext {
  readonly family: Family;
  readonly nodeName: string;
  /** This node's own address in the family. */
  readonly address: string;
  readonly asNumber: number;
  /** This node's cluster id, when it is a route reflector. */
  readonly clusterId: string | null;
  readonly passiveOrder: ModelOptions['passiveOrder'];
  readonly compat: CompatOptions;
}

/** The other end, as the cluster knows it. */
export interface Remote {
  readonly address: string;
  /** Null: 179. */
  readonly port: number | null;
  readonly asNumber: number | null;
  readonly clusterId: string | null;
  /** The Calico node at that address, if it is one. */
  readonly nodeName: string | null;
}

/** Import and export towards one kind of peer. */
export interface Policies {
  readonly import: PolicyFilter;
  readonly export: PolicyFilter;
}

/** What a BGPPeer says, resolved for one family. The same object while nothing in it changed. */
export interface PeerPlan {
  /** Of the BGPPeer. */
  readonly name: string;
  readonly peer: BgpPeerResource;
  readonly password: Password;
  readonly internal: Policies;
  readonly external: Policies;
}

export type WithheldReason = PasswordFault | 'self' | 'peer-as-unknown';

/** A session that a BGPPeer asks for. `session` is null where it cannot be: then `withheld` says why. */
export interface Candidate {
  /** Address and port: of candidates with one key the first one wins. */
  readonly key: string;
  readonly peerName: string;
  readonly rule: SessionRule;
  readonly address: string;
  readonly nodeName: string | null;
  readonly session: Session | null;
  readonly withheld: WithheldReason | null;
  readonly detail: string | null;
  /** The gateway of a static host route to the peer. */
  readonly reachableBy: string | null;
}

/** How a session came to be wanted. */
export interface Want {
  readonly type: Exclude<SessionType, 'mesh'>;
  readonly rule: SessionRule;
}

/** Decides about one session. Rules as in Calico's confd (bgp_processor.go), faults withheld one by one. */
export function candidate(context: SessionContext, plan: PeerPlan, remote: Remote, want: Want): Candidate {
  const fault = whyWithheld(context, plan, remote);
  return {
    key: `${remote.address}-${remote.port ?? 179}`,
    peerName: plan.peer.name,
    rule: want.rule,
    address: remote.address,
    nodeName: remote.nodeName,
    session: fault === null ? build(context, plan, remote, want) : null,
    withheld: fault?.reason ?? null,
    detail: fault?.detail ?? null,
    reachableBy: needsHostRoute(context, want, fault?.reason ?? null) ? plan.peer.reachableBy : null,
  };
}

/** Calico gives the same route to the node at the other end, and to a peer that is the node itself. */
function needsHostRoute({ compat }: SessionContext, { rule }: Want, fault: WithheldReason | null): boolean {
  if (compat.hostRoutesAtBothEnds) return fault === null || fault === 'self';
  return fault === null && rule === 'peerIP';
}

function whyWithheld(
  context: SessionContext,
  plan: PeerPlan,
  remote: Remote,
): { readonly reason: WithheldReason; readonly detail: string } | null {
  if (remote.address === context.address || remote.nodeName === context.nodeName)
    return { reason: 'self', detail: 'it is this node itself' };
  if (remote.asNumber === null)
    return {
      reason: 'peer-as-unknown',
      detail: `asNumber is not set and ${remote.address} is not the address of a node that has one`,
    };
  const { password } = plan;
  if (password.fault === null) return null;
  if (password.fault === 'password-missing' && context.compat.missingPasswordOpensSession) return null;
  return { reason: password.fault, detail: password.detail };
}

function build(context: SessionContext, plan: PeerPlan, remote: Remote, { type, rule }: Want): Session {
  const { peer } = plan;
  const byAddress = rule === 'peerIP' || rule === 'localWorkloadSelector';
  const asNumber = remote.asNumber!;
  const localAs = byAddress ? peer.localAsNumber : null;
  const internal = asNumber === (localAs ?? context.asNumber);
  const policies = internal ? plan.internal : plan.external;
  const workload = type === 'workload';
  return {
    name: sessionName(type, remote.address, remote.port),
    family: context.family,
    type,
    provenance: { kind: 'BGPPeer', name: peer.name, rule, node: remote.nodeName },
    address: remote.address,
    port: remote.port,
    asNumber,
    localAs,
    internal,
    sourceAddress: workload || peer.sourceAddress === 'None' ? null : context.address,
    ttlSecurityHops: workload ? null : peer.ttlSecurityHops,
    passive: workload || (type === 'global' && isPassive(context, remote, rule)),
    gracefulRestartTime: workload ? null : peer.maxRestartTime,
    keepaliveTime: workload ? null : peer.keepaliveTime,
    clusterId: internal ? clientClusterId(context, remote) : null,
    password: workload ? null : plan.password.value,
    nextHop: workload ? null : nextHop(peer, internal),
    allowLocalAs: rule === 'peerIP' ? peer.numAllowedLocalAs : null,
    import: policies.import,
    export: policies.export,
  };
}

/** Only a session by address to a node leaves it to the other end to connect; sessions by selector have one rule per end. */
function isPassive(context: SessionContext, remote: Remote, rule: SessionRule): boolean {
  return rule === 'peerIP' && remote.nodeName !== null && isAfter(remote.address, context);
}

/** Whether an address comes after this node's own: then the other end opens the connection. */
export function isAfter(address: string, context: SessionContext): boolean {
  if (context.passiveOrder === 'numeric') return compareAddresses(address, context.address) > 0;
  return address > context.address;
}

/** A reflector reflects to internal peers that are not reflectors of its own cluster. */
function clientClusterId(context: SessionContext, remote: Remote): string | null {
  return remote.clusterId === context.clusterId ? null : context.clusterId;
}

/** `nextHopMode` hides the older `keepOriginalNextHop`, which only ever meant external peers. */
function nextHop(peer: BgpPeerResource, internal: boolean): Session['nextHop'] {
  if (peer.nextHopMode === 'Self') return 'self';
  if (peer.nextHopMode === 'Keep') return 'keep';
  if (peer.nextHopMode === null && peer.keepOriginalNextHop && !internal) return 'keep';
  return null;
}
