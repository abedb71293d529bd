import { createConnection, type Socket } from 'node:net';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { connectError } from './connect-error.ts';
import { createReplyParser, type Reply, type ReplyEvent } from './reply.ts';
import { parseVersion } from './version.ts';

/** BIRD drops the connection when a command line reaches about 1,024 bytes, in every version. */
const MAX_COMMAND_BYTES = 900;
/** A BIRD that hangs accepts connections and never greets. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Every command can be held up by a reconfiguration that keeps BIRD busy for seconds. */
const COMMAND_TIMEOUT_MS = 30_000;
/** sun_path is 108 bytes with the final NUL; unix(7). */
const MAX_SOCKET_PATH = 107;

export interface ConnectOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** From connecting until the banner, milliseconds; 10 s when absent. */
  readonly timeoutMs?: number;
  /** Gives up connecting. */
  readonly signal?: AbortSignal;
  /** Lines BIRD sends by itself, such as `Config timeout expired, starting undo`. */
  readonly onNotice?: (text: string) => void;
}

interface Pending {
  /** Null for the greeting, which is waited for without a command. */
  readonly command: string | null;
  readonly timeoutMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: BirdfeedError) => void;
}

/**
 * A connection to BIRD's control socket. Commands go out one at a time, in order. The end of the connection is final:
 * every command that waits is rejected, and `onClose` is told; whoever wants another one connects again. A command that
 * times out ends the connection too, because its late reply would be taken for the answer to the next command.
 */
export class BirdClient {
  readonly path: string;
  readonly #socket: Socket;
  readonly #options: ConnectOptions;
  readonly #queue: Pending[] = [];
  readonly #listeners: ((error: BirdfeedError) => void)[] = [];
  #banner = '';
  #askedAt = 0;
  #closed: BirdfeedError | null = null;
  #cancelTimer: () => void = () => {};

  private constructor(options: ConnectOptions) {
    this.path = options.path;
    this.#options = options;
    this.#socket = createConnection({ path: options.path });
    let isConnected = false;
    this.#socket.on('connect', () => {
      isConnected = true;
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      if (isConnected) return this.#end(this.#lost(error));
      void connectError(this.path, error).then((explained) => this.#end(explained));
    });
    this.#socket.on('close', (hadError) => {
      if (!hadError) this.#end(this.#lost());
    });
    const parser = createReplyParser();
    this.#socket.on('data', (chunk: Buffer) => {
      for (const event of parser.push(chunk)) this.#take(event);
    });
  }

  /** Connects and waits for the banner. Rejects with BF_BIRD_UNREACHABLE, _PERMISSION, _TIMEOUT, _DIED or _PROTOCOL. */
  static async connect(options: ConnectOptions): Promise<BirdClient> {
    const { path, signal, timeoutMs = CONNECT_TIMEOUT_MS } = options;
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
      const message = `the control socket's path is longer than ${MAX_SOCKET_PATH} bytes: ${path}`;
      throw new BirdfeedError('BF_BIRD_UNREACHABLE', message);
    }
    const client = new BirdClient(options);
    const abort = (): void => client.close();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const greeting = client.#ask(null, timeoutMs);
      if (signal?.aborted) abort();
      const { code, text } = await greeting;
      if (code !== '0001') client.#end(protocol(path, `greeted with ${code} ${text.slice(0, 200)}`));
      if (client.#closed !== null) throw client.#closed;
      client.#banner = text;
      return client;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  get banner(): string {
    return this.#banner;
  }

  /** As in the banner: `1.6.8`, `2.0.12`, `v0.3.3+birdv1.6.8`; null when the banner names none. */
  get version(): string | null {
    return parseVersion(this.#banner);
  }

  /** For how long BIRD has owed an answer, milliseconds; 0 while it owes none. */
  get silentForMs(): number {
    return this.#queue.length === 0 ? 0 : this.#options.clock.monotonic() - this.#askedAt;
  }

  /** Why the connection ended, or null while it is open. */
  get closed(): BirdfeedError | null {
    return this.#closed;
  }

  /** Calls `listener` once when the connection ends, at once when it has ended already. Not after {@link close}. */
  onClose(listener: (error: BirdfeedError) => void): void {
    if (this.#closed === null) this.#listeners.push(listener);
    else listener(this.#closed);
  }

  /**
   * Sends one command and resolves with its reply, whatever its code. The time-out (milliseconds) counts from when the
   * command is sent, not while others are before it. Rejects when the connection ends: BF_BIRD_DIED when that happens
   * before the reply is complete, BF_BIRD_TIMEOUT, BF_BIRD_PROTOCOL.
   */
  command(command: string, timeoutMs = COMMAND_TIMEOUT_MS): Promise<Reply> {
    const bytes = Buffer.byteLength(command);
    if (bytes > MAX_COMMAND_BYTES || /[\x00-\x1f]/.test(command)) {
      const what =
        bytes > MAX_COMMAND_BYTES
          ? `is ${bytes} bytes long, BIRD takes ${MAX_COMMAND_BYTES}`
          : 'has a control character';
      return Promise.reject(
        new BirdfeedError('BF_BIRD_PROTOCOL', `command ${what}: ${JSON.stringify(command.slice(0, 80))}`),
      );
    }
    return this.#ask(command, timeoutMs);
  }

  /** Ends the connection. Commands that wait are rejected; BIRD finishes what it was told. */
  close(): void {
    this.#listeners.length = 0;
    this.#end(
      new BirdfeedError('BF_BIRD_UNREACHABLE', `the connection to ${this.path} was closed by birdfeed`),
    );
  }

  #ask(command: string | null, timeoutMs: number): Promise<Reply> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, timeoutMs, resolve, reject });
      if (this.#queue.length === 1) this.#send();
    });
  }

  #send(): void {
    const next = this.#queue[0];
    if (next === undefined) return;
    const { command, timeoutMs } = next;
    this.#askedAt = this.#options.clock.monotonic();
    const silence =
      command === null ? 'accepted the connection but did not greet' : `did not answer "${command}"`;
    const message = `BIRD ${silence} on ${this.path} within ${timeoutMs} ms`;
    this.#cancelTimer = this.#options.clock.after(timeoutMs, () =>
      this.#end(new BirdfeedError('BF_BIRD_TIMEOUT', message, { details: { socket: this.path } })),
    );
    if (command !== null) this.#socket.write(`${command}\n`);
  }

  #take(event: ReplyEvent): void {
    if (this.#closed !== null) return;
    switch (event.type) {
      case 'garbage':
        return this.#end(protocol(this.path, `sent ${JSON.stringify(event.line.slice(0, 200))}`));
      case 'notice':
        this.#options.log.debug({ socket: this.path, notice: event.text }, 'notice from BIRD');
        return this.#options.onNotice?.(event.text);
      case 'reply':
        return this.#answer(event.reply);
    }
  }

  #answer(reply: Reply): void {
    const current = this.#queue.shift();
    if (current === undefined)
      return this.#end(protocol(this.path, `sent ${reply.code} although nothing was asked`));
    this.#cancelTimer();
    current.resolve(reply);
    this.#send();
  }

  /** An end that BIRD caused: in the middle of a command it is a crash, otherwise a stop of whatever kind. */
  #lost(cause?: Error): BirdfeedError {
    const current = this.#queue[0];
    const options = { cause, details: { socket: this.path, command: current?.command } };
    if (current === undefined) {
      return new BirdfeedError(
        'BF_BIRD_UNREACHABLE',
        `BIRD closed ${this.path}: it was stopped or died`,
        options,
      );
    }
    const during = current.command === null ? 'before it greeted' : `during "${current.command}"`;
    return new BirdfeedError('BF_BIRD_DIED', `BIRD died ${during} on ${this.path}`, options);
  }

  #end(error: BirdfeedError): void {
    if (this.#closed !== null) return;
    this.#closed = error;
    this.#cancelTimer();
    this.#socket.destroy();
    for (const pending of this.#queue.splice(0)) pending.reject(error);
    for (const listener of this.#listeners.splice(0)) listener(error);
  }
}

function protocol(socket: string, what: string): BirdfeedError {
  const message = `not BIRD's protocol on ${socket}: the other side ${what}`;
  return new BirdfeedError('BF_BIRD_PROTOCOL', message, { details: { socket } });
}
