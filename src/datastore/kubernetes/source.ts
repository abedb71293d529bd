import type { BirdfeedError } from '../../core/errors.ts';
import type { Change } from '../../tree/types.ts';
import type { Mount, Position, SnapshotReason, Source, SourceEvent } from '../types.ts';
import { type Collection, collectionsFor } from './collections.ts';
import { Connection, type ConnectionDeps, UNKNOWN_ID } from './connection.ts';
import { Contents } from './contents.ts';
import { Discovery, groupNamed } from './discovery.ts';
import { checkAccess } from './kubeconfig.ts';
import { type KubernetesOptions, type KubernetesTimings, PAGE_SIZE, TIMINGS } from './options.ts';
import { Reflector, type ReflectorDeps, type ReflectorHooks } from './reflector.ts';

/**
 * A Kubernetes API server as a source. Each kind of object is listed and watched by itself, with a position and a health
 * of its own, so that one that may not be read never holds up another one. Throws BF_USAGE when no cluster is given.
 */
export function createKubernetesSource(options: KubernetesOptions, deps: ConnectionDeps): Source {
  checkAccess(options.access, deps.env);
  const timings: KubernetesTimings = { ...TIMINGS, ...options.timings };
  const reflectors = new Set<Reflector>();
  return {
    kind: 'kubernetes',
    description: describe(options),
    async run(mounts, emit, asked) {
      const connection = new Connection(options.access, timings, deps);
      const fixed = options.apiGroup === null ? null : groupNamed(options.apiGroup);
      const discovery = new Discovery(fixed, { clock: deps.clock, timings });
      const pageSize = options.pageSize ?? PAGE_SIZE;
      const shared = { ...deps, timings, pageSize, connection, discovery };
      const problems = new Map<Mount, readonly BirdfeedError[]>();
      const stop = new AbortController();
      const signal = AbortSignal.any([asked, stop.signal]);
      const opened = mounts.map((mount) => openMount(mount, options, shared, { emit, signal, problems }));
      const own = opened.flat();
      for (const reflector of own) reflectors.add(reflector);
      try {
        await Promise.all(own.map((reflector) => reflector.run(signal)));
        await untilAborted(signal);
      } finally {
        stop.abort();
        connection.close();
        for (const reflector of own) reflectors.delete(reflector);
      }
    },
    relist() {
      for (const reflector of reflectors) reflector.askRelist();
    },
  };
}

function describe({ access }: KubernetesOptions): string {
  if (access.servers.length > 0) return access.servers.join(',');
  return access.kubeconfig ?? 'the Kubernetes API of this pod';
}

interface Task {
  readonly emit: (event: SourceEvent) => void;
  readonly signal: AbortSignal;
  /** Of all mounts: consumers keep one list for each source. */
  readonly problems: Map<Mount, readonly BirdfeedError[]>;
}

/** The reflectors behind one mount, whose reports become the mount's. */
function openMount(
  mount: Mount,
  options: KubernetesOptions,
  deps: ReflectorDeps & ConnectionDeps,
  task: Task,
): readonly Reflector[] {
  const convert = options.convert ?? {};
  const collections = collectionsFor(mount.prefix, { usePodCidr: convert.usePodCidr === true });
  if (collections.length === 0) {
    deps.log.warn({ prefix: mount.prefix }, 'a Kubernetes datastore has no such keys');
    const position = { datastoreId: UNKNOWN_ID, revision: 0 };
    task.emit({ type: 'snapshot', mount, entries: [], position, reason: 'initial' });
  }
  const view = new MountView(mount, options.lastPositions?.[mount.prefix], task);
  return collections.map((collection) => view.add(collection, convert, deps));
}

/** A mount as the union of collections: one, as a rule. */
class MountView {
  readonly #mount: Mount;
  readonly #last: Position | undefined;
  readonly #task: Task;
  readonly #reflectors: Reflector[] = [];
  readonly #lost = new Map<Collection, BirdfeedError>();
  #isListed = false;
  #problems = '';

  constructor(mount: Mount, last: Position | undefined, task: Task) {
    this.#mount = mount;
    this.#last = last;
    this.#task = task;
  }

  add(
    collection: Collection,
    convert: NonNullable<KubernetesOptions['convert']>,
    deps: ReflectorDeps,
  ): Reflector {
    const { prefix } = this.#mount;
    const contents = new Contents({ prefix, kind: collection.kind, convert });
    const hooks: ReflectorHooks = {
      page: (entries) => this.#emit({ type: 'page', mount: this.#mount, entries }),
      listed: (reason) => this.#listed(collection, reason),
      changed: (changes) => this.#changed(changes),
      lost: (error) => this.#wasLost(collection, error),
      connected: () => this.#connected(collection),
    };
    const reflector = new Reflector(collection, contents, hooks, deps);
    this.#reflectors.push(reflector);
    return reflector;
  }

  /** That of the collection that is furthest behind; null before all are listed. */
  get #position(): Position | null {
    const positions = this.#reflectors.map((reflector) => reflector.position);
    const [first] = positions;
    if (first === undefined || positions.some((position) => position === null)) return null;
    const revisions = positions.map((position) => position?.revision ?? 0);
    return { datastoreId: first?.datastoreId ?? UNKNOWN_ID, revision: Math.min(...revisions) };
  }

  #listed(collection: Collection, reason: SnapshotReason | null): void {
    this.#lost.delete(collection);
    const position = this.#position;
    if (position === null) return;
    const entries = this.#reflectors.flatMap((reflector) => reflector.contents.entries);
    const first = this.#isListed ? null : firstReason(this.#last, position);
    this.#isListed = true;
    this.#emit({
      type: 'snapshot',
      mount: this.#mount,
      entries,
      position,
      reason: first ?? reason ?? 'reconnect',
    });
    this.#afterwards();
  }

  #changed(changes: readonly Change[]): void {
    const position = this.#position;
    if (position === null) return;
    const all = this.#reflectors.length === 1 ? changes : changes.map((change) => this.#inUnion(change));
    this.#emit({ type: 'changes', mount: this.#mount, changes: all, position });
    this.#afterwards();
  }

  /** What one collection loses may have come to another one: an affinity that was given its label. */
  #inUnion(change: Change): Change {
    if (change.type === 'put') return change;
    const kept = this.#reflectors.map(({ contents }) => contents.find(change.key)).find(Boolean);
    return kept === undefined ? change : { type: 'put', entry: kept };
  }

  #wasLost(collection: Collection, error: BirdfeedError): void {
    this.#lost.set(collection, error);
    this.#emit({ type: 'lost', mount: this.#mount, error });
  }

  #connected(collection: Collection): void {
    this.#lost.delete(collection);
    const position = this.#position;
    if (position === null || this.#lost.size > 0) return;
    this.#emit({ type: 'connected', mount: this.#mount, position });
  }

  /** News of one collection make the mount look connected, which it is not while another one is lost. */
  #afterwards(): void {
    for (const error of this.#lost.values()) this.#emit({ type: 'lost', mount: this.#mount, error });
    const faults = this.#reflectors.flatMap(({ contents }) => contents.faults);
    const text = faults.map(({ message }) => message).join('\n');
    if (text === this.#problems) return;
    this.#problems = text;
    this.#task.problems.set(this.#mount, faults);
    this.#emit({ type: 'problems', mount: this.#mount, problems: [...this.#task.problems.values()].flat() });
  }

  #emit(event: SourceEvent): void {
    if (!this.#task.signal.aborted) this.#task.emit(event);
  }
}

/** The reason of a process's first snapshot, given where an earlier process left the mount. */
function firstReason(last: Position | undefined, now: Position): SnapshotReason {
  if (last === undefined) return 'initial';
  const ids = [last.datastoreId, now.datastoreId];
  const same = ids[0] === ids[1] || ids.includes(UNKNOWN_ID);
  return same && now.revision >= last.revision ? 'initial' : 'regressed';
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
