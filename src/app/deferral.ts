import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import type { KeptSessions } from '../model/bgp/keep-sessions.ts';
import type { NodeModel } from '../model/bgp/types.ts';
import type { Census, SessionSummary } from '../model/types.ts';
import { compareSessions } from './changes.ts';

export interface DeferralOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly nodeName: string;
  /** Over how long a fleet's hard changes are spread, milliseconds; 0: they do not wait. */
  readonly splayHardMs: number;
  /** For how long sessions with vanished nodes stay, milliseconds; 0: they go at once. */
  readonly removalGraceMs: number;
}

/** What is not done yet, although the data say it. */
export interface Deferred extends KeptSessions {
  /** Milliseconds until the next of it is due; null when nothing is put off. */
  readonly dueInMs: number | null;
}

export interface Situation {
  /** What is served: the sessions of the stamp, and the model they are from, where this process has computed that. */
  readonly served: readonly SessionSummary[];
  readonly servedModel: NodeModel | null;
  readonly next: readonly SessionSummary[];
  readonly census: Census | null;
  /** See `reflectorHalf`; asked for only when something waits. */
  readonly half: () => 0 | 1 | null;
}

/** Decides what of a change waits: see docs/operations.md. One for each set; it remembers since when. */
export interface Deferral {
  decide(situation: Situation): Deferred;
}

const NOTHING: Deferred = { reset: new Set(), removed: new Set(), dueInMs: null };

export function createDeferral(options: DeferralOptions): Deferral {
  const { clock, nodeName, splayHardMs, removalGraceMs } = options;
  let hardSince: number | null = null;
  let goneSince = new Map<string, number>();

  /** Sessions that would be reset wait for this node's turn, all of them together. */
  function waitingResets(names: readonly string[], half: Situation['half'], now: number): Wait {
    if (names.length === 0) hardSince = null;
    if (names.length === 0 || splayHardMs === 0) return { names: [], due: [] };
    hardSince ??= now;
    const due = hardSince + splayDelay(nodeName, half(), splayHardMs);
    return now < due ? { names, due: [due] } : { names: [], due: [] };
  }

  /** Sessions that would go because their node is gone; not those that go because of a value that is there. */
  function waitingRemovals(names: readonly string[], { servedModel, census }: Situation, now: number): Wait {
    if (names.length === 0 || removalGraceMs === 0 || servedModel === null || census === null) {
      goneSince = new Map();
      return { names: [], due: [] };
    }
    const nodes = new Set(census.kinds['Node']);
    const removed = new Set(names);
    const sessions = [...servedModel.ipv4.sessions, ...servedModel.ipv6.sessions].filter(
      ({ name, provenance }) => removed.has(name) && provenance.node !== null && !nodes.has(provenance.node),
    );
    goneSince = new Map(sessions.map(({ provenance: { node } }) => [node!, goneSince.get(node!) ?? now]));
    const dueOf = (node: string): number => goneSince.get(node)! + removalGraceMs;
    const waiting = sessions.filter(({ provenance }) => now < dueOf(provenance.node!));
    return {
      names: waiting.map(({ name }) => name),
      due: waiting.map(({ provenance }) => dueOf(provenance.node!)),
    };
  }

  return {
    decide(situation) {
      if (splayHardMs === 0 && removalGraceMs === 0) return NOTHING;
      const now = clock.monotonic();
      const changes = compareSessions(situation.served, situation.next);
      const resets = waitingResets(changes.reset, situation.half, now);
      const removals = waitingRemovals(changes.removed, situation, now);
      const due = [...resets.due, ...removals.due];
      if (due.length === 0) return NOTHING;
      const first = due.reduce((a, b) => Math.min(a, b));
      return { reset: new Set(resets.names), removed: new Set(removals.names), dueInMs: first - now };
    },
  };
}

interface Wait {
  readonly names: readonly string[];
  /** When, on the monotonic clock. */
  readonly due: readonly number[];
}

/**
 * How long a node's hard changes wait, milliseconds: the same every time, spread evenly over a fleet. The two halves of the
 * reflectors have the first and the third quarter of the time, so that between the last of one half and the first of the
 * other there is a quarter in which sessions come back.
 */
export function splayDelay(nodeName: string, half: 0 | 1 | null, splayMs: number): number {
  const place = createHash('sha256').update(nodeName).digest().readUIntBE(0, 6) / 2 ** 48;
  return half === null ? place * splayMs : (half / 2 + place / 4) * splayMs;
}
