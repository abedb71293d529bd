import { writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { BirdBinary } from './binaries.ts';
import { canUsePrivateNamespaces, DaemonProcess } from './daemon-process.ts';
import { makeDir, removeDir } from './tmp.ts';

export interface BirdOptions {
  /** A configuration to write to a file of its own, or `{ path }` of one that is there already. */
  readonly config: string | { readonly path: string };
  /** Path of the control socket; under 108 bytes. Default: in a temporary directory that {@link BirdDaemon.close} removes. */
  readonly socket?: string;
  /** More arguments for BIRD, such as `-R`. */
  readonly args?: readonly string[];
  /** Start the IPv6 daemon of 1.6. */
  readonly ipv6?: boolean;
  /**
   * Namespace to run in. Default: a private one, so that no test BIRD touches the machine's routes or competes for port
   * 179. Where that cannot be had it shares the machine's, and its sessions may say `No listening socket`.
   */
  readonly netns?: string;
}

export interface BirdReply {
  /** Code of the last line, as `0003`. */
  readonly code: string;
  /** Every line as received, codes included, without line ends. */
  readonly lines: readonly string[];
  /** The lines without their codes, joined by line ends. */
  readonly text: string;
}

/** A real BIRD in the foreground. Independent of the client under test: it speaks to the socket by itself. */
export class BirdDaemon {
  readonly version: string;
  readonly configPath: string;
  readonly socket: string;
  readonly #start: () => DaemonProcess;
  readonly #dir: string;
  #process: DaemonProcess;

  private constructor(
    version: string,
    paths: { config: string; socket: string; dir: string },
    start: () => DaemonProcess,
  ) {
    this.version = version;
    this.configPath = paths.config;
    this.socket = paths.socket;
    this.#dir = paths.dir;
    this.#start = start;
    this.#process = start();
  }

  /** Starts BIRD and waits until its socket greets; rejects with BIRD's message when it ends first. */
  static async start(binary: BirdBinary, options: BirdOptions): Promise<BirdDaemon> {
    const dir = await makeDir('bfb');
    const { config } = options;
    const paths = {
      dir,
      config: typeof config === 'string' ? join(dir, 'bird.conf') : config.path,
      socket: options.socket ?? join(dir, 'bird.ctl'),
    };
    if (Buffer.byteLength(paths.socket) >= 108)
      throw new Error(`too long for a socket path: ${paths.socket}`);
    if (typeof config === 'string') await writeFile(paths.config, config);
    const program = options.ipv6 ? (binary.bird6 ?? binary.bird) : binary.bird;
    const args = ['-f', '-c', paths.config, '-s', paths.socket, ...(options.args ?? [])];
    const netns = options.netns ?? (canUsePrivateNamespaces() ? 'private' : undefined);
    const start = () => new DaemonProcess(program, args, netns === undefined ? {} : { netns });
    const daemon = new BirdDaemon(binary.version, paths, start);
    try {
      await daemon.#ready();
      return daemon;
    } catch (error) {
      await daemon.close();
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  /** Exit status, or the signal that ended it; undefined while it runs. */
  get exit(): number | NodeJS.Signals | undefined {
    return this.#process.exit;
  }

  /** What this BIRD printed since its last start: errors at start, and its log if the configuration says `log stderr`. */
  get output(): string {
    return this.#process.output;
  }

  /** Sends one command over a connection of its own. Lines that start with `+` are notices and not part of the reply. */
  async cmd(command: string, timeout = 10_000): Promise<BirdReply> {
    return birdCommand(this.socket, command, timeout);
  }

  /** Protocol name → what `show protocols` says after the name: `BGP --- up 12:00:00.000 Established`. */
  async protocols(): Promise<Map<string, string>> {
    const { lines } = await this.cmd('show protocols');
    // A code stands before the first line of a block only; later lines of the block begin with a space.
    const rows = lines
      .filter((line) => /^(1002-| )/.test(line))
      .map((line) => line.replace(/^(1002-| )/, ''));
    return new Map(
      rows.map((row) => [
        row.split(/\s+/, 1)[0] as string,
        row
          .replace(/^\S+\s+/, '')
          .replace(/\s+/g, ' ')
          .trim(),
      ]),
    );
  }

  /** Writes a new configuration to this BIRD's own file and sends `configure`. */
  async configure(config: string): Promise<BirdReply> {
    await writeFile(this.configPath, config);
    return this.cmd('configure');
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.signal(signal);
  }

  /** Stops it in place (SIGSTOP): its socket still accepts connections, nothing answers. */
  pause(): Promise<void> {
    return this.#process.pause();
  }

  resume(): void {
    this.#process.signal('SIGCONT');
  }

  /** As a crash: the socket file stays behind. */
  kill9(): Promise<void> {
    return this.#process.end('SIGKILL');
  }

  /** SIGTERM, which BIRD takes as an orderly shutdown; the socket file goes. */
  stop(): Promise<void> {
    return this.#process.end('SIGTERM');
  }

  /** Starts it again on the same paths, after `kill9` or `stop`, or instead of the running one. */
  async restart(): Promise<void> {
    await this.stop();
    this.#process = this.#start();
    await this.#ready();
  }

  /** Resolves when BIRD is gone by itself, as after `down`. */
  ended(): Promise<void> {
    return this.#process.ended();
  }

  /** Ends BIRD and removes its temporary directory. */
  async close(): Promise<void> {
    await this.kill9();
    await removeDir(this.#dir);
  }

  #ready(): Promise<void> {
    const greets = () =>
      birdCommand(this.socket, 'show status', 1_000).then(
        () => true,
        () => false,
      );
    return this.#process.ready(greets, 15_000);
  }
}

/** Connects, waits for the greeting, sends one command, reads its reply, disconnects. */
export function birdCommand(socket: string, command: string, timeout: number): Promise<BirdReply> {
  return new Promise((resolve, reject) => {
    const connection = createConnection(socket);
    const timer = setTimeout(
      () => fail(new Error(`BIRD did not answer "${command}" within ${timeout} ms`)),
      timeout,
    );
    const lines: string[] = [];
    let rest = '';
    let greeted = false;
    connection.setEncoding('utf8');
    connection.on('error', fail);
    connection.on('close', () => fail(new Error(`BIRD closed the connection during "${command}"`)));
    connection.on('data', (chunk: string) => {
      const received = (rest + chunk).split('\n');
      rest = received.pop() ?? '';
      for (const line of received) take(line);
    });

    function take(line: string): void {
      if (line.startsWith('+')) return;
      const isLast = /^\d{4} /.test(line);
      if (!greeted) {
        greeted = isLast;
        if (greeted) connection.write(`${command}\n`);
        return;
      }
      lines.push(line);
      if (!isLast) return;
      clearTimeout(timer);
      connection.destroy();
      resolve({
        code: line.slice(0, 4),
        lines,
        text: lines.map((text) => text.replace(/^(\d{4}[ -]| )/, '')).join('\n'),
      });
    }

    function fail(error: Error): void {
      clearTimeout(timer);
      connection.destroy();
      reject(error);
    }
  });
}
