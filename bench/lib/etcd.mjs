// A real etcd on loopback, and a client for its JSON gateway: not the library that birdfeed uses.

import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { TMPFS } from './machine.mjs';
import { Background, removeDirectory, temporaryDirectory, whenReady } from './processes.mjs';

/** etcd refuses transactions of more operations (`--max-txn-ops`). */
const MAX_TXN_OPERATIONS = 128;

/**
 * Where etcd keeps its data: in memory, if there is room. Elsewhere it runs on another machine; here it would fill the queue of
 * the disk that birdfeed publishes to. Null: on that disk after all.
 */
async function memoryDirectory() {
  const free = await statfs(MEMORY).then(
    ({ type, bavail, bsize }) => (type === TMPFS ? bavail * bsize : 0),
    () => 0,
  );
  return free >= 2 ** 30 ? MEMORY : null;
}

const MEMORY = '/dev/shm';

export class Etcd {
  static async start(binary, directory) {
    const data = await temporaryDirectory(join((await memoryDirectory()) ?? directory, 'bfbench-etcd-'));
    const [client, peer] = await freePorts(2);
    const url = `http://127.0.0.1:${client}`;
    const peerUrl = `http://127.0.0.1:${peer}`;
    const etcd = new Etcd(url, binary, data, [
      ...['--name', 'bench', '--data-dir', data],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `bench=${peerUrl}`, '--logger', 'zap', '--log-level', 'error'],
      // Durability of the datastore is not what is measured.
      '--unsafe-no-fsync',
    ]);
    await etcd.launch();
    return etcd;
  }

  constructor(url, binary, data, args) {
    this.url = url;
    this.binary = binary;
    this.data = data;
    this.args = args;
    this.server = null;
    this.agent = new Agent({ keepAlive: true, maxSockets: 64 });
  }

  /** Starts it, also again: on the same ports and data. */
  async launch() {
    this.server = new Background(this.binary, this.args);
    const answers = () =>
      this.get('/').then(
        () => true,
        () => false,
      );
    await whenReady(this.server, answers, 'etcd');
  }

  get pid() {
    return this.server.pid;
  }

  /** The values of its own counters and gauges, by name; those with labels are added up. */
  async metrics() {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const values = {};
    for (const [, name, value] of text.matchAll(/^(\w+)(?:\{[^}]*\})? ([-+.\w]+)$/gm))
      values[name] = (values[name] ?? 0) + Number(value);
    return values;
  }

  put(key, value) {
    return this.call('kv/put', { key: base64(key), value: base64(value) });
  }

  get(key) {
    return this.call('kv/range', { key: base64(key) });
  }

  deletePrefix(prefix) {
    return this.call('kv/deleterange', { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) });
  }

  async putAll(entries) {
    for (let at = 0; at < entries.length; at += MAX_TXN_OPERATIONS) {
      const success = entries
        .slice(at, at + MAX_TXN_OPERATIONS)
        .map(([key, value]) => ({ requestPut: { key: base64(key), value: base64(value) } }));
      await this.call('kv/txn', { success });
    }
  }

  /** Puts on several connections, those of one key in order; resolves when the last is acknowledged. */
  async putMany(entries, connections = 32) {
    let next = 0;
    const latest = new Map();
    const worker = async () => {
      while (next < entries.length) {
        const [key, value] = entries[next++];
        const earlier = latest.get(key) ?? Promise.resolve();
        const put = earlier.then(() => this.put(key, value));
        latest.set(key, put);
        await put;
      }
    };
    await Promise.all(Array.from({ length: connections }, worker));
  }

  /** Calls `onEvent` with the time of each message of a bare watch, the least that any watcher can do. */
  async watch(prefix, onEvent) {
    const range = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) };
    const outgoing = request(`${this.url}/v3/watch`, { method: 'POST' });
    outgoing.end(JSON.stringify({ create_request: range }));
    const [incoming] = await once(outgoing, 'response');
    let created;
    const isCreated = new Promise((resolve) => {
      created = resolve;
    });
    incoming.setEncoding('utf8').on('data', (text) => {
      if (text.includes('"created":true')) created();
      else onEvent(performance.now(), text);
    });
    incoming.on('error', () => {});
    await isCreated;
    return () => outgoing.destroy();
  }

  call(path, body) {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${this.url}/v3/${path}`,
        { method: 'POST', agent: this.agent },
        (incoming) => {
          let text = '';
          incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            if (incoming.statusCode === 200) resolve(JSON.parse(text));
            else reject(new Error(`etcd ${path}: ${incoming.statusCode} ${text.slice(0, 200)}`));
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify(body));
    });
  }

  async close() {
    this.agent.destroy();
    await this.server.stop('SIGKILL');
    await removeDirectory(this.data);
  }
}

export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function base64(text) {
  return Buffer.from(text).toString('base64');
}
