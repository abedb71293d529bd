import type { Clock } from '../../core/clock.ts';
import { BirdfeedError } from '../../core/errors.ts';
import type { WatchHandlers, WatchStream } from './connection.ts';
import { type FailureContext, failureOf, silence } from './failures.ts';
import type { WatchResponse } from './messages.ts';
import type { EtcdTimings } from './options.ts';
import type { KeyRange } from './ranges.ts';
import { type Heard, isProxys, ResponseReader, watchIdOf } from './responses.ts';

/** How a watch ended. It always ends with one of these, never with an exception. */
export type WatchEnd =
  | { readonly kind: 'failed'; readonly error: BirdfeedError }
  /** The stream is open, but nothing comes, not even what is asked for. */
  | { readonly kind: 'silent'; readonly error: BirdfeedError }
  | { readonly kind: 'compacted'; readonly revision: number }
  | { readonly kind: 'closed' };

export interface WatchPlan {
  readonly ranges: readonly KeyRange[];
  /** The first revision that has not been delivered, per range; read at the start and with every response. */
  readonly nextOf: (range: number) => number;
  readonly datastoreId: string;
  readonly clock: Clock;
  readonly timings: EtcdTimings;
  readonly context: FailureContext;
  readonly onChanges: (heard: Heard & { kind: 'changes' }) => void;
  readonly onNotice: (heard: Heard & { kind: 'notice' }) => void;
}

/** All ranges watched over one stream, with a watchdog. */
export class Watch {
  /** Resolves when etcd has confirmed every watcher; never when the watch ends before. */
  readonly opened: Promise<void>;
  readonly ended: Promise<WatchEnd>;
  readonly #stream: WatchStream;
  readonly #plan: WatchPlan;
  readonly #reader: ResponseReader;
  readonly #unconfirmed: Set<number>;
  #confirm: () => void = () => {};
  #end: (end: WatchEnd) => void = () => {};
  #finished = false;
  #heardAt: number;
  #unanswered = 0;
  /** Whether `etcd grpc-proxy` is in between. */
  #proxied = false;
  #cancelTimer: () => void;

  constructor(open: (handlers: WatchHandlers) => WatchStream, plan: WatchPlan) {
    this.#plan = plan;
    this.#reader = new ResponseReader(plan.ranges.length);
    this.#unconfirmed = new Set(plan.ranges.keys());
    this.#heardAt = plan.clock.monotonic();
    this.opened = new Promise((resolve) => {
      this.#confirm = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#cancelTimer = plan.clock.after(plan.timings.callMs, () => this.#checkOpened());
    this.#stream = open({
      onResponse: (response) => this.#take(response),
      onEnd: (error) =>
        this.#fail(error ? failureOf(error, plan.context) : this.#unreachable('ended the watch')),
    });
    for (const [index, range] of plan.ranges.entries()) this.#create(index, range);
  }

  close(): void {
    this.#finish({ kind: 'closed' });
  }

  #create(index: number, { key, rangeEnd }: KeyRange): void {
    this.#stream.create({
      watchId: watchIdOf(index),
      key,
      rangeEnd,
      startRevision: this.#plan.nextOf(index),
      progressNotify: true,
      fragment: true,
    });
  }

  /** Whatever a response or its consumer throws ends the watch, with the resume point where it was. */
  #take(response: WatchResponse): void {
    if (this.#finished) return;
    this.#heardAt = this.#plan.clock.monotonic();
    this.#unanswered = 0;
    if (isProxys(response.watchId)) this.#proxied = true;
    try {
      this.#checkHeader(response);
      this.#act(this.#reader.read(response));
    } catch (error) {
      this.#fail(failureOf(error, this.#plan.context));
    }
  }

  #act(heard: Heard): void {
    switch (heard.kind) {
      case 'created':
        this.#unconfirmed.delete(heard.range);
        if (this.#unconfirmed.size === 0) this.#confirmAll();
        return;
      case 'changes':
        return this.#plan.onChanges(heard);
      case 'notice':
        return this.#plan.onNotice(heard);
      case 'compacted':
        return this.#finish(heard);
      case 'refused':
        return this.#fail(failureOf(new Error(heard.reason), this.#plan.context));
      case 'alive':
        return;
    }
  }

  /**
   * A store that is behind what we have from it, or another one, would keep the watch open and say nothing: the events that
   * we wait for lie in its future. Whether that is so, or just this member is late, is found out by the next read.
   */
  #checkHeader(response: WatchResponse): void {
    const { header, canceled, created } = response;
    // The header of a cancellation has revision 0, and where a proxy has a watcher join others, it makes one up.
    if (canceled || (created && this.#proxied)) return;
    const { datastoreId, ranges, nextOf, context } = this.#plan;
    const range = this.#reader.rangeOf(response);
    const indexes = range === undefined ? [...ranges.keys()] : [range];
    const held = Math.max(...indexes.map(nextOf)) - 1;
    const { revision, clusterId } = header;
    if (clusterId === datastoreId && revision >= held) return;
    throw new BirdfeedError(
      'BF_DATASTORE_REGRESSED',
      `etcd at ${context.endpoint} is at revision ${revision} of cluster ${clusterId}, we have ${held} of ${datastoreId}`,
      { details: { endpoint: context.endpoint, revision, held } },
    );
  }

  #confirmAll(): void {
    this.#cancelTimer();
    // A proxy takes no progress requests (etcd issue 19710); that the connection is dead shows on the next read.
    if (!this.#proxied) this.#pingLater(this.#plan.timings.pingMs);
    this.#confirm();
  }

  /** A backlog may come before the last confirmation: what counts is that nothing came for as long as a call may take. */
  #checkOpened(): void {
    const { clock, timings, context } = this.#plan;
    const left = this.#heardAt + timings.callMs - clock.monotonic();
    if (left <= 0) return this.#fail(silence(context));
    this.#cancelTimer = clock.after(left, () => this.#checkOpened());
  }

  #pingLater(ms: number): void {
    this.#cancelTimer = this.#plan.clock.after(ms, () => this.#ping());
  }

  /**
   * Both time and unanswered requests have to speak for a dead stream: after this process itself was stopped for a while,
   * the answers may lie in the socket.
   */
  #ping(): void {
    const { pingMs, deadMs } = this.#plan.timings;
    const silent = this.#plan.clock.monotonic() - this.#heardAt;
    if (silent >= deadMs && this.#unanswered >= 2) {
      return this.#finish({ kind: 'silent', error: this.#unreachable(`was silent for ${deadMs / 1000} s`) });
    }
    this.#unanswered += 1;
    this.#stream.askProgress();
    const left = deadMs - silent;
    this.#pingLater(left > 0 ? Math.min(pingMs, left) : pingMs);
  }

  #unreachable(what: string): BirdfeedError {
    const { endpoint } = this.#plan.context;
    return new BirdfeedError('BF_DATASTORE_UNREACHABLE', `etcd at ${endpoint} ${what}`, {
      details: { endpoint },
    });
  }

  #fail(error: BirdfeedError): void {
    this.#finish({ kind: 'failed', error });
  }

  #finish(end: WatchEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#cancelTimer();
    this.#stream.cancel();
    this.#end(end);
  }
}
