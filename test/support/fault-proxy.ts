import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { type FullListener, listenFull } from './full-listener.ts';

/**
 * - `pass`: forwards both ways.
 * - `refuse`: nobody listens (ECONNREFUSED) and open connections are reset, as after a crash of the server.
 * - `silent`: new connections are accepted and never answered; open ones go on. As a server that hangs in accept.
 * - `freeze`: connections stay open but no byte moves in either direction, new ones included, as when packets are lost
 *   on the way. What was sent meanwhile arrives after the thaw.
 * - `drop`: open connections are reset, and a connect gets no answer at all, as behind a firewall that drops SYNs.
 */
export type FaultMode = 'pass' | 'refuse' | 'silent' | 'freeze' | 'drop';

export interface ProxyCounters {
  /** Connections accepted since the start. */
  readonly accepted: number;
  /** Connections open now. */
  readonly open: number;
  /** Bytes read from clients, and from the server. */
  readonly fromClients: number;
  readonly fromServer: number;
}

/** One client connection and its way to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket | undefined;
}

/** A TCP proxy on 127.0.0.1 in front of a server on 127.0.0.1, with faults that a test turns on and off. */
export class FaultProxy {
  readonly port: number;
  /** Port of the server behind; may be changed, for connections to come. */
  target: number;
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  readonly #counters = { accepted: 0, fromClients: 0, fromServer: 0 };
  #mode: FaultMode = 'pass';
  #latency = 0;
  /** Bytes from the server that may still pass before every connection is cut. */
  #cutAfter = Number.POSITIVE_INFINITY;
  #full: FullListener | undefined;
  #thawed = Promise.resolve();
  #thaw: () => void = () => {};

  private constructor(listener: Server, target: number) {
    this.#listener = listener;
    this.port = (listener.address() as AddressInfo).port;
    this.target = target;
    listener.on('connection', (client) => this.#accept(client));
  }

  static async start(target: number): Promise<FaultProxy> {
    const listener = createServer({ allowHalfOpen: true });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new FaultProxy(listener, target);
  }

  get counters(): ProxyCounters {
    return { ...this.#counters, open: this.#links.size };
  }

  get mode(): FaultMode {
    return this.#mode;
  }

  async setMode(mode: FaultMode): Promise<void> {
    const before = this.#mode;
    this.#mode = mode;
    if (mode === 'freeze' && before !== 'freeze') {
      this.#thawed = new Promise((resolve) => {
        this.#thaw = resolve;
      });
    }
    if (mode !== 'freeze') this.#thaw();
    await this.#full?.close();
    this.#full = undefined;
    const [listened, listens] = [before, mode].map((name) => name !== 'refuse' && name !== 'drop');
    if (listened && !listens) await this.#stopListening();
    if (!listened && listens) await this.#listen();
    if (mode === 'drop') this.#full = await listenFull(this.port);
  }

  /** Delays what passes from now on by `ms`, in each direction. */
  setLatency(ms: number): void {
    this.#latency = ms;
  }

  /**
   * Lets `bytes` more from the server through, counted over all connections, and then ends every open connection: a break
   * in the middle of a message. Happens once; new connections pass afterwards.
   */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes;
  }

  /** Resets every open connection now. */
  cut(): void {
    for (const { client, server } of [...this.#links]) {
      client.resetAndDestroy();
      server?.destroy();
    }
  }

  async close(): Promise<void> {
    this.#thaw();
    await this.#full?.close();
    await this.#stopListening();
  }

  async #listen(): Promise<void> {
    this.#listener.listen(this.port, '127.0.0.1');
    await once(this.#listener, 'listening');
  }

  async #stopListening(): Promise<void> {
    const closed = this.#listener.listening ? once(this.#listener, 'close') : undefined;
    this.#listener.close();
    this.cut();
    await closed;
  }

  #accept(client: Socket): void {
    this.#counters.accepted += 1;
    const silent = this.#mode === 'silent';
    const server = silent
      ? undefined
      : createConnection({ port: this.target, host: '127.0.0.1', allowHalfOpen: true });
    const link = { client, server };
    this.#links.add(link);
    client.on('error', () => {});
    client.on('close', () => {
      this.#links.delete(link);
      server?.destroy();
    });
    if (server === undefined) {
      client.on('data', (chunk) => {
        this.#counters.fromClients += chunk.length;
      });
      return;
    }
    // A server that is not there looks to the client like one that died just after accepting.
    server.on('error', () => client.resetAndDestroy());
    server.on('close', () => client.destroy());
    void this.#forward(client, server, 'fromClients');
    void this.#forward(server, client, 'fromServer');
  }

  /** Moves one direction of a connection, chunk by chunk and in order. */
  async #forward(from: Socket, to: Socket, counter: 'fromClients' | 'fromServer'): Promise<void> {
    let last = Promise.resolve();
    from.on('data', (chunk) => {
      this.#counters[counter] += chunk.length;
      const arrived = performance.now();
      // Chunks wait for one another's turn, not for one another's latency: several may be under way at a time.
      last = last.then(() => this.#deliver(chunk, arrived, to, counter));
      if (this.#mode === 'freeze' || to.writableNeedDrain) {
        from.pause();
        void last.then(() => from.resume());
      }
    });
    from.on('end', () => {
      last = last.then(() => void to.end());
    });
  }

  async #deliver(chunk: Buffer, arrived: number, to: Socket, counter: string): Promise<void> {
    const wait = arrived + this.#latency - performance.now();
    if (this.#latency > 0 && wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    await this.#thawed;
    if (to.destroyed) return;
    const cuts = counter === 'fromServer' && chunk.length >= this.#cutAfter;
    const passing = cuts ? chunk.subarray(0, this.#cutAfter) : chunk;
    if (counter === 'fromServer') this.#cutAfter -= passing.length;
    const flushed = to.write(passing);
    if (cuts) {
      this.#cutAfter = Number.POSITIVE_INFINITY;
      // A reset discards what the kernel has not sent; an orderly end of the sending side lets the bytes arrive first.
      this.#endAll();
      return;
    }
    if (!flushed) await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => {});
  }

  #endAll(): void {
    for (const { client, server } of [...this.#links]) {
      client.destroySoon();
      server?.destroy();
    }
  }
}
