import type { IEvent } from 'etcd3';
import { BirdfeedError } from '../../core/errors.ts';
import type { Change, Entry } from '../../tree/types.ts';
import type { PageEntry } from './range-response.ts';

/**
 * A key and how etcd is known to have written it: at which revision, since when, and how often. If etcd, asked for that key
 * at the revision `at`, says otherwise, it is not the store that we read from: it was wiped or restored, whatever its
 * revision is by now.
 */
export interface Witness {
  readonly key: Buffer;
  readonly modRevision: number;
  /** `create_revision` and `version` of the key. */
  readonly origin: string;
  readonly at: number;
}

export function originOf({ create_revision, version }: PageEntry): string {
  return `${create_revision} ${version}`;
}

/**
 * A key and value as text. The buffers of a response are slices of one big message: nothing may keep them, so text is
 * copied out at once.
 */
export function entryOf(kv: PageEntry): Entry {
  return {
    key: kv.key.toString('utf8'),
    value: kv.value.toString('utf8'),
    revision: revisionOf(kv.mod_revision),
  };
}

/**
 * What an event did. At run time etcd3 gives the type as the text `Put` or `Delete`; anything else must not pass for
 * either of them: an update taken for a removal takes BGP sessions down.
 */
export function changeOf(event: IEvent): Change {
  const type: string = event.type;
  if (type === 'Put') return { type: 'put', entry: entryOf(event.kv) };
  if (type === 'Delete') return { type: 'delete', key: event.kv.key.toString('utf8') };
  throw new BirdfeedError(
    'BF_DATASTORE_PROTOCOL',
    `etcd sent an event of unknown type ${JSON.stringify(type)}`,
  );
}

/** A 64-bit number as etcd3 delivers it, in decimal text. */
export function revisionOf(text: string): number {
  const revision = Number(text);
  if (Number.isSafeInteger(revision)) return revision;
  throw new BirdfeedError('BF_DATASTORE_PROTOCOL', `etcd sent ${JSON.stringify(text)} for a revision`);
}

/** The newest of these as witness for a state read at `at`, by default at the revision of its own write. */
export function newestWitness(kvs: Iterable<PageEntry>, at?: number): Witness | undefined {
  let newest: PageEntry | undefined;
  let modRevision = 0;
  for (const kv of kvs) {
    const revision = revisionOf(kv.mod_revision);
    if (revision > modRevision) [newest, modRevision] = [kv, revision];
  }
  return (
    newest && { key: Buffer.from(newest.key), modRevision, origin: originOf(newest), at: at ?? modRevision }
  );
}
