/**
 * The life of the connection to etcd, as a table. Each state is one thing to do (`source.ts` has one method for each) that
 * ends in one event.
 *
 *              ┌────────────────── doubted ◄──────────────┬──────────┐
 *              ▼                                          │          │
 *   start ─► dialing ── stale ──► listing ── listed ──► opening ─ opened ─► watching
 *              │  ▲  └─────────── resumable ────────────► │          │
 *              │  └─ waited ─ waiting ◄─────── failed ────┴──────────┘   (from every state)
 *              └─ stopped (from every state)
 */
export type LifeState = 'dialing' | 'listing' | 'opening' | 'watching' | 'waiting' | 'stopped';

export type LifeEvent =
  /** etcd answered and still has our history: the watch can go on where it ended. */
  | 'resumable'
  /** etcd answered, and what we hold cannot be carried forward, or we hold nothing. */
  | 'stale'
  | 'listed'
  | 'opened'
  /** A reason to look again that is no failure: relist due or asked for, compaction, the store went back. */
  | 'doubted'
  | 'failed'
  | 'waited'
  | 'stopped';

/** Events that a state cannot bring about lead to `dialing`, from where everything is found out anew. */
const TABLE: Record<LifeState, Record<LifeEvent, LifeState>> = {
  dialing: row({ resumable: 'opening', stale: 'listing' }),
  listing: row({ listed: 'opening' }),
  opening: row({ opened: 'watching' }),
  watching: row({}),
  waiting: row({}),
  stopped: {
    resumable: 'stopped',
    stale: 'stopped',
    listed: 'stopped',
    opened: 'stopped',
    doubted: 'stopped',
    failed: 'stopped',
    waited: 'stopped',
    stopped: 'stopped',
  },
};

export function nextState(state: LifeState, event: LifeEvent): LifeState {
  return TABLE[state][event];
}

function row(own: Partial<Record<LifeEvent, LifeState>>): Record<LifeEvent, LifeState> {
  return {
    resumable: 'dialing',
    stale: 'dialing',
    listed: 'dialing',
    opened: 'dialing',
    doubted: 'dialing',
    waited: 'dialing',
    failed: 'waiting',
    stopped: 'stopped',
    ...own,
  };
}
