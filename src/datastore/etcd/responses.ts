import { BirdfeedError } from '../../core/errors.ts';
import type { Change } from '../../tree/types.ts';
import { changeOf, newestWitness, type Witness } from './decode.ts';
import type { WatchEvent, WatchResponse } from './messages.ts';

/** What a response on the watch stream says about one range (by index) or about the stream. */
export type Heard =
  | { readonly kind: 'created'; readonly range: number }
  | {
      readonly kind: 'changes';
      readonly range: number;
      readonly changes: readonly Change[];
      /** Revision of the last event: everything of the range up to it has been delivered. */
      readonly revision: number;
      readonly witness: Witness | undefined;
    }
  /** etcd says by itself that the range is complete up to `revision`. */
  | { readonly kind: 'notice'; readonly range: number; readonly revision: number }
  /** Somebody is there; nothing else follows from it. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'compacted'; readonly revision: number }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The ids that we give our watchers are far from those that a server would choose, 0 and up: `etcd grpc-proxy` does choose,
 * whatever it is asked for, so that the ids in its answers tell it from an etcd.
 */
const FIRST_WATCH_ID = 1_000_000;

export function watchIdOf(range: number): number {
  return FIRST_WATCH_ID + range;
}

/**
 * Puts responses together again. etcd splits what happened in one revision, or was due when a watcher caught up, over
 * several responses when it is large (`fragment`): nothing may be delivered before the last part is there, since a
 * connection that ends between two parts must leave the resume point in front of the first.
 */
export class ResponseReader {
  readonly #ranges: number;
  readonly #parts = new Map<number, readonly WatchEvent[]>();

  /** `ranges`: how many watchers were asked for. */
  constructor(ranges: number) {
    this.#ranges = ranges;
  }

  /** Throws BF_DATASTORE_PROTOCOL for what no etcd would send. */
  read(response: WatchResponse): Heard {
    if (response.canceled) return canceled(response);
    const id = response.watchId;
    // Replies to progress requests name no watcher. Their revision says nothing: servers before 3.4.25 and 3.5.8 send
    // them ahead of events that came earlier (etcd issue 15220).
    if (id === -1) return { kind: 'alive' };
    const range = this.rangeOf(response);
    if (range === undefined) {
      throw new BirdfeedError(
        'BF_DATASTORE_PROTOCOL',
        `etcd answered for a watcher ${id} that does not exist`,
      );
    }
    if (response.created) return { kind: 'created', range };
    return this.#events(range, response);
  }

  /** The range that a response is about; undefined when it is about none of them. */
  rangeOf({ watchId }: WatchResponse): number | undefined {
    const range = watchId - (isProxys(watchId) ? 0 : FIRST_WATCH_ID);
    return range >= 0 && range < this.#ranges ? range : undefined;
  }

  #events(range: number, response: WatchResponse): Heard {
    const earlier = this.#parts.get(range);
    if (response.fragment) {
      // Decoded at the end, so that a half-received batch has no effect.
      this.#parts.set(range, earlier === undefined ? response.events : earlier.concat(response.events));
      return { kind: 'alive' };
    }
    this.#parts.delete(range);
    const events = earlier === undefined ? response.events : earlier.concat(response.events);
    const last = events.at(-1);
    if (last === undefined) return { kind: 'notice', range, revision: response.header.revision };
    const puts = events.filter((event) => event.type === 'put').map(({ kv }) => kv);
    return {
      kind: 'changes',
      range,
      changes: events.map(changeOf),
      revision: last.kv.modRevision,
      witness: newestWitness(puts),
    };
  }
}

/** Whether an id was chosen by `etcd grpc-proxy`, which numbers the watchers of a stream in the order of their requests. */
export function isProxys(watchId: number): boolean {
  return watchId >= 0 && watchId < FIRST_WATCH_ID;
}

/** etcd 3.4 gives no reason for a compaction, only the revision from which on it still knows what happened. */
function canceled(response: WatchResponse): Heard {
  const { compactRevision: revision, cancelReason: reason } = response;
  if (revision > 0) return { kind: 'compacted', revision };
  return { kind: 'refused', reason: reason || 'it gave no reason' };
}
