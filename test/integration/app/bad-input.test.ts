import { chmodSync, chownSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { Birdfeed, type Finished, runBirdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, calicoNode, calicoPeer, fillEtcd, meshNode } from '../../support/calico.ts';
import { canMakeCertificates, createCa } from '../../support/certs.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import { canMount, mount, smallDisk } from '../generation/support.ts';
import {
  BIRD2,
  type Host,
  hostArgs,
  makeHost,
  onetime,
  ownTemplate,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
const isRoot = process.getuid?.() === 0;
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());
beforeEach(() => fillEtcd(etcd.client, calicoMesh(3)));

const NO_RELOAD = ['--reload', 'none'];

/** A host with generation 1 in its cache. */
async function goodHost(at?: string): Promise<Host> {
  const host = await makeHost(BIRD2);
  const placed = at === undefined ? host : { ...host, cache: at };
  expect(await onetime(placed, etcd, NO_RELOAD)).toMatchObject({ code: 0 });
  return placed;
}

const current = ({ cache }: Host) => readlinkSync(join(cache, 'current'));

/** What a run said last: the line that ended it, or the reason in its last error. */
function complaint({ stderr, logs }: Finished): string {
  const line =
    stderr === '' ? String(logs.findLast(({ level }) => level === 'error')?.['reason']) : stderr.trim();
  expect(line).not.toContain('\n');
  expect(line).not.toContain('internal error');
  return line;
}

/** A run that must fail with this code and this line, with generation 1 left as it was. */
async function fails(host: Host, args: readonly string[], code: number, says: RegExp, unprivileged = false) {
  const result = await onetime(host, etcd, [...NO_RELOAD, ...args], { unprivileged });
  expect({ code: result.code, line: complaint(result) }).toEqual({ code, line: expect.stringMatching(says) });
  expect(current(host)).toBe('generations/00000001');
}

function resourceFile(host: Host, text: string): string[] {
  const confdir = join(host.directory, 'confdir');
  mkdirSync(join(confdir, 'conf.d'), { recursive: true });
  writeFileSync(join(confdir, 'conf.d', 'x.toml'), text);
  return ['--confdir', confdir];
}

describe('in the configuration', () => {
  it('a resource file that is a link in circles is named', async () => {
    const host = await goodHost();
    const args = resourceFile(host, '');
    const file = join(host.directory, 'confdir', 'conf.d', 'x.toml');
    rmSync(file);
    symlinkSync('x.toml', file);
    await fails(host, args, 78, /x\.toml: cannot be read: ELOOP/);
  });

  it.each([
    [
      'an unknown field',
      'src = "x"\ndest = "x"\nreload_cmdd = "y"\n',
      /x\.toml:4: reload_cmdd is not a field; did you mean "reload_cmd"\?$/,
    ],
    ['a wrong type', 'src = "x"\ndest = "x"\nmode = 644\n', /x\.toml:4: mode .*"0644"/],
    [
      'a value out of range',
      'src = "x"\ndest = "x"\nmode = "0999"\n',
      /x\.toml:4: mode must be three octal digits/,
    ],
    ['a missing field', 'src = "x"\n', /x\.toml:?\d*: dest is missing$/],
    ['no TOML at all', 'src = x\n', /x\.toml:2:\d+: not valid TOML: /],
  ])('%s is named with file and line', async (_what, toml, says) => {
    const host = await goodHost();
    await fails(host, resourceFile(host, `[template]\n${toml}`), 78, says);
  });

  it.each([
    [
      'an unknown option',
      ['--etcd-endpoint', 'x'],
      64,
      /^birdfeed: unknown option --etcd-endpoint; did you mean "etcd-endpoints"\?/,
    ],
    ['an option without its value', ['--confdir'], 64, /^birdfeed: option --confdir needs a value \(DIR\)$/],
    [
      'an option of the wrong type',
      ['--keep', 'many'],
      64,
      /^birdfeed: option --keep: "many" is not a whole number$/,
    ],
  ])('%s is named', async (_what, args, code, says) => {
    await fails(await goodHost(), args, code, says);
  });

  it.each([
    [
      'an unknown entry',
      'node_nam = "x"\n',
      /birdfeed\.toml: unknown entry "node_nam"; did you mean "node_name"\?$/,
    ],
    ['an entry of the wrong type', 'keep = "3"\n', /birdfeed\.toml: keep must be a whole number$/],
    ['no TOML at all', 'keep = \n', /birdfeed\.toml:1:8: not valid TOML: /],
  ])('%s of the configuration file is named', async (_what, toml, says) => {
    const host = await goodHost();
    const file = join(host.directory, 'birdfeed.toml');
    writeFileSync(file, toml);
    await fails(host, ['--config', file], 78, says);
  });
});

describe('in a template', () => {
  it.each([
    ['a syntax error', 'router id 1.1.1.1;\n{% if x %}\n', /bird\.conf\.njk/],
    ['a name that does not exist', 'a\nb {{ nodee.routerId }}\n', /bird\.conf\.njk:2.*nodee/],
    ['a field that does not exist', 'a\n\n{{ node.routerID }}\n', /bird\.conf\.njk:3.*routerID/],
    ['a value that BIRD cannot quote', 'a\n{{ "say \\"hi\\"" | bird_string }}\n', /bird\.conf\.njk:2/],
  ])('%s is named with file and line', async (_what, text, says) => {
    const host = await goodHost();
    await fails(host, ['--confdir', ownTemplate(host, 'bird.conf.njk', text)], 65, says);
  });

  it('that is missing is named, with where it was looked for', async () => {
    const host = await goodHost();
    const args = resourceFile(host, '[template]\nsrc = "nosuch.njk"\ndest = "x"\nkeys = ["/x"]\n');
    await fails(host, args, 65, /nosuch\.njk.*confdir\/templates/);
  });
});

describe('in the datastore', () => {
  it('a resource that does not validate is left out alone, and named with key and field', async () => {
    const host = await goodHost();
    await etcd.client.put(...calicoNode('n2', { v4: '10.0.0.2/24', bgp: { asNumber: 'many' } }));
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 65001 }));
    const birdfeed = await startBirdfeed(host, etcd, NO_RELOAD);
    const status = await birdfeed.reaches('degraded', ({ config, data }) => {
      return config.state === 'degraded' && data.state === 'fresh';
    });
    expect(status.config.reason).toMatch(/^Node\/n2: .*asNumber/);
    expect(status.problems).toMatchObject([
      {
        severity: 'error',
        id: 'resource-invalid',
        subject: 'Node/n2',
        field: expect.stringContaining('asNumber'),
      },
    ]);
    // n3 and the peer are there; n2 has no last good version since birdfeed's start.
    expect(status.generation).toMatchObject({ number: 2, sessions: 3 });
  });

  it('this node is missing: the message has the names that there are', async () => {
    const host = { ...(await goodHost()), nodeName: 'N1.example.org' };
    await fails(
      host,
      ['--wait', '4s'],
      75,
      /^node "N1\.example\.org" is not in the datastore \(it has n1, n2, n3\); set --node-name or NODENAME/,
    );
  });

  it('a half-written fixture never reaches the output, and is named until it is whole', async () => {
    const host = await makeHost(BIRD2);
    const fixtures = await testDir();
    const file = join(fixtures, 'nodes.yaml');
    const text = (count: number) =>
      Array.from({ length: count }, (_, index) => meshNode(index + 1)[1]).join('\n---\n');
    writeFileSync(file, text(3));
    const birdfeed = await Birdfeed.start([...hostArgs(host), ...NO_RELOAD, '--fixtures', fixtures], host);
    await birdfeed.settled();
    writeFileSync(file, text(3).slice(0, -40));
    const broken = await birdfeed.reaches('degraded', ({ config }) => config.state === 'degraded');
    expect(broken.config.reason).toMatch(/nodes\.yaml:\d+/);
    expect(broken.generation).toMatchObject({ number: 1, sessions: 4 });
    writeFileSync(file, text(4));
    const whole = await birdfeed.settled();
    expect(whole).toMatchObject({ generation: { number: 2, sessions: 6 }, problems: [] });
    expect(await onetime({ ...host, cache: join(host.directory, 'other') }, etcd, [])).toMatchObject({
      code: 0,
    });
  });

  it('a fixture that is broken from the start is named; nothing is published', async () => {
    const host = await makeHost(BIRD2);
    const fixtures = await testDir();
    writeFileSync(join(fixtures, 'nodes.yaml'), `${meshNode(1)[1]}\n---\nkind: Node\n  spec: x\n`);
    const args = ['--onetime', ...hostArgs(host), ...NO_RELOAD, '--fixtures', fixtures, '--wait', '3s'];
    const result = await runBirdfeed([...args, '--cache', host.cache]);
    expect(result.code).toBe(65);
    expect(complaint(result)).toMatch(/nodes\.yaml:\d+/);
  });

  it('a fixtures directory that does not exist is named', async () => {
    const host = await makeHost(BIRD2);
    const args = [
      '--onetime',
      ...hostArgs(host),
      ...NO_RELOAD,
      '--fixtures',
      '/nonexistent/x',
      '--wait',
      '3s',
    ];
    const result = await runBirdfeed([...args, '--cache', host.cache]);
    expect(result.code).not.toBe(0);
    expect(complaint(result)).toContain('/nonexistent/x');
  });
});

describe('on disk', () => {
  it.runIf(isRoot)('a cache that may not be entered is named, with who owns it', async () => {
    const host = await goodHost();
    chownSync(host.cache, 65534, 65534);
    chmodSync(host.cache, 0o700);
    const result = await onetime(host, etcd, NO_RELOAD, { unprivileged: true });
    expect(result.code).toBe(77);
    expect(complaint(result)).toMatch(new RegExp(`${host.cache}.*EACCES`));
    expect(current(host)).toBe('generations/00000001');
  });

  it.runIf(canMount())('a read-only disk is named', async () => {
    const disk = await smallDisk(1024);
    const host = await goodHost(join(disk, 'cache'));
    await mount(disk, '-o', 'remount,ro');
    await fails(host, ['--wait', '3s'], 73, new RegExp(`${host.cache}.*EROFS`));
  });

  it.runIf(canMount())('a full disk is named, and published to as soon as there is space', async () => {
    const disk = await smallDisk(256);
    const host = await goodHost(join(disk, 'cache'));
    const birdfeed = await startBirdfeed(host, etcd, NO_RELOAD);
    await birdfeed.settled();
    expect(() => writeFileSync(join(disk, 'ballast'), Buffer.alloc(1024 * 1024))).toThrow('ENOSPC');
    await etcd.client.put(...meshNode(4));
    const full = await birdfeed.reaches('degraded', ({ config }) => config.state === 'degraded');
    expect(full.config.reason).toMatch(/ENOSPC.*space/);
    expect(full.generation?.number).toBe(1);
    expect(current(host)).toBe('generations/00000001');
    // Without another change: what failed is owed.
    rmSync(join(disk, 'ballast'));
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2, sessions: 6 } });
  });

  it.runIf(canMount())('a full disk ends --onetime with 73', async () => {
    const disk = await smallDisk(256);
    const host = await goodHost(join(disk, 'cache'));
    expect(() => writeFileSync(join(disk, 'ballast'), Buffer.alloc(1024 * 1024))).toThrow('ENOSPC');
    await etcd.client.put(...meshNode(4));
    await fails(host, ['--wait', '3s'], 73, /ENOSPC.*space/);
  });
});

describe('about BIRD', () => {
  it('a binary that is missing is named, when it was asked for', async () => {
    const host = await goodHost();
    await etcd.client.put(...meshNode(4));
    const args = ['--bird-binary', '/nonexistent/bird', '--syntax-check', 'required', '--wait', '3s'];
    await fails(host, args, 65, /^not checked: .*\/nonexistent\/bird/);
  });

  it('nothing that says which dialect is wanted is an error that names the choices', async () => {
    const host = await makeHost(BIRD2);
    const args = ['--onetime', '--node-name', 'n1', '--etcd-endpoints', etcd.url, '--cache', host.cache];
    const bird = ['--bird-binary', '/nonexistent/bird', '--control-socket', host.sockets[0]!];
    const result = await runBirdfeed([...args, ...bird]);
    expect(result.code).toBe(64);
    expect(complaint(result)).toMatch(
      /^birdfeed: cannot tell which BIRD to write for: .*Set --bird bird1, .*or none$/,
    );
  });

  it('a control socket that nobody serves is named, and told apart from one that is not there', async () => {
    const host = await goodHost();
    const birdfeed = await startBirdfeed(host, etcd);
    const absent = await birdfeed.reaches('a reason', ({ bird }) => bird.reason?.includes('not started'));
    expect(absent.bird).toMatchObject({
      state: 'unknown',
      reason: expect.stringContaining(host.sockets[0]!),
    });
    const [bird] = await startBirds(host);
    await birdfeed.settled();
    await bird!.kill9();
    const dead = await birdfeed.reaches('dead', ({ bird: { reason } }) => reason?.includes('BIRD is dead'));
    expect(dead.bird).toMatchObject({ state: 'unknown', reason: expect.stringContaining('stale socket') });
    expect(dead.generation?.number).toBe(1);
  });

  it('a control socket that is no socket is named', async () => {
    const host = await goodHost();
    writeFileSync(host.sockets[0]!, '');
    const birdfeed = await startBirdfeed(host, etcd);
    const { bird } = await birdfeed.reaches('a reason', (status) => status.bird.reason !== null);
    expect(bird.reason).toMatch(
      /is not a socket: --control-socket must name the path BIRD was given with -s/,
    );
  });

  it('a control socket of something else is named', async () => {
    const host = await goodHost();
    const server = createServer((connection) => {
      connection.on('error', () => {});
      connection.end('220 mail.example.org ESMTP\r\n');
    });
    await new Promise<void>((resolve) => server.listen(host.sockets[0], resolve));
    onTestFinished(() => void server.close());
    const birdfeed = await startBirdfeed(host, etcd);
    const { bird } = await birdfeed.reaches('a reason', (status) => status.bird.reason?.includes('BIRD'));
    expect(bird.state).toBe('unknown');
    expect(bird.reason).toContain(host.sockets[0]);
  });

  it.runIf(isRoot)('a control socket that may not be used is named, with whose it is, and 77', async () => {
    const host = await goodHost();
    await startBirds(host);
    chownSync(host.sockets[0]!, 65534, 65534);
    chmodSync(host.sockets[0]!, 0o600);
    const result = await onetime(host, etcd, ['--wait', '2s'], { unprivileged: true });
    expect(result.code).toBe(77);
    expect(complaint(result)).toMatch(
      /^not permitted to use BIRD's control socket .* \(owner 65534, group 65534, mode 0600; we are uid 0.*\): add us to group 65534/,
    );
  });
});

describe('of the listeners', () => {
  it.each(['9568', '127.0.0.1:99999', 'localhost'])('--listen %s is named', async (listen) => {
    const host = await goodHost();
    const args = [...hostArgs(host), ...NO_RELOAD, '--cache', host.cache, '--etcd-endpoints', etcd.url];
    const result = await runBirdfeed([...args, '--listen', listen], { timeout: 20_000 });
    expect(result.code).toBe(64);
    expect(complaint(result)).toContain(`--listen "${listen}"`);
    expect(current(host)).toBe('generations/00000001');
  });

  it('a cache too deep for an admin socket is named, and works otherwise', async () => {
    const host = await makeHost(BIRD2);
    const cache = join(host.directory, 'deep'.repeat(20), 'cache');
    mkdirSync(dirname(cache));
    const birdfeed = await startBirdfeed({ ...host, cache }, etcd, NO_RELOAD);
    await birdfeed.settled();
    const line = await birdfeed.says(({ level }) => level === 'error');
    expect(line['reason']).toMatch(/admin\.sock is longer than a socket path may be .*shorter --cache/);
    expect((await birdfeed.get('/readyz')).code).toBe(200);
  });
});

describe('of etcd', () => {
  it('wrong credentials are named without the password; what is cached is served', async () => {
    const locked = await EtcdServer.start(etcdBinary);
    onTestFinished(() => locked.close());
    await locked.client.enableAuth('the right one');
    const host = await goodHost();
    const args = ['--etcd-username', 'root', '--etcd-password', 'hush'];
    const endpoint = { url: locked.url };
    const result = await onetime(host, endpoint, [...NO_RELOAD, ...args, '--require-fresh', '--wait', '5s']);
    expect(result.code).toBe(75);
    expect(complaint(result)).toMatch(/root.*--etcd-password|--etcd-username.*root|user.*password/i);
    expect(JSON.stringify(result)).not.toContain('hush');
    const birdfeed = await startBirdfeed(host, endpoint, [...NO_RELOAD, ...args]);
    const { data } = await birdfeed.reaches('a reason', (status) => status.data.reason !== null);
    expect(data).toMatchObject({ state: 'cached', reason: expect.stringMatching(/password/i) });
    expect(current(host)).toBe('generations/00000001');
  });

  it.runIf(canMakeCertificates())('a wrong CA is named, with the file and the option', async () => {
    const directory = await testDir();
    mkdirSync(join(directory, 'ours'));
    mkdirSync(join(directory, 'other'));
    const ca = await createCa(join(directory, 'ours'));
    const other = await createCa(join(directory, 'other'));
    const secure = await EtcdServer.start(etcdBinary, {
      tls: { ca: ca.ca, server: await ca.issue('server') },
    });
    onTestFinished(() => secure.close());
    const host = await goodHost();
    const run = (caFile: string, wait: string) =>
      onetime(host, secure, [...NO_RELOAD, '--etcd-ca-file', caFile, '--require-fresh', '--wait', wait]);
    const result = await run(other.ca, '5s');
    expect(result.code).toBe(75);
    expect(complaint(result)).toMatch(/certificate.*--etcd-ca-file/);
    const missing = await run('/nonexistent/ca.pem', '5s');
    expect(missing.code).not.toBe(0);
    expect(complaint(missing)).toContain('/nonexistent/ca.pem');
    expect(current(host)).toBe('generations/00000001');
    await secure.client.putAll(calicoMesh(3));
    expect(complaint(await run(ca.ca, '5s'))).toMatch(/demands a client certificate: give --etcd-cert-file/);
    const { cert, key } = await ca.issue('client');
    const good = [
      '--etcd-ca-file',
      ca.ca,
      '--etcd-cert-file',
      cert,
      '--etcd-key-file',
      key,
      '--require-fresh',
    ];
    expect(await onetime(host, secure, [...NO_RELOAD, ...good])).toMatchObject({ code: 0 });
  });

  it('an endpoint that is no URL is named', async () => {
    const host = await goodHost();
    const result = await onetime(host, { url: 'not a url' }, NO_RELOAD);
    expect(result.code).toBe(64);
    expect(complaint(result)).toContain('not a url');
  });
});
