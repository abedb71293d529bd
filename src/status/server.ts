import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import { headline, lastConfirmedAt, readiness, type Status } from './status.ts';

export interface StatusServerDeps {
  readonly clock: Clock;
  readonly status: () => Status;
  readonly unreadyWhenStaleMs: number | null;
  /** Prometheus text; loaded on the first scrape. */
  readonly metrics: () => Promise<string>;
}

/**
 * The HTTP listener: `/livez`, `/readyz`, `/status`, `/metrics`. Read only; commands go through the admin socket.
 * `listen` is `ADDR:PORT` or `[v6]:PORT`.
 * @throws BF_USAGE when the address is not one, or is taken
 */
export async function startStatusServer(listen: string, deps: StatusServerDeps): Promise<Server> {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(listen);
  if (match === null || Number(match[3]) > 65_535)
    throw new BirdfeedError(
      'BF_USAGE',
      `--listen "${listen}" is not ADDR:PORT, as in 127.0.0.1:9568, or none`,
    );
  const server = createServer((request, response) => {
    answer(request, response, deps).catch(() => response.destroy());
  });
  // A slow or hostile client must not hold resources: nothing here takes seconds.
  server.headersTimeout = 5_000;
  server.requestTimeout = 5_000;
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new BirdfeedError(
          'BF_USAGE',
          `cannot listen on ${listen}: ${error.message}; choose another --listen, or "none"`,
          { cause: error },
        ),
      ),
    );
    server.listen(Number(match[3]), match[1] ?? match[2], resolve);
  });
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  deps: StatusServerDeps,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, { error: 'only GET' });
  const status = deps.status();
  switch (path) {
    case '/livez':
      // Reaching this line is the proof: the event loop turns.
      return send(response, 200, { live: true });
    case '/readyz': {
      const verdict = probeReadiness(status, deps.clock.now(), deps.unreadyWhenStaleMs);
      return send(response, verdict.ready ? 200 : 503, verdict);
    }
    case '/status':
      return send(response, 200, { headline: headline(status), ...status });
    case '/metrics':
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(await deps.metrics());
      return;
    default:
      return send(response, 404, { error: 'not found', paths: ['/livez', '/readyz', '/status', '/metrics'] });
  }
}

/** The body of `/readyz` and of `birdfeed probe ready`. */
export function probeReadiness(status: Status, nowMs: number, unreadyWhenStaleMs: number | null) {
  const confirmedAt = lastConfirmedAt(status);
  const verdict = readiness(status, nowMs, unreadyWhenStaleMs);
  return {
    ...verdict,
    headline: headline(status),
    data: status.data.state,
    config: status.config.state,
    bird: status.bird.state,
    ageSeconds:
      confirmedAt === null ? null : Math.max(0, Math.round((nowMs - Date.parse(confirmedAt)) / 1000)),
    generation: status.generation?.number ?? null,
  };
}

function send(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json; charset=utf-8' });
  response.end(`${JSON.stringify(body)}\n`);
}
