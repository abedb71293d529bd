// A real BIRD 2, in a network namespace of its own where that can be had.

import { spawnSync } from 'node:child_process';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Background, whenReady } from './processes.mjs';

const UNSHARE = ['unshare', ...(process.getuid() === 0 ? [] : ['--map-root-user']), '--net', '--mount', '--'];

/**
 * A configuration without a log statement is one for syslog; where there is none, each message goes to the console, and a
 * virtual machine's console is slow enough to hold up its disk, too.
 */
const ISOLATE = 'ip link set lo up && { [ ! -e /dev/console ] || mount --bind /dev/null /dev/console; }';

/** Whether a program can have a network of its own; without one, a BIRD here could change the machine's routes. */
export function canIsolate() {
  const [unshare, ...args] = [...UNSHARE, 'sh', '-c', ISOLATE];
  return spawnSync(unshare, args, { stdio: 'ignore' }).status === 0;
}

export class Bird {
  /** Starts BIRD on `config` and waits until it answers on its socket in `directory`. */
  static async start(binary, config, directory) {
    const socket = join(directory, 'bird.ctl');
    const [unshare, ...isolated] = UNSHARE;
    // exec keeps the pid: what is stopped later is BIRD.
    const shell = ['sh', '-c', `${ISOLATE}; exec "$@"`, 'sh', binary, '-f', '-c', config, '-s', socket];
    const bird = new Bird(new Background(unshare, [...isolated, ...shell]), socket);
    const answers = () =>
      bird.command('show status').then(
        () => true,
        () => false,
      );
    await whenReady(bird.process, answers, 'BIRD');
    return bird;
  }

  constructor(background, socket) {
    this.process = background;
    this.socket = socket;
  }

  /** The mark of the configuration that BIRD runs: asked of BIRD itself. */
  async mark() {
    return /"?([0-9a-f]{16,})"?/.exec(await this.command('eval birdfeed_mark'))?.[1] ?? null;
  }

  /** Has BIRD load a file, and waits until it has: ms. */
  async configure(file) {
    const from = performance.now();
    let answer = await this.command(`configure "${file}"`, 120_000);
    if (!/^000[34] /m.test(answer)) throw new Error(`BIRD does not take ${file}: ${answer}`);
    // 0004: it goes on with that after the answer, and does not say when it is done.
    while (/in progress/.test(answer)) {
      await sleep(5);
      answer = await this.command('show status', 120_000);
    }
    return performance.now() - from;
  }

  /** Sends one command on a connection of its own and gives the whole answer. */
  command(text, timeoutMs = 30_000) {
    return new Promise((resolve, reject) => {
      const connection = createConnection(this.socket);
      let answer = '';
      let greeted = false;
      const end = (settle, value) => {
        clearTimeout(timer);
        connection.destroy();
        settle(value);
      };
      const timer = setTimeout(() => end(reject, new Error(`BIRD: no answer to "${text}"`)), timeoutMs);
      connection.on('error', (error) => end(reject, error));
      connection.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
        if (!/^\d{4} .*\n$/m.test(answer.slice(answer.lastIndexOf('\n', answer.length - 2) + 1))) return;
        if (greeted) return end(resolve, answer);
        greeted = true;
        answer = '';
        connection.write(`${text}\n`);
      });
    });
  }

  stop() {
    return this.process.stop('SIGKILL');
  }
}
