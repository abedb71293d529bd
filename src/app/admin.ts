import { readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { join } from 'node:path';
import { asBirdfeedError, BirdfeedError, type ErrorCode } from '../core/errors.ts';

/** What the admin socket offers: the daemon's own read-outs, and the commands of an operator. */
export type AdminRequest =
  | { readonly do: 'status' }
  | { readonly do: 'probe'; readonly what: 'ready' | 'live' }
  | { readonly do: 'approve'; readonly digest: string | null }
  | { readonly do: 'rollback'; readonly set: string; readonly generation: number }
  | { readonly do: 'resume'; readonly set: string };

export type AdminReply =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/**
 * Which pid namespace this process is in: the container, so to speak. A cache is shared between a pod and its successor;
 * a probe must be answered by the birdfeed of its own container. Null where the kernel does not tell.
 */
export function processNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

const MAX_BODY = 4096;
/** sockaddr_un on Linux. */
const MAX_SOCKET_PATH = 107;

export function adminSocketPath(cacheDir: string): string {
  return join(cacheDir, 'admin.sock');
}

/**
 * Serves CACHE/admin.sock (mode 0600 from the start: the file system is the access control). The caller holds the
 * cache's lock, so a socket file that is already there belongs to a dead process.
 */
export async function startAdminServer(
  cacheDir: string,
  handle: (request: AdminRequest) => Promise<unknown>,
): Promise<Server> {
  const path = adminSocketPath(cacheDir);
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
    throw new BirdfeedError(
      'BF_ADMIN_UNREACHABLE',
      `${path} is longer than a socket path may be (${MAX_SOCKET_PATH} bytes); use a shorter --cache for status, approve and rollback`,
    );
  }
  await rm(path, { force: true });
  const server = createServer((incoming, response) => {
    readBody(incoming)
      .then(
        async (body): Promise<AdminReply> => ({
          ok: true,
          result: await handle(JSON.parse(body) as AdminRequest),
        }),
      )
      .catch((error: unknown): AdminReply => {
        const { code, message } = asBirdfeedError(error);
        return { ok: false, code, message };
      })
      .then((reply) => response.end(JSON.stringify(reply)))
      .catch(() => response.destroy());
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', resolve);
  });
  // `listen` binds before it returns. Any longer, and files that are being made elsewhere would get the same umask.
  const umask = process.umask(0o177);
  server.listen(path);
  process.umask(umask);
  try {
    await listening;
  } catch (error) {
    throw new BirdfeedError('BF_CACHE_PERMISSION', `cannot create ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return server;
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of incoming) {
    body += String(chunk);
    if (body.length > MAX_BODY) throw new BirdfeedError('BF_USAGE', 'request too large');
  }
  return body;
}

/**
 * Asks the birdfeed that runs on this cache.
 * @returns its result; `undefined` when none runs there
 * @throws what it answers with; BF_ADMIN_UNREACHABLE when it does not answer in time or whole, BF_CACHE_PERMISSION when
 * this user may not ask
 */
export async function askDaemon(
  cacheDir: string,
  question: AdminRequest,
  timeoutMs = 5_000,
): Promise<unknown> {
  const socketPath = adminSocketPath(cacheDir);
  let answer: string;
  try {
    answer = await post(socketPath, JSON.stringify(question), timeoutMs);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined && NOBODY.has(code)) return undefined;
    if (code === 'EACCES')
      throw new BirdfeedError(
        'BF_CACHE_PERMISSION',
        `${socketPath}: only the user that birdfeed runs as may ask it`,
      );
    throw new BirdfeedError('BF_ADMIN_UNREACHABLE', `${socketPath}: ${message}`, { cause: error });
  }
  const reply = parseReply(answer);
  if (reply === null)
    throw new BirdfeedError(
      'BF_ADMIN_UNREACHABLE',
      `${socketPath}: the answer broke off; is birdfeed ending?`,
    );
  if (!reply.ok) throw new BirdfeedError(reply.code, reply.message);
  return reply.result;
}

/** No socket, one that a dead process left, or a path that is too long for one. */
const NOBODY: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'EINVAL']);

/** Sends one request and returns the body of the response. Rejects with Node's errors. */
function post(socketPath: string, body: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method: 'POST', path: '/', timeout: timeoutMs }, (response) => {
      readBodyUnbounded(response).then(resolve, reject);
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function parseReply(text: string): AdminReply | null {
  try {
    return JSON.parse(text) as AdminReply;
  } catch {
    return null;
  }
}

async function readBodyUnbounded(incoming: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of incoming) body += String(chunk);
  return body;
}
