/**
 * The three axes of birdfeed's state. Each is one table, state × event, without gaps: an event in a state that it does
 * not concern says so by keeping the state, so that nobody has to guess.
 *
 *   data    starting ──► waiting-for-node ──► fresh ◄──► stale        what we know of the datastore
 *              └───────► cached ────────────────┘
 *   config  good ◄──► degraded ◄──► held, pinned                      what became of the last input
 *   bird    unknown ──► unapplied ◄──► applied                        what BIRD runs
 */
export type DataState = 'starting' | 'waiting-for-node' | 'cached' | 'fresh' | 'stale';
export type DataEvent =
  /** A verified generation from the cache is in place. */
  | 'cache-loaded'
  /** Every required mount is synced, but this node is not among the data and there is nothing to serve. */
  | 'node-absent'
  /** Every required mount is synced and the node is known, or the guard keeps serving what it had. */
  | 'synced'
  /** A required mount is cut off. */
  | 'lost';

export const DATA_TABLE: Readonly<Record<DataState, Readonly<Record<DataEvent, DataState>>>> = {
  starting: {
    'cache-loaded': 'cached',
    'node-absent': 'waiting-for-node',
    synced: 'fresh',
    lost: 'starting',
  },
  'waiting-for-node': {
    'cache-loaded': 'waiting-for-node',
    'node-absent': 'waiting-for-node',
    synced: 'fresh',
    lost: 'starting',
  },
  // Without a cached generation a missing node means waiting; with one the guard holds it, and the data is fresh.
  cached: { 'cache-loaded': 'cached', 'node-absent': 'fresh', synced: 'fresh', lost: 'cached' },
  fresh: { 'cache-loaded': 'fresh', 'node-absent': 'fresh', synced: 'fresh', lost: 'stale' },
  stale: { 'cache-loaded': 'stale', 'node-absent': 'fresh', synced: 'fresh', lost: 'stale' },
};

export type ConfigState = 'good' | 'degraded' | 'held' | 'pinned';
export type ConfigEvent =
  /** The newest input is what `current` holds, and nothing was left out. */
  | 'published'
  /** Something is wrong with the newest input: quarantined, withheld, not rendered, refused by a check or by BIRD. */
  | 'faulted'
  /** The guard holds the newest input. */
  | 'held'
  | 'pinned'
  | 'unpinned';

export const CONFIG_TABLE: Readonly<Record<ConfigState, Readonly<Record<ConfigEvent, ConfigState>>>> = {
  good: { published: 'good', faulted: 'degraded', held: 'held', pinned: 'pinned', unpinned: 'good' },
  degraded: { published: 'good', faulted: 'degraded', held: 'held', pinned: 'pinned', unpinned: 'degraded' },
  held: { published: 'good', faulted: 'degraded', held: 'held', pinned: 'pinned', unpinned: 'held' },
  // A pin is an operator's word: only an operator takes it back. What was pinned is then not good until a run says so.
  pinned: { published: 'pinned', faulted: 'pinned', held: 'pinned', pinned: 'pinned', unpinned: 'degraded' },
};

export type BirdState = 'applied' | 'unapplied' | 'unknown';
export type BirdEvent =
  /** Every daemon runs exactly `current`. */
  | 'acknowledged'
  /** A daemon runs something else, or refused, or the right content is not there yet. */
  | 'behind'
  /** A daemon cannot be asked. */
  | 'unreachable';

export const BIRD_TABLE: Readonly<Record<BirdState, Readonly<Record<BirdEvent, BirdState>>>> = {
  unknown: { acknowledged: 'applied', behind: 'unapplied', unreachable: 'unknown' },
  unapplied: { acknowledged: 'applied', behind: 'unapplied', unreachable: 'unknown' },
  applied: { acknowledged: 'applied', behind: 'unapplied', unreachable: 'unknown' },
};
