// A small client of the Kubernetes API for tests: it writes what birdfeed reads.

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';

/** An answer that is not 2xx. */
export class KubeError extends Error {
  constructor(method, path, status, text) {
    let message = text;
    try {
      message = JSON.parse(text).message;
    } catch {}
    super(`${method} ${path}: ${status}: ${message}`);
    this.status = status;
  }
}

/** Talks to one API server as one user. */
export class KubeClient {
  #agent;
  #url;
  #token;

  constructor({ url, ca, token }) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ ca, keepAlive: true, maxSockets: 8 });
  }

  /** From a kubeconfig with one cluster and one user, who has a token. */
  static fromKubeconfig(file) {
    const { clusters, users } = parse(readFileSync(file, 'utf8'));
    const { server, ...cluster } = clusters[0].cluster;
    const ca = cluster['certificate-authority-data'];
    return new KubeClient({
      url: server,
      ca: ca === undefined ? readFileSync(cluster['certificate-authority']) : Buffer.from(ca, 'base64'),
      token: users[0].user.token,
    });
  }

  get(path) {
    return this.request('GET', path);
  }

  post(path, body) {
    return this.request('POST', path, body);
  }

  put(path, body) {
    return this.request('PUT', path, body);
  }

  delete(path) {
    return this.request('DELETE', path);
  }

  /** A merge patch: `null` removes. */
  patch(path, body) {
    return this.request('PATCH', path, body, 'application/merge-patch+json');
  }

  /** A server that is starting asks to come back: 429, a second later. */
  async request(method, path, body, type) {
    for (let left = 20; ; left -= 1) {
      try {
        return await this.#once(method, path, body, type);
      } catch (error) {
        if (error.status !== 429 || left === 0) throw error;
        await sleep(500);
      }
    }
  }

  #once(method, path, body, type = 'application/json') {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const call = request(new URL(path, this.#url), { method, headers, agent: this.#agent }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode >= 300) reject(new KubeError(method, path, response.statusCode, answer));
          else resolve(answer.startsWith('{') ? JSON.parse(answer) : answer);
        });
      });
      call.setTimeout(20_000, () => call.destroy(new Error(`${method} ${path}: no answer within 20 s`)));
      call.on('error', reject);
      call.end(text);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
