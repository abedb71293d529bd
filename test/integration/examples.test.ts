import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { binaries, requireBinary } from '../support/binaries.ts';
import { builtProgram } from '../support/birdfeed-command.ts';
import { makeDir, removeDir, testDir } from '../support/tmp.ts';
import { until } from '../support/wait.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const example = (...path: string[]): string => join(root, 'examples', ...path);
const LIMIT = { timeout: 120_000 };

/** Nothing of this machine's environment, and no BIRD on the path: what is published is what was rendered. */
const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', NO_COLOR: '1' };

async function birdfeed(args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [builtProgram(), ...args], { env, cwd: root });
  return stdout;
}

/** Publishes once and gives the directory with the files. */
async function publish(args: readonly string[], into?: string): Promise<string> {
  const cache = into ?? join(await testDir('bf-ex'), 'cache');
  await birdfeed(['--onetime', '--reload', 'none', '--cache', cache, ...args]);
  return join(cache, 'current');
}

/** Rejects with BIRD's message when it does not accept the file. */
async function parse(bird: string, file: string): Promise<void> {
  await run(bird, ['-p', '-c', file]);
}

interface Shown {
  readonly stamp: { readonly sessions: readonly { readonly name: string; readonly address: string }[] };
}

async function sessionsOf(fixtures: string, node: string, dialect: string): Promise<[string, string][]> {
  const directory = await publish(['--fixtures', fixtures, '--node-name', node, '--bird', dialect]);
  const cache = join(directory, '..');
  const shown = JSON.parse(await birdfeed(['generations', 'show', '--json', '--cache', cache])) as Shown;
  return shown.stamp.sessions.map(({ address }): [string, string] => [node, address]);
}

const CLUSTERS = [
  { name: 'mesh', nodes: ['n1', 'n2', 'n3'] },
  { name: 'route-reflectors', nodes: ['rr1', 'rr2', 'worker1', 'worker2', 'worker3'] },
];

describe.each(CLUSTERS)('the example $name', ({ name, nodes }) => {
  let folder: string;
  const rendered = (dialect: string, node: string, file: string): string =>
    join(folder, `${dialect}-${node}`, 'current', file);

  beforeAll(async () => {
    folder = await makeDir('bf-ex');
    for (const dialect of ['bird1', 'bird2']) {
      for (const node of nodes) {
        const cache = join(folder, `${dialect}-${node}`);
        await publish(['--fixtures', example(name), '--node-name', node, '--bird', dialect], cache);
      }
    }
  }, 120_000);

  afterAll(() => removeDir(folder));

  describe.each(['bird20', 'bird217', 'bird31'] as const)('with %s', (version) => {
    const { bird } = requireBinary(binaries[version], version);

    test.each(nodes)('is accepted for %s', (node) => parse(bird, rendered('bird2', node, 'bird.conf')));
  });

  describe('with bird16', () => {
    const ipv4 = requireBinary(binaries.bird16, 'bird16');
    const ipv6 = requireBinary(binaries.bird6_16, 'bird16');

    test.each(nodes)('is accepted for %s by both daemons', async (node) => {
      await parse(ipv4.bird, rendered('bird1', node, 'bird.cfg'));
      await parse(ipv6.bird, rendered('bird1', node, 'bird6.cfg'));
    });
  });
});

test('every session of the mesh has its other end', LIMIT, async () => {
  const address: Record<string, readonly string[]> = {};
  const ends = new Set<string>();
  for (const number of [1, 2, 3]) {
    const node = `n${number}`;
    address[node] = [`10.0.0.1${number}`, `fd00:10::1${number}`];
    for (const [from, to] of await sessionsOf(example('mesh'), node, 'bird2')) ends.add(`${from} ${to}`);
  }
  const expected = Object.keys(address).flatMap((from) =>
    Object.keys(address)
      .filter((to) => to !== from)
      .flatMap((to) => address[to]!.map((remote) => `${from} ${remote}`)),
  );
  expect([...ends].sort()).toEqual(expected.sort());
});

test('the reflector reflects to its clients only, and tells the switch only pod routes', LIMIT, async () => {
  const args = ['--fixtures', example('route-reflectors'), '--node-name', 'rr1', '--bird', 'bird2'];
  const text = await readFile(join(await publish(args), 'bird.conf'), 'utf8');
  const protocol = (name: string): string =>
    text.slice(text.indexOf(`protocol bgp ${name} `)).split('\n}\n')[0]!;
  for (const client of ['Node_10_0_0_21', 'Node_10_0_0_22', 'Node_10_0_0_23'])
    expect(protocol(client)).toMatch(/rr client;\n {2}rr cluster id 244\.0\.0\.1;\n {2}password "/);
  for (const other of ['Node_10_0_0_12', 'Node_10_0_0_1'])
    expect(protocol(other)).not.toMatch(/rr |password/);
  expect(protocol('Node_10_0_0_1')).toContain('bgp_tor_exportFilterV4();');
});

test('the generic resource renders what its keys say', LIMIT, async () => {
  const fixtures = example('haproxy', 'fixtures');
  const args = ['--confdir', example('haproxy'), '--fixtures', fixtures, '--bird', 'none'];
  const cache = join(await publish(args), '..');
  const text = await readFile(join(cache, 'sets', 'haproxy', 'current', 'haproxy.cfg'), 'utf8');
  expect(text).toContain('  server shop-2 10.1.0.12:8080 weight 50 check\n');
  expect(text).toContain('http-request deny unless { src 192.0.2.0/24 198.51.100.0/24 }\n');
});

describe('the example of a template author', () => {
  const { bird } = requireBinary(binaries.bird217, 'bird217');

  test('shows the diff of each save, and BIRD accepts the result', LIMIT, async () => {
    const folder = await testDir('bf-ex');
    const own = join(folder, 'own');
    const cache = join(folder, 'cache');
    await cp(example('own-template'), own, { recursive: true });
    const options = [
      '--confdir',
      own,
      '--fixtures',
      join(own, 'fixtures'),
      '--bird',
      'none',
      '--cache',
      cache,
    ];
    const output = watch([...options, '--reload', 'none', '--listen', 'none', '--show-diff', 'always']);
    const current = join(cache, 'current', 'bird.conf');
    await until(() => access(current).then(() => true), { timeout: 20_000 });

    await edit(join(own, 'fixtures', 'edge.yaml'), '203.0.113.123/32', '203.0.113.124/32');
    await until(() => output().includes('+  route 203.0.113.124/32 blackhole; # ntp'), { timeout: 20_000 });

    await edit(join(own, 'templates', 'edge.conf.njk'), 'import none', 'import where net = 0.0.0.0/0');
    await until(() => output().includes('+    import where net = 0.0.0.0/0;'), { timeout: 20_000 });
    await parse(bird, current);
  });
});

test('the demo tells its story without a terminal, and leaves nothing behind', LIMIT, async () => {
  const before = await leftBehind();
  const { stdout } = await run(process.execPath, [join(root, 'scripts/demo.mjs')], { cwd: root });
  expect(stdout).toContain('rr cluster id 244.0.0.1;');
  expect(stdout).toContain('generation 2 is published; sessions: 1 added (Node_10_0_0_24)');
  expect(stdout).toContain('generation 3 is published; sessions: 1 reset (Node_10_0_0_24)');
  expect(stdout).toContain('{"ready":false,"reason":"not yet fresh and applied: cached;');
  expect(stdout).not.toMatch(/\x1b/);
  expect(stdout).not.toContain('example-only');
  expect(await leftBehind()).toEqual(before);
});

async function leftBehind(): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('birdfeed-demo-'));
}

/** Starts birdfeed for the running test; what it printed until now is what the result returns. */
function watch(args: readonly string[]): () => string {
  const child = spawn(process.execPath, [builtProgram(), ...args], { env, cwd: root });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += String(chunk);
  });
  child.stderr.resume();
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return () => printed;
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  expect(text).toContain(from);
  await writeFile(file, text.replaceAll(from, to));
}
