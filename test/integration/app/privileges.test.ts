import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, skipSuite } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { type Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, calicoPeer, fillEtcd } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import {
  BIRD2,
  birdsHave,
  etcdArgs,
  FIRST_CONFIG,
  FLAVOURS,
  hostArgs,
  makeHost,
  ownTemplate,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

const MESH = ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3'];
const BIRD_USER = 4001;
const OUR_USER = 4002;
/** What both are in: the control socket's group, and that of the files. */
const GROUP = 4003;

describe.each(FLAVOURS)('as a user of its own, beside %s as another', (_name, flavour) => {
  if (process.getuid?.() !== 0) skipSuite('other users can be taken on by root only');

  it('does everything with nothing but the cache to write to and the socket to talk to', async () => {
    await fillEtcd(etcd.client, calicoMesh(3));
    const host = await makeHost(flavour);
    chmodSync(host.directory, 0o755);
    mkdirSync(host.cache, { mode: 0o750 });
    chownSync(host.cache, OUR_USER, GROUP);
    const run = join(host.directory, 'run');
    mkdirSync(run, { mode: 0o750 });
    chownSync(run, BIRD_USER, GROUP);
    const sockets = flavour.daemons.map(({ file }) => join(run, `${file}.ctl`));
    const first = join(host.directory, 'first.conf');
    writeFileSync(first, FIRST_CONFIG, { mode: 0o644 });
    const birds = await Promise.all(
      flavour.daemons.map(async ({ ipv6 }, index) => {
        const bird = await BirdDaemon.start(flavour.binary, {
          config: { path: first },
          socket: sockets[index] as string,
          ipv6,
          args: ['-d', '-u', String(BIRD_USER), '-g', String(GROUP)],
        });
        onTestFinished(() => bird.close());
        return bird;
      }),
    );
    for (const socket of sockets) {
      expect(lstatSync(socket)).toMatchObject({ uid: BIRD_USER, gid: GROUP });
      expect(lstatSync(socket).mode & 0o007).toBe(0);
    }
    const birdfeed = await startBirdfeed({ ...host, sockets }, etcd, [], {
      as: { uid: OUR_USER, gid: GROUP },
      cwd: '/',
    });
    await birdsHave(birds, MESH);
    await birdfeed.settled();

    for (const { path, mode, uid } of filesUnder(host.cache)) {
      expect(uid, path).toBe(OUR_USER);
      expect(mode & 0o007, `${path} for others`).toBe(0);
      // BIRD reads, it does not write.
      expect(mode & 0o020, `${path} writable by the group`).toBe(0);
    }
    const owned = new Map(
      filesUnder(host.cache).map(({ path, mode }) => [path.slice(host.cache.length + 1), mode & 0o777]),
    );
    expect(owned.get('admin.sock')).toBe(0o600);
    expect(owned.get('state.json')).toBe(0o600);
    const [name] = flavour.daemons.map(({ file }) => file);
    expect(owned.get(`generations/00000001/${name}`)).toBe(0o640);
    // Nobody else may say anything to it.
    const other = await runBirdfeed(['status', '--cache', host.cache], { as: { uid: 4004, gid: 4004 } });
    expect(other.code).not.toBe(0);
  });
});

function filesUnder(directory: string): { path: string; mode: number; uid: number }[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .map((path) => ({ path, ...lstatSync(path) }))
    .filter(({ mode }) => (mode & 0o170000) !== 0o120000)
    .map(({ path, mode, uid }) => ({ path, mode, uid }));
}

describe('a password', () => {
  const PASSWORD = 'hunter2-correct-horse';
  const TOO_LONG = `battery-staple-${'x'.repeat(80)}`;
  const HOSTILE = 'tr0ub4dor"; } protocol static';
  const SECRETS = [PASSWORD, TOO_LONG, HOSTILE].flatMap((text) => [
    text,
    text.slice(0, 14),
    Buffer.from(text).toString('base64').slice(0, 16),
    Buffer.from(text).toString('hex').slice(0, 24),
  ]);

  it('is in the configuration and nowhere else: not in logs, status, metrics, stamps, state or messages', async () => {
    const keys = { good: PASSWORD, long: TOO_LONG, hostile: HOSTILE };
    await fillEtcd(etcd.client, [
      ...calicoMesh(2),
      ...Object.keys(keys).map((key, i) =>
        calicoPeer(key, {
          peerIP: `172.16.0.${i + 1}`,
          asNumber: 65_001,
          password: { secretKeyRef: { name: 'bgp', key } },
        }),
      ),
    ]);
    const host = await makeHost(BIRD2);
    const secrets = join(host.directory, 'secrets');
    mkdirSync(join(secrets, 'kube-system', 'bgp'), { recursive: true });
    for (const [key, text] of Object.entries(keys))
      writeFileSync(join(secrets, 'kube-system', 'bgp', key), text);
    await startBirds(host);
    const options = ['--secrets-dir', secrets, '--log-level', 'debug'];
    const birdfeed = await startBirdfeed(host, etcd, options);
    await birdfeed.reaches('the good session applied', ({ bird, generation }) => {
      return bird.state === 'applied' && generation !== null;
    });
    expect(readFileSync(join(host.cache, 'current', 'bird.conf'), 'utf8')).toContain(`"${PASSWORD}"`);

    // A changed password, then a refusal of the file by BIRD on the very line, and a template that fails on it.
    writeFileSync(join(secrets, 'kube-system', 'bgp', 'good'), `${PASSWORD}-2`);
    await birdfeed.reaches(
      'generation 2',
      ({ generation, bird }) => generation?.number === 2 && bird.state === 'applied',
    );
    const renderedWith = (confdir: string, cache: string) =>
      runBirdfeed(
        [
          ...['--onetime', ...hostArgs(host), ...etcdArgs(etcd), ...options],
          ...['--confdir', confdir, '--cache', join(host.directory, cache)],
        ],
        {},
      );
    const refused = ownTemplate(
      host,
      'bird.conf.njk',
      'router id 10.0.0.1;\n{% for s in ipv4.sessions %}{% if s.password %}nonsense "{{ s.password }}";{% endif %}{% endfor %}\n',
    );
    const bad = await renderedWith(refused, 'c2');
    expect(bad.code).toBe(65);
    ownTemplate(
      host,
      'bird.conf.njk',
      '{{ ipv4.sessions[1].password | bird_number }}{{ ipv4.sessions[1].nothing }}\n',
    );
    const failed = await renderedWith(refused, 'c3');
    expect(failed.code).toBe(65);

    const asked = { env: { BIRDFEED_ETCD_USERNAME: 'u', BIRDFEED_ETCD_PASSWORD: 'etcd-s3cret' } };
    const configuration = await runBirdfeed(['--print-config'], asked);
    expect(configuration.code).toBe(0);
    const commands = await Promise.all(
      [
        ['status'],
        ['status', '--json'],
        ['generations', 'list'],
        ['explain', 'BGPPeer/good', ...hostArgs(host), ...etcdArgs(etcd), ...options],
        ['diff', ...hostArgs(host), ...etcdArgs(etcd), ...options],
      ].map((args) => runBirdfeed([...args, '--cache', host.cache])),
    );
    const printed = [bad, failed, configuration, ...commands].map(
      ({ stdout, stderr, logs }) => stdout + stderr + JSON.stringify(logs),
    );
    const pages = await Promise.all(
      ['/status', '/metrics', '/readyz', '/livez'].map((path) => page(birdfeed.port, path)),
    );
    await birdfeed.stop();
    const everything = {
      logs: JSON.stringify(birdfeed.logs) + birdfeed.stdout + birdfeed.stderr,
      printed: printed.join('\n'),
      pages: pages.join('\n'),
      cache: filesUnder(host.cache)
        .filter(
          ({ path }) =>
            !/\/(bird\.conf|last-good\.json|admin\.sock|lock)$/.test(path) && lstatSync(path).isFile(),
        )
        .map(({ path }) => readFileSync(path, 'utf8'))
        .join('\n'),
    };
    expect(everything.logs).toContain('password');
    for (const [where, text] of Object.entries(everything))
      for (const secret of [...SECRETS, 'etcd-s3cret'])
        expect(text.includes(secret), `${secret} in ${where}`).toBe(false);
  });

  async function page(port: number, path: string): Promise<string> {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  }
});

describe('the HTTP listener', () => {
  it('listens on the loopback only, and nothing can be written or ordered through it', async () => {
    await fillEtcd(etcd.client, calicoMesh(2));
    const host = await makeHost(BIRD2);
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
    const before = await birdfeed.settled();
    const paths = [
      '/',
      '/livez',
      '/readyz',
      '/status',
      '/metrics',
      '/approve',
      '/rollback',
      '/resume',
      '/..%2f',
      '/admin.sock',
    ];
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      for (const path of paths) expect(await ask(birdfeed, method, path), `${method} ${path}`).toBe(405);
    }
    for (const path of ['/approve', '/rollback', '/..%2f..%2fetc/passwd'])
      expect(await ask(birdfeed, 'GET', path)).toBe(404);
    expect((await birdfeed.status()).generation).toEqual(before.generation);
    const help = await runBirdfeed(['--print-config']);
    expect(help.stdout).toMatch(/listen.*127\.0\.0\.1:9568/);
  });

  function ask({ port }: Birdfeed, method: string, path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port, method, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      call.on('error', reject);
      call.end(method === 'GET' ? undefined : '{"do":"approve","digest":null}');
    });
  }
});

describe('what is stored in the datastore', () => {
  it('never comes before a shell: not as a name, not as a value, not in a command', async () => {
    const directory = await testDir();
    const marker = join(directory, 'touched');
    const attacks = [
      `$(touch ${marker})`,
      `\`touch ${marker}\``,
      `; touch ${marker};`,
      `| touch ${marker}`,
      `\ntouch ${marker}\n`,
    ];
    await fillEtcd(
      etcd.client,
      attacks.map((text, i) => [`/app/${i}${text.replaceAll('/', '_')}`, text] as const),
    );
    mkdirSync(join(directory, 'confdir', 'conf.d'), { recursive: true });
    mkdirSync(join(directory, 'confdir', 'templates'));
    writeFileSync(
      join(directory, 'confdir', 'conf.d', 'app.toml'),
      `[template]\nsrc = "app.njk"\ndest = "${join(directory, 'app.conf')}"\nkeys = ["/app"]\ncheck_cmd = "grep -c touch {{src}}"\nreload_cmd = "grep -c touch {{dest}}"\n`,
    );
    writeFileSync(
      join(directory, 'confdir', 'templates', 'app.njk'),
      '{% for pair in gets("/app/*") %}{{ pair.Key }} {{ pair.Value }}\n{% endfor %}',
    );
    const done = await runBirdfeed([
      ...['--onetime', '--bird', 'none', '--reload', 'command', '--confdir', join(directory, 'confdir')],
      ...['--cache', join(directory, 'cache'), ...etcdArgs(etcd)],
    ]);
    expect(done).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'app.conf'), 'utf8')).toContain('$(touch');
    expect(existsSync(marker)).toBe(false);
  });
});
