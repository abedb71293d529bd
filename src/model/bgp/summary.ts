import { hash, scryptSync } from 'node:crypto';
import { mapAgain } from '../../core/same.ts';
import type { SessionSummary } from '../types.ts';
import type { ModelDialect } from './options.ts';
import type { FamilyModel, NodeModel, Session } from './types.ts';

/** Gives sessions in short; a session that is the same object, with the same settings around it, gives the same object. */
export type Summarise = (model: NodeModel) => readonly SessionSummary[];

/**
 * Stamps and status carry digests of passwords, and passwords are short: the digest is made slow to guess. Every node must
 * make the same one every time, so the salt is fixed.
 */
const SALT = 'birdfeed session';
const SCRYPT_COST = 256;

export function createSummarise(dialect: ModelDialect): Summarise {
  let around: string | undefined;
  let sessions: readonly Session[] = [];
  let summaries: readonly SessionSummary[] = [];
  let known = new WeakMap<Session, SessionSummary>();
  const passwords = new Map<string, string>();
  const digestOf = (password: string): string => {
    // Passwords rarely change; forgetting all of them now and then only costs digesting them again.
    if (passwords.size >= PASSWORD_MEMO) passwords.clear();
    const digest = passwords.get(password) ?? slowDigest(password);
    passwords.set(password, digest);
    return digest;
  };
  return (model) => {
    const shared = sharedSettings(model);
    if (shared !== around) {
      around = shared;
      sessions = [];
      summaries = [];
      known = new WeakMap();
    }
    const next = model.ipv4.sessions.concat(model.ipv6.sessions);
    summaries = mapAgain(next, sessions, summaries, (session) => {
      const summary = known.get(session) ?? summaryOf(session, shared, dialect, digestOf);
      known.set(session, summary);
      return summary;
    });
    sessions = next;
    return summaries;
  };
}

const PASSWORD_MEMO = 1_000;

function slowDigest(password: string): string {
  return scryptSync(password, SALT, 16, { N: SCRYPT_COST }).toString('hex');
}

/** What all sessions of the node share and are reset by. */
function sharedSettings({ settings, ipv4, ipv6 }: NodeModel): string {
  const { routerId, asNumber, listenPort } = settings;
  const listening = ({ listenAddress }: FamilyModel) => listenAddress;
  return JSON.stringify([routerId, asNumber, listenPort, listening(ipv4), listening(ipv6)]);
}

/** What makes BIRD drop a session when it changes, as measured with 1.6, 2.x and 3.x; filters are not among it. */
function summaryOf(
  session: Session,
  shared: string,
  dialect: ModelDialect,
  digestOf: (password: string) => string,
): SessionSummary {
  const { name, address, family, asNumber, type } = session;
  const { port, localAs, sourceAddress, ttlSecurityHops, passive, clusterId, allowLocalAs } = session;
  const { gracefulRestartTime, keepaliveTime } = session;
  const password = session.password === null ? null : digestOf(session.password);
  // Only BIRD 1.6 needs a new session for another next hop.
  const nextHop = dialect === 'bird2' ? null : session.nextHop;
  // Written out: for ten thousand sessions the same with an array takes several times as long.
  const peer = `${address},${port ?? ''},${asNumber},${localAs ?? ''},${sourceAddress ?? ''}`;
  const link = `${ttlSecurityHops ?? ''},${passive},${clusterId ?? ''},${allowLocalAs ?? ''}`;
  const timers = `${gracefulRestartTime ?? ''},${keepaliveTime ?? ''}`;
  const hard = `${shared},${peer},${link},${timers},${password ?? ''},${nextHop ?? ''}`;
  const hardDigest = hash('sha256', hard).slice(0, 32);
  return { address, asNumber, family, hardDigest, name, type };
}
