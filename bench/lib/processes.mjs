// Child processes: started, measured from /proc, and stopped by their pid.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clock ticks per second of /proc/PID/stat; 100 on every Linux that Node runs on (proc(5), sysconf(3)). */
const TICKS = 100;

const running = new Set();
const directories = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
// A signal alone would end this program without that, and leave everything behind.
for (const [signal, number] of [
  ['SIGHUP', 1],
  ['SIGINT', 2],
  ['SIGTERM', 15],
])
  process.once(signal, () => process.exit(128 + number));

/** A directory that does not outlive this program, however it ends: in memory it would stay until the machine is booted. */
export async function temporaryDirectory(prefix) {
  const directory = await mkdtemp(prefix);
  directories.add(directory);
  return directory;
}

export async function removeDirectory(directory) {
  await rm(directory, { recursive: true, force: true });
  directories.delete(directory);
}

/** Runs `work`; where it fails, what it started and left running is stopped. */
export async function cleanedUp(work) {
  const before = new Set(running);
  try {
    return await work();
  } catch (error) {
    for (const child of running) if (!before.has(child)) child.kill('SIGKILL');
    throw error;
  }
}

/**
 * Environment of what is measured: Node reads the file that NODE_EXTRA_CA_CERTS names at every start, which is a cost of
 * the machine and not of the program.
 */
export function cleanEnvironment(more = {}) {
  const env = { ...process.env, ...more };
  for (const name of [
    'NODE_EXTRA_CA_CERTS',
    'NODE_V8_COVERAGE',
    ...Object.keys(env).filter((n) => n.startsWith('BIRDFEED_')),
  ])
    if (!(name in more)) delete env[name];
  if (!('NODE_OPTIONS' in more)) delete env.NODE_OPTIONS;
  return env;
}

/** A program in the background. `onLine` gets what it prints on standard error, by line, with the time it arrived. */
export class Background {
  constructor(file, args, { env = cleanEnvironment(), onLine } = {}) {
    this.output = '';
    this.startedAt = performance.now();
    this.child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(this.child);
    this.exited = once(this.child, 'close').then(() => running.delete(this.child));
    let rest = '';
    const take = (chunk) => {
      const at = performance.now();
      this.output = (this.output + chunk).slice(-20_000);
      if (onLine === undefined) return;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) onLine(line, at);
    };
    this.child.stdout.on('data', (chunk) => {
      this.output = (this.output + chunk).slice(-20_000);
    });
    this.child.stderr.setEncoding('utf8').on('data', take);
    this.child.on('error', (error) => take(`${error.message}\n`));
  }

  get pid() {
    return this.child.pid;
  }

  get isRunning() {
    return this.child.exitCode === null && this.child.signalCode === null && this.pid !== undefined;
  }

  async stop(signal = 'SIGTERM') {
    if (this.isRunning) this.child.kill(signal);
    const killer = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await this.exited;
    clearTimeout(killer);
  }
}

/** Calls `probe` until it gives something truthy; fails with what the program printed. */
export async function until(probe, { what, timeoutMs = 60_000, everyMs = 20, process: program } = {}) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value) return value;
    const ended = program !== undefined && !program.isRunning;
    if (ended || performance.now() > deadline) {
      const how = ended ? 'it ended' : `not within ${timeoutMs} ms`;
      throw new Error(`waiting for ${what}: ${how}\n${program?.output ?? ''}`);
    }
    await sleep(everyMs);
  }
}

/** As `until`, for a program that has just been started: one that does not get there is stopped, or nothing could end. */
export async function whenReady(program, probe, what) {
  try {
    return await until(probe, { what, process: program });
  } catch (error) {
    await program.stop('SIGKILL');
    throw error;
  }
}

/** CPU time in ms that a process used, with the children that it has waited for. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything; fields are counted from behind it (proc(5): utime is the 14th).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1000) / TICKS;
}

/** CPU time in ms of a process's threads, in nanosecond steps; that of threads that have ended is missing (Go keeps its own). */
export function threadsCpuMs(pid) {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // Ended between two looks.
    }
  }
  return nanoseconds / 1e6;
}

/** Resident memory now, and its highest value so far, in MiB. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024;
  return { rssMiB: field('VmRSS'), peakMiB: field('VmHWM') };
}

/** Bytes that a process had written to disk, without what it took back before it got there (proc(5), io). */
export function bytesWritten(pid) {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? Number.NaN);
}

/**
 * Runs a program to its end: `{ wallMs, cpuMs, peakMiB, code, output }`. The peak is read from /proc until the process is
 * gone, so growth in its last two milliseconds is missed; CPU time is in steps of 10 ms.
 */
export async function measureRun(file, args, { env = cleanEnvironment() } = {}) {
  const before = childrenCpuMs();
  const startedAt = performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  let peakMiB = 0;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const poll = setInterval(() => {
    try {
      peakMiB = Math.max(peakMiB, memory(child.pid).peakMiB || 0);
    } catch {
      // Gone between two looks.
    }
  }, 2);
  const [code] = await once(child, 'exit');
  const wallMs = performance.now() - startedAt;
  clearInterval(poll);
  running.delete(child);
  return { wallMs, cpuMs: childrenCpuMs() - before, peakMiB, code, output };
}

/** CPU time of this process's own children that have ended. */
function childrenCpuMs() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS;
}
