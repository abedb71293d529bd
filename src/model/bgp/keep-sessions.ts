import type { FamilyModel, NodeModel, Session } from './types.ts';

/** Names of sessions that shall stay as they are served now, for a while. */
export interface KeptSessions {
  /** Would be reset: a new password, other timers, another cluster id. */
  readonly reset: ReadonlySet<string>;
  /** Would be removed, since the node at the other end has vanished. */
  readonly removed: ReadonlySet<string>;
}

/**
 * `next`, with some sessions as `served` has them, and everything else new: what is soft does not wait for what is hard.
 * Kept sessions bring the filters and functions that only they still use. What resets every session (the node's AS, router
 * id or port) cannot be kept for some of them: while such a change waits, `served` stays as a whole.
 */
export function keepSessions(next: NodeModel, served: NodeModel, kept: KeptSessions): NodeModel {
  if (kept.reset.size > 0 && !sharesSettings(next, served)) return served;
  return {
    ...next,
    ipv4: keepInFamily(next.ipv4, served.ipv4, kept),
    ipv6: keepInFamily(next.ipv6, served.ipv6, kept),
  };
}

function sharesSettings(a: NodeModel, b: NodeModel): boolean {
  return (
    a.settings.routerId === b.settings.routerId &&
    a.settings.asNumber === b.settings.asNumber &&
    a.settings.listenPort === b.settings.listenPort &&
    a.ipv4.listenAddress === b.ipv4.listenAddress &&
    a.ipv6.listenAddress === b.ipv6.listenAddress
  );
}

function keepInFamily(next: FamilyModel, served: FamilyModel, { reset, removed }: KeptSessions): FamilyModel {
  // Without an address there is nothing that a session could come from.
  if (next.address === null) return next;
  const old = new Map(served.sessions.map((session) => [session.name, session]));
  const present = new Set(next.sessions.map(({ name }) => name));
  const gone = served.sessions.filter(({ name }) => removed.has(name) && !present.has(name));
  const isKept = ({ name }: Session): boolean => reset.has(name) && old.has(name);
  if (gone.length === 0 && !next.sessions.some(isKept)) return next;
  return {
    ...next,
    sessions: [
      ...next.sessions.map((session) => (isKept(session) ? old.get(session.name)! : session)),
      ...gone,
    ],
    functions: withMissing(next.functions, served.functions),
    filters: withMissing(next.filters, served.filters),
  };
}

/** What only the old ones know comes last: it may call what the new ones define, and never the other way round. */
function withMissing<T extends { readonly name: string }>(
  next: readonly T[],
  old: readonly T[],
): readonly T[] {
  const names = new Set(next.map(({ name }) => name));
  const missing = old.filter(({ name }) => !names.has(name));
  return missing.length === 0 ? next : [...next, ...missing];
}
