import type { Clock } from '../core/clock.ts';
import { byText } from '../core/order.ts';
import {
  type LookupRequest,
  type LookupTable,
  type LookupValue,
  lookupKey,
  type ServiceRecord,
} from './lookup-table.ts';

/** Name resolution as an argument. An empty answer is an answer; a failure rejects. */
export interface Dns {
  addresses(host: string): Promise<readonly string[]>;
  services(service: string, protocol: string, domain: string): Promise<readonly ServiceRecord[]>;
}

export interface LookupDeps {
  readonly clock: Clock;
  readonly dns: Dns;
  fileExists(path: string): Promise<boolean>;
  /** How long an answer counts as fresh, milliseconds. The resolver's own cache knows the records' TTLs. */
  readonly ttlMs?: number;
  /** The time that the last generation was rendered with, if known: with the same one a restart renders the same bytes. */
  readonly time?: number | null;
}

/** A look-up that failed; the last answer, or none, stands in. */
export interface LookupFailure {
  readonly what: string;
  readonly message: string;
}

/**
 * Answers to look-ups, between renderings. Rendering reads a table, which is frozen: equal tables give equal bytes. So the
 * time moves only when someone says that the output changes anyhow, and names and files only when an answer differs.
 */
export interface Lookups {
  /** The same object while no answer changed. */
  table(): LookupTable;
  /** Answers what is missing or stale among `requests`. Never rejects. */
  resolve(requests: Iterable<LookupRequest>): Promise<void>;
  /** Forgets all but these and answers the stale ones again. True when an answer changed: render again. */
  refresh(used: Iterable<LookupRequest>): Promise<boolean>;
  /** Milliseconds until the first answer is stale, 0 when one is; null when nothing ever will be. */
  dueIn(): number | null;
  /** Sets the time of `datetime` to now. */
  renewTime(): void;
  readonly failures: readonly LookupFailure[];
}

export const LOOKUP_TTL_MS = 30_000;

interface Answer {
  readonly value: LookupValue;
  /** Monotonic milliseconds. */
  readonly askedAt: number;
  readonly failure: string | null;
}

export function createLookups(deps: LookupDeps): Lookups {
  const { clock, ttlMs = LOOKUP_TTL_MS } = deps;
  const answers = new Map<string, Answer>();
  let time = deps.time ?? null;
  let frozen: LookupTable | null = null;
  let changes = 0;

  const isStale = (answer: Answer | undefined): boolean =>
    answer === undefined || clock.monotonic() - answer.askedAt >= ttlMs;

  async function ask(request: Exclude<LookupRequest, { kind: 'time' }>): Promise<void> {
    const key = lookupKey(request);
    const before = answers.get(key);
    const askedAt = clock.monotonic();
    let answer: Answer;
    try {
      answer = { value: await look(request, deps), askedAt, failure: null };
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      answer = { value: before?.value ?? emptyAnswer(request), askedAt, failure };
    }
    answers.set(key, answer);
    if (before !== undefined && sameValue(before.value, answer.value)) return;
    frozen = null;
    changes += 1;
  }

  async function resolve(requests: Iterable<LookupRequest>): Promise<void> {
    const waiting: Promise<void>[] = [];
    for (const request of requests) {
      if (request.kind !== 'time') {
        if (isStale(answers.get(lookupKey(request)))) waiting.push(ask(request));
      } else if (time === null) {
        renewTime();
      }
    }
    await Promise.all(waiting);
  }

  function renewTime(): void {
    time = clock.now();
    frozen = null;
  }

  return {
    resolve,
    renewTime,
    table() {
      if (frozen !== null) return frozen;
      const table = new Map<string, LookupValue>([...answers].map(([key, answer]) => [key, answer.value]));
      if (time !== null) table.set('time', time);
      frozen = table;
      return table;
    },
    async refresh(used) {
      const requests = [...used];
      const keep = new Set(requests.map(lookupKey));
      for (const key of answers.keys()) if (!keep.has(key)) answers.delete(key);
      const before = changes;
      await resolve(requests.filter((request) => request.kind !== 'time'));
      return changes !== before;
    },
    dueIn() {
      if (answers.size === 0) return null;
      const oldest = Math.min(...[...answers.values()].map((answer) => answer.askedAt));
      return Math.max(0, oldest + ttlMs - clock.monotonic());
    },
    get failures() {
      return [...answers].flatMap(([what, { failure }]) =>
        failure === null ? [] : [{ what, message: failure }],
      );
    },
  };
}

async function look(
  request: Exclude<LookupRequest, { kind: 'time' }>,
  deps: LookupDeps,
): Promise<LookupValue> {
  switch (request.kind) {
    case 'address':
      return [...new Set(await deps.dns.addresses(request.host))].sort(byText);
    case 'service': {
      const records = await deps.dns.services(request.service, request.protocol, request.domain);
      return [...records].sort((a, b) => byText(recordText(a), recordText(b)));
    }
    case 'file':
      return deps.fileExists(request.path);
  }
}

/** What confd sorts SRV records by. */
function recordText({ Target, Port, Priority, Weight }: ServiceRecord): string {
  return `${Target}${Port}${Priority}${Weight}`;
}

/** What a look-up that never worked gives: confd prints nothing then, too. */
function emptyAnswer(request: LookupRequest): LookupValue {
  return request.kind === 'file' ? false : [];
}

function sameValue(a: LookupValue, b: LookupValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A chain of look-ups longer than this (one look-up's answer being the next one's question) is taken for endless. */
const MAX_ROUNDS = 8;

/** Renders, answers what was asked, and renders again until nothing is unresolved. */
export async function renderResolved<T extends { readonly unresolved: readonly LookupRequest[] }>(
  render: (table: LookupTable) => T,
  lookups: Lookups,
): Promise<T> {
  let result = render(lookups.table());
  for (let round = 0; round < MAX_ROUNDS && result.unresolved.length > 0; round += 1) {
    await lookups.resolve(result.unresolved);
    result = render(lookups.table());
  }
  return result;
}
