import type { Family, NodeResource } from '../calico/types.ts';
import type { MeshInputs } from './mesh.ts';
import type { Claim, PeeringInputs } from './peerings.ts';
import type { Candidate, WithheldReason } from './sessions.ts';
import type { SessionRule } from './types.ts';

/** What became of a possible session: `session`, or why there is none. */
export type Outcome =
  | 'session'
  | WithheldReason
  | 'suppressed'
  | 'not-selected'
  | 'nothing-selected'
  | 'no-address'
  | 'node-absent'
  | 'reverse-manual'
  | 'mesh-disabled'
  | 'node-is-reflector'
  | 'peer-is-reflector'
  | 'address-shared'
  | 'quarantined';

/** One end of a session. `node` is null for what is no Calico node, `asNumber` where nothing tells it. */
export interface End {
  readonly node: string | null;
  readonly address: string;
  /** Null: 179. */
  readonly port: number | null;
  readonly asNumber: number | null;
}

/** One possible session of the explained node, or a reason that holds for several. */
export interface Finding {
  /** Null where the reason is the same for both. */
  readonly family: Family | null;
  /** `BGPPeer/tor`, `BGPConfiguration/default` for the mesh, `Node/n2` for a node that is itself the reason. */
  readonly resource: string;
  readonly rule: SessionRule | null;
  readonly outcome: Outcome;
  /** Protocol name of the session. */
  readonly session: string | null;
  readonly ends: { readonly local: End; readonly remote: End } | null;
  /** One line. Never a secret. */
  readonly message: string;
}

export interface Explanation {
  /** What was asked about, as it was understood: `BGPPeer/tor`, `Node/n2`, `10.0.0.2`. */
  readonly subject: string;
  /** Whose sessions are explained. */
  readonly nodeName: string;
  readonly findings: readonly Finding[];
}

/** Everything about one family that a reason can lie in. */
export interface FamilyWorld {
  readonly family: Family;
  /** Null when the node has no address of the family. */
  readonly peering: PeeringInputs | null;
  readonly mesh: MeshInputs | null;
  readonly claims: readonly Claim[];
  /** Who has an address and port: the first that asks. */
  readonly holders: ReadonlyMap<string, Candidate>;
}

/** A node that takes no part in a family. */
export function unaddressed(node: NodeResource | undefined, name: string, family: Family): Finding {
  const message =
    node === undefined ? `there is no node ${name}` : `node ${name} has no IPv${family} address (spec.bgp)`;
  const outcome = node === undefined ? 'node-absent' : 'no-address';
  return { family, resource: `Node/${name}`, rule: null, outcome, session: null, ends: null, message };
}
