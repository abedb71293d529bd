import type { EtcdConnection } from './connection.ts';
import { originOf, type Witness } from './decode.ts';
import { isCompacted, isFutureRevision } from './failures.ts';
import type { Head } from './held.ts';
import type { RangeResponse } from './messages.ts';
import type { KeyRange } from './ranges.ts';

/**
 * Asks the cluster where it stands, with a read that a majority has to confirm. It comes before every list and watch: it
 * renews the login, whose expiry would end a new watch for good, and shows whether the store is still the one we know.
 * Reads only what is watched, since a user's roles may allow no more.
 */
export async function readHead(
  connection: EtcdConnection,
  first: KeyRange,
  witness: Witness | undefined,
  deadlineMs: number,
): Promise<Head> {
  const seen = witness && (await hear(connection, witness, deadlineMs));
  if (seen !== undefined) return seen;
  const { key, rangeEnd } = first;
  const response = await connection.range({ key, rangeEnd, limit: 1, keysOnly: true }, deadlineMs);
  return headOf(response, 'unknown');
}

/** Undefined when etcd no longer knows the revision, or does not know it yet: the header of a plain read tells the rest. */
async function hear(
  connection: EtcdConnection,
  witness: Witness,
  deadlineMs: number,
): Promise<Head | undefined> {
  try {
    const request = { key: witness.key, revision: witness.at, keysOnly: true };
    const response = await connection.range(request, deadlineMs);
    const found = response.kvs[0];
    const confirmed =
      found !== undefined && found.modRevision === witness.modRevision && originOf(found) === witness.origin;
    return headOf(response, confirmed ? 'confirmed' : 'denied');
  } catch (error) {
    if (isCompacted(error) || isFutureRevision(error)) return undefined;
    throw error;
  }
}

function headOf({ header }: RangeResponse, witness: Head['witness']): Head {
  return {
    datastoreId: header.clusterId,
    revision: header.revision,
    term: header.raftTerm,
    witness,
  };
}
