import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { until } from '../../support/wait.ts';

/** Sends back what it gets, so that one client sees both directions. */
let echo: Server;
let proxy: FaultProxy;
const clients: TestConnection[] = [];

interface TestConnection {
  readonly socket: Socket;
  received(): string;
  /** Code of the error that ended it, `end` for an orderly end; undefined while it is open. */
  ending(): string | undefined;
}

beforeEach(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await FaultProxy.start((echo.address() as AddressInfo).port);
});

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await proxy.close();
  echo.close();
});

function connect(): TestConnection {
  const socket = createConnection(proxy.port, '127.0.0.1');
  let received = '';
  let ending: string | undefined;
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    ending ??= error.code;
  });
  socket.on('close', () => {
    ending ??= 'end';
  });
  const connection = { socket, received: () => received, ending: () => ending };
  clients.push(connection);
  return connection;
}

describe('the fault proxy', () => {
  it('passes bytes and half-closed ends, and counts them', async () => {
    const client = connect();
    client.socket.end('hello');
    await until(() => client.ending() === 'end');
    expect(client.received()).toBe('hello');
    await until(() => proxy.counters.open === 0);
    expect(proxy.counters).toEqual({ accepted: 1, open: 0, fromClients: 5, fromServer: 5 });
  });

  it('keeps the order and the bytes of a large stream', async () => {
    const client = connect();
    const sent = Array.from({ length: 200_000 }, (_, index) => `${index},`).join('');
    client.socket.end(sent);
    await until(() => client.ending() === 'end');
    expect(client.received() === sent).toBe(true);
  });

  it('refuses: resets what is open, lets nobody in, and listens on the same port afterwards', async () => {
    const open = connect();
    open.socket.write('x');
    await until(() => open.received() === 'x');
    await proxy.setMode('refuse');
    await until(() => open.ending() === 'ECONNRESET');
    const refused = connect();
    await until(() => refused.ending() === 'ECONNREFUSED');
    await proxy.setMode('pass');
    const again = connect();
    again.socket.write('y');
    await until(() => again.received() === 'y');
  });

  it('drops: resets what is open, and gives a connect no answer until it passes again', async () => {
    const open = connect();
    open.socket.write('x');
    await until(() => open.received() === 'x');
    await proxy.setMode('drop');
    await until(() => open.ending() === 'ECONNRESET');
    const unanswered = connect();
    let connected = false;
    unanswered.socket.once('connect', () => {
      connected = true;
    });
    await expect(until(() => connected || unanswered.ending(), { timeout: 300 })).rejects.toThrow('gave up');
    await proxy.setMode('pass');
    const again = connect();
    again.socket.write('y');
    await until(() => again.received() === 'y');
  });

  it('is silent to new connections only', async () => {
    const old = connect();
    old.socket.write('a');
    await until(() => old.received() === 'a');
    await proxy.setMode('silent');
    const fresh = connect();
    fresh.socket.write('question');
    await until(() => proxy.counters.fromClients === 9);
    old.socket.write('b');
    await until(() => old.received() === 'ab');
    expect([fresh.received(), fresh.ending()]).toEqual(['', undefined]);
  });

  it('freezes both directions and delivers after the thaw', async () => {
    const client = connect();
    client.socket.write('a');
    await until(() => client.received() === 'a');
    await proxy.setMode('freeze');
    client.socket.write('b');
    const fresh = connect();
    fresh.socket.write('c');
    await expect(
      until(() => client.received() !== 'a' || fresh.received(), { timeout: 200 }),
    ).rejects.toThrow('gave up');
    expect(client.ending()).toBeUndefined();
    await proxy.setMode('pass');
    await until(() => client.received() === 'ab' && fresh.received() === 'c');
  });

  it('cuts after so many bytes from the server, and only once', async () => {
    proxy.cutAfter(3);
    const client = connect();
    client.socket.write('abcdef');
    await until(() => client.ending() !== undefined);
    expect(client.received()).toBe('abc');
    const next = connect();
    next.socket.write('abcdef');
    await until(() => next.received() === 'abcdef');
  });

  it('resets on demand', async () => {
    const client = connect();
    client.socket.write('a');
    await until(() => client.received() === 'a');
    proxy.cut();
    await until(() => client.ending() === 'ECONNRESET');
  });

  it('adds latency to each direction', async () => {
    proxy.setLatency(50);
    const client = connect();
    const started = performance.now();
    client.socket.write('a');
    await until(() => client.received() === 'a', { every: 1 });
    expect(performance.now() - started).toBeGreaterThanOrEqual(95);
  });

  it('looks like a dying server when nothing is behind it', async () => {
    echo.close();
    await once(echo, 'close');
    const client = connect();
    await until(() => client.ending() === 'ECONNRESET');
  });
});
