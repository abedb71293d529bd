import type { Clock } from '../core/clock.ts';
import type { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { sortedBy } from '../core/order.ts';
import { covers } from '../core/prefix.ts';
import type { Mount, Position, Source, SourceEvent } from '../datastore/types.ts';
import type { Problem } from '../model/types.ts';
import type { MountStatus } from '../status/status.ts';
import type { Tree } from '../tree/tree.ts';
import type { Entry } from '../tree/types.ts';
import { keepRunning } from './keep-running.ts';
import { problemOf } from './problem-of.ts';

export interface FeedInput {
  readonly source: Source;
  readonly mounts: readonly Mount[];
}

export interface FeedDeps {
  readonly tree: Pick<Tree, 'applySnapshot' | 'applyChanges' | 'declare' | 'unmount'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Something is known of a mount, or other ones are open; `isSnapshot` when one was read whole. */
  onMounts(mounts: readonly MountStatus[], isSnapshot: boolean): void;
  /** The tree changed, or the connection did: look again. */
  onChange(): void;
  /** Entries of a snapshot that is still being read, or of changes, so that parsing is spread over what arrives. */
  prepare(entries: readonly Entry[]): void;
}

/**
 * Two groups of sources: what sets cannot do without, and what the model asks for on the way. Each is replaced as a
 * whole, so that another wish of the model never disturbs the watch of the rest.
 */
export type FeedGroup = 'required' | 'optional';

interface MountState {
  readonly mount: Mount;
  status: MountStatus;
  position: Position;
  /** The mount has delivered a snapshot at least once. */
  known: boolean;
}

interface GroupState {
  inputs: readonly FeedInput[];
  stop: AbortController;
  run: Promise<void>;
}

/** What a set sees of it. */
export type FeedView = Pick<Feed, 'complete' | 'fresh' | 'trouble' | 'unread' | 'positions' | 'regressions'>;

/** Runs the sources, and keeps the tree and each mount's health. Knows nothing of what the keys mean. */
export class Feed {
  readonly #deps: FeedDeps;
  readonly #states = new Map<string, MountState>();
  readonly #groups: Record<FeedGroup, GroupState> = { required: noGroup(), optional: noGroup() };
  readonly #problems = new Map<Source, readonly Problem[]>();
  readonly #unread = new Map<Source, BirdfeedError>();
  #started = false;
  /** Why a source is cut off, as last logged. */
  readonly #losses = new Map<string, string>();
  #regressions = 0;
  #isChanging = false;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** From now on the sources run, also those that are opened later. */
  start(): void {
    this.#started = true;
    for (const group of Object.values(this.#groups)) this.#startGroup(group);
  }

  async stop(): Promise<void> {
    this.#started = false;
    await Promise.all(Object.values(this.#groups).map(endGroup));
  }

  /** Replaces the sources of a group. What both have in common keeps its keys until its next snapshot. */
  async open(name: FeedGroup, inputs: readonly FeedInput[]): Promise<void> {
    const old = this.#groups[name];
    await endGroup(old);
    for (const { source } of old.inputs) {
      this.#problems.delete(source);
      this.#unread.delete(source);
    }
    const group = { ...noGroup(), inputs };
    this.#groups[name] = group;
    const closed = this.#close(mountsOf(old.inputs));
    for (const { source, mounts } of inputs) for (const mount of mounts) this.#adopt(source, mount);
    this.#deps.tree.declare([...this.#states.keys()]);
    if (this.#started) this.#startGroup(group);
    // The keys that went with a mount inside another one belong to that one now.
    if (closed.some((mount) => this.#isOpen(mount))) this.relist();
    this.#deps.onMounts(this.mounts, false);
  }

  /** All open mounts and how they are. */
  get mounts(): readonly MountStatus[] {
    return [...this.#states.values()].map(({ status }) => status);
  }

  /** Prefixes that a group has open, sorted. */
  prefixes(name: FeedGroup): readonly string[] {
    return sortedBy(
      mountsOf(this.#groups[name].inputs).map((mount) => mount.prefix),
      (prefix) => prefix,
    );
  }

  /**
   * What lies in these mounts may be rendered: all of it is open, every required mount has delivered a snapshot, and every
   * optional one has, or has said why it cannot.
   */
  complete(mounts: readonly Mount[]): boolean {
    return (
      mounts.every((mount) => this.#isOpen(mount)) &&
      this.#within(mounts).every(({ known, status }) => known || (!status.required && status.error !== null))
    );
  }

  /** Every required one of these mounts is connected and up to date. */
  fresh(mounts: readonly Mount[]): boolean {
    return this.trouble(mounts) === null;
  }

  /** The first reason why it is not fresh, for people; null when it is. */
  trouble(mounts: readonly Mount[]): string | null {
    const late = this.#within(mounts).find(({ status }) => status.required && !status.synced);
    if (late === undefined) return null;
    return late.status.error ?? `waiting for the first answer of the datastore for ${late.status.prefix}`;
  }

  positions(
    mounts: readonly Mount[],
  ): readonly { prefix: string; kind: string; datastoreId: string; revision: number }[] {
    return this.#within(mounts)
      .filter((state) => state.known)
      .map(({ status, position }) => ({ prefix: status.prefix, kind: status.kind, ...position }));
  }

  /** What the sources found wrong with their data, such as a file that cannot be parsed. */
  problems(): readonly Problem[] {
    return [...this.#problems.values()].flat();
  }

  /** A part of the required data that has not been read since the start, so that its absence means nothing; null for none. */
  unread(): BirdfeedError | null {
    const [first] = this.#unread.values();
    return first ?? null;
  }

  /** How often a snapshot came from a datastore that had gone back in time. */
  get regressions(): number {
    return this.#regressions;
  }

  /** Asks every source to read everything anew. */
  relist(): void {
    for (const { inputs } of Object.values(this.#groups)) for (const { source } of inputs) source.relist();
  }

  /** Drops the mounts that no group has open any more, and returns them. */
  #close(mounts: readonly Mount[]): readonly Mount[] {
    const inputs = Object.values(this.#groups).flatMap((group) => group.inputs);
    const wanted = new Set(mountsOf(inputs).map((mount) => mount.prefix));
    const closed = mounts.filter((mount) => !wanted.has(mount.prefix));
    for (const mount of closed) {
      this.#states.delete(mount.prefix);
      this.#deps.tree.unmount(mount);
    }
    return closed;
  }

  #isOpen(mount: Mount): boolean {
    return [...this.#states.keys()].some((prefix) => covers(prefix, mount.prefix));
  }

  #adopt(source: Source, mount: Mount): void {
    const { prefix, required } = mount;
    const known = this.#states.get(prefix);
    const status = { prefix, kind: source.kind, required, synced: false, revision: 0, error: null };
    this.#states.set(prefix, {
      mount,
      status: known === undefined ? status : { ...known.status, kind: source.kind, required },
      position: known?.position ?? { datastoreId: '', revision: 0 },
      known: known?.known ?? false,
    });
  }

  #startGroup(group: GroupState): void {
    group.stop = new AbortController();
    const { signal } = group.stop;
    const { clock, random } = this.#deps;
    const runs = group.inputs.map(({ source, mounts }) => {
      const emit = (event: SourceEvent): void => {
        if (!signal.aborted) this.#handle(source, event);
      };
      return keepRunning(source, mounts, emit, { clock, random, signal });
    });
    group.run = Promise.all(runs).then(() => undefined);
  }

  #handle(source: Source, event: SourceEvent): void {
    const { log, tree } = this.#deps;
    const { prefix } = event.mount;
    switch (event.type) {
      case 'page':
        return this.#deps.prepare(event.entries);
      case 'problems':
        for (const { code, message, details } of event.problems) log.warn({ code, ...details }, message);
        this.#problems.set(
          source,
          event.problems.map((problem) => problemOf('source-invalid', problem)),
        );
        this.#noteUnread(source, event);
        return this.#changed();
      case 'lost':
        this.#update(prefix, { synced: false, error: event.error.message });
        this.#logLoss(source, event.error);
        return this.#changed();
      case 'connected':
        this.#losses.delete(source.description);
        this.#advance(prefix, event.position);
        return this.#changed();
      case 'changes':
        this.#advance(prefix, event.position);
        // In a storm there is time for it now, between the batches, and none when the last one has come.
        this.#deps.prepare(event.changes.flatMap((change) => (change.type === 'put' ? [change.entry] : [])));
        if (tree.applyChanges(event.mount, event.changes).length > 0) this.#changed();
        return;
      case 'snapshot':
        this.#losses.delete(source.description);
        return this.#takeSnapshot(event);
    }
  }

  /** Once for a datastore, not for each source or mount of it, and again when the cause is another one. */
  #logLoss(source: Source, { code, message }: BirdfeedError): void {
    if (this.#losses.get(source.description) === message) return;
    this.#losses.set(source.description, message);
    this.#deps.log.warn({ datastore: source.description, code, reason: message }, 'datastore lost');
  }

  #noteUnread(source: Source, { mount, problems }: Extract<SourceEvent, { type: 'problems' }>): void {
    const unread = problems.find(({ details }) => details['unread'] === true);
    if (unread !== undefined && mount.required) this.#unread.set(source, unread);
    else this.#unread.delete(source);
  }

  #takeSnapshot({ mount, entries, position, reason }: Extract<SourceEvent, { type: 'snapshot' }>): void {
    const { prefix } = mount;
    this.#deps.tree.applySnapshot(mount, entries);
    this.#states.get(prefix)!.known = true;
    if (reason === 'regressed') this.#regressions += 1;
    this.#advance(prefix, position, true);
    this.#deps.log.info(
      { prefix, keys: entries.length, revision: position.revision, reason },
      'datastore listed',
    );
    this.#changed();
  }

  /** Says so after the event in hand: the snapshots of several mounts are one, and half of it is nothing to look at. */
  #changed(): void {
    if (this.#isChanging) return;
    this.#isChanging = true;
    queueMicrotask(() => {
      this.#isChanging = false;
      this.#deps.onChange();
    });
  }

  #advance(prefix: string, position: Position, isSnapshot = false): void {
    const state = this.#states.get(prefix)!;
    state.position = position;
    this.#update(prefix, { synced: state.known, revision: position.revision, error: null }, isSnapshot);
  }

  #update(prefix: string, change: Partial<MountStatus>, isSnapshot = false): void {
    const state = this.#states.get(prefix)!;
    state.status = { ...state.status, ...change };
    this.#deps.onMounts(this.mounts, isSnapshot);
  }

  /** The opened mounts that these lie in, or that lie in these. */
  #within(mounts: readonly Mount[]): MountState[] {
    return [...this.#states.values()].filter(({ status }) =>
      mounts.some((mount) => covers(status.prefix, mount.prefix) || covers(mount.prefix, status.prefix)),
    );
  }
}

function noGroup(): GroupState {
  return { inputs: [], stop: new AbortController(), run: Promise.resolve() };
}

async function endGroup(group: GroupState): Promise<void> {
  group.stop.abort();
  await group.run;
}

function mountsOf(inputs: readonly FeedInput[]): readonly Mount[] {
  return inputs.flatMap((input) => input.mounts);
}
