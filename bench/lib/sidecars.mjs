// Many birdfeeds as they run beside BIRD, each for a node and with a cache of its own.

import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { birdfeedArguments } from './birdfeed.mjs';
import { Background, until } from './processes.mjs';
import { Switches } from './switches.mjs';

class Sidecar {
  constructor({ bundle, nodeName, url, cache }) {
    this.cache = cache;
    this.switches = new Switches(cache, 'current');
    /** Times at which it had listed, and at which its data became fresh: ms since the epoch, by its own log. */
    this.listedAt = null;
    this.freshAt = [];
    const args = birdfeedArguments({ nodeName, etcd: url, cache, check: null });
    this.process = new Background(process.execPath, [bundle, ...args, '--listen', 'none'], {
      onLine: (line) => this.hear(line),
    });
  }

  hear(line) {
    const isFirst = this.listedAt === null && line.includes('"datastore listed"');
    if (isFirst) this.listedAt = Date.parse(JSON.parse(line).time);
    if (line.includes('"data is now fresh"')) this.freshAt.push(Date.parse(JSON.parse(line).time));
  }

  async shows(expected) {
    return (await readFile(join(this.cache, 'current', 'bird.conf'))).includes(expected);
  }

  async stop() {
    this.switches.close();
    await this.process.stop('SIGKILL');
  }
}

export class Sidecars {
  constructor({ bundle, url, nodeName, newCache }) {
    this.how = { bundle, url };
    this.nodeName = nodeName;
    this.newCache = newCache;
    this.all = [];
  }

  get size() {
    return this.all.length;
  }

  /** Starts more, all at once; resolves, when all have published, with the ms after which each had listed. */
  async add(count) {
    const from = Date.now();
    const added = [];
    for (let n = 0; n < count; n += 1) {
      const cache = this.newCache();
      await mkdir(cache, { recursive: true });
      const sidecar = new Sidecar({ ...this.how, nodeName: this.nodeName(this.all.length), cache });
      this.all.push(sidecar);
      added.push(sidecar);
    }
    for (const { process, switches, freshAt } of added)
      await until(() => switches.count > 0 && freshAt.length > 0, { what: 'a sidecar to publish', process });
    return added.map(({ listedAt }) => listedAt - from);
  }

  /** Resolves with the time at which the last of them had published something new that `expected` is in. */
  async published(expected) {
    const from = performance.now();
    const times = this.all.map(async (sidecar) => {
      for (let since = from; ; ) {
        since = await sidecar.switches.next(since);
        if (await sidecar.shows(expected)) return since;
      }
    });
    return Math.max(...(await Promise.all(times)));
  }

  /** Resolves with the times, ms since the epoch, at which each became fresh after `since`. */
  async fresh(since) {
    const times = [];
    for (const { process, freshAt } of this.all)
      times.push(
        await until(() => freshAt.find((at) => at >= since), {
          what: 'a sidecar to be fresh again',
          process,
        }),
      );
    return times;
  }

  async stop() {
    await Promise.all(this.all.map((sidecar) => sidecar.stop()));
    this.all = [];
  }
}
