import type { Family } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import type { PolicyFilter, PolicyFunction, Statement } from './policy.ts';

export type SessionType = 'mesh' | 'global' | 'node' | 'workload';

/** By which rule a session exists; shown in comments and by `explain`. */
export type SessionRule =
  | 'node-to-node mesh'
  | 'peerIP'
  | 'peerSelector'
  | 'reverse of peerIP'
  | 'reverse of peerSelector'
  | 'localWorkloadSelector';

export interface Provenance {
  readonly kind: 'BGPConfiguration' | 'BGPPeer';
  readonly name: string;
  readonly rule: SessionRule;
  /** The Calico node at the other end; null when it is not one. */
  readonly node: string | null;
}

/** One BGP session. A field is null where BIRD's own default, or that of the shared template, holds. */
export interface Session {
  /** The protocol's name: unique within the node, over both families, and at most 64 bytes. */
  readonly name: string;
  readonly family: Family;
  readonly type: SessionType;
  readonly provenance: Provenance;
  readonly address: string;
  readonly port: number | null;
  readonly asNumber: number;
  /** Set where the session uses another AS than the node's. */
  readonly localAs: number | null;
  /** Both ends are in the same AS. */
  readonly internal: boolean;
  readonly sourceAddress: string | null;
  readonly ttlSecurityHops: number | null;
  readonly passive: boolean;
  /** Seconds. */
  readonly gracefulRestartTime: number | null;
  /** Seconds. */
  readonly keepaliveTime: number | null;
  /** Set when the peer is a route reflector client of this node: the cluster id to reflect with. */
  readonly clusterId: string | null;
  /** Secret. */
  readonly password: string | null;
  readonly nextHop: 'self' | 'keep' | null;
  readonly allowLocalAs: number | null;
  readonly import: PolicyFilter;
  readonly export: PolicyFilter;
}

/** A route of the static protocol; `via` is null for a blackhole. */
export interface StaticRoute {
  readonly prefix: string;
  readonly via: string | null;
  readonly comment: string;
}

export interface NodeSettings {
  readonly nodeName: string;
  readonly routerId: string;
  readonly asNumber: number;
  /** The AS of nodes that have none of their own. */
  readonly clusterAsNumber: number;
  /** This node's cluster id when it is a route reflector. */
  readonly clusterId: string | null;
  /** What BIRD logs about its device and direct protocols, and about sessions. Empty: nothing. */
  readonly debug: { readonly protocols: readonly string[]; readonly sessions: readonly string[] };
  /** Where this node listens; null: BIRD's default, 179. */
  readonly listenPort: number | null;
  /** The port of nodes that have none of their own; null: 179. */
  readonly clusterListenPort: number | null;
  /** Listen on the node's own address only. */
  readonly bindToNodeAddress: boolean;
  /** Patterns of interfaces, first match decides whether their networks are taken in. */
  readonly interfaces: readonly { readonly pattern: string; readonly use: boolean }[];
  readonly scanTime: number;
  /** Seconds; null: BIRD's default. */
  readonly gracefulRestartWait: number | null;
}

/** Everything about one address family of a node. */
export interface FamilyModel {
  readonly family: Family;
  /** The node's address; null when it has none, and then it has no sessions of this family. */
  readonly address: string | null;
  readonly listenAddress: string | null;
  readonly functions: readonly PolicyFunction[];
  /** Filters that sessions use by name. */
  readonly filters: readonly { readonly name: string; readonly body: readonly Statement[] }[];
  /** The filter for what goes to the kernel. */
  readonly kernelFilter: { readonly name: string; readonly body: readonly Statement[] };
  readonly staticRoutes: readonly StaticRoute[];
  readonly sessions: readonly Session[];
}

/** One node's BGP configuration, complete, as readonly data. */
export interface NodeModel {
  /** False when the cluster does not know this node. */
  readonly nodePresent: boolean;
  readonly settings: NodeSettings;
  readonly ipv4: FamilyModel;
  readonly ipv6: FamilyModel;
  readonly problems: readonly Problem[];
}
