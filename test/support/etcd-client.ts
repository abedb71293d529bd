import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export type EtcdOperation =
  | { readonly put: readonly [key: string, value: string] }
  | { readonly del: string }
  | { readonly delPrefix: string };

export interface EtcdClientOptions {
  /** PEM. Needed for https. */
  readonly tls?: { readonly ca: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  /** A Unix socket to connect to, in place of the host and port of the URL. */
  readonly socketPath?: string;
}

interface Header {
  readonly cluster_id: string;
  readonly member_id: string;
  readonly revision: string;
}
interface Reply {
  readonly header: Header;
  readonly [field: string]: unknown;
}
interface KeyValue {
  readonly key: string;
  readonly value?: string;
}

/** etcd refuses transactions of more operations (`--max-txn-ops`). */
const MAX_TXN_OPERATIONS = 128;

/**
 * A small client of etcd's JSON gateway (`/v3/…`), so that tests write and read with something other than the library
 * under test. One connection per request: nothing to clean up, and no stale connection after a restart.
 */
export class EtcdClient {
  readonly url: string;
  readonly #options: EtcdClientOptions;
  #credentials: { name: string; password: string } | undefined;
  /** The token in use, once authentication is on. */
  token: string | undefined;

  /** `url` as `http://127.0.0.1:2379`. */
  constructor(url: string, options: EtcdClientOptions = {}) {
    this.url = url;
    this.#options = options;
  }

  /** Puts one key; returns the revision it got. */
  async put(key: string, value: string): Promise<number> {
    return revisionOf(await this.#call('kv/put', { key: base64(key), value: base64(value) }));
  }

  async del(key: string): Promise<number> {
    return revisionOf(await this.#call('kv/deleterange', { key: base64(key) }));
  }

  /** Deletes every key that starts with `prefix`; the empty prefix means all. */
  async delPrefix(prefix: string): Promise<number> {
    return revisionOf(await this.#call('kv/deleterange', prefixRange(prefix)));
  }

  /** All operations at one revision, which it returns. */
  async txn(operations: readonly EtcdOperation[]): Promise<number> {
    return revisionOf(
      await this.#call('kv/txn', { compare: [], success: operations.map(toRequest), failure: [] }),
    );
  }

  /** Puts any number of keys, in as few transactions as etcd allows; returns the last revision. */
  async putAll(entries: Iterable<readonly [key: string, value: string]>): Promise<number> {
    const operations = [...entries].map((put) => ({ put }));
    let revision = 0;
    for (let at = 0; at < operations.length; at += MAX_TXN_OPERATIONS) {
      revision = await this.txn(operations.slice(at, at + MAX_TXN_OPERATIONS));
    }
    return revision;
  }

  /** The value of a key, undefined when it is absent. */
  async get(key: string): Promise<string | undefined> {
    const reply = await this.#call('kv/range', { key: base64(key) });
    const [found] = keyValuesOf(reply);
    return found?.[1];
  }

  async list(prefix: string): Promise<Map<string, string>> {
    return new Map(keyValuesOf(await this.#call('kv/range', prefixRange(prefix))));
  }

  /** Revision of the store now. */
  async revision(): Promise<number> {
    return revisionOf(await this.#call('kv/range', { key: base64('/'), count_only: true }));
  }

  /** Id of the cluster, a decimal number as text. */
  async clusterId(): Promise<string> {
    return (await this.#call('kv/range', { key: base64('/'), count_only: true })).header.cluster_id;
  }

  /** Forgets all revisions before `revision`, by default before the newest one, and waits until that is done. */
  async compact(revision?: number): Promise<void> {
    await this.#call('kv/compaction', {
      revision: String(revision ?? (await this.revision())),
      physical: true,
    });
  }

  async isLeader(): Promise<boolean> {
    const { header, leader } = await this.#call('maintenance/status', {});
    return header.member_id === leader;
  }

  /** Turns authentication on with one user, `root`, as whom this client goes on. */
  async enableAuth(password: string): Promise<void> {
    await this.#call('auth/user/add', { name: 'root', password });
    await this.#call('auth/role/add', { name: 'root' });
    await this.#call('auth/user/grant', { user: 'root', role: 'root' });
    await this.#call('auth/enable', {});
    this.#credentials = { name: 'root', password };
  }

  /** Adds a user that may read, and only read, what starts with `prefix`. */
  async addReader(name: string, password: string, prefix: string): Promise<void> {
    await this.#call('auth/user/add', { name, password });
    await this.#call('auth/role/add', { name });
    await this.#call('auth/role/grant', { name, perm: { permType: 'READ', ...prefixRange(prefix) } });
    await this.#call('auth/user/grant', { user: name, role: name });
  }

  async disableAuth(): Promise<void> {
    await this.#call('auth/disable', {});
    this.#credentials = undefined;
    this.token = undefined;
  }

  async #call(path: string, body: object): Promise<Reply> {
    if (this.#credentials !== undefined) this.token ??= await this.#login(this.#credentials);
    const reply = await this.#post(path, body);
    // The token has run out, or (JWT) users or roles have changed since it was handed out.
    const isTokenStale = reply.status === 401 || reply.text.includes('auth store is old');
    if (isTokenStale && this.#credentials !== undefined) {
      this.token = await this.#login(this.#credentials);
      return accepted(path, await this.#post(path, body));
    }
    return accepted(path, reply);
  }

  async #login(credentials: object): Promise<string> {
    this.token = undefined;
    return accepted('auth/authenticate', await this.#post('auth/authenticate', credentials))[
      'token'
    ] as string;
  }

  #post(path: string, body: object): Promise<{ status: number; text: string }> {
    const send = this.url.startsWith('https:') ? httpsRequest : httpRequest;
    const headers = this.token === undefined ? {} : { authorization: this.token };
    const { tls, socketPath } = this.#options;
    return new Promise((resolve, reject) => {
      const way = { ...tls, ...(socketPath === undefined ? {} : { socketPath }) };
      const options = { method: 'POST', agent: false, headers, timeout: 10_000, ...way };
      const request = send(`${this.url}/v3/${path}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      });
      request.on('timeout', () => request.destroy(new Error(`etcd did not answer ${path} within 10 s`)));
      request.on('error', reject);
      request.end(JSON.stringify(body));
    });
  }
}

function accepted(path: string, { status, text }: { status: number; text: string }): Reply {
  if (status !== 200) throw new Error(`etcd answered ${path} with ${status}: ${text}`);
  return JSON.parse(text) as Reply;
}

function revisionOf(reply: Reply): number {
  return Number(reply.header.revision);
}

function keyValuesOf(reply: Reply): [string, string][] {
  const found = (reply['kvs'] ?? []) as KeyValue[];
  return found.map(({ key, value }) => [fromBase64(key), fromBase64(value ?? '')]);
}

function toRequest(operation: EtcdOperation): object {
  if ('put' in operation) {
    const [key, value] = operation.put;
    return { requestPut: { key: base64(key), value: base64(value) } };
  }
  const range = 'del' in operation ? { key: base64(operation.del) } : prefixRange(operation.delPrefix);
  return { requestDeleteRange: range };
}

/** The range of all keys with a prefix ends before the prefix with its last byte raised; for all keys both are NUL. */
function prefixRange(prefix: string): { key: string; range_end: string } {
  const bytes = Buffer.from(prefix === '' ? '\0' : prefix);
  const end = Buffer.from(bytes);
  if (prefix === '') return { key: bytes.toString('base64'), range_end: end.toString('base64') };
  const last = end.length - 1;
  end.writeUInt8(end.readUInt8(last) + 1, last);
  return { key: bytes.toString('base64'), range_end: end.toString('base64') };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}
