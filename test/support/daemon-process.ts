import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './wait.ts';

export interface DaemonOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Network namespace to run in: a name made with `ip netns add`, or `private` for one of its own, without a name and
   * with only lo in it, that goes away with the process. Absent: the namespace of the tests.
   */
  readonly netns?: string;
}

/** Somebody who is not root has the right to a network namespace inside a user namespace of his own, where he is root. */
const UNSHARE = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--net', '--'];

let privateNamespaces: boolean | undefined;

/** Whether `netns: 'private'` works here; it needs no root where the kernel lets everybody make user namespaces. */
export function canUsePrivateNamespaces(): boolean {
  const [unshare, ...args] = UNSHARE as [string, ...string[]];
  const trial = () => spawnSync(unshare, [...args, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
  privateNamespaces ??= trial().status === 0;
  return privateNamespaces;
}

const OUTPUT_LIMIT = 256 * 1024;

/** Children still running: a worker that ends without its hooks having run (bail, crash) must not leave daemons behind. */
const running = new Set<DaemonProcess>();
process.on('exit', () => {
  for (const daemon of running) daemon.signal('SIGKILL');
});

/** A long-running program in the foreground, with what it printed. Signals go to exactly this process. */
export class DaemonProcess {
  readonly command: string;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #output = '';

  constructor(program: string, args: readonly string[], options: DaemonOptions = {}) {
    const [file, ...rest] = [...namespaceCommand(options.netns), program, ...args] as [string, ...string[]];
    this.command = [program, ...args].join(' ');
    this.#child = spawn(file, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: { ...process.env, ...options.env } }),
    });
    running.add(this);
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#record(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#record(chunk));
    this.#child.on('error', (error) => this.#record(Buffer.from(`${error.message}\n`)));
    this.#gone = once(this.#child, 'close').then(
      () => void running.delete(this),
      () => void running.delete(this),
    );
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${this.command} was not started: ${this.#output}`);
    return pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Exit status, or the signal that ended it; undefined while it runs. */
  get exit(): number | NodeJS.Signals | undefined {
    return this.#child.exitCode ?? this.#child.signalCode ?? undefined;
  }

  /** The last 256 KiB of stdout and stderr together. */
  get output(): string {
    return this.#output;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  /**
   * SIGSTOP, and waits until every thread has stopped: kill(2) returns earlier, and a thread that still runs may answer
   * one more request.
   */
  async pause(): Promise<void> {
    this.signal('SIGSTOP');
    const tasks = `/proc/${this.pid}/task`;
    const isStopped = (thread: string) =>
      /\) [TtXZ] /.test(readFileSync(join(tasks, thread, 'stat'), 'utf8'));
    await until(() => readdirSync(tasks).every(isStopped), { every: 1, what: `${this.command} to stop` });
  }

  /** Sends `signal` and waits until the process is gone; SIGKILL follows after `graceMs`. */
  async end(signal: NodeJS.Signals = 'SIGTERM', graceMs = 5_000): Promise<void> {
    this.signal(signal);
    // A stopped process acts on SIGTERM only once it continues.
    if (signal !== 'SIGKILL') this.signal('SIGCONT');
    const timer = setTimeout(() => this.signal('SIGKILL'), graceMs);
    await this.#gone;
    clearTimeout(timer);
  }

  /** Resolves when the process is gone by itself. */
  ended(): Promise<void> {
    return this.#gone;
  }

  /** As `until`, but rejects as soon as the process has ended, with what it printed. */
  async ready(isReady: () => Promise<boolean>, timeout: number): Promise<void> {
    let ended = false;
    await until(
      async () => {
        ended = !this.isRunning;
        return ended || (await isReady());
      },
      { timeout, every: 10, what: `${this.command} to be ready` },
    );
    if (ended)
      throw new Error(
        `${this.command} ended (${this.exit ?? 'not started'}) early: ${this.#output.slice(-2_000)}`,
      );
  }

  #record(chunk: Buffer): void {
    this.#output = (this.#output + chunk.toString('utf8')).slice(-OUTPUT_LIMIT);
  }
}

/** Both `ip netns exec` and `unshare` become the program instead of starting a child, so the pid is the program's. */
function namespaceCommand(netns: string | undefined): string[] {
  if (netns === undefined) return [];
  if (netns !== 'private') return ['ip', 'netns', 'exec', netns];
  return [...UNSHARE, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
}
