import { backoffDelay } from '../../core/backoff.ts';
import { type Clock, sleep } from '../../core/clock.ts';
import type { BirdfeedError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { within } from './deadline.ts';
import { failureOf, StatusError } from './failures.ts';
import { type Credentials, type Login, openLogin } from './kubeconfig.ts';
import { Line } from './line.ts';
import type { KubernetesAccess, KubernetesTimings } from './options.ts';
import { objectAt, textAt } from './shape.ts';
import { openTransport } from './transport.ts';

export interface ConnectionDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A line, and the cluster that answers on it. */
export interface Reached {
  readonly line: Line;
  /** UID of the namespace kube-system, which lives as long as the cluster; `unknown` when we may not read it. */
  readonly datastoreId: string;
}

export const UNKNOWN_ID = 'unknown';

interface Fetched {
  readonly server: URL;
  readonly at: number;
  readonly credentials: Promise<Credentials>;
}

/** The way to the cluster that all mounts share: one server at a time, the next one when it fails. */
export class Connection {
  readonly #access: KubernetesAccess;
  readonly #timings: KubernetesTimings;
  readonly #deps: ConnectionDeps;
  #login: Promise<Login> | undefined;
  #fetched: Fetched | undefined;
  #reached: Reached | undefined;
  #dialling: Promise<Reached> | undefined;
  /** Which server is next. A fleet should not sit on the first one. */
  #turn: number;
  #failures = 0;
  #notBefore = 0;
  #isClosed = false;

  constructor(access: KubernetesAccess, timings: KubernetesTimings, deps: ConnectionDeps) {
    this.#access = access;
    this.#timings = timings;
    this.#deps = deps;
    this.#turn = Math.floor(deps.random() * Math.max(1, access.servers.length));
  }

  /**
   * The open line, or a new one; waits while a server that failed is to be left alone. Rejects with a BirdfeedError, the
   * same one for all who wait, when the attempt fails.
   */
  async ready(signal: AbortSignal): Promise<Reached> {
    if (this.#reached !== undefined && !this.#reached.line.transport.isOver) return this.#reached;
    const { clock } = this.#deps;
    if (this.#dialling === undefined) await sleep(clock, this.#notBefore - clock.monotonic(), signal);
    this.#dialling ??= this.#dial(signal).finally(() => {
      this.#dialling = undefined;
    });
    return this.#dialling;
  }

  close(): void {
    this.#isClosed = true;
    this.#reached?.line.transport.close();
  }

  async #dial(signal: AbortSignal): Promise<Reached> {
    try {
      const reached = await this.#tryOnce(signal).catch((error: unknown) => {
        // The token may have been replaced in its file since it was read.
        if (error instanceof StatusError && error.status === 401) return this.#tryOnce(signal);
        throw error;
      });
      this.#failures = 0;
      this.#notBefore = 0;
      this.#reached = reached;
      if (this.#isClosed) reached.line.transport.close();
      this.#deps.log.debug({ server: reached.line.server }, 'kubernetes connection');
      return reached;
    } catch (error) {
      const servers = await this.#loginNow().then(
        ({ servers }) => servers,
        () => undefined,
      );
      const failure = failureOf(error, servers?.[this.#turn % servers.length]?.origin ?? 'its address');
      this.#postpone(failure, servers?.length ?? 1);
      throw failure;
    }
  }

  async #tryOnce(signal: AbortSignal): Promise<Reached> {
    const { clock } = this.#deps;
    const { servers } = await this.#loginNow();
    const server = servers[this.#turn % servers.length] as URL;
    // A plugin may have to ask somebody itself.
    const fetch = (): Promise<Credentials> => this.#credentials(server);
    const credentials = await within(clock, this.#timings.answerMs, signal, fetch);
    return within(clock, this.#timings.dialMs, signal, async (until) => {
      const deps = { clock, timings: this.#timings };
      const transport = await openTransport(server, credentials, deps, until);
      const line: Line = new Line(transport, {
        ...deps,
        credentials: () => this.#current(server, credentials.fingerprint, line),
        onUnauthorized: () => this.#forget(line),
      });
      try {
        return { line, datastoreId: await this.#identify(line, until) };
      } catch (error) {
        transport.close();
        throw error;
      }
    });
  }

  async #identify(line: Line, signal: AbortSignal): Promise<string> {
    const path = '/api/v1/namespaces/kube-system';
    try {
      const namespace = await line.getJson(path, 'application/json', this.#timings.dialMs, signal);
      return textAt(objectAt(namespace, 'metadata'), 'uid') || UNKNOWN_ID;
    } catch (error) {
      if (error instanceof StatusError && (error.status === 403 || error.status === 404)) return UNKNOWN_ID;
      throw error;
    }
  }

  /** For one more request on a line; with other certificates than it was opened with, requests to come get a new line. */
  async #current(server: URL, fingerprint: string, line: Line): Promise<Credentials> {
    const credentials = await this.#credentials(server);
    if (credentials.fingerprint !== fingerprint) line.transport.retire();
    return credentials;
  }

  /** One reading at a time: a plugin that hangs is started once. */
  #credentials(server: URL): Promise<Credentials> {
    const now = this.#deps.clock.monotonic();
    const fetched = this.#fetched;
    if (fetched?.server === server && now - fetched.at < this.#timings.credentialsMs)
      return fetched.credentials;
    const credentials = this.#loginNow().then((login) => login.credentials(server));
    credentials.catch(() => {
      this.#fetched = undefined;
    });
    this.#fetched = { server, at: now, credentials };
    return credentials;
  }

  #loginNow(): Promise<Login> {
    this.#login ??= openLogin(this.#access, this.#deps.env);
    this.#login.catch(() => {
      this.#login = undefined;
    });
    return this.#login;
  }

  /** Kubeconfig, files and plugins are asked anew. */
  #forget(line: Line): void {
    line.transport.retire();
    this.#login = undefined;
    this.#fetched = undefined;
  }

  #postpone(error: BirdfeedError, servers: number): void {
    const { clock, random } = this.#deps;
    this.#turn += 1;
    const rounds = Math.floor(this.#failures / servers);
    this.#failures += 1;
    if (this.#failures % servers !== 0) return;
    const policy = error.code === 'BF_DATASTORE_AUTH' ? this.#timings.authBackoff : this.#timings.backoff;
    this.#notBefore = clock.monotonic() + backoffDelay(policy, rounds, random());
  }
}
