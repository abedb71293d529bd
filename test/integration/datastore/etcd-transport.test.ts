import { once } from 'node:events';
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { type FailureContext, failureOf } from '../../../src/datastore/etcd/failures.ts';
import { withPrefix } from '../../../src/datastore/etcd/framing.ts';
import { Call, unary } from '../../../src/datastore/etcd/grpc.ts';
import { GrpcError } from '../../../src/datastore/etcd/grpc-error.ts';
import { openSession, type Session } from '../../../src/datastore/etcd/session.ts';
import { until } from '../../support/wait.ts';

/** What a server does with a call. */
type Play = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, session: ServerHttp2Session) => void;

const NO_CREDENTIALS = { ca: undefined, cert: undefined, key: undefined, fingerprint: '' };
const GRPC_HEADERS = { ':status': 200, 'content-type': 'application/grpc' } as const;
const REQUEST = Buffer.from('what?');
const QUICK = { keepaliveMs: 100, keepaliveTimeoutMs: 100 };
const SLOW = { keepaliveMs: 60_000, keepaliveTimeoutMs: 60_000 };

/** Of RFC 9113, for servers that are not Node's. */
const [DATA, HEADERS, RST_STREAM] = [0, 1, 3];
const END_HEADERS = 4;
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** `:status 200` and `content-type application/grpc` (RFC 7541). */
const HEADER_BLOCK = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10, 16]), Buffer.from('application/grpc')]);

/** A frame of the first call. */
function frame(type: number, flags: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, 1]), payload]);
}

/** Frames of any kind, on any of the calls, mostly with a length that is right. */
const GARBAGE = fc
  .record({
    type: fc.nat(10),
    flags: fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0xff),
    stream: fc.nat(5),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.constant(HEADER_BLOCK),
      fc.constantFrom(4, 8).chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
    ),
    lie: fc.constantFrom(0, 0, 0, 0, 1),
  })
  .map(({ type, flags, stream, payload, lie }) =>
    Buffer.concat([Buffer.from([0, 0, payload.length + lie, type, flags, 0, 0, 0, stream]), payload]),
  );

async function serving(
  play: Play,
): Promise<Http2Server & { sessions: ServerHttp2Session[]; sockets: Socket[] }> {
  const server = Object.assign(createServer(), {
    sessions: [] as ServerHttp2Session[],
    sockets: [] as Socket[],
  });
  server.on('connection', (socket) => server.sockets.push(socket));
  server.on('session', (session) => {
    server.sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    play(stream, headers, stream.session as ServerHttp2Session);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const session of server.sessions) session.destroy();
    server.close();
  });
  return server;
}

/** A server that is none of HTTP/2. */
async function listening(onConnection: (socket: Socket) => void): Promise<Server & { open: Set<Socket> }> {
  const server = Object.assign(createTcpServer(), { open: new Set<Socket>() });
  server.on('connection', (socket) => {
    server.open.add(socket);
    // Read, so that its end is noticed.
    socket
      .on('error', () => {})
      .on('close', () => server.open.delete(socket))
      .resume();
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of server.open) socket.destroy();
    server.close();
  });
  return server;
}

function contextFor(server: { address(): AddressInfo | string | null }, afterMs = 2_000): FailureContext {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, tls: {}, username: undefined, afterMs };
}

async function open(
  server: { address(): AddressInfo | string | null },
  { timings = SLOW, afterMs = 2_000, signal = new AbortController().signal } = {},
): Promise<Session> {
  const context = contextFor(server, afterMs);
  const endpoint = { url: context.endpoint, secure: false };
  const plan = { endpoint, credentials: NO_CREDENTIALS, timings, clock: systemClock };
  const session = await openSession(plan, { signal, context });
  onTestFinished(() => session.end(new Error('the test is over')));
  return session;
}

const callPlan = (maxBytes = 1_000_000) => ({ path: '/a.B/C', metadata: { token: 't' }, maxBytes });

function ask(session: Session, { maxBytes = 1_000_000, deadlineMs = 5_000 } = {}): Promise<Buffer> {
  return unary(session, callPlan(maxBytes), { request: REQUEST, deadlineMs, clock: systemClock });
}

/** What a read of a server that plays this comes to: the answer, or `STATUS message` of the error. */
async function outcomeOf(play: Play, options: Parameters<typeof ask>[1] = {}): Promise<string> {
  const server = await serving(play);
  const session = await open(server);
  const outcome = await ask(session, options).then(String, told);
  // Nothing of it may be left that a later call trips over.
  expect(session.cause).toBeUndefined();
  return outcome;
}

function told(error: unknown): string {
  return error instanceof GrpcError ? `${error.status} ${error.message}` : String(error);
}

function answer(stream: ServerHttp2Stream, ...messages: readonly string[]): void {
  stream.respond(GRPC_HEADERS, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.concat(messages.map((message) => withPrefix(Buffer.from(message)))));
}

function streaming(session: Session) {
  const messages: string[] = [];
  const ends: string[] = [];
  const call = new Call(session, callPlan(), {
    onMessage: (message) => void messages.push(String(message)),
    onEnd: (error) => void ends.push(told(error)),
  });
  return { call, messages, ends };
}

describe('a unary call', () => {
  it('sends what gRPC demands, and returns the answer', async () => {
    let seen: IncomingHttpHeaders = {};
    const sent: Buffer[] = [];
    const outcome = await outcomeOf((stream, headers) => {
      seen = headers;
      stream.on('data', (chunk: Buffer) => sent.push(chunk)).on('end', () => answer(stream, 'that'));
    });
    expect(outcome).toBe('that');
    expect(Buffer.concat(sent)).toEqual(withPrefix(REQUEST));
    expect(seen).toMatchObject({
      ':method': 'POST',
      ':path': '/a.B/C',
      ':scheme': 'http',
      'content-type': 'application/grpc',
      te: 'trailers',
      token: 't',
      'grpc-timeout': '5000m',
    });
  });

  it('reads an answer that comes byte by byte, and a status that comes late', async () => {
    const outcome = await outcomeOf((stream) => {
      stream.respond(GRPC_HEADERS, { waitForTrailers: true });
      stream.on('wantTrailers', () => setTimeout(() => stream.sendTrailers({ 'grpc-status': '0' }), 50));
      const bytes = [...withPrefix(Buffer.from('slow'))];
      const next = () => {
        const byte = bytes.shift();
        if (byte === undefined) return stream.end();
        stream.write(Buffer.from([byte]));
        setImmediate(next);
      };
      next();
    });
    expect(outcome).toBe('slow');
  });

  it('reads an answer of many megabytes without a stop', async () => {
    const large = 'x'.repeat(20_000_000);
    expect((await outcomeOf((stream) => answer(stream, large), { maxBytes: 30_000_000 })) === large).toBe(
      true,
    );
  });

  it.each([
    ['7 etcdserver: permission denied', 'etcdserver: permission denied'],
    ['7 ü%', '%C3%BC%25'],
    ['7 100% wrong', '100% wrong'],
  ])('fails with the status in the headers: %s', async (expected, message) => {
    const play: Play = (stream) =>
      stream.respond({ ...GRPC_HEADERS, 'grpc-status': '7', 'grpc-message': message }, { endStream: true });
    expect(await outcomeOf(play)).toBe(expected);
  });

  it('fails with the status in the trailers, even after an answer', async () => {
    const play: Play = (stream) => {
      stream.respond(GRPC_HEADERS, { waitForTrailers: true });
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': '14', 'grpc-message': 'no leader' }),
      );
      stream.end(withPrefix(Buffer.from('half the truth')));
    };
    expect(await outcomeOf(play)).toBe('14 no leader');
  });

  it('fails at an HTTP status and a content type that are none of gRPC', async () => {
    const plain = (status: number, type: string) => (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': status, 'content-type': type });
      stream.end('<html>');
    };
    expect(await outcomeOf(plain(404, 'text/html'))).toBe(
      '13 protocol error: it answered with HTTP status 404',
    );
    expect(await outcomeOf(plain(503, 'text/html'))).toBe('14 it answered with HTTP status 503');
    expect(await outcomeOf(plain(200, 'application/grpc-web'))).toBe(
      '13 protocol error: it answered with the content type "application/grpc-web"',
    );
    expect(await outcomeOf((stream) => stream.respond({ ':status': 200 }, { endStream: true }))).toBe(
      '13 protocol error: it answered with the content type "none"',
    );
  });

  it('fails when there is no status, or none that is a number', async () => {
    const ending = (trailers: Record<string, string> | undefined) => (stream: ServerHttp2Stream) => {
      stream.respond(GRPC_HEADERS, { waitForTrailers: trailers !== undefined });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}));
      stream.end(withPrefix(Buffer.from('x')));
    };
    const without = '13 protocol error: it ended a call without a status';
    expect(await outcomeOf(ending(undefined))).toBe(without);
    expect(await outcomeOf(ending({ other: '1' }))).toBe(without);
    expect(await outcomeOf(ending({ 'grpc-status': 'OK' }))).toBe(
      '13 protocol error: it gave the status "OK"',
    );
  });

  it('fails at no answer, at two, and at part of one', async () => {
    const none = '13 protocol error: it gave no answer to a request';
    const two = '13 protocol error: it gave more than one answer to a request';
    expect(await outcomeOf((stream) => answer(stream))).toBe(none);
    expect(await outcomeOf((stream) => answer(stream, 'a', 'b'))).toBe(two);
    const play: Play = (stream) => {
      stream.respond(GRPC_HEADERS, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(withPrefix(Buffer.from('abc')).subarray(0, 7));
    };
    expect(await outcomeOf(play)).toBe('13 protocol error: it ended a call in the middle of a message');
  });

  it('fails at a message that is larger than allowed before it has come, and goes on with the next call', async () => {
    let resets = 0;
    const server = await serving((stream) => {
      stream.on('close', () => {
        if (stream.rstCode === constants.NGHTTP2_CANCEL) resets += 1;
      });
      stream.respond(GRPC_HEADERS);
      // The rest never comes.
      stream.write(withPrefix(Buffer.alloc(1_001)).subarray(0, 100));
    });
    const session = await open(server);
    for (const turn of [1, 2]) {
      expect(await ask(session, { maxBytes: 1_000 }).catch(told)).toBe(
        '8 Received message larger than max (1001 vs 1000)',
      );
      await until(() => resets === turn);
    }
  });

  it('fails at a compressed message', async () => {
    const play: Play = (stream) => {
      stream.respond(GRPC_HEADERS);
      stream.write(Buffer.from([1, 0, 0, 0, 1, 7]));
    };
    expect(await outcomeOf(play)).toBe(
      '13 protocol error: it sent a compressed message, which nobody asked for',
    );
  });

  it('fails when it is reset', async () => {
    for (const code of [
      constants.NGHTTP2_CANCEL,
      constants.NGHTTP2_REFUSED_STREAM,
      constants.NGHTTP2_INTERNAL_ERROR,
    ])
      expect(await outcomeOf((stream) => stream.close(code))).toBe(
        `14 it ended a call with the HTTP/2 error code ${code}`,
      );
    // Node's server ends a stream in an orderly way before it resets it; etcd's does not.
    const server = await listening((socket) => {
      socket.once('data', () => socket.write(SETTINGS));
      socket.on('data', (chunk) => {
        if (!chunk.includes(REQUEST)) return;
        socket.write(frame(HEADERS, END_HEADERS, HEADER_BLOCK));
        socket.write(frame(DATA, 0, withPrefix(Buffer.from('abc')).subarray(0, 6)));
        socket.write(frame(RST_STREAM, 0, Buffer.from([0, 0, 0, 11])));
      });
    });
    const session = await open(server);
    expect(await ask(session).catch(told)).toBe('14 it ended a call with the HTTP/2 error code 11');
  });

  it('fails at its deadline, and tells the server', async () => {
    let reset: number | undefined;
    const play: Play = (stream) =>
      stream.on('close', () => {
        reset = stream.rstCode;
      });
    expect(await outcomeOf(play, { deadlineMs: 50 })).toBe('4 no answer within 50 ms');
    await until(() => reset === constants.NGHTTP2_CANCEL);
  });

  it('fails when metadata cannot be sent', async () => {
    const session = await open(await serving((stream) => answer(stream, 'x')));
    const plan = { ...callPlan(), metadata: { connection: 'close' } };
    const made = unary(session, plan, { request: REQUEST, deadlineMs: 1_000, clock: systemClock });
    await expect(made).rejects.toThrow(/headers are forbidden/);
    expect(String(await ask(session))).toBe('x');
  });
});

describe('a stream', () => {
  /** Sends back what it gets, and ends when it gets `end`. */
  const echo: Play = (stream) => {
    stream.respond(GRPC_HEADERS, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('data', (chunk: Buffer) => {
      if (chunk.includes('end')) stream.end();
      else stream.write(chunk);
    });
  };

  it('goes both ways, until one side ends it', async () => {
    const session = await open(await serving(echo));
    const { call, messages, ends } = streaming(session);
    call.write(Buffer.from('a'));
    await until(() => messages.length === 1);
    call.write(Buffer.from('b'));
    await until(() => messages.length === 2);
    expect([messages, ends]).toEqual([['a', 'b'], []]);
    call.write(Buffer.from('end'));
    await until(() => ends.length > 0);
    call.write(Buffer.from('too late'));
    expect(ends).toEqual(['undefined']);
  });

  it('says nothing after it was cancelled', async () => {
    const server = await serving(echo);
    const session = await open(server);
    const { call, messages, ends } = streaming(session);
    call.write(Buffer.from('a'));
    await until(() => messages.length === 1);
    call.write(Buffer.from('b'));
    call.cancel();
    call.cancel();
    expect(String(await ask(session, { deadlineMs: 200 }).catch(told))).toBe('4 no answer within 200 ms');
    expect([messages, ends]).toEqual([['a'], []]);
  });

  it('ends with what its consumer throws, once', async () => {
    const session = await open(await serving((stream) => answer(stream, 'a', 'b', 'c')));
    const ends: unknown[] = [];
    const seen: string[] = [];
    const onMessage = (message: Buffer) => {
      seen.push(String(message));
      throw new Error('no');
    };
    new Call(session, callPlan(), { onMessage, onEnd: (error) => void ends.push(String(error)) });
    await until(() => ends.length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect([seen, ends]).toEqual([['a'], ['Error: no']]);
  });

  it.each<[string, RegExp, (session: ServerHttp2Session, socket: Socket) => void]>([
    ['is cut', /^14 it ended the connection$/, (_session, socket) => socket.destroy()],
    [
      'is taken leave of',
      /^14 it is closing the connection \(GOAWAY, code 0\)$/,
      (session) => session.goaway(0),
    ],
    [
      'is taken leave of with a reason',
      /^14 it is closing the connection \(GOAWAY, code 11 "too_many_pings"\)$/,
      (session) => session.goaway(11, 0, Buffer.from('too_many_pings')),
    ],
  ])('and a call beside it end with the connection when that %s', async (_how, expected, end) => {
    const server = await serving(() => {});
    const session = await open(server);
    const { call, ends } = streaming(session);
    const beside = ask(session).catch(told);
    call.write(Buffer.from('a'));
    await until(() => server.sessions.length === 1);
    end(server.sessions[0] as ServerHttp2Session, server.sockets[0] as Socket);
    expect(await beside).toMatch(expected);
    await until(() => ends.length > 0);
    expect(ends).toEqual([expect.stringMatching(expected)]);
    expect(await ask(session).catch(told)).toMatch(expected);
    call.write(Buffer.from('b'));
    session.end(new Error('closed'));
    expect(told(session.cause)).toMatch(expected);
  });
});

describe('a connection', () => {
  it('that stops answering is noticed while no call is under way', async () => {
    const silent = await listening((socket) => {
      // SETTINGS, and then nothing more.
      socket.once('data', () => socket.write(SETTINGS));
    });
    const session = await open(silent, { timings: QUICK });
    await until(() => session.cause !== undefined);
    expect(told(session.cause)).toBe('14 it did not answer a ping within 0.1 s');
    await until(() => silent.open.size === 0);
  });

  it('that is too busy to answer a ping stays while something comes', async () => {
    let drip = () => {};
    const busy = await listening((socket) => {
      socket.once('data', () => socket.write(SETTINGS));
      // Of a type that there is not, so that it is passed over.
      const timer = setInterval(() => socket.write(Buffer.from([0, 0, 0, 99, 0, 0, 0, 0, 0])), 20);
      drip = () => clearInterval(timer);
      socket.on('close', drip);
    });
    const session = await open(busy, { timings: QUICK });
    const from = performance.now();
    await until(() => performance.now() - from > 600);
    expect(session.cause).toBeUndefined();
    drip();
    await until(() => session.cause !== undefined);
    expect(told(session.cause)).toBe('14 it did not answer a ping within 0.1 s');
  });

  it('that answers pings stays, and sends one at a time', async () => {
    let pings = 0;
    const server = await serving((stream) => answer(stream, 'x'));
    server.on('session', (session) =>
      session.on('ping', () => {
        pings += 1;
      }),
    );
    const session = await open(server, { timings: { keepaliveMs: 20, keepaliveTimeoutMs: 5_000 } });
    await until(() => pings > 5);
    expect(session.cause).toBeUndefined();
    expect(String(await ask(session))).toBe('x');
  });

  it.each<[string, string, (socket: Socket) => void]>([
    ['is silent', 'did not answer within 0.2 s', () => {}],
    ['says half a frame', 'did not answer within 0.2 s', (socket) => socket.write(Buffer.from([0, 0]))],
    [
      'is closed',
      'it ended the connection before it answered; if it demands TLS, write https:// in --etcd-endpoints',
      (socket) => socket.end(),
    ],
    [
      'is reset',
      'it ended the connection before it answered; if it demands TLS, write https:// in --etcd-endpoints',
      (socket) => socket.resetAndDestroy(),
    ],
    [
      'is of HTTP/1.1',
      'does not speak etcd v3: protocol error: its answer is not HTTP/2',
      (socket) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
    ],
    [
      'is of SSH',
      'does not speak etcd v3: protocol error: its answer is not HTTP/2',
      (socket) => socket.write('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'),
    ],
  ])('that %s is none, and leaves nothing behind', async (_how, message, play) => {
    const server = await listening((socket) => {
      socket.once('data', () => play(socket));
    });
    const opening = open(server, { afterMs: 200 });
    await expect(opening).rejects.toThrow(message);
    await until(() => server.open.size === 0);
  });

  it('is given up when told to, before and while it is made', async () => {
    const server = await listening(() => {});
    await expect(open(server, { signal: AbortSignal.abort() })).rejects.toThrow('stopped');
    const abort = new AbortController();
    const opening = open(server, { signal: abort.signal });
    opening.catch(() => {});
    await until(() => server.open.size > 0);
    abort.abort();
    await expect(opening).rejects.toThrow('stopped');
    await until(() => server.open.size === 0);
  });

  it('may send pings, unknown frames and other settings at any time', async () => {
    const server = await serving((stream, _headers, session) => {
      session.ping(() => {});
      session.settings({ initialWindowSize: 10 }, () => {});
      session.setLocalWindowSize(1_000_000);
      stream.additionalHeaders({ ':status': 103 });
      answer(stream, 'x');
    });
    expect(String(await ask(await open(server)))).toBe('x');
  });

  it('of garbage after a good beginning ends every call, and takes nothing else along', async () => {
    const garbage = fc.sample(fc.array(GARBAGE, { minLength: 1, maxLength: 8 }), { numRuns: 60, seed: 7 });
    for (const frames of garbage) {
      const server = await listening((socket) => {
        socket.once('data', () => socket.write(SETTINGS));
        socket.on('data', (chunk) => {
          if (chunk.includes(REQUEST)) socket.write(Buffer.concat(frames));
        });
      });
      const session = await open(server);
      const { call, ends } = streaming(session);
      call.write(REQUEST);
      expect(await ask(session, { deadlineMs: 30 }).catch((error) => error)).toBeInstanceOf(Error);
      session.end(new Error('closed'));
      await until(() => ends.length === 1 && server.open.size === 0, { every: 1 });
      server.close();
    }
  });

  it('has failures that name what to do', async () => {
    const server = await serving((stream) => stream.respond({ ':status': 404 }, { endStream: true }));
    const session = await open(server);
    const context = contextFor(server);
    const failure = failureOf(await ask(session).catch((error) => error), context);
    expect([failure.code, failure.message]).toEqual([
      'BF_DATASTORE_PROTOCOL',
      `what answers at ${context.endpoint} does not speak etcd v3: protocol error: it answered with HTTP status 404`,
    ]);
  });
});
