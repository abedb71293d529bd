import { sortedBy } from '../../core/order.ts';
import type { BgpPeerResource, SecretKeyRef } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import type { FamilyInputs } from './family.ts';
import type { Recall } from './memory.ts';
import { type Claim, winningClaims } from './peerings.ts';
import { passwordRef, planProblems } from './plans.ts';
import type { Candidate, WithheldReason } from './sessions.ts';
import type { Session } from './types.ts';

/** What BGPPeers give a node in one family. */
export interface PeerSessions {
  readonly sessions: readonly Session[];
  /** Of the sessions. */
  readonly addresses: ReadonlySet<string>;
  /** Claims to peers that are reached through a gateway. */
  readonly throughGateway: readonly Claim[];
  /** Those that matter to this node, sorted by name. */
  readonly peers: readonly BgpPeerResource[];
  readonly problems: readonly Problem[];
  /** The passwords that they need. */
  readonly secrets: readonly SecretKeyRef[];
}

/** Which of the sessions that BGPPeers ask for there are, and what is wrong with the others. */
export function peerSessions(
  asked: readonly Claim[],
  sharing: boolean,
  { cluster, family, options }: FamilyInputs,
  recall: Recall,
): PeerSessions {
  const winners = winningClaims(asked, sharing);
  const won = winners.map(({ candidates }) => candidates);
  const peers = recall.list(`users${family}`, [winners], () => usersOf(winners));
  const sessions = recall.list(`explicit${family}`, won, () => sessionsOf(won));
  return {
    sessions,
    addresses: recall.part(
      `addresses${family}`,
      [sessions],
      () => new Set(sessions.map((session) => session.address)),
    ),
    throughGateway: winners.filter(({ peer }) => peer.reachableBy !== null),
    peers,
    problems: [
      ...peers.flatMap((peer) => planProblems(cluster, peer, options)),
      ...winners.flatMap(withheldProblems),
    ],
    secrets: peers.map(passwordRef).filter((ref) => ref !== null),
  };
}

function sessionsOf(lists: readonly (readonly Candidate[])[]): readonly Session[] {
  const sessions: Session[] = [];
  for (const list of lists) for (const { session } of list) if (session !== null) sessions.push(session);
  return sessions;
}

function usersOf(winners: readonly Claim[]): readonly BgpPeerResource[] {
  const users = winners.filter(({ candidates }) => candidates.some(({ withheld }) => withheld !== 'self'));
  // By name: of both ends of a BGPPeer one may have remembered an equal, older object.
  return sortedBy(new Map(users.map(({ peer }) => [peer.name, peer])).values(), ({ name }) => name);
}

/** One problem per BGPPeer and reason, however many sessions it is about. */
function withheldProblems({ peer, candidates }: Claim): readonly Problem[] {
  const groups = new Map<Exclude<WithheldReason, 'self'>, Candidate[]>();
  for (const candidate of candidates) {
    if (candidate.withheld === null || candidate.withheld === 'self') continue;
    const group = groups.get(candidate.withheld);
    if (group === undefined) groups.set(candidate.withheld, [candidate]);
    else group.push(candidate);
  }
  return [...groups].map(([reason, [first, ...others]]) => ({
    severity: 'error',
    id: reason,
    subject: `BGPPeer/${peer.name}`,
    field: FIELDS[reason] ?? null,
    message: `${first!.detail}; ${others.length === 0 ? 'its session is' : `${others.length + 1} sessions are`} withheld`,
  }));
}

const FIELDS: Partial<Readonly<Record<WithheldReason, string>>> = {
  'password-missing': 'spec.password',
  'password-invalid': 'spec.password',
  'peer-as-unknown': 'spec.asNumber',
};
