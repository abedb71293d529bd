import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type KubeObject = Readonly<Record<string, unknown>> & {
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** A request that came in. */
export interface Call {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly isWatch: boolean;
}

/** Something else than what an API server would answer. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface OpenWatch {
  readonly path: string;
  /** Sends bytes as they are. */
  write(text: string): void;
  send(type: string, object: object): void;
  /** The end that a server makes when the time is over. */
  end(): void;
  /** The end that a broken network makes. */
  cut(): void;
}

/**
 * As much of an API server as a client can notice, over plain HTTP, and with faults that the real one cannot be asked for:
 * lists in pages, watches with a history, any other answer on request.
 */
export class StandIn {
  readonly url: string;
  readonly calls: Call[] = [];
  readonly watches: OpenWatch[] = [];
  /** Asked for every request; undefined: the usual answer. */
  answer: (call: Call) => Answer | undefined = () => undefined;
  /** Of the namespace kube-system. */
  uid = 'uid-1';
  revision = 100;
  groups: readonly string[] = ['crd.projectcalico.org'];
  readonly #collections = new Map<string, Map<string, KubeObject>>();
  readonly #close: () => void;

  private constructor(url: string, close: () => void) {
    this.url = url;
    this.#close = close;
  }

  /** Started, and ended with the running test. */
  static async start(): Promise<StandIn> {
    const server = createServer((request, response) => standIn.#serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const standIn = new StandIn(`http://127.0.0.1:${port}`, () => {
      server.closeAllConnections();
      server.close();
    });
    onTestFinished(() => standIn.close());
    return standIn;
  }

  close(): void {
    this.#close();
  }

  /** The requests for a path, newest last. */
  callsTo(path: string, isWatch?: boolean): Call[] {
    return this.calls.filter((call) => call.path === path && (isWatch ?? call.isWatch) === call.isWatch);
  }

  /** Creates or changes an object and tells the watches of its collection. */
  put(path: string, name: string, rest: object = {}, metadata: object = {}): void {
    const objects = this.#collection(path);
    const type = objects.has(name) ? 'MODIFIED' : 'ADDED';
    this.revision += 1;
    const object = { metadata: { name, ...metadata, resourceVersion: `${this.revision}` }, ...rest };
    objects.set(name, object);
    this.#tell(path, type, object);
  }

  remove(path: string, name: string): void {
    const object = this.#collection(path).get(name);
    if (object === undefined) throw new Error(`${path} has no ${name}`);
    this.#collection(path).delete(name);
    this.revision += 1;
    const metadata = { ...object.metadata, resourceVersion: `${this.revision}` };
    this.#tell(path, 'DELETED', { ...object, metadata });
  }

  bookmark(path: string): void {
    this.revision += 1;
    this.#tell(path, 'BOOKMARK', { metadata: { resourceVersion: `${this.revision}` } });
  }

  watchOf(path: string): OpenWatch | undefined {
    return this.watches.findLast((watch) => watch.path === path);
  }

  #collection(path: string): Map<string, KubeObject> {
    const known = this.#collections.get(path) ?? new Map<string, KubeObject>();
    this.#collections.set(path, known);
    return known;
  }

  #tell(path: string, type: string, object: object): void {
    for (const watch of this.watches) if (watch.path === path) watch.send(type, object);
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.url);
    const isWatch = url.searchParams.has('watch');
    const call = { path: url.pathname, query: url.searchParams, headers: request.headers, isWatch };
    this.calls.push(call);
    const answer = this.answer(call) ?? this.#usual(call);
    if (answer !== undefined) {
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watch: OpenWatch = {
      path: call.path,
      write: (text) => void response.write(text),
      send: (type, object) => void response.write(`${JSON.stringify({ type, object })}\n`),
      end: () => void response.end(),
      cut: () => void response.socket?.resetAndDestroy(),
    };
    this.watches.push(watch);
    response.once('close', () => this.watches.splice(this.watches.indexOf(watch), 1));
  }

  /** Undefined: a watch, which goes on. */
  #usual({ path, query, isWatch }: Call): Answer | undefined {
    if (path === '/api/v1/namespaces/kube-system') return { body: { metadata: { uid: this.uid } } };
    if (path === '/apis') return { body: { groups: this.groups.map((name) => ({ name })) } };
    if (isWatch) return undefined;
    const items = [...this.#collection(path).values()];
    const from = Number(query.get('continue') ?? 0);
    const to = from + Number(query.get('limit') ?? items.length);
    const more = to < items.length ? { continue: `${to}` } : {};
    const metadata = { resourceVersion: `${this.revision}`, ...more };
    return { body: { kind: 'AnyList', metadata, items: items.slice(from, to) } };
  }
}

export const NODES = '/api/v1/nodes';
export const PEERS = '/apis/crd.projectcalico.org/v1/bgppeers';

/** As the API server says it. */
export function failure(code: number, reason: string, more: object = {}): Answer {
  return { status: code, body: { kind: 'Status', code, reason, message: `${reason} it is`, ...more } };
}
