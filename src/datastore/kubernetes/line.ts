import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Clock } from '../../core/clock.ts';
import { VERSION } from '../../core/version.ts';
import { within } from './deadline.ts';
import { StatusError } from './failures.ts';
import type { Credentials } from './kubeconfig.ts';
import type { KubernetesTimings } from './options.ts';
import { isObject, type JsonObject } from './shape.ts';
import type { Reply, Transport } from './transport.ts';

export interface LineDeps {
  readonly clock: Clock;
  readonly timings: KubernetesTimings;
  /** Those of now: tokens change while a connection lasts. */
  credentials(): Promise<Credentials>;
  /** The server does not know us any more. */
  onUnauthorized(): void;
}

/** An open way to an API server, with our credentials in every request. Errors are StatusErrors, or as Node has them. */
export class Line {
  readonly transport: Transport;
  readonly #deps: LineDeps;

  constructor(transport: Transport, deps: LineDeps) {
    this.transport = transport;
    this.#deps = deps;
  }

  /** For messages. */
  get server(): string {
    return this.transport.server.origin;
  }

  /** A whole answer, as JSON. */
  async getJson(path: string, accept: string, ms: number, signal: AbortSignal): Promise<JsonObject> {
    return within(this.#deps.clock, ms, signal, async (until) => {
      const reply = await this.#get(path, { accept, 'accept-encoding': 'gzip' }, until);
      const value: unknown = JSON.parse(await textOf(reply));
      if (!isObject(value)) throw new SyntaxError('an answer that is no JSON object');
      return value;
    });
  }

  /** An answer that goes on: a watch. Aborting `signal` ends it. */
  async open(path: string, accept: string, signal: AbortSignal): Promise<Readable> {
    const ending = new AbortController();
    signal.addEventListener('abort', () => ending.abort(), { once: true });
    const { clock, timings } = this.#deps;
    try {
      const get = (): Promise<Reply> => this.#get(path, { accept }, ending.signal);
      return (await within(clock, timings.answerMs, signal, get)).body;
    } catch (error) {
      ending.abort();
      throw error;
    }
  }

  async #get(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Reply> {
    const credentials = await this.#deps.credentials();
    const all = { 'user-agent': `birdfeed/${VERSION}`, ...headers, ...credentials.headers };
    const reply = await this.transport.get(path, all, signal);
    if (reply.status === 200) return reply;
    const text = await textOf(reply).catch(() => '');
    if (reply.status === 401) this.#deps.onUnauthorized();
    throw new StatusError(reply.status, parsed(text), reply.headers['retry-after']);
  }
}

async function textOf({ body, headers }: Reply): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const plain = headers['content-encoding'] === 'gzip' ? await promisify(gunzip)(bytes) : bytes;
  return plain.toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
