import { backoffDelay } from '../../core/backoff.ts';
import { type Clock, sleep } from '../../core/clock.ts';
import { asBirdfeedError, type BirdfeedError } from '../../core/errors.ts';
import type { Change, Entry } from '../../tree/types.ts';
import type { SnapshotReason } from '../types.ts';
import {
  acceptOf,
  apiVersionOf,
  type CalicoGroup,
  type Collection,
  listPath,
  watchPath,
} from './collections.ts';
import { type Connection, type Reached, UNKNOWN_ID } from './connection.ts';
import { type Contents, itemsOf, revisionOf } from './contents.ts';
import type { Discovery } from './discovery.ts';
import {
  failureOf,
  isExpired,
  isForeignPosition,
  isUnknownKind,
  protocolError,
  StatusError,
} from './failures.ts';
import type { KubernetesTimings } from './options.ts';
import { objectAt, textAt } from './shape.ts';
import { followWatch, type WatchEvent } from './watch.ts';

/** What a reflector reports. All of it is about its collection alone. */
export interface ReflectorHooks {
  page(entries: readonly Entry[]): void;
  /** `contents` is whole and new. `reason` is null for the first time. */
  listed(reason: SnapshotReason | null): void;
  changed(changes: readonly Change[]): void;
  lost(error: BirdfeedError): void;
  connected(): void;
}

export interface ReflectorDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly timings: KubernetesTimings;
  readonly pageSize: number;
  readonly connection: Connection;
  readonly discovery: Discovery;
}

/** What was read, and from where a watch can go on. */
interface Held {
  readonly datastoreId: string;
  readonly group: CalicoGroup;
  /** Null while the API server does not know the kind: there is nothing to watch. */
  readonly resourceVersion: string | null;
  readonly revision: number;
}

/**
 * Keeps one collection: lists it, then watches from there, and lists anew whenever there is doubt. Listing and watching
 * are the two things it does; `#held` is what it goes on from, and null means that a list is due.
 */
export class Reflector {
  readonly contents: Contents;
  readonly #collection: Collection;
  readonly #deps: ReflectorDeps;
  readonly #hooks: ReflectorHooks;
  #held: Held | null = null;
  /** Position of the last delivery, also while a list is due. */
  #last: Held | null = null;
  #wanted: SnapshotReason | null = null;
  #interrupt = new AbortController();
  #relistAt = 0;
  #attempts = 0;
  #cause: string | null = null;
  #vanishedAt: number | null = null;
  /** Two expired continuations in a row: a list in pages takes longer than the server remembers. */
  #isPaged = true;

  constructor(collection: Collection, contents: Contents, hooks: ReflectorHooks, deps: ReflectorDeps) {
    this.#collection = collection;
    this.contents = contents;
    this.#hooks = hooks;
    this.#deps = deps;
  }

  /** Null before the first list. */
  get position(): { readonly datastoreId: string; readonly revision: number } | null {
    return this.#last;
  }

  askRelist(): void {
    this.#wanted ??= 'periodic';
    this.#interrupt.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let reached: Reached | undefined;
      try {
        reached = await this.#deps.connection.ready(signal);
        if (!signal.aborted) await this.#turn(reached, signal);
      } catch (error) {
        if (!signal.aborted) await this.#fail(error, reached, signal);
      }
    }
  }

  async #turn(reached: Reached, signal: AbortSignal): Promise<void> {
    this.#interrupt = new AbortController();
    if (this.#last !== null && isOther(this.#last.datastoreId, reached.datastoreId))
      this.#wanted = 'regressed';
    if (this.#deps.clock.monotonic() >= this.#relistAt) this.#wanted ??= 'periodic';
    if (this.#wanted !== null) this.#held = null;
    if (this.#held === null) await this.#list(reached, signal);
    else if (this.#held.resourceVersion === null) await this.#lookAgain(signal);
    else await this.#watch(reached, this.#held.resourceVersion, this.#held, signal);
  }

  async #list(reached: Reached, signal: AbortSignal): Promise<void> {
    const wanted = this.#wanted;
    // Taken now: whoever asks for a relist while this one is being read means another one.
    this.#wanted = null;
    try {
      const held = await this.#read(reached, signal);
      this.#keep(held, wanted);
    } catch (error) {
      this.#wanted = wanted ?? this.#wanted;
      throw error;
    }
  }

  /** All pages; an unknown kind reads as nothing when it was nothing before, or has been unknown for a while. */
  async #read(reached: Reached, signal: AbortSignal): Promise<Held> {
    const { discovery, timings, clock } = this.#deps;
    const group = await discovery.group(reached.line, timings.absentMs / 2, signal);
    const { datastoreId } = reached;
    try {
      const resourceVersion = await this.#pages(reached, group, signal);
      this.#vanishedAt = null;
      return { datastoreId, group, resourceVersion, revision: numberOf(resourceVersion) };
    } catch (error) {
      if (!isUnknownKind(error) || this.#collection.group === 'core') throw error;
      this.#vanishedAt ??= clock.monotonic();
      const isBelieved =
        this.contents.size === 0 || clock.monotonic() - this.#vanishedAt >= timings.vanishedMs;
      if (!isBelieved) throw error;
      this.contents.begin().keep();
      return { datastoreId, group, resourceVersion: null, revision: this.#last?.revision ?? 0 };
    }
  }

  async #pages({ line }: Reached, group: CalicoGroup, signal: AbortSignal): Promise<string> {
    const { timings, pageSize } = this.#deps;
    const filling = this.contents.begin();
    const apiVersion = apiVersionOf(this.#collection, group);
    const limit = this.#isPaged ? pageSize : 0;
    let token = '';
    for (;;) {
      const page = { limit, ...(token === '' ? {} : { continue: token }) };
      const path = listPath(this.#collection, group, page);
      const list = await line.getJson(path, acceptOf(this.#collection, 'list'), timings.pageMs, signal);
      const items = itemsOf(list);
      const metadata = objectAt(list, 'metadata');
      const resourceVersion = textAt(metadata, 'resourceVersion');
      if (items === null || resourceVersion === '')
        throw protocolError(line.server, `answered to ${path} with something that is no list`);
      const entries = items.map((item) => filling.put(item, apiVersion)).filter((entry) => entry !== null);
      this.#tell(() => this.#hooks.page(entries));
      token = textAt(metadata, 'continue');
      if (token !== '') continue;
      filling.keep();
      this.#isPaged = true;
      return resourceVersion;
    }
  }

  #keep(held: Held, wanted: SnapshotReason | null): void {
    const { clock, random, timings } = this.#deps;
    const before = this.#last;
    const isNews = held.resourceVersion !== null || before === null || before.resourceVersion !== null;
    this.#held = held;
    this.#last = held;
    this.#attempts = 0;
    this.#cause = null;
    this.#relistAt = clock.monotonic() + timings.relistMs * (1 - random() / 5);
    if (!isNews) return;
    const isBack = before !== null && held.revision < before.revision;
    this.#tell(() =>
      this.#hooks.listed(before === null ? null : isBack ? 'regressed' : (wanted ?? 'reconnect')),
    );
  }

  async #lookAgain(signal: AbortSignal): Promise<void> {
    const { clock, random, timings } = this.#deps;
    await this.#sleep(clock, timings.absentMs * (0.9 + random() / 5), signal);
    this.#held = null;
  }

  async #watch({ line }: Reached, from: string, held: Held, signal: AbortSignal): Promise<void> {
    const { clock, random, timings } = this.#deps;
    const seconds = Math.round((timings.watchMs / 1000) * (1 + random()));
    const cancelRelist = clock.after(Math.max(0, this.#relistAt - clock.monotonic()), () => this.askRelist());
    const started = clock.monotonic();
    try {
      await followWatch({
        line,
        clock,
        timings,
        path: watchPath(this.#collection, held.group, from, seconds),
        accept: acceptOf(this.#collection, 'watch'),
        signals: [signal, this.#interrupt.signal],
        onOpen: () => this.#opened(),
        onEvents: (events) => this.#take(events),
      });
    } finally {
      cancelRelist();
    }
    if (this.#interrupt.signal.aborted) return;
    // A server that ends every watch at once is not asked again at once.
    const isShort = clock.monotonic() - started < 1_000 && this.#held?.resourceVersion === from;
    if (isShort) await this.#pause(0, signal);
    else this.#attempts = 0;
  }

  #opened(): void {
    if (this.#cause === null) return;
    this.#cause = null;
    this.#tell(() => this.#hooks.connected());
  }

  #take(events: readonly WatchEvent[]): void {
    const held = this.#held as Held;
    const apiVersion = apiVersionOf(this.#collection, held.group);
    const changes: Change[] = [];
    let resourceVersion = held.resourceVersion as string;
    for (const { type, object } of events) {
      if (type === 'ADDED' || type === 'MODIFIED') changes.push(...this.contents.put(object, apiVersion));
      else if (type === 'DELETED') changes.push(...this.contents.delete(object));
      resourceVersion = textAt(objectAt(object, 'metadata'), 'resourceVersion') || resourceVersion;
    }
    this.#held = { ...held, resourceVersion, revision: numberOf(resourceVersion) };
    this.#last = this.#held;
    this.#attempts = 0;
    if (changes.length > 0) this.#tell(() => this.#hooks.changed(changes));
  }

  /** A broken consumer is told apart from a broken server; what it was told of is read again. */
  #tell(say: () => void): void {
    try {
      say();
    } catch (error) {
      this.#held = null;
      throw asBirdfeedError(error);
    }
  }

  async #fail(error: unknown, reached: Reached | undefined, signal: AbortSignal): Promise<void> {
    const wasListing = this.#held === null;
    if (isExpired(error)) {
      if (wasListing) this.#isPaged = this.#attempts === 0;
      this.#held = null;
      this.#wanted ??= 'compacted';
      // The list comes at once; only one that expires itself has to wait.
      if (!wasListing) return;
    }
    // Whatever is wrong with the answer of a watch, a list is the way out; lost connections are resumed.
    const isAnswer = isForeignPosition(error) || isUnknownKind(error) || isProtocol(error);
    if (isAnswer) this.#held = null;
    // Who does not answer at all may be dead, or the way there: the next request dials, and asks who is there.
    else if (!(error instanceof StatusError)) reached?.line.transport.retire();
    const failure = failureOf(error, reached?.line.server ?? '');
    const cause = `${failure.code} ${failure.message}`;
    if (this.#cause !== cause) {
      this.#cause = cause;
      this.#tell(() => this.#hooks.lost(failure));
    }
    // Whoever could not be reached is paced by the connection.
    if (reached !== undefined)
      await this.#pause(error instanceof StatusError ? error.retryAfterMs : 0, signal, failure);
  }

  async #pause(leastMs: number, signal: AbortSignal, failure?: BirdfeedError): Promise<void> {
    const { clock, random, timings } = this.#deps;
    const policy = failure?.code === 'BF_DATASTORE_AUTH' ? timings.authBackoff : timings.backoff;
    const delay = backoffDelay(policy, this.#attempts, random());
    this.#attempts += 1;
    await this.#sleep(clock, Math.max(delay, leastMs * (1 + random() / 5)), signal);
  }

  /** Ends early when a relist is asked for. */
  async #sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    this.#interrupt = new AbortController();
    await sleep(clock, ms, AbortSignal.any([signal, this.#interrupt.signal]));
  }
}

function isProtocol(error: unknown): boolean {
  return error instanceof SyntaxError || asBirdfeedError(error).code === 'BF_DATASTORE_PROTOCOL';
}

function isOther(before: string, now: string): boolean {
  return before !== now && before !== UNKNOWN_ID && now !== UNKNOWN_ID;
}

function numberOf(resourceVersion: string): number {
  return revisionOf({ metadata: { resourceVersion } });
}
