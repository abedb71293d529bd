// birdfeed as it is shipped: the bundle, started as a process.

import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePorts } from './etcd.mjs';
import { Background, cleanEnvironment, whenReady } from './processes.mjs';
import { Switches } from './switches.mjs';

/** What stands in for "no datastore": the port that nothing listens on (RFC 863's, which nobody runs any more). */
export const NO_ETCD = 'http://127.0.0.1:9';

/**
 * Arguments for every run of one measurement.
 * @param {{ nodeName: string, etcd: string, cache: string, check: string | null, socket?: string | null }} what
 *   `check` is a `bird` for syntax checks, null for none; `socket` that of a running BIRD
 */
export function birdfeedArguments({ nodeName, etcd, cache, check, socket = null }) {
  return [
    ...['--node-name', nodeName, '--bird', 'bird2', '--datastore', 'etcd', '--etcd-endpoints', etcd],
    ...['--cache', cache, '--log-format', 'json'],
    ...(check === null ? ['--syntax-check', 'off'] : ['--syntax-check', 'required', '--bird-binary', check]),
    ...(socket === null ? ['--reload', 'none'] : ['--reload', 'socket', '--control-socket', socket]),
  ];
}

export class Birdfeed {
  /**
   * Starts it and waits until it has published what `complete` accepts.
   * @param {{ program: readonly string[], nodeFlags?: readonly string[], env?: object, what: object, complete?: Function }} options
   */
  static async start({ program, nodeFlags = [], env = {}, what, complete = () => true, onLine }) {
    const [port] = await freePorts(1);
    const args = [...nodeFlags, ...program, ...birdfeedArguments(what), '--listen', `127.0.0.1:${port}`];
    const switches = new Switches(what.cache, 'current');
    const birdfeed = new Birdfeed(
      new Background(process.execPath, args, { env: cleanEnvironment(env), onLine }),
      { switches, cache: what.cache, port },
    );
    const isPublished = () => birdfeed.publishedFile() !== null && complete(birdfeed.content());
    try {
      await whenReady(birdfeed.process, isPublished, 'the first generation');
    } catch (error) {
      switches.close();
      throw error;
    }
    return birdfeed;
  }

  constructor(background, { switches, cache, port }) {
    this.process = background;
    this.switches = switches;
    this.cache = cache;
    this.port = port;
  }

  get pid() {
    return this.process.pid;
  }

  publishedFile() {
    return publishedFile(this.cache);
  }

  content() {
    return readFileSync(join(this.cache, 'current', 'bird.conf'));
  }

  generations() {
    return readdirSync(join(this.cache, 'generations')).filter((name) => /^\d+$/.test(name));
  }

  /** Number of the newest generation. */
  newest() {
    return Math.max(0, ...this.generations().map(Number));
  }

  /** Whether BIRD's acknowledgement, by `state.json`, is for what `current` holds. */
  isAcknowledged() {
    try {
      const { acknowledged } = JSON.parse(readFileSync(join(this.cache, 'state.json'), 'utf8')).value;
      const current = contentMark(this.content());
      const all = Object.values(acknowledged);
      return all.length > 0 && all.every(({ contentDigest }) => contentDigest.startsWith(current));
    } catch {
      return false;
    }
  }

  status() {
    return new Promise((resolve, reject) => {
      const outgoing = request(`http://127.0.0.1:${this.port}/status`, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        incoming.on('end', () => resolve(JSON.parse(text)));
      });
      outgoing.on('error', reject).end();
    });
  }

  async stop() {
    this.switches.close();
    await this.process.stop();
  }
}

/** Real path of the published file, or null while there is none. */
export function publishedFile(cache) {
  try {
    readFileSync(join(cache, 'current', 'stamp.json'));
    return join(cache, 'current', 'bird.conf');
  } catch {
    return null;
  }
}

/** The digest in the file, by which BIRD tells what it runs. */
export function contentMark(content) {
  return /birdfeed_mark = "([^"]+)"/.exec(content.toString('latin1', 0, 2_000))?.[1] ?? null;
}
