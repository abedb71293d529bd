// Many watchers in one process. Each has a connection of its own, reads and watches what a birdfeed does, and asks for
// progress as often, but does nothing with what it hears: what is left is the cost to etcd.

import { once } from 'node:events';
import { connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { messages } from './etcd-messages.mjs';

/** birdfeed's own: `pingMs` of its etcd source. */
const PROGRESS_MS = 5_000;
/** More than a first id that etcd or its proxy would choose: as birdfeed does. */
const FIRST_ID = 1_000_000;
const WINDOW = 1 << 20;
const MAX_MESSAGE_BYTES = 1 << 30;
const ATTEMPTS = 8;

export class BareWatchers {
  /** `progress`: ask for progress, which grpc-proxy does not take. */
  constructor(url, { progress }) {
    this.url = url;
    this.progress = progress;
    this.sessions = [];
    /** Why attempts failed. */
    this.failures = [];
    this.onEvent = () => {};
  }

  get size() {
    return this.sessions.length;
  }

  /**
   * Opens one watcher per list of prefixes, all at once or each at a random time within `spreadMs`; `list`: everything is
   * read first. Resolves with the ms after which each had its watch.
   */
  add(prefixLists, { list, spreadMs = 0 }) {
    const from = performance.now();
    return Promise.all(
      prefixLists.map(async (prefixes) => {
        await sleep(Math.random() * spreadMs);
        await this.openAtLast(prefixes, list);
        return performance.now() - from;
      }),
    );
  }

  /** As a birdfeed would: what is refused or cut off is tried again a little later. */
  async openAtLast(prefixes, list) {
    for (let attempt = 1; ; attempt += 1) {
      const session = connect(this.url, { settings: { initialWindowSize: WINDOW } });
      session.on('error', () => {});
      try {
        await this.open(session, prefixes, list);
        this.sessions.push(session);
        return;
      } catch (error) {
        session.destroy();
        this.failures.push(error.message);
        if (attempt === ATTEMPTS) throw error;
        await sleep(100 * attempt * (1 + Math.random()));
      }
    }
  }

  async open(session, prefixes, list) {
    await once(session, 'connect');
    session.setLocalWindowSize(WINDOW);
    const ranges = prefixes.flatMap((prefix) => [
      { key: Buffer.from(prefix) },
      { key: Buffer.from(`${prefix}/`), rangeEnd: Buffer.from(`${prefix}0`) },
    ]);
    const { header } = messages.decodeRangeResponse(await this.range(session, { ...ranges[0], limit: 1 }));
    if (list) for (const range of ranges) await this.range(session, range);
    await this.watch(session, ranges, header.revision + 1);
  }

  /** Reads a range; resolves with the answer, undecoded. */
  async range(session, range) {
    const stream = call(session, '/etcdserverpb.KV/Range');
    stream.end(messages.withPrefix(messages.encodeRangeRequest(range)));
    let answer = null;
    readMessages(stream, (message) => (answer = message));
    await once(stream, 'close');
    if (answer === null) throw new Error('etcd did not answer a read');
    return answer;
  }

  async watch(session, ranges, startRevision) {
    const stream = call(session, '/etcdserverpb.Watch/Watch');
    for (const [index, range] of ranges.entries()) {
      const request = {
        ...range,
        watchId: FIRST_ID + index,
        startRevision,
        progressNotify: true,
        fragment: true,
      };
      stream.write(messages.withPrefix(messages.encodeWatchCreate(request)));
    }
    let reason = 'without a word';
    stream.on('trailers', (trailers) => (reason = trailers['grpc-message'] ?? trailers['grpc-status']));
    await new Promise((resolve, reject) => {
      let created = 0;
      readMessages(stream, (message) => {
        const { events, created: isCreated } = messages.decodeWatchResponse(message);
        if (events.length > 0) this.onEvent(performance.now());
        else if (isCreated && ++created === ranges.length) resolve();
      });
      stream.on('close', () => reject(new Error(`etcd ended a watch: ${reason}`)));
    });
    if (!this.progress) return;
    const timer = setInterval(
      () => stream.write(messages.withPrefix(messages.encodeWatchProgress())),
      PROGRESS_MS,
    );
    stream.on('close', () => clearInterval(timer));
  }

  /** Resolves with the time of the last of the events that the next change comes to; one per watcher. */
  heard(timeoutMs = 60_000) {
    return new Promise((resolve, reject) => {
      let left = this.sessions.length;
      const timer = setTimeout(() => reject(new Error(`${left} watchers heard nothing`)), timeoutMs);
      this.onEvent = (at) => {
        left -= 1;
        if (left > 0) return;
        clearTimeout(timer);
        resolve(at);
      };
    });
  }

  close() {
    for (const session of this.sessions) session.destroy();
    this.sessions = [];
  }
}

function call(session, path) {
  const stream = session.request(
    { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
    { endStream: false },
  );
  stream.on('error', () => {});
  return stream;
}

function readMessages(stream, onMessage) {
  const reader = new messages.MessageReader(MAX_MESSAGE_BYTES, onMessage);
  stream.on('data', (chunk) => reader.push(chunk));
}
