import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RESOURCE_BYTES } from '../../../src/config/resource-files.ts';
import { MAX_TEMPLATE_BYTES } from '../../../src/render/load.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, fillEtcd } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import { canMount, mount } from '../generation/support.ts';
import {
  BIRD2,
  birdsHave,
  currentFiles,
  etcdArgs,
  makeHost,
  onetime,
  ownTemplate,
  shippedTemplate,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());
beforeEach(async () => {
  await fillEtcd(etcd.client, calicoMesh(3));
  await etcd.client.put('/motd/text', 'hello');
});

/** A directory with conf.d and templates for plain files from the keys below /motd, and birdfeed's arguments for it. */
async function plainConfdir() {
  const directory = await testDir('bfa');
  const confdir = join(directory, 'confdir');
  const dest = join(directory, 'motd');
  mkdirSync(join(confdir, 'conf.d'), { recursive: true });
  mkdirSync(join(confdir, 'templates'));
  const resource = (name: string, more = '') =>
    writeFileSync(
      join(confdir, 'conf.d', `${name}.toml`),
      `[template]\nsrc = "${name}.njk"\ndest = "${join(directory, name)}"\nkeys = ["/motd"]\n${more}`,
    );
  const template = (name: string, text: string) =>
    writeFileSync(join(confdir, 'templates', `${name}.njk`), text);
  resource('motd');
  template('motd', 'says {{ getv("/motd/text") }}\n');
  const args = ['--bird', 'none', '--confdir', confdir, ...etcdArgs(etcd)];
  const cache = join(directory, 'cache');
  return { directory, confdir, dest, resource, template, args, cache };
}

type PlainConfdir = Awaited<ReturnType<typeof plainConfdir>>;

/** A resource `bad` with these values. */
function plainResource(confdir: string, src: string, dest: string): void {
  const text = `[template]\nsrc = "${src}"\ndest = "${dest}"\nkeys = ["/motd"]\n`;
  writeFileSync(join(confdir, 'conf.d', 'bad.toml'), text);
}

const runOnce = (args: readonly string[]) => runBirdfeed(['--onetime', ...args]);

const contains = (file: string, text: string) =>
  until(() => existsSync(file) && readFileSync(file, 'utf8') === text, { timeout: 20_000, what: text });

describe('a change of the configuration', () => {
  it('of a template is rendered and given to BIRD without a restart', async () => {
    const host = await makeHost(BIRD2);
    const text = shippedTemplate('bird.conf.njk');
    const confdir = ownTemplate(host, 'bird.conf.njk', text);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd, ['--confdir', confdir]);
    await birdfeed.settled();
    ownTemplate(host, 'bird.conf.njk', `${text}protocol static added { ipv4; }\n`);
    await until(async () => (await birds[0]!.protocols()).has('added'), { timeout: 20_000 });
    expect(await birdfeed.settled()).toMatchObject({ generation: { number: 2 } });
  });

  it('of a template or resource file is rendered, and resources come and go', async () => {
    const { directory, dest, resource, template, args, cache, confdir } = await plainConfdir();
    const birdfeed = await Birdfeed.start(args, { cache });
    await contains(dest, 'says hello\n');
    template('motd', 'says, loudly, {{ getv("/motd/text") }}\n');
    await contains(dest, 'says, loudly, hello\n');
    template('other', '{{ getv("/motd/text") | upper }}\n');
    resource('other');
    await contains(join(directory, 'other'), 'HELLO\n');
    const readings = () => birdfeed.logs.filter(({ msg }) => msg === 'resources and templates read').length;
    const before = readings();
    rmSync(join(confdir, 'conf.d', 'motd.toml'));
    await until(() => readings() > before);
    await etcd.client.put('/motd/text', 'bye');
    await contains(join(directory, 'other'), 'BYE\n');
    expect(readFileSync(dest, 'utf8')).toBe('says, loudly, hello\n');
  });

  it('is found when a ConfigMap volume swaps its ..data', async () => {
    const { dest, args, cache, confdir } = await plainConfdir();
    const version = (name: string, text: string) => {
      mkdirSync(join(confdir, name));
      writeFileSync(join(confdir, name, 'motd.njk'), text);
    };
    rmSync(join(confdir, 'templates'), { recursive: true });
    const volume = join(confdir, 'templates');
    mkdirSync(volume);
    // As the kubelet lays a volume out.
    version('templates/..one', 'one {{ getv("/motd/text") }}\n');
    symlinkSync('..one', join(volume, '..data'));
    symlinkSync('..data/motd.njk', join(volume, 'motd.njk'));
    await Birdfeed.start(args, { cache });
    await contains(dest, 'one hello\n');
    for (const [before, next] of [
      ['one', 'two'],
      ['two', 'three'],
    ] as const) {
      version(`templates/..${next}`, `${next} {{ getv("/motd/text") }}\n`);
      symlinkSync(`..${next}`, join(volume, '..new'));
      renameSync(join(volume, '..new'), join(volume, '..data'));
      rmSync(join(volume, `..${before}`), { recursive: true });
      await contains(dest, `${next} hello\n`);
    }
  });

  it('is read on SIGHUP, also where nothing was to be watched before', async () => {
    const host = await makeHost(BIRD2);
    const birds = await startBirds(host);
    const confdir = join(host.directory, 'confdir');
    const birdfeed = await startBirdfeed(host, etcd, ['--confdir', confdir]);
    await birdfeed.settled();
    ownTemplate(
      host,
      'bird.conf.njk',
      `${shippedTemplate('bird.conf.njk')}protocol static added { ipv4; }\n`,
    );
    birdfeed.signal('SIGHUP');
    await birdfeed.says('resources and templates read');
    await until(async () => (await birds[0]!.protocols()).has('added'), { timeout: 20_000 });
  });

  it.each([
    {
      what: 'template',
      break: (put: PlainConfdir) => put.template('motd', 'x\n{% if %}\n'),
      says: /motd\.njk:2/,
    },
    {
      what: 'resource file',
      break: (put: PlainConfdir) => put.resource('motd', 'mod = "0644"\n'),
      says: /motd\.toml:5: mod is not a field; did you mean "mode"\?/,
    },
  ])('that is wrong ($what) is named, and the old configuration goes on until it is right', async (kind) => {
    const put = await plainConfdir();
    const birdfeed = await Birdfeed.start(put.args, { cache: put.cache });
    await contains(put.dest, 'says hello\n');
    kind.break(put);
    const degraded = await birdfeed.reaches('degraded', ({ config }) => config.state === 'degraded');
    expect(degraded.config.reason).toMatch(kind.says);
    expect(birdfeed.logs.at(-1)?.msg).not.toContain('internal error');
    await etcd.client.put('/motd/text', 'bye');
    await contains(put.dest, 'says bye\n');
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    put.resource('motd');
    put.template('motd', 'right: {{ getv("/motd/text") }}\n');
    await contains(put.dest, 'right: bye\n');
    await birdfeed.settled();
  });

  const circle = (file: string) => symlinkSync(basename(file), file);
  it.each<[what: string, harm: (put: PlainConfdir) => void, says: RegExp]>([
    [
      'a huge resource file',
      ({ resource }) => resource('bad', '#'.repeat(MAX_RESOURCE_BYTES)),
      /bad\.toml: .* at most 1048576 are read; shorten it/,
    ],
    [
      'a resource file that is a link in circles',
      ({ confdir }) => circle(join(confdir, 'conf.d', 'bad.toml')),
      /bad\.toml: cannot be read: ELOOP/,
    ],
    [
      'a folder of resource files that is a link in circles, with a template that is missing',
      ({ confdir, resource }) => {
        circle(join(confdir, 'conf.d', 'folder'));
        resource('bad');
      },
      /there is no bad\.njk in /,
    ],
    [
      'a huge template',
      ({ resource, template }) => {
        template('bad', 'x'.repeat(MAX_TEMPLATE_BYTES + 1));
        resource('bad');
      },
      /template bad\.njk: has 1048577 bytes; at most 1048576 are read; split it/,
    ],
    [
      'a template that is a link in circles',
      ({ confdir, resource }) => {
        circle(join(confdir, 'templates', 'bad.njk'));
        resource('bad');
      },
      /template bad\.njk: ELOOP/,
    ],
    [
      'a template that includes itself',
      ({ resource, template }) => {
        template('bad', '{% include "bad.njk" %}');
        resource('bad');
      },
      /bad\.njk:1:1: includes are nested deeper than 50/,
    ],
    [
      'a src that leads out',
      ({ confdir }) => plainResource(confdir, '../conf.d/bad.toml', 'bad'),
      /bad\.toml:2: src must not contain empty, .* parts/,
    ],
    [
      'an absolute src',
      ({ confdir }) => plainResource(confdir, '/etc/passwd', 'bad'),
      /bad\.toml:2: src must be relative to a templates directory, not absolute/,
    ],
    [
      'a src that is a link to a file outside',
      ({ confdir, resource }) => {
        symlinkSync('/etc/passwd', join(confdir, 'templates', 'bad.njk'));
        resource('bad');
      },
      /template bad\.njk: leads to \/etc\/passwd, outside the template directories; copy the file/,
    ],
    [
      'a dest that leads out of the generation',
      ({ confdir }) => plainResource(confdir, 'motd.njk', '../bad'),
      /bad\.toml:3: dest must be a file name without slash, or an absolute path/,
    ],
    [
      'an absolute dest with ..',
      ({ confdir }) => plainResource(confdir, 'motd.njk', '/etc/../etc/bad'),
      /bad\.toml:3: dest must be the plain path of a file; write .*\/etc\/bad/,
    ],
    [
      'a dest in a directory that is a link into the cache',
      ({ confdir, directory, cache }) => {
        symlinkSync(join(cache, 'sets'), join(directory, 'linked'));
        plainResource(confdir, 'motd.njk', join(directory, 'linked', 'bad'));
      },
      /destination .*\/linked\/bad lies in the cache/,
    ],
  ])(
    'that is hostile (%s) is named, harms nothing else, and is over when it is gone',
    async (_what, harm, says) => {
      const put = await plainConfdir();
      const birdfeed = await Birdfeed.start(put.args, { cache: put.cache });
      await contains(put.dest, 'says hello\n');
      harm(put);
      await birdfeed.reaches('named', (status) => says.test(JSON.stringify(status)));
      expect(birdfeed.logs.filter(({ msg, reason }) => /internal error/.test(`${msg} ${reason}`))).toEqual(
        [],
      );
      await etcd.client.put('/motd/text', 'bye');
      await contains(put.dest, 'says bye\n');
      expect((await birdfeed.get('/readyz')).code).toBe(200);
      for (const file of ['conf.d/bad.toml', 'conf.d/folder', 'templates/bad.njk'])
        rmSync(join(put.confdir, file), { force: true });
      await birdfeed.reaches('right', (status) => !says.test(JSON.stringify(status)));
      await etcd.client.put('/motd/text', 'again');
      await contains(put.dest, 'says again\n');
      expect(existsSync(join(put.directory, 'bad'))).toBe(false);
    },
  );

  it('is followed also where a folder links to itself from the start', async () => {
    const { dest, template, args, cache, confdir } = await plainConfdir();
    for (const folder of ['conf.d', 'templates']) symlinkSync('.', join(confdir, folder, 'again'));
    const birdfeed = await Birdfeed.start(args, { cache });
    await contains(dest, 'says hello\n');
    template('motd', 'new {{ getv("/motd/text") }}\n');
    await contains(dest, 'new hello\n');
    await birdfeed.settled();
  });

  it('never makes BIRD wait for a broken plain resource', async () => {
    const host = await makeHost(BIRD2);
    const confdir = ownTemplate(host, 'broken.njk', '{{ getv("/motd/nosuch") }}\n');
    mkdirSync(join(confdir, 'conf.d'));
    writeFileSync(
      join(confdir, 'conf.d', 'broken.toml'),
      `[template]\nsrc = "broken.njk"\ndest = "${host.directory}/broken"\nkeys = ["/motd"]\nset = "other"\n`,
    );
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd, ['--confdir', confdir]);
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3']);
    const { sets } = (await birdfeed.reaches('the other set', (status) => {
      const { sets: others } = status as unknown as { sets?: Record<string, { config: { state: string } }> };
      return others?.['other']?.config.state === 'degraded';
    })) as unknown as { sets: Record<string, { config: { reason: string } }> };
    expect(sets['other']?.config.reason).toMatch(/broken\.njk:1.*\/motd\/nosuch/);
    await birdfeed.settled();
    expect((await birdfeed.get('/readyz')).code).toBe(200);
  });
});

describe('copies', () => {
  const isRoot = process.getuid?.() === 0;

  it('have the mode that the resource asks for, and stay when nothing changes', async () => {
    const { dest, resource, args, cache } = await plainConfdir();
    resource('motd', 'mode = "604"\n');
    const run = () => runOnce([...args, '--cache', cache]);
    expect(await run()).toMatchObject({ code: 0 });
    expect(statSync(dest).mode & 0o7777).toBe(0o604);
    const { ino, mtimeMs } = statSync(dest);
    expect(await run()).toMatchObject({ code: 0 });
    expect(statSync(dest)).toMatchObject({ ino, mtimeMs });
  });

  it.runIf(isRoot)(
    'have owner and group; rendered files the group of --file-group, from the start',
    async () => {
      const host = await makeHost(BIRD2);
      const confdir = join(host.directory, 'confdir');
      mkdirSync(join(confdir, 'conf.d'), { recursive: true });
      const dest = join(host.directory, 'bird.conf');
      writeFileSync(
        join(confdir, 'conf.d', 'bird.conf.toml'),
        `[template]\nsrc = "bird.conf.njk"\ndest = "${dest}"\nmodel = "calico"\ndialect = "bird2"\nmode = "0600"\nowner = "nobody"\ngid = 4242\n`,
      );
      const args = ['--confdir', confdir, '--reload', 'none', '--file-group', '4343'];
      expect(await onetime(host, etcd, args)).toMatchObject({ code: 0 });
      const facts = (path: string) => {
        const { mode, uid, gid } = statSync(path);
        return { mode: (mode & 0o7777).toString(8), uid, gid };
      };
      expect(facts(dest)).toEqual({ mode: '600', uid: 65534, gid: 4242 });
      expect(facts(currentFiles(host)[0]!)).toEqual({ mode: '640', uid: 0, gid: 4343 });
      expect(facts(join(host.cache, 'generations'))).toEqual({ mode: '750', uid: 0, gid: 4343 });
      expect(facts(join(host.cache, 'current/stamp.json')).mode).toBe('640');
    },
  );

  it('have the group of --file-group by name, and a name that does not exist is named', async () => {
    const { args, cache } = await plainConfdir();
    const result = await runOnce([...args, '--cache', cache, '--file-group', 'nosuchgroup']);
    expect(result.code).toBe(64);
    expect(result.stderr).toContain('nosuchgroup');
  });

  it.runIf(canMount())(
    'are written in place where a file is mounted, and its old contents are kept',
    async () => {
      const { directory, dest, args, cache } = await plainConfdir();
      const inside = join(directory, 'inside');
      writeFileSync(inside, 'before\n');
      writeFileSync(dest, '');
      await mount(dest, '--bind', inside);
      const result = await runOnce([...args, '--cache', cache]);
      expect(result.code).toBe(0);
      expect(readFileSync(inside, 'utf8')).toBe('says hello\n');
      const line = result.logs.find(({ msg }) => msg === 'destination written in place');
      expect(line).toMatchObject({ level: 'warn', path: dest });
      expect(readFileSync(String(line?.['backup']), 'utf8')).toBe('before\n');
    },
  );

  it('never go into the cache', async () => {
    const { directory, args, cache, confdir } = await plainConfdir();
    writeFileSync(
      join(confdir, 'conf.d', 'motd.toml'),
      `[template]\nsrc = "motd.njk"\ndest = "${cache}/motd"\nkeys = ["/motd"]\n`,
    );
    const result = await runOnce([...args, '--cache', cache]);
    expect(result.code).toBe(78);
    expect(JSON.stringify([result.logs, result.stderr])).toContain(`${cache}/motd`);
    expect(existsSync(join(directory, 'cache', 'motd'))).toBe(false);
  });
});

describe('the options of a host', () => {
  it('are the ones that a Calico node has in its environment', async () => {
    const host = await makeHost(BIRD2);
    const birds = await startBirds(host);
    const env = { DATASTORE_TYPE: 'etcdv3', ETCD_ENDPOINTS: etcd.url, NODENAME: 'n1' };
    const args = [
      '--cache',
      host.cache,
      '--control-socket',
      host.sockets[0]!,
      '--bird-binary',
      BIRD2.binary.bird,
    ];
    expect(await runBirdfeed(['--onetime', ...args], { env })).toMatchObject({ code: 0 });
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3']);
    const calico = {
      CALICO_DATASTORE_TYPE: 'etcdv3',
      CALICO_ETCD_ENDPOINTS: etcd.url,
      CALICO_NODENAME: 'n2',
    };
    const other = ['--cache', `${host.cache}2`, '--reload', 'none', '--bird-binary', BIRD2.binary.bird];
    expect(await runBirdfeed(['--onetime', ...other], { env: { ...env, ...calico } })).toMatchObject({
      code: 0,
    });
    expect(readFileSync(`${host.cache}2/current/bird.conf`, 'utf8')).toContain('node n2.');
  });

  it('may all stand in a configuration file', async () => {
    const host = await makeHost(BIRD2);
    const file = join(host.directory, 'birdfeed.toml');
    const toml = [
      'node_name = "n1"',
      'bird = "bird2"',
      `bird_binary = "${BIRD2.binary.bird}"`,
      `control_socket = ["${host.sockets[0]}"]`,
      `etcd_endpoints = ["${etcd.url}"]`,
      `cache = "${host.cache}"`,
      'onetime = true',
      'wait = "20s"',
    ];
    writeFileSync(file, `${toml.join('\n')}\n`);
    const birds = await startBirds(host);
    expect(await runBirdfeed(['--config', file])).toMatchObject({ code: 0 });
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3']);
  });
});
