import { turnsOf } from '../../core/clock.ts';
import type { Entry } from '../../tree/types.ts';
import { entryOf, newestWitness, type Witness } from './decode.ts';
import { isCompacted, isTooLarge } from './failures.ts';
import type { Head } from './held.ts';
import type { RangeRequest, RangeResponse } from './messages.ts';
import type { EtcdPaging } from './options.ts';
import type { KeyRange } from './ranges.ts';

export type ReadPage = (request: RangeRequest) => Promise<RangeResponse>;

/** The contents of all ranges at one revision. */
export interface Listing {
  /** Entries per mount, in the order of etcd: by bytes of the key. */
  readonly entries: readonly Entry[][];
  readonly witness: Witness | undefined;
}

/** How many keys of a range to ask for next. Kept from list to list, so that what was learned is not lost. */
export interface PageSize {
  keys: number;
}

export interface ListPlan {
  readonly ranges: readonly KeyRange[];
  readonly paging: EtcdPaging;
  /** Per range. */
  readonly sizes: readonly PageSize[];
  readonly read: ReadPage;
  readonly readHead: () => Promise<Head>;
  /** Called with every page as it arrives, by index of the mount. */
  readonly onPage: (mount: number, entries: readonly Entry[]) => void;
}

/** How often a list starts over because etcd compacted its revision away, before that counts as a failure. */
const ATTEMPTS = 5;

/** Ranges read at the same time: most are small, and one round trip after the other would cost more than reading them. */
const CONCURRENCY = 4;

/** Of how many entries a consumer is told at a time. */
const TOLD_AT_ONCE = 50;

/** Milliseconds of work on what was read, after which what etcd sends meanwhile is let in: it would stop if nobody took it. */
const TURN_MS = 10;

/**
 * Reads all ranges, page by page, as they were at the revision of `head`, or of a newer head when etcd compacts that
 * revision away meanwhile. Rejects with the error of the first page that failed.
 */
export async function listAtHead(head: Head, plan: ListPlan): Promise<{ head: Head; listing: Listing }> {
  for (let at = head, attempt = 1; ; attempt += 1) {
    try {
      return { head: at, listing: await listAll(at.revision, plan) };
    } catch (error) {
      if (!isCompacted(error) || attempt === ATTEMPTS) throw error;
      at = await plan.readHead();
    }
  }
}

async function listAll(
  revision: number,
  { ranges, read, paging, sizes, onPage }: ListPlan,
): Promise<Listing> {
  const perRange: Entry[][] = ranges.map(() => []);
  const queue = [...ranges.entries()];
  let witness: Witness | undefined;
  let failed = false;
  const turned = turnsOf(TURN_MS);
  const readRange = async (index: number, range: KeyRange): Promise<void> => {
    for await (const { kvs } of pagesOf(read, { ...range, revision }, paging, sizes[index])) {
      witness = newer(witness, newestWitness(kvs, revision));
      for (let at = 0; at < kvs.length; at += TOLD_AT_ONCE) {
        await turned();
        if (failed) return;
        const entries = kvs.slice(at, at + TOLD_AT_ONCE).map(entryOf);
        onPage(range.mount, entries);
        append(perRange[index] as Entry[], entries);
      }
    }
  };
  const worker = async (): Promise<void> => {
    try {
      for (let job = queue.shift(); job !== undefined && !failed; job = queue.shift())
        await readRange(...job);
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { entries: joinByMount(ranges, perRange), witness };
}

/** The pages of one range. The next one is under way while the consumer works on the one before. */
async function* pagesOf(
  read: ReadPage,
  { key, rangeEnd, revision }: KeyRange & { revision: number },
  paging: EtcdPaging,
  size: PageSize = { keys: paging.firstKeys },
): AsyncGenerator<RangeResponse> {
  const base = { revision, rangeEnd };
  let pending = readShrinking(read, { ...base, key }, size);
  for (;;) {
    const page = await pending;
    if (page.kvs.length > 0) size.keys = fittingKeys(page, paging);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) {
      if (page.kvs.length > 0) yield page;
      return;
    }
    pending = readShrinking(read, { ...base, key: Buffer.concat([last.key, NUL]) }, size);
    // The consumer may throw before it comes back for this one.
    pending.catch(() => {});
    yield page;
  }
}

/** A page that exceeds what the client takes is asked for again with fewer keys; one key always has to do. */
async function readShrinking(read: ReadPage, request: RangeRequest, size: PageSize): Promise<RangeResponse> {
  for (;;) {
    const limit = size.keys;
    try {
      return await read({ ...request, limit });
    } catch (error) {
      // Slow or large: the next attempt, now or after a reconnect, asks for less.
      size.keys = Math.max(1, Math.floor(Math.min(limit, size.keys) / 8));
      if (!isTooLarge(error) || limit === 1) throw error;
    }
  }
}

function fittingKeys(page: RangeResponse, paging: EtcdPaging): number {
  const bytes = page.kvs.reduce((sum, kv) => sum + kv.key.length + kv.value.length, 0);
  const average = Math.max(1, bytes / page.kvs.length);
  return Math.max(1, Math.min(paging.maxKeys, Math.floor(paging.targetBytes / average)));
}

/** The ranges of one mount follow each other in key order: the key itself, then what is below it. */
function joinByMount(ranges: readonly KeyRange[], perRange: readonly Entry[][]): Entry[][] {
  const byMount: Entry[][] = [];
  for (const [index, { mount }] of ranges.entries()) {
    const entries = perRange[index] as Entry[];
    const whole = byMount[mount];
    if (whole === undefined) byMount[mount] = entries;
    else append(whole, entries);
  }
  return byMount;
}

function newer(a: Witness | undefined, b: Witness | undefined): Witness | undefined {
  return a === undefined || (b !== undefined && b.modRevision > a.modRevision) ? b : a;
}

/** `push(...)` would put every entry on the stack. */
function append(target: Entry[], entries: readonly Entry[]): void {
  for (const entry of entries) target.push(entry);
}

const NUL = Buffer.from([0]);
