import type { Change, Entry } from '../../tree/types.ts';
import type { KeyValue, WatchEvent } from './messages.ts';

/**
 * A key and how etcd is known to have written it: at which revision, since when, and how often. If etcd, asked for that key
 * at the revision `at`, says otherwise, it is not the store that we read from: it was wiped or restored, whatever its
 * revision is by now.
 */
export interface Witness {
  readonly key: Buffer;
  readonly modRevision: number;
  /** Creation revision and version of the key. */
  readonly origin: string;
  readonly at: number;
}

export function originOf({ createRevision, version }: KeyValue): string {
  return `${createRevision} ${version}`;
}

/**
 * A key and value as text. The buffers of a response are slices of one big message: nothing may keep them, so text is
 * copied out at once.
 */
export function entryOf(kv: KeyValue): Entry {
  return {
    key: kv.key.toString('utf8'),
    value: kv.value.toString('utf8'),
    revision: kv.modRevision,
  };
}

/** What an event did. */
export function changeOf({ type, kv }: WatchEvent): Change {
  return type === 'put' ? { type, entry: entryOf(kv) } : { type, key: kv.key.toString('utf8') };
}

/** The newest of these as witness for a state read at `at`, by default at the revision of its own write. */
export function newestWitness(kvs: Iterable<KeyValue>, at?: number): Witness | undefined {
  let newest: KeyValue | undefined;
  for (const kv of kvs) if (kv.modRevision > (newest?.modRevision ?? 0)) newest = kv;
  if (newest === undefined) return undefined;
  const { key, modRevision } = newest;
  return { key: Buffer.from(key), modRevision, origin: originOf(newest), at: at ?? modRevision };
}
