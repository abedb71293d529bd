import { type Clock, sleep } from '../../core/clock.ts';
import { asBirdfeedError, type BirdfeedError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Change } from '../../tree/types.ts';
import type { Mount, SnapshotReason, Source, SourceEvent } from '../types.ts';
import { Attempts } from './attempts.ts';
import type { EtcdConnection } from './connection.ts';
import type { Witness } from './decode.ts';
import { createDialler, type Dialler } from './dialler.ts';
import { type FailureContext, failureOf, isTooLarge, wantsNewToken } from './failures.ts';
import { readHead } from './head.ts';
import { firstReason, type Head, type Held, heldAfter, heldAfterList, positionOf, wentBack } from './held.ts';
import { type LifeEvent, type LifeState, nextState } from './life.ts';
import { type Listing, listAtHead, type PageSize } from './list.ts';
import { Losses } from './losses.ts';
import { type Endpoint, type EtcdOptions, type EtcdSettings, resolveEtcdOptions } from './options.ts';
import { type KeyRange, rangesOf } from './ranges.ts';
import { Watch, type WatchEnd } from './watch-stream.ts';

export interface EtcdDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  /** Instead of real connections, for tests. */
  readonly dialler?: Dialler;
}

/**
 * etcd v3 (3.4 and newer) as a source: lists all mounts at one revision, then watches exactly them, resuming after every
 * loss where delivery ended. May be run several times, also at once. Throws BF_USAGE for unusable options.
 */
export function createEtcdSource(options: EtcdOptions, deps: EtcdDeps): Source {
  const settings = resolveEtcdOptions(options, deps.random);
  const runs = new Set<EtcdRun>();
  return {
    kind: 'etcd',
    description: settings.endpoints.map(({ url }) => url).join(','),
    async run(mounts, emit, signal) {
      const run = new EtcdRun(settings, deps, { mounts, emit, signal });
      runs.add(run);
      await run.run().finally(() => runs.delete(run));
    },
    relist() {
      for (const run of runs) run.askRelist();
    },
  };
}

interface Task {
  readonly mounts: readonly Mount[];
  readonly emit: (event: SourceEvent) => void;
  readonly signal: AbortSignal;
}

interface Delivered {
  readonly revision: number;
  readonly witness?: Witness | undefined;
}

/** One run of the source: the steps of the life in `life.ts`. */
class EtcdRun {
  readonly #settings: EtcdSettings;
  readonly #deps: EtcdDeps;
  readonly #task: Task;
  readonly #ranges: readonly KeyRange[];
  readonly #pageSizes: readonly PageSize[];
  readonly #dialler: Dialler;
  readonly #attempts: Attempts;
  readonly #losses = new Losses();
  readonly #steps: Record<LifeState, () => Promise<LifeEvent>> = {
    dialing: () => this.#dial(),
    listing: () => this.#list(),
    opening: () => this.#open(),
    watching: () => this.#follow(),
    waiting: () => this.#wait(),
    stopped: async () => 'stopped',
  };
  #connection: EtcdConnection | undefined;
  #head: Head | undefined;
  #held: Held | undefined;
  #watch: Watch | undefined;
  /** Why a snapshot is wanted although the watch could go on. */
  #wanted: SnapshotReason | undefined;
  #relistAt = 0;
  #interrupt = new AbortController();
  /** Watches in a row that went silent without having delivered anything. */
  #silences = 0;
  #tokenRanOut = false;
  /** Since when the watch is open. */
  #openSince: number | undefined;

  constructor(settings: EtcdSettings, deps: EtcdDeps, task: Task) {
    this.#settings = settings;
    this.#deps = deps;
    this.#task = task;
    this.#attempts = new Attempts(settings);
    this.#ranges = rangesOf(task.mounts);
    this.#pageSizes = this.#ranges.map(() => ({ keys: settings.paging.firstKeys }));
    this.#dialler =
      deps.dialler ?? createDialler(settings, deps.clock, (endpoint) => this.#context(endpoint));
  }

  async run(): Promise<void> {
    const { signal } = this.#task;
    signal.addEventListener('abort', this.#stop, { once: true });
    try {
      let state: LifeState = this.#ranges.length === 0 ? 'stopped' : 'dialing';
      while (state !== 'stopped') {
        const event = await this.#step(state);
        this.#deps.log.debug({ state, event, endpoint: this.#attempts.endpoint.url }, 'etcd connection');
        state = nextState(state, event);
      }
      await untilAborted(signal);
    } finally {
      signal.removeEventListener('abort', this.#stop);
      this.#stop();
    }
  }

  askRelist(): void {
    this.#wanted ??= 'periodic';
    this.#interrupt.abort();
  }

  readonly #stop = (): void => {
    this.#interrupt.abort();
    this.#watch?.close();
    this.#dialler.drop();
  };

  async #step(state: LifeState): Promise<LifeEvent> {
    const { signal } = this.#task;
    if (signal.aborted) return 'stopped';
    try {
      const event = await this.#steps[state]();
      return signal.aborted ? 'stopped' : event;
    } catch (error) {
      return signal.aborted ? 'stopped' : this.#fail(failureOf(error, this.#context()));
    }
  }

  async #dial(): Promise<LifeEvent> {
    this.#connection = await this.#dialler.connect(this.#attempts.endpoint, this.#task.signal);
    this.#head = await this.#readHead(this.#settings.timings.callMs);
    if (this.#held === undefined) return 'stale';
    if (wentBack(this.#held, this.#head)) this.#wanted = 'regressed';
    const due = this.#deps.clock.monotonic() >= this.#relistAt;
    if (due) this.#wanted ??= this.#losses.open ? 'reconnect' : 'periodic';
    return this.#wanted === undefined ? 'resumable' : 'stale';
  }

  async #list(): Promise<LifeEvent> {
    const { paging, timings } = this.#settings;
    // Taken now: whoever asks for a relist while this one is being read means another one.
    const wanted = this.#wanted;
    this.#wanted = undefined;
    try {
      const { head, listing } = await listAtHead(this.#head as Head, {
        ranges: this.#ranges,
        paging,
        sizes: this.#pageSizes,
        read: (request) => (this.#connection as EtcdConnection).range(request, timings.pageMs),
        readHead: () => this.#readHead(timings.callMs),
        onPage: (index, entries) =>
          this.#emit({ type: 'page', mount: this.#task.mounts[index] as Mount, entries }),
      });
      this.#replace(head, listing, wanted);
    } catch (error) {
      this.#wanted = wanted ?? this.#wanted;
      throw failureOf(error, { ...this.#context(), afterMs: timings.pageMs });
    }
    this.#relistAt = this.#deps.clock.monotonic() + timings.relistMs * (1 - this.#deps.random() / 5);
    return 'listed';
  }

  #replace(head: Head, listing: Listing, wanted: SnapshotReason | undefined): void {
    const { mounts } = this.#task;
    const { lastPositions } = this.#settings;
    const first = this.#held === undefined;
    const held = heldAfterList(head, this.#ranges, mounts.length, listing.witness);
    this.#losses.end();
    for (const [index, mount] of mounts.entries()) {
      const entries = listing.entries[index] ?? [];
      const reason = first ? firstReason(lastPositions[mount.prefix], head) : (wanted ?? 'reconnect');
      this.#emit({ type: 'snapshot', mount, entries, position: positionOf(held, index), reason });
    }
    this.#progressed(held);
  }

  async #open(): Promise<LifeEvent> {
    const connection = this.#connection as EtcdConnection;
    const watch = new Watch((handlers) => connection.watch(handlers), {
      ranges: this.#ranges,
      nextOf: (range) => this.#held?.next[range] ?? 0,
      datastoreId: this.#held?.datastoreId ?? '',
      clock: this.#deps.clock,
      timings: this.#settings.timings,
      context: this.#context(),
      onChanges: (heard) => this.#deliver(heard.range, heard),
      onNotice: ({ range, revision }) => this.#advance(range, { revision }),
    });
    this.#watch = watch;
    const end = await Promise.race([watch.opened, watch.ended]);
    if (end !== undefined) return this.#ended(end);
    this.#openSince = this.#deps.clock.monotonic();
    this.#tokenRanOut = false;
    if (this.#losses.open) this.#reportConnected();
    return 'opened';
  }

  /** Lets the watch run until it ends, a relist is due or asked for, or the cluster says that the store went back. */
  async #follow(): Promise<LifeEvent> {
    const watch = this.#watch as Watch;
    this.#interrupt = new AbortController();
    const { signal } = this.#interrupt;
    if (this.#wanted !== undefined) this.#interrupt.abort();
    const untilRelist = Math.max(0, this.#relistAt - this.#deps.clock.monotonic());
    try {
      return await Promise.race([
        watch.ended.then((end) => this.#ended(end)),
        sleep(this.#deps.clock, untilRelist, signal).then((): LifeEvent => 'doubted'),
        this.#verify(signal),
      ]);
    } finally {
      this.#interrupt.abort();
      watch.close();
    }
  }

  /** Resolves when the store turns out to have gone back; rejects when the cluster does not answer. */
  async #verify(signal: AbortSignal): Promise<LifeEvent> {
    const { verifyMs, deadMs } = this.#settings.timings;
    for (;;) {
      await sleep(this.#deps.clock, verifyMs, signal);
      if (signal.aborted) return 'doubted';
      // Events that overtake the answer must not make it look old.
      const held = this.#held as Held;
      if (wentBack(held, await this.#readHead(deadMs))) return 'doubted';
    }
  }

  async #wait(): Promise<LifeEvent> {
    await sleep(this.#deps.clock, this.#attempts.delay(this.#deps.random()), this.#task.signal);
    return 'waited';
  }

  #ended(end: WatchEnd): LifeEvent {
    if (end.kind === 'compacted') this.#wanted = 'compacted';
    if (end.kind === 'silent') this.#silences += 1;
    // Splitting one revision of very many small events takes etcd a time that grows with their number squared, during
    // which it says nothing, and it would begin anew on every resumption. A list is over that revision in no time.
    if (this.#silences >= 2) this.#wanted ??= 'reconnect';
    if (end.kind === 'failed' && wantsNewToken(end.error.cause) && !this.#tokenRanOut) {
      // Between the read and the watch. The next read gets a new one; a second time in a row is a failure.
      this.#tokenRanOut = true;
      return 'doubted';
    }
    if (end.kind === 'silent' || end.kind === 'failed') throw end.error;
    return 'doubted';
  }

  #fail(error: BirdfeedError): LifeEvent {
    const { url } = this.#attempts.endpoint;
    this.#watch?.close();
    this.#dialler.drop();
    const openFor = this.#deps.clock.monotonic() - (this.#openSince ?? Number.POSITIVE_INFINITY);
    if (openFor > this.#settings.timings.backoff.maxMs) this.#attempts.succeeded();
    this.#openSince = undefined;
    this.#attempts.failed(error);
    // Events that are too much at a time would be so again; a list comes in pages.
    if (isTooLarge(error.cause)) this.#wanted ??= 'reconnect';
    if (this.#losses.isNews(url, error)) {
      for (const mount of this.#task.mounts) this.#emit({ type: 'lost', mount, error });
    }
    return 'failed';
  }

  #reportConnected(): void {
    this.#losses.end();
    for (const [index, mount] of this.#task.mounts.entries()) {
      this.#emit({ type: 'connected', mount, position: positionOf(this.#held as Held, index) });
    }
  }

  /** Hands the events over before the resume point moves: should that fail, they are asked for again. */
  #deliver(range: number, heard: Delivered & { readonly changes: readonly Change[] }): void {
    const { mount } = this.#ranges[range] as KeyRange;
    const held = heldAfter(this.#held as Held, range, mount, heard);
    const { changes } = heard;
    this.#emit({
      type: 'changes',
      mount: this.#task.mounts[mount] as Mount,
      changes,
      position: positionOf(held, mount),
    });
    this.#progressed(held);
  }

  #progressed(held: Held): void {
    this.#held = held;
    this.#silences = 0;
    this.#attempts.succeeded();
  }

  #advance(range: number, delivered: Delivered): void {
    const { mount } = this.#ranges[range] as KeyRange;
    this.#held = heldAfter(this.#held as Held, range, mount, delivered);
  }

  #emit(event: SourceEvent): void {
    if (this.#task.signal.aborted) return;
    try {
      this.#task.emit(event);
    } catch (error) {
      // Told apart from etcd's failures.
      throw asBirdfeedError(error);
    }
  }

  #readHead(deadlineMs: number): Promise<Head> {
    const first = this.#ranges[0] as KeyRange;
    return readHead(this.#connection as EtcdConnection, first, this.#held?.witness, deadlineMs).catch(
      (error) => {
        throw failureOf(error, { ...this.#context(), afterMs: deadlineMs });
      },
    );
  }

  #context(endpoint: Endpoint = this.#attempts.endpoint): FailureContext {
    const { tls, login, timings } = this.#settings;
    return { endpoint: endpoint.url, tls, username: login?.username, afterMs: timings.callMs };
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
