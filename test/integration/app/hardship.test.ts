import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as lasts } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import {
  calicoConfiguration,
  calicoMesh,
  calicoNode,
  fillEtcd,
  meshNode,
  nodeKey,
} from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { FaultProxy } from '../../support/fault-proxy.ts';
import { type SocketTap, tapSocket } from '../../support/socket-tap.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { BIRD2, birdsHave, etcdArgs, makeHost, readState, startBirdfeed, startBirds } from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());
beforeEach(() => fillEtcd(etcd.client, calicoMesh(3)));

/** A BIRD behind a tap, and a birdfeed that has the running BIRD check, for want of a binary. */
async function startTapped() {
  const host = await makeHost(BIRD2);
  const birds = await startBirds(host);
  const tap = await tapSocket(join(host.directory, 'tap.ctl'), host.sockets[0]!);
  const birdfeed = await startBirdfeed({ ...host, sockets: [tap.path] }, etcd, [
    ...['--bird-binary', '/nonexistent/bird'],
  ]);
  await birdfeed.settled();
  return { host, bird: birds[0]!, birds, tap, birdfeed };
}

/** Kills BIRD when it is asked to check, before it can answer; `times` times. */
function killOnCheck(tap: SocketTap, kill: () => Promise<void>, times: number): void {
  let left = times;
  tap.onCommand = async (command) => {
    if (!command.startsWith('configure check') || left === 0) return;
    left -= 1;
    await kill();
  };
}

const current = (cache: string) => readlinkSync(join(cache, 'current'));

describe('a BIRD that dies while it is asked to check', () => {
  it('has refused nothing: the content waits for the next BIRD, which checks and runs it', async () => {
    const { host, bird, birds, tap, birdfeed } = await startTapped();
    killOnCheck(tap, () => bird.kill9(), 1);
    await etcd.client.put(...meshNode(4));
    const waits = await birdfeed.reaches('waiting', ({ config }) => /BIRD died/.test(config.reason ?? ''));
    expect(waits.generation?.number).toBe(1);
    // Not published unchecked meanwhile either, however often it is looked at.
    await birdfeed.reaches('another look', ({ counters }) => counters.runs > waits.counters.runs);
    expect(current(host.cache)).toBe('generations/00000001');
    await bird.restart();
    await birdsHave(birds, [
      'Mesh_10_0_0_2',
      'Mesh_10_0_0_3',
      'Mesh_10_0_0_4',
      'Mesh_fd00__2',
      'Mesh_fd00__3',
      'Mesh_fd00__4',
    ]);
    await birdfeed.settled();
    expect(readState(host).verdicts).toEqual([]);
  });

  it('twice of the same content has refused it, and is not asked a third time', async () => {
    const { host, bird, tap, birdfeed } = await startTapped();
    killOnCheck(tap, () => bird.kill9(), 2);
    await etcd.client.put(...meshNode(4));
    await until(() => !bird.isRunning);
    await bird.restart();
    await until(() => !bird.isRunning, { timeout: 20_000 });
    await bird.restart();
    const refused = await birdfeed.reaches('refused', ({ config, bird: { state } }) => {
      return state === 'applied' && /BIRD died twice while checking it/.test(config.reason ?? '');
    });
    expect(refused.generation?.number).toBe(1);
    expect(readState(host).verdicts).toHaveLength(1);
    const checks = () => tap.commands.filter((command) => command.startsWith('configure check')).length;
    const asked = checks();
    await etcd.client.put(nodeKey('n4'), meshNode(4)[1].replace('{', '{ '));
    await birdfeed.reaches('another look', ({ counters }) => counters.runs > refused.counters.runs);
    expect(checks()).toBe(asked);
    await etcd.client.del(nodeKey('n3'));
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2, sessions: 4 } });
  });
});

describe('a birdfeed that has nothing to do', () => {
  it('asks etcd and BIRD for nothing but a sign of life', async () => {
    const proxy = await FaultProxy.start(etcd.port);
    onTestFinished(() => proxy.close());
    const host = await makeHost(BIRD2);
    await startBirds(host);
    const tap = await tapSocket(join(host.directory, 'tap.ctl'), host.sockets[0]!);
    const url = `http://127.0.0.1:${proxy.port}`;
    const birdfeed = await startBirdfeed({ ...host, sockets: [tap.path] }, { url });
    const before = await birdfeed.settled();
    const [sent, asked] = [proxy.counters, tap.commands.length];
    const cpu = cpuMs(birdfeed.pid);
    await lasts(6_000);
    const { fromClients, fromServer } = proxy.counters;
    // A progress request every five seconds; a list of this little store would be 2 kB.
    expect(fromClients - sent.fromClients).toBeLessThan(600);
    expect(fromServer - sent.fromServer).toBeLessThan(600);
    expect(tap.commands.slice(asked).filter((command) => !command.startsWith('eval'))).toEqual([]);
    expect(cpuMs(birdfeed.pid) - cpu).toBeLessThan(300);
    expect((await birdfeed.status()).counters).toEqual(before.counters);
  });
});

/** User and system time that a process has used, milliseconds; clock ticks are 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

describe('readiness', () => {
  it('does not wait for sessions to come up, nor for there to be any', async () => {
    const host = await makeHost(BIRD2);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    await birdfeed.settled();
    // Nobody answers at the other ends.
    expect([...(await birds[0]!.protocols()).values()].some((row) => row.includes('Established'))).toBe(
      false,
    );
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    await etcd.client.put(...calicoConfiguration({ nodeToNodeMeshEnabled: false, asNumber: 64_512 }));
    await birdsHave(birds, []);
    const alone = await startBirdfeed({ ...host, cache: join(host.directory, 'other') }, etcd);
    expect(await alone.settled()).toMatchObject({ generation: { sessions: 0 } });
    expect((await alone.get('/readyz')).code).toBe(200);
  });
});

describe('what is held', () => {
  it('is measured against a whole new list of the datastore, again and again', async () => {
    const padding = 'x'.repeat(100_000);
    const heavy = calicoNode('n9', { v4: '10.0.0.9/24' });
    const object = JSON.parse(heavy[1]) as { metadata: object };
    const annotated = { ...object, metadata: { ...object.metadata, annotations: { padding } } };
    await etcd.client.putAll([...calicoMesh(6), [heavy[0], JSON.stringify(annotated)]]);
    const proxy = await FaultProxy.start(etcd.port);
    onTestFinished(() => proxy.close());
    const host = await makeHost(BIRD2);
    const birdfeed = await startBirdfeed(host, { url: `http://127.0.0.1:${proxy.port}` }, [
      '--reload',
      'none',
    ]);
    await birdfeed.settled();
    await etcd.client.txn(['n3', 'n4', 'n5', 'n6'].map((name) => ({ del: nodeKey(name) })));
    const held = await birdfeed.reaches('held', ({ config }) => config.state === 'held');
    const { fromServer } = proxy.counters;
    await until(() => proxy.counters.fromServer - fromServer > padding.length, {
      timeout: 20_000,
      what: 'everything to be listed anew',
    });
    const still = await birdfeed.reaches(
      'another look',
      ({ counters }) => counters.runs > held.counters.runs,
    );
    expect(still.held).toEqual(held.held);
    expect(current(host.cache)).toBe('generations/00000001');
  });
});

/** A directory with conf.d for plain files from the keys below /motd. */
async function plain(resources: Readonly<Record<string, string>>) {
  const directory = await testDir('bfa');
  const confdir = join(directory, 'confdir');
  mkdirSync(join(confdir, 'conf.d'), { recursive: true });
  mkdirSync(join(confdir, 'templates'));
  for (const [name, more] of Object.entries(resources)) {
    const toml = `[template]\nsrc = "${name}.njk"\ndest = "${join(directory, name)}"\nkeys = ["/motd"]\n${more}`;
    writeFileSync(join(confdir, 'conf.d', `${name}.toml`), toml.replaceAll('DIR', directory));
    writeFileSync(join(confdir, 'templates', `${name}.njk`), `${name} {{ getv("/motd/text") }}\n`);
  }
  const args = ['--bird', 'none', '--confdir', confdir, ...etcdArgs(etcd)];
  return { directory, args, cache: join(directory, 'cache') };
}

describe('files of one daemon', () => {
  it('are all in place before the command that they share is run, once', async () => {
    const command = 'set = "web"\nreload_cmd = "cat DIR/one DIR/two >> DIR/seen; echo . >> DIR/seen"\n';
    const { directory, args, cache } = await plain({ one: command, two: command });
    await etcd.client.put('/motd/text', 'a');
    const seen = () =>
      existsSync(join(directory, 'seen')) ? readFileSync(join(directory, 'seen'), 'utf8') : '';
    await Birdfeed.start(args, { cache });
    await until(() => seen() === 'one a\ntwo a\n.\n', { timeout: 20_000, what: 'the first reload' });
    await etcd.client.put('/motd/text', 'b');
    await until(() => seen() === 'one a\ntwo a\n.\none b\ntwo b\n.\n', { what: 'one more reload' });
  });
});

describe('--onetime', () => {
  it.each(['check_cmd', 'reload_cmd'])('ends in time with a %s that hangs, and ends that', async (kind) => {
    const { directory, args, cache } = await plain({ one: `${kind} = "echo $$ > DIR/pid; sleep 1000"\n` });
    await etcd.client.put('/motd/text', 'a');
    const started = performance.now();
    const limits = ['--wait', '4s', '--check-timeout', '1s', '--reload-timeout', '1s'];
    const ended = await runBirdfeed(['--onetime', ...args, ...limits, '--cache', cache]);
    expect(performance.now() - started).toBeLessThan(12_000);
    // Nobody could be asked, or told.
    expect(ended.code).toBe(69);
    const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});
