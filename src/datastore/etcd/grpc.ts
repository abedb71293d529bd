import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '../../core/clock.ts';
import { MessageReader, withPrefix } from './framing.ts';
import { GRPC, GrpcError, violation } from './grpc-error.ts';
import type { Session } from './session.ts';

export interface CallPlan {
  /** `/etcdserverpb.KV/Range` */
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** A larger message is refused before it is read. */
  readonly maxBytes: number;
}

export interface CallHandlers {
  /** What it throws ends the call, with it as the error. */
  readonly onMessage: (message: Buffer) => void;
  /** Once, and the last of all; without an error when the server says that all went well. Not from within the constructor. */
  readonly onEnd: (error: Error | undefined) => void;
}

/** The longest time that fits into the eight digits of a `grpc-timeout`. */
const MAX_TIMEOUT_MS = 99_999_999;

/**
 * A call that is answered with one message.
 * @throws GrpcError, the cause with which the session ended, or what Node has to say
 */
export function unary(
  session: Session,
  plan: CallPlan,
  { request, deadlineMs, clock }: { request: Buffer; deadlineMs: number; clock: Clock },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let answer: Buffer | undefined;
    const timeout = { 'grpc-timeout': `${Math.min(MAX_TIMEOUT_MS, Math.ceil(deadlineMs))}m` };
    const handlers: CallHandlers = {
      onMessage: (message) => {
        if (answer !== undefined) throw violation('it gave more than one answer to a request');
        answer = message;
      },
      onEnd: (error) => {
        cancelTimer();
        if (answer !== undefined && error === undefined) resolve(answer);
        else reject(error ?? violation('it gave no answer to a request'));
      },
    };
    const call = new Call(session, { ...plan, metadata: { ...plan.metadata, ...timeout } }, handlers);
    const cancelTimer = clock.after(deadlineMs, () =>
      call.end(new GrpcError(GRPC.deadlineExceeded, `no answer within ${deadlineMs} ms`)),
    );
    call.finish(request);
  });
}

/** One gRPC call over HTTP/2, https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
export class Call {
  readonly #session: Session;
  readonly #handlers: CallHandlers;
  readonly #reader: MessageReader;
  readonly #stream: ClientHttp2Stream | undefined;
  #headers: IncomingHttpHeaders = {};
  #trailers: IncomingHttpHeaders | undefined;
  #isRead = false;
  #finished = false;

  constructor(session: Session, plan: CallPlan, handlers: CallHandlers) {
    this.#session = session;
    this.#handlers = handlers;
    this.#reader = new MessageReader(plan.maxBytes, (message) => {
      if (!this.#finished) handlers.onMessage(message);
    });
    try {
      this.#stream = session.request({
        ':method': 'POST',
        ':path': plan.path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...plan.metadata,
      });
      this.#listen(this.#stream);
    } catch (error) {
      queueMicrotask(() => this.end(error as Error));
    }
  }

  write(message: Buffer): void {
    if (!this.#finished) this.#stream?.write(withPrefix(message));
  }

  /** The last message from this side. */
  finish(message: Buffer): void {
    if (!this.#finished) this.#stream?.end(withPrefix(message));
  }

  /** Nothing is told after that. */
  cancel(): void {
    this.#finished = true;
    const stream = this.#stream;
    // What both sides have ended needs no reset.
    if (stream !== undefined && !(this.#isRead && stream.writableEnded)) stream.close(CANCEL);
  }

  end(error: Error | undefined): void {
    if (this.#finished) return;
    this.cancel();
    this.#handlers.onEnd(error);
  }

  #listen(stream: ClientHttp2Stream): void {
    let failure: Error | undefined;
    stream.on('error', (error) => {
      failure = error;
    });
    stream.on('response', (headers) => {
      this.#headers = headers;
      const refused = refusal(headers);
      if (refused !== undefined) this.end(refused);
    });
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    // Which of these two comes first is left open.
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
      if (this.#isRead) this.end(this.#outcome(failure));
    });
    stream.on('end', () => {
      this.#isRead = true;
      if (this.#trailers !== undefined) this.end(this.#outcome(failure));
    });
    stream.on('close', () => this.end(this.#outcome(failure)));
  }

  #take(chunk: Buffer): void {
    if (this.#finished) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.end(error as Error);
    }
  }

  /** How the call ended, when nothing more will come. A server that has nothing to say sends the status with the headers. */
  #outcome(failure: Error | undefined): Error | undefined {
    const { 'grpc-status': status, 'grpc-message': message } = this.#trailers ?? this.#headers;
    if (status === undefined) return this.#session.cause ?? this.#interruption(failure);
    const code = /^\d+$/.test(String(status)) ? Number(status) : undefined;
    if (code === undefined) return violation(`it gave the status ${JSON.stringify(status)}`);
    if (code !== GRPC.ok) return new GrpcError(code, unescaped(String(message ?? 'it gave no reason')));
    return this.#reader.isBetween ? undefined : violation('it ended a call in the middle of a message');
  }

  #interruption(failure: Error | undefined): Error {
    const code = this.#stream?.rstCode ?? 0;
    const options = { cause: failure };
    if (code === 0) return violation('it ended a call without a status', options);
    return new GrpcError(GRPC.unavailable, `it ended a call with the HTTP/2 error code ${code}`, options);
  }
}

/** RFC 9113, 7 */
const CANCEL = 8;

/** Answers of proxies that cannot reach what is behind them, or will not now. */
const PASSING = [429, 502, 503, 504];

/** Why an answer is none of gRPC. */
function refusal(headers: IncomingHttpHeaders): GrpcError | undefined {
  const { ':status': status, 'content-type': type = 'none' } = headers as IncomingHttpHeaders & {
    ':status': number;
  };
  if (headers['grpc-status'] !== undefined) return undefined;
  if (PASSING.includes(status))
    return new GrpcError(GRPC.unavailable, `it answered with HTTP status ${status}`);
  if (status !== 200) return violation(`it answered with HTTP status ${status}`);
  if (/^application\/grpc($|[+;])/.test(type)) return undefined;
  return violation(`it answered with the content type ${JSON.stringify(type)}`);
}

/** Percent-encoded UTF-8; as it is when it is not. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
