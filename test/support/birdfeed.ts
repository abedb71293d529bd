import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { AdminReply, AdminRequest } from '../../src/app/admin.ts';
import type { Status } from '../../src/status/status.ts';
import { freePort } from './ports.ts';
import { type UntilOptions, until } from './wait.ts';

/** The bundle under test: what `node scripts/build.mjs` made, or another one, such as an installed package's. */
const BUNDLE =
  process.env['BIRDFEED_TEST_BUNDLE'] ?? fileURLToPath(new URL('../../dist/birdfeed.js', import.meta.url));

export interface RunOptions {
  /** Added to a bare environment: nothing of the machine's decides what birdfeed does. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Without any capability, so that modes and owners count for root, too: he is then uid 0 and nothing more. */
  readonly unprivileged?: boolean;
  /** As another user, with this group and no other, and without any capability. Only root can. */
  readonly as?: { readonly uid: number; readonly gid: number };
  /** Reads a little of standard output and closes it, as head does. */
  readonly closeOutput?: boolean;
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** What a run that ended came to. */
export interface Finished {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  /** What is no log line: the one line of an error that ended it. */
  readonly stderr: string;
  readonly logs: readonly LogLine[];
}

/** Runs birdfeed until it ends by itself. Kills it after `timeout` ms, which shows as the code SIGKILL. */
export async function runBirdfeed(
  args: readonly string[],
  options: RunOptions & { readonly timeout?: number } = {},
): Promise<Finished> {
  const birdfeed = new BirdfeedProcess(args, options);
  const timer = setTimeout(() => birdfeed.signal('SIGKILL'), options.timeout ?? 30_000);
  const code = await birdfeed.ended();
  clearTimeout(timer);
  return { code, stdout: birdfeed.stdout, stderr: birdfeed.stderr, logs: birdfeed.logs };
}

/** Children still running: a worker that ends without its hooks having run must not leave any behind. */
const running = new Set<BirdfeedProcess>();
process.on('exit', () => {
  for (const birdfeed of running) birdfeed.signal('SIGKILL');
});

/** A birdfeed of its own process, with what it wrote. */
class BirdfeedProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<number | NodeJS.Signals>;
  readonly #logs: LogLine[] = [];
  #stdout = '';
  #stderr = '';
  #rest = '';

  constructor(args: readonly string[], { env = {}, cwd, unprivileged, as, closeOutput }: RunOptions) {
    if (!existsSync(BUNDLE)) throw new Error(`${BUNDLE} is missing: run node scripts/build.mjs`);
    const node = [process.execPath, BUNDLE, ...args];
    const drops = unprivileged === true && process.getuid?.() === 0;
    const user = as === undefined ? [] : ['--reuid', `${as.uid}`, '--regid', `${as.gid}`, '--clear-groups'];
    const drop = ['setpriv', ...user, '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs', '--'];
    const [file, ...rest] = [...(drops || as !== undefined ? drop : []), ...node] as [string, ...string[]];
    this.#child = spawn(file, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    running.add(this);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      if (closeOutput) this.#child.stdout?.destroy();
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#record(text));
    this.#child.on('error', (error) => this.#record(`${error.message}\n`));
    this.#gone = once(this.#child, 'close').then(
      ([code, signal]) => (code ?? signal) as number | NodeJS.Signals,
      () => 127,
    );
    this.#gone.finally(() => running.delete(this));
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get logs(): readonly LogLine[] {
    return this.#logs;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr + this.#rest;
  }

  ended(): Promise<number | NodeJS.Signals> {
    return this.#gone;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  #record(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('{"level"')) this.#logs.push(JSON.parse(line) as LogLine);
      else this.#stderr += `${line}\n`;
    }
  }
}

export interface HttpAnswer {
  readonly code: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface DaemonOptions extends RunOptions {
  readonly cache: string;
}

type StatusAnswer = Status & { readonly headline: string };

/** A birdfeed that watches, with its status listener and its admin socket. */
export class Birdfeed extends BirdfeedProcess {
  readonly cache: string;
  readonly port: number;

  private constructor(args: readonly string[], options: DaemonOptions, port: number) {
    super([...args, '--cache', options.cache, '--listen', `127.0.0.1:${port}`], options);
    this.cache = options.cache;
    this.port = port;
  }

  /** Starts it, and ends it with the running test. Does not wait for anything. */
  static async start(args: readonly string[], options: DaemonOptions): Promise<Birdfeed> {
    const birdfeed = new Birdfeed(args, options, await freePort());
    onTestFinished(() => birdfeed.kill9());
    return birdfeed;
  }

  /** As a crash. */
  async kill9(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  /** An orderly end; resolves with the exit code. */
  async stop(): Promise<number | NodeJS.Signals> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), 15_000);
    const code = await this.ended();
    clearTimeout(timer);
    return code;
  }

  get(path: '/livez' | '/readyz' | '/status'): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: this.port, path, agent: false }, (response) => {
        readAll(response).then(
          (text) => resolve({ code: response.statusCode ?? 0, body: JSON.parse(text) }),
          reject,
        );
      });
      call.on('error', reject);
      call.end();
    });
  }

  async status(): Promise<StatusAnswer> {
    return (await this.get('/status')).body as unknown as StatusAnswer;
  }

  /** Says something to the admin socket, as the commands do. */
  admin(question: AdminRequest): Promise<AdminReply> {
    const socketPath = join(this.cache, 'admin.sock');
    return new Promise((resolve, reject) => {
      const call = request({ socketPath, method: 'POST', path: '/', agent: false }, (response) => {
        readAll(response).then((text) => resolve(JSON.parse(text) as AdminReply), reject);
      });
      call.on('error', reject);
      call.end(JSON.stringify(question));
    });
  }

  /** Waits until the status is as wanted, and returns that status. Fails at once when birdfeed ends meanwhile. */
  async reaches(
    what: string,
    isIt: (status: StatusAnswer) => unknown,
    options: UntilOptions = {},
  ): Promise<StatusAnswer> {
    let last: StatusAnswer | undefined;
    try {
      return await until(
        async () => {
          if (!this.isRunning) return 'ended' as const;
          last = await this.status();
          return (await isIt(last)) ? last : false;
        },
        { timeout: 20_000, ...options, what },
      ).then((found) => {
        if (found === 'ended') throw new Error(`birdfeed ended before: ${what}`);
        return found;
      });
    } catch (error) {
      const logs = this.#tail();
      throw new Error(`${(error as Error).message}\nstatus ${JSON.stringify(last)}\n${logs}`, {
        cause: error,
      });
    }
  }

  /** Fresh, nothing wrong, BIRD runs `current`. */
  async settled(options: UntilOptions = {}): Promise<StatusAnswer> {
    return this.reaches(
      'fresh, good, applied',
      ({ data, config, bird, tellsBird }) =>
        data.state === 'fresh' && config.state === 'good' && (!tellsBird || bird.state === 'applied'),
      options,
    );
  }

  /** Waits for a log line with this message, or for which the predicate holds. */
  async says(wanted: string | ((line: LogLine) => boolean), options: UntilOptions = {}): Promise<LogLine> {
    const isIt = typeof wanted === 'string' ? (line: LogLine) => line.msg === wanted : wanted;
    try {
      return await until(() => this.logs.find(isIt), {
        timeout: 20_000,
        ...options,
        what: `log line ${wanted}`,
      });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.#tail()}`, { cause: error });
    }
  }

  #tail(): string {
    const lines = this.logs.slice(-25).map((line) => JSON.stringify(line));
    return [...lines, this.stderr].join('\n');
  }
}

async function readAll(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
