import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { DaemonProcess } from '../../support/daemon-process.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { until } from '../../support/wait.ts';

const binary = requireBinary(binaries.etcd34, 'etcd34');
const root = fileURLToPath(new URL('../../../', import.meta.url));
const program = `${root}node_modules/.cache/birdfeed-test/etcd-exit-${process.pid}.mjs`;

/** Runs the source until SIGTERM, prints its events, and then leaves ending the process to the event loop. */
const SCRIPT = `
  import { systemClock } from './src/core/clock.ts';
  import { silentLogger } from './src/core/log.ts';
  import { createEtcdSource } from './src/datastore/etcd/source.ts';
  for (const name of ['uncaughtException', 'unhandledRejection']) process.on(name, (error) => console.log(name, error));
  const abort = new AbortController();
  const keepAlive = setInterval(() => {}, 1_000);
  process.once('SIGTERM', () => { clearInterval(keepAlive); abort.abort(); });
  const source = createEtcdSource({ endpoints: [process.argv[2]] }, { clock: systemClock, log: silentLogger, random: Math.random });
  const mounts = [{ prefix: '/a', required: true }];
  await source.run(mounts, (event) => console.log('event', event.type, event.error?.message ?? ''), abort.signal);
  console.log('run resolved');
`;

beforeAll(async () => {
  await build({
    stdin: { contents: SCRIPT, resolveDir: root, loader: 'ts' },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
});
afterAll(() => rm(program, { force: true }));

function run(url: string): DaemonProcess {
  const child = new DaemonProcess(process.execPath, [program, url]);
  onTestFinished(() => child.end('SIGKILL'));
  return child;
}

/** Milliseconds from SIGTERM until the process ended by itself. */
async function endsWithin(child: DaemonProcess, limit: number): Promise<void> {
  const started = performance.now();
  child.signal('SIGTERM');
  await until(() => !child.isRunning, { timeout: 10_000, what: 'the process to end by itself' });
  const took = performance.now() - started;
  expect(child.output).toContain('run resolved');
  expect(child.output).not.toMatch(/uncaughtException|unhandledRejection/);
  expect(child.exit).toBe(0);
  expect(took).toBeLessThan(limit);
}

describe('a process whose source was told to end', () => {
  let etcd: EtcdServer;
  beforeAll(async () => {
    etcd = await EtcdServer.start(binary);
    await etcd.client.put('/a/1', 'one');
  });
  afterAll(() => etcd.close());

  it('ends by itself while watching', async () => {
    const child = run(etcd.url);
    await until(() => child.output.includes('event snapshot'), { timeout: 10_000 });
    await endsWithin(child, 1_000);
  });

  it.each(['silent', 'refuse', 'freeze'] as const)(
    'ends by itself while the endpoint is %s',
    async (mode) => {
      const proxy = await FaultProxy.start(etcd.port);
      onTestFinished(() => proxy.close());
      await proxy.setMode(mode);
      const child = run(`http://127.0.0.1:${proxy.port}`);
      await until(() => child.output.includes('event lost'), { timeout: 10_000 });
      await endsWithin(child, 1_000);
    },
  );

  it('ends by itself while etcd stands still under an open watch', async () => {
    const child = run(etcd.url);
    await until(() => child.output.includes('event snapshot'), { timeout: 10_000 });
    etcd.pause();
    onTestFinished(() => etcd.resume());
    await endsWithin(child, 1_000);
  });

  it('ends by itself while its packets get lost', async () => {
    const listener = new DaemonProcess(process.execPath, ['-e', DEAF]);
    onTestFinished(() => listener.end('SIGKILL'));
    const port = Number(await until(() => /\d+/.exec(listener.output)?.[0]));
    // Fills the queue of connections that nobody accepts; from then on the kernel drops what comes.
    const filling = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    onTestFinished(() => {
      for (const socket of filling) socket.destroy();
    });
    const child = run(`http://127.0.0.1:${port}`);
    await until(() => child.output.includes('did not answer within 2 s'), { timeout: 10_000 });
    await endsWithin(child, 1_000);
  });
});

/** Listens with a queue for one connection and then never runs again. */
const DEAF = `
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
