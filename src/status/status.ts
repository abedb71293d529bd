import type { Problem } from '../model/types.ts';
import {
  BIRD_TABLE,
  type BirdEvent,
  type BirdState,
  CONFIG_TABLE,
  type ConfigEvent,
  type ConfigState,
  DATA_TABLE,
  type DataEvent,
  type DataState,
} from './axes.ts';

export interface MountStatus {
  readonly prefix: string;
  readonly kind: string;
  readonly required: boolean;
  readonly synced: boolean;
  readonly revision: number;
  /** Why it is cut off; null when connected. */
  readonly error: string | null;
}

export interface TargetStatus {
  readonly socket: string;
  readonly file: string;
  readonly birdVersion: string | null;
  readonly applied: boolean;
  /** `mark`: read back from BIRD; `weak`: only its word. */
  readonly ack: 'mark' | 'weak' | null;
  readonly reason: string | null;
}

export interface GenerationStatus {
  readonly number: number;
  readonly contentDigest: string;
  readonly createdAt: string;
  readonly sessions: number;
}

/** Everything that is known, at one moment. Logs, metrics, HTTP and commands read only this. JSON as it is. */
export interface Status {
  readonly version: string;
  readonly node: string;
  readonly set: string;
  readonly dialect: string | null;
  /** Whether BIRD is told at all; without (`--reload none`) nobody can say what it runs. */
  readonly tellsBird: boolean;
  /** Waiting for another process that has the cache's lock. */
  readonly standby: boolean;
  readonly data: { readonly state: DataState; readonly since: string; readonly reason: string | null };
  readonly config: { readonly state: ConfigState; readonly since: string; readonly reason: string | null };
  readonly bird: { readonly state: BirdState; readonly since: string; readonly reason: string | null };
  readonly mounts: readonly MountStatus[];
  readonly targets: readonly TargetStatus[];
  readonly generation: GenerationStatus | null;
  readonly problems: readonly Problem[];
  /** Digest that `birdfeed approve` takes; null when nothing is held. */
  readonly held: { readonly digest: string; readonly reasons: readonly string[] } | null;
  readonly pinned: number | null;
  /** Sessions whose reset or removal waits (`--splay-hard`, `--peer-removal-grace`), and when the first of it is due. */
  readonly deferred: {
    readonly resets: number;
    readonly removals: number;
    readonly until: string;
  } | null;
  /** When what is served was last known to be what the datastore says; null: never by this process. */
  readonly confirmedAt: string | null;
  /** The same as an earlier process left it in the cache, with what is served from there; null once that is replaced. */
  readonly rememberedAt: string | null;
  readonly counters: Readonly<Record<Counter, number>>;
  /** True once this process has been fresh and applied: the readiness latch. */
  readonly latched: boolean;
}

export const COUNTERS = [
  'runs',
  'published',
  'unchanged',
  'renderFailures',
  'checkFailures',
  'reloads',
  'relists',
] as const;
export type Counter = (typeof COUNTERS)[number];

/** A fact that a stage reports. `at` is the time, ISO 8601. */
export type Fact =
  | { readonly type: 'standby'; readonly standby: boolean }
  | { readonly type: 'bird-setup'; readonly dialect: string | null; readonly tellsBird: boolean }
  | { readonly type: 'data'; readonly event: DataEvent; readonly reason: string | null }
  | { readonly type: 'config'; readonly event: ConfigEvent; readonly reason: string | null }
  | { readonly type: 'bird'; readonly event: BirdEvent; readonly reason: string | null }
  /** All that are open. */
  | { readonly type: 'mounts'; readonly mounts: readonly MountStatus[] }
  | { readonly type: 'target'; readonly target: TargetStatus }
  | { readonly type: 'generation'; readonly generation: GenerationStatus }
  | { readonly type: 'problems'; readonly problems: readonly Problem[] }
  | { readonly type: 'held'; readonly held: Status['held'] }
  | { readonly type: 'pin'; readonly pinned: number | null }
  | { readonly type: 'deferred'; readonly deferred: Status['deferred'] }
  | { readonly type: 'confirmed' }
  | { readonly type: 'remembered'; readonly at: string }
  | { readonly type: 'count'; readonly counter: Counter };

export function initialStatus(identity: { version: string; node: string; set: string }, at: string): Status {
  const axis = { since: at, reason: null } as const;
  return {
    ...identity,
    dialect: null,
    tellsBird: true,
    standby: false,
    data: { state: 'starting', ...axis },
    config: { state: 'good', ...axis },
    bird: { state: 'unknown', ...axis },
    mounts: [],
    targets: [],
    generation: null,
    problems: [],
    held: null,
    pinned: null,
    deferred: null,
    confirmedAt: null,
    rememberedAt: null,
    counters: Object.fromEntries(COUNTERS.map((name) => [name, 0])) as Record<Counter, number>,
    latched: false,
  };
}

/** The next status. `since` of an axis moves only when its state does. */
export function reduce(status: Status, fact: Fact, at: string): Status {
  return latch(apply(status, fact, at));
}

function apply(status: Status, fact: Fact, at: string): Status {
  switch (fact.type) {
    case 'standby':
      return { ...status, standby: fact.standby };
    case 'bird-setup':
      return { ...status, dialect: fact.dialect, tellsBird: fact.tellsBird };
    case 'data':
      return {
        ...status,
        data: move(status.data, DATA_TABLE[status.data.state][fact.event], fact.reason, at),
      };
    case 'config':
      return {
        ...status,
        config: move(status.config, CONFIG_TABLE[status.config.state][fact.event], fact.reason, at),
      };
    case 'bird':
      return {
        ...status,
        bird: move(status.bird, BIRD_TABLE[status.bird.state][fact.event], fact.reason, at),
      };
    case 'mounts':
      return { ...status, mounts: fact.mounts };
    case 'target':
      return { ...status, targets: replaceBy(status.targets, fact.target, (target) => target.socket) };
    case 'generation':
      return replaceGeneration(status, fact.generation, at);
    case 'problems':
      return { ...status, problems: fact.problems };
    case 'held':
      return { ...status, held: fact.held };
    case 'pin':
      return { ...status, pinned: fact.pinned };
    case 'deferred':
      return status.deferred === fact.deferred ? status : { ...status, deferred: fact.deferred };
    case 'confirmed':
      return { ...status, confirmedAt: at };
    case 'remembered':
      return { ...status, rememberedAt: fact.at };
    case 'count':
      return { ...status, counters: bump(status.counters, fact.counter) };
  }
}

/** What BIRD ran, and what the datastore confirmed, was the generation before. */
function replaceGeneration(status: Status, generation: GenerationStatus, at: string): Status {
  if (generation.number === status.generation?.number) return { ...status, generation };
  const { bird } = status;
  const reason = `generation ${generation.number} is not loaded yet`;
  return {
    ...status,
    generation,
    confirmedAt: null,
    rememberedAt: null,
    bird: bird.state === 'applied' ? move(bird, BIRD_TABLE[bird.state].behind, reason, at) : bird,
  };
}

function move<S>(
  axis: { readonly state: S; readonly since: string; readonly reason: string | null },
  state: S,
  reason: string | null,
  at: string,
): { readonly state: S; readonly since: string; readonly reason: string | null } {
  return { state, reason, since: state === axis.state ? axis.since : at };
}

function bump(counters: Status['counters'], name: Counter): Status['counters'] {
  return { ...counters, [name]: counters[name] + 1 };
}

function replaceBy<T>(items: readonly T[], item: T, key: (item: T) => string): readonly T[] {
  const at = items.findIndex((other) => key(other) === key(item));
  return at < 0 ? [...items, item] : items.with(at, item);
}

function latch(status: Status): Status {
  if (status.latched) return status;
  const applied = status.bird.state === 'applied' || !status.tellsBird;
  // What was published before this process began may be anything but what the datastore says, whatever it said then; a pin
  // is an operator's word.
  const wanted = status.generation !== null && (status.confirmedAt !== null || status.pinned !== null);
  const latched = status.data.state === 'fresh' && applied && wanted && status.held === null;
  return latched ? { ...status, latched } : status;
}

/** When what is served was last known to be what the datastore says, by this process or the one before; null: unknown. */
export function lastConfirmedAt({ confirmedAt, rememberedAt }: Status): string | null {
  return confirmedAt ?? rememberedAt;
}

/** The state in one word or two, worst first: what a person reads before anything else. */
export function headline(status: Status): string {
  if (status.standby) return 'standby';
  const notable = [
    status.data.state === 'fresh' ? null : status.data.state,
    status.config.state === 'good' ? null : status.config.state,
    status.bird.state === 'applied' || !status.tellsBird ? null : status.bird.state,
  ].filter((word) => word !== null);
  return notable.length === 0 ? 'fresh' : notable.join(', ');
}

export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
}

/**
 * Readiness is a latch: not ready until this process has once been fresh and applied, so that a pod that boots from
 * cache stops a rolling update; ready from then on, since Kubernetes deletes every unavailable old pod at once.
 * `unreadyWhenStaleMs` (null: off) is the exception that an operator may ask for.
 */
export function readiness(status: Status, nowMs: number, unreadyWhenStaleMs: number | null): Readiness {
  if (!status.latched) return { ready: false, reason: `not yet fresh and applied: ${explain(status)}` };
  const staleFor = nowMs - Date.parse(status.data.since);
  if (unreadyWhenStaleMs !== null && status.data.state === 'stale' && staleFor >= unreadyWhenStaleMs) {
    return { ready: false, reason: `stale for ${Math.round(staleFor / 1000)} s: ${explain(status)}` };
  }
  return { ready: true, reason: explain(status) };
}

function explain(status: Status): string {
  const reasons = [status.data, status.config, status.bird]
    .map((axis) => axis.reason)
    .filter((reason) => reason !== null);
  return [headline(status), ...reasons].join('; ');
}
