import type { BackoffPolicy } from '../../core/backoff.ts';
import { BirdfeedError } from '../../core/errors.ts';
import type { Position } from '../types.ts';

/** Paths of PEM files. They are read again at every new connection, so that a rotated certificate needs no restart. */
export interface EtcdTlsFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Everything that has to do with time, in milliseconds. */
export interface EtcdTimings {
  /** How long one small read, the probe of an endpoint or the set-up of the watch may take. */
  readonly callMs: number;
  /** How long one page of a list may take. */
  readonly pageMs: number;
  /** Pause between two progress requests on the watch stream: they only show that somebody is there. */
  readonly pingMs: number;
  /** A watch stream silent for this long is dead. A busy etcd (defragmentation) may need seconds. */
  readonly deadMs: number;
  /** Pause between two reads that ask the whole cluster, not just this member, whether our position still exists. */
  readonly verifyMs: number;
  /** Everything is listed anew about this often, as a safety net; each time somewhere in the last fifth of it. */
  readonly relistMs: number;
  /** HTTP/2 ping of an idle connection; etcd ends connections that ping more often than every 5 s. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly backoff: BackoffPolicy;
  /** After a refused password: etcd spends about 60 ms of CPU on every attempt, times the size of the fleet. */
  readonly authBackoff: BackoffPolicy;
}

export interface EtcdPaging {
  /** Keys asked for on the first page; later ones are sized by what the values turned out to weigh. */
  readonly firstKeys: number;
  readonly maxKeys: number;
  /** What a page should weigh. Bounds how long etcd and our event loop are busy with one of them. */
  readonly targetBytes: number;
  /** A larger answer is refused by the client; a page of fewer keys is asked for instead. */
  readonly maxBytes: number;
}

export interface EtcdOptions {
  /** `http://` or `https://` URLs. A port left out is 2379. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTlsFiles | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Random order of the endpoints, so that a fleet does not sit on the first one (default true). */
  readonly shuffleEndpoints?: boolean | undefined;
  /** Per mount prefix, where an earlier process stood: the first snapshot tells whether the datastore went back since. */
  readonly lastPositions?: Readonly<Record<string, Position>> | undefined;
  readonly timings?: Partial<EtcdTimings> | undefined;
  readonly paging?: Partial<EtcdPaging> | undefined;
}

/** One etcd server. */
export interface Endpoint {
  /** `https://10.0.0.1:2379`, without user name or path: safe to show. */
  readonly url: string;
  readonly secure: boolean;
}

export interface EtcdSettings {
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  readonly tls: EtcdTlsFiles;
  readonly login: Login | undefined;
  readonly lastPositions: Readonly<Record<string, Position>>;
  readonly timings: EtcdTimings;
  readonly paging: EtcdPaging;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

const TIMINGS: EtcdTimings = {
  callMs: 2_000,
  pageMs: 5_000,
  pingMs: 5_000,
  deadMs: 12_000,
  verifyMs: 30_000,
  relistMs: 30 * 60_000,
  keepaliveMs: 10_000,
  keepaliveTimeoutMs: 3_000,
  backoff: { initialMs: 100, maxMs: 2_000 },
  authBackoff: { initialMs: 1_000, maxMs: 10_000 },
};

const PAGING: EtcdPaging = {
  firstKeys: 500,
  maxKeys: 1_000,
  targetBytes: 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
};

/** Fills in the defaults. Throws BF_USAGE for endpoints that are no URLs and for half a login or certificate. */
export function resolveEtcdOptions(options: EtcdOptions, random: () => number): EtcdSettings {
  const endpoints = options.endpoints.map(parseEndpoint);
  if (options.shuffleEndpoints ?? true) shuffle(endpoints, random);
  const [first, ...others] = endpoints;
  if (first === undefined) throw usage('no etcd endpoint is given (--etcd-endpoints)');
  const tls = options.tls ?? {};
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    throw usage('a client certificate for etcd needs both --etcd-cert-file and --etcd-key-file');
  }
  return {
    endpoints: [first, ...others],
    tls,
    login: parseLogin(options),
    lastPositions: options.lastPositions ?? {},
    timings: { ...TIMINGS, ...options.timings },
    paging: { ...PAGING, ...options.paging },
  };
}

function parseLogin({ username, password }: EtcdOptions): Login | undefined {
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined || password === undefined) {
    throw usage('logging in to etcd needs both --etcd-username and --etcd-password');
  }
  return { username, password };
}

function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw usage(
      `${JSON.stringify(withoutLogin(text))} is no etcd endpoint: write http://HOST:2379 or https://HOST:2379`,
    );
  }
  // URL drops a port that is the scheme's default, and :80 or :443 may well be meant.
  const explicit = /:(\d+)\/*$/.exec(text)?.[1];
  const port = explicit ?? (url.port || '2379');
  return { url: `${url.protocol}//${url.hostname}:${port}`, secure: url.protocol === 'https:' };
}

function withoutLogin(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//');
}

function usage(message: string): BirdfeedError {
  return new BirdfeedError('BF_USAGE', message);
}

/** Fisher-Yates, in place. */
function shuffle<T>(items: T[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
}
