import { createConnection, type Socket } from 'node:net';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { connectError } from './connect-error.ts';
import { createReplyParser, type Reply, type ReplyEvent } from './reply.ts';
import { parseVersion } from './version.ts';

/** BIRD drops the connection when a command line reaches about 1,024 bytes, in every version. */
const MAX_COMMAND_BYTES = 900;
/** Every command can be held up by a reconfiguration that keeps BIRD busy for seconds. */
const COMMAND_TIMEOUT_MS = 30_000;
/** sun_path is 108 bytes with the final NUL; unix(7). */
const MAX_SOCKET_PATH = 107;

export interface ConnectOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** From connecting until the banner, milliseconds. A BIRD that hangs accepts connections and never greets. */
  readonly timeoutMs?: number;
  /** Gives up connecting. */
  readonly signal?: AbortSignal;
  /** Lines BIRD sends by itself, such as `Config timeout expired, starting undo`. */
  readonly onNotice?: (text: string) => void;
}

interface Pending {
  readonly command: string;
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
  readonly banner: string;
  /** As in the banner: `1.6.8`, `2.0.12`, `v0.3.3+birdv1.6.8`; null when the banner names none. */
  readonly version: string | null;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #queue: Pending[] = [];
  readonly #listeners: ((error: BirdfeedError) => void)[] = [];
  #closed: BirdfeedError | null = null;
  #cancelTimer: () => void = () => {};

  private constructor(socket: Socket, options: ConnectOptions, banner: string) {
    this.#socket = socket;
    this.#clock = options.clock;
    this.path = options.path;
    this.banner = banner;
    this.version = parseVersion(banner);
  }

  /** Connects and waits for the banner. Rejects with BF_BIRD_UNREACHABLE, _PERMISSION, _TIMEOUT or _PROTOCOL. */
  static connect(options: ConnectOptions): Promise<BirdClient> {
    const { path, clock, log, timeoutMs = 10_000 } = options;
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
      const message = `the control socket's path is longer than ${MAX_SOCKET_PATH} bytes: ${path}`;
      return Promise.reject(new BirdfeedError('BF_BIRD_UNREACHABLE', message));
    }
    return new Promise((resolve, reject) => {
      const socket = createConnection({ path });
      const parser = createReplyParser();
      let client: BirdClient | null = null;
      const settled = (): void => {
        cancel();
        options.signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => fail(closedByUs(path));
      const fail = (error: BirdfeedError): void => {
        settled();
        if (client !== null) return client.#end(error);
        socket.destroy();
        reject(error);
      };
      const cancel = clock.after(timeoutMs, () =>
        fail(
          timeout(
            `BIRD accepted the connection to ${path} but did not greet within ${timeoutMs} ms: it hangs`,
            path,
          ),
        ),
      );
      const take = (event: ReplyEvent): void => {
        if (event.type === 'notice') {
          log.debug({ socket: path, notice: event.text }, 'notice from BIRD');
          options.onNotice?.(event.text);
          return;
        }
        if (event.type === 'garbage')
          return fail(protocol(path, `sent ${JSON.stringify(event.line.slice(0, 200))}`));
        if (client !== null) return client.#answer(event.reply);
        if (event.reply.code !== '0001')
          return fail(protocol(path, `greeted with ${event.reply.code} ${event.reply.text}`));
        settled();
        client = new BirdClient(socket, options, event.reply.text);
        resolve(client);
      };
      options.signal?.addEventListener('abort', abort, { once: true });
      if (options.signal?.aborted) return abort();
      socket.on('data', (chunk: Buffer) => {
        for (const event of parser.push(chunk)) take(event);
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (client !== null) return client.#end(client.#lost(error));
        void connectError(path, error).then(fail);
      });
      socket.on('close', (hadError) => {
        if (client !== null) return client.#end(client.#lost());
        if (!hadError) fail(new BirdfeedError('BF_BIRD_DIED', `BIRD closed ${path} before it greeted`));
      });
    });
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
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, timeoutMs, resolve, reject });
      if (this.#queue.length === 1) this.#send();
    });
  }

  /** Ends the connection. Commands that wait are rejected; BIRD finishes what it was told. */
  close(): void {
    this.#listeners.length = 0;
    this.#end(
      new BirdfeedError('BF_BIRD_UNREACHABLE', `the connection to ${this.path} was closed by birdfeed`),
    );
  }

  #send(): void {
    const next = this.#queue[0];
    if (next === undefined) return;
    const { command, timeoutMs } = next;
    this.#cancelTimer = this.#clock.after(timeoutMs, () =>
      this.#end(
        timeout(`BIRD did not answer "${command}" on ${this.path} within ${timeoutMs} ms`, this.path),
      ),
    );
    this.#socket.write(`${command}\n`);
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
    return new BirdfeedError(
      'BF_BIRD_DIED',
      `BIRD died during "${current.command}" on ${this.path}`,
      options,
    );
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

function closedByUs(socket: string): BirdfeedError {
  return new BirdfeedError('BF_BIRD_UNREACHABLE', `the connection to ${socket} was closed by birdfeed`);
}

function timeout(message: string, socket: string): BirdfeedError {
  return new BirdfeedError('BF_BIRD_TIMEOUT', message, { details: { socket } });
}

function protocol(socket: string, what: string): BirdfeedError {
  const message = `not BIRD's protocol on ${socket}: the other side ${what}`;
  return new BirdfeedError('BF_BIRD_PROTOCOL', message, { details: { socket } });
}
