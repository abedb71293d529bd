import { copyFileSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { calicoMesh, fillEtcd, meshNode, nodeKey } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { tapSocket } from '../../support/socket-tap.ts';
import { until } from '../../support/wait.ts';
import {
  BIRD1,
  BIRD2,
  birdsHave,
  currentFiles,
  FLAVOURS,
  type Host,
  makeHost,
  ownTemplate,
  readState,
  reconfigurations,
  shippedTemplate,
  startBird,
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
  if (!etcd.isRunning) await etcd.restart();
  await fillEtcd(etcd.client, calicoMesh(3));
});

const MESH = ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3'];
const NODE_4 = ['Mesh_10_0_0_4', 'Mesh_fd00__4'];

describe.each(FLAVOURS)('%s', (_name, flavour) => {
  it('is given the generation when it starts later than birdfeed', async () => {
    const host = await makeHost(flavour);
    const birdfeed = await startBirdfeed(host, etcd);
    const alone = await birdfeed.reaches('fresh without BIRD', ({ data, bird }) => {
      return data.state === 'fresh' && bird.reason !== null;
    });
    expect(alone.headline).toBe('unknown');
    expect(alone.bird.reason).toContain(host.sockets[0]);
    expect((await birdfeed.get('/readyz')).code).toBe(503);
    const birds = await startBirds(host);
    await birdsHave(birds, MESH);
    await birdfeed.settled();
    expect((await birdfeed.get('/readyz')).code).toBe(200);
  });

  it('is given the generation again when it is killed and comes back with an old file', async () => {
    const host = await makeHost(flavour);
    let birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    await birdfeed.settled();
    const old = keepCopies(host);
    await etcd.client.put(...meshNode(4));
    await birdsHave(birds, [...MESH, ...NODE_4]);
    await Promise.all(birds.map((bird) => bird.kill9()));
    const dead = await birdfeed.reaches('BIRD gone', ({ bird }) => bird.state !== 'applied');
    expect(dead.bird.state).toBe('unknown');
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    birds = await startBirds(host, { from: old });
    await birdsHave(birds, [...MESH, ...NODE_4]);
    await birdfeed.settled();
  });

  it('is still owed a generation when birdfeed has been away meanwhile, with etcd gone', async () => {
    const host = await makeHost(flavour);
    const first = await startBirdfeed(host, etcd);
    await first.reaches('generation 1', ({ generation }) => generation?.number === 1);
    const old = keepCopies(host);
    await etcd.client.put(...meshNode(4));
    await first.reaches('generation 2', ({ generation }) => generation?.number === 2);
    await first.kill9();
    await etcd.kill9();
    const birds = await startBirds(host, { from: old });
    await birdsHave(birds, MESH);
    const second = await startBirdfeed(host, etcd);
    await birdsHave(birds, [...MESH, ...NODE_4]);
    await second.reaches('applied', ({ bird, data }) => bird.state === 'applied' && data.state === 'cached');
  });

  it.each([
    ['the bird binary', []],
    ['BIRD itself', ['--bird-binary', '/nonexistent/bird']],
  ])(
    'is not waited for: publishing, checked by %s, goes on while it hangs, and it then gets the newest only',
    async (_who, args) => {
      const host = await makeHost(flavour);
      const birds = await startBirds(host);
      const birdfeed = await startBirdfeed(host, etcd, args);
      await birdfeed.settled();
      const loaded = birds.map(reconfigurations);
      await Promise.all(birds.map((bird) => bird.pause()));
      for (const number of [4, 5, 6]) {
        await etcd.client.put(...meshNode(number));
        const status = await birdfeed.reaches(`generation ${number - 2}`, ({ generation }) => {
          return generation?.number === number - 2;
        });
        expect(status.bird.state).not.toBe('applied');
      }
      for (const bird of birds) bird.resume();
      await birdsHave(birds, [
        ...MESH,
        ...NODE_4,
        'Mesh_10_0_0_5',
        'Mesh_fd00__5',
        'Mesh_10_0_0_6',
        'Mesh_fd00__6',
      ]);
      await birdfeed.settled();
      for (const [index, bird] of birds.entries()) {
        // The one that was on its way when BIRD stopped, and the newest.
        expect(reconfigurations(bird) - loaded[index]!).toBeLessThanOrEqual(2);
      }
    },
  );
});

describe('a refusal by BIRD', () => {
  const BREAKS = '{% if ipv4.sessions.length > 2 %}nonsense here;\n{% endif %}';

  it('takes the generation back, is remembered over a restart, and ends with the next good input', async () => {
    const host = await makeHost(BIRD2);
    const confdir = ownTemplate(host, 'bird.conf.njk', shippedTemplate('bird.conf.njk') + BREAKS);
    const birds = await startBirds(host);
    const tap = await tapSocket(join(host.directory, 'tap.ctl'), host.sockets[0]!);
    const tapped = { ...host, sockets: [tap.path] };
    const args = ['--confdir', confdir, '--syntax-check', 'off'];
    const first = await startBirdfeed(tapped, etcd, args);
    const good = await first.settled();
    await etcd.client.put(...meshNode(4));
    const refused = await first.reaches('back to the good one', ({ config, bird, generation }) => {
      return config.state === 'degraded' && bird.state === 'applied' && generation?.number === 1;
    });
    expect(refused.config.reason).toMatch(/^BIRD refused generation 2: .*bird\.conf.*syntax error/);
    expect(refused.generation).toEqual(good.generation);
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
    await birdsHave(birds, MESH);
    expect(readState(host).verdicts).toMatchObject([{ birdVersion: '2.0.12' }]);
    // Anything that makes birdfeed look again: the same input must not be tried again.
    await etcd.client.put(nodeKey('n4'), meshNode(4)[1].replace('{', '{ '));
    await first.reaches('another look', ({ counters }) => counters.runs > refused.counters.runs);
    await first.kill9();
    // Without a BIRD to ask, its word still counts: one that starts now must not find what it refused.
    await birds[0]!.kill9();
    const blind = await startBirdfeed(tapped, etcd, args);
    await blind.reaches('degraded without BIRD', ({ config, data }) => {
      return config.state === 'degraded' && data.state === 'fresh';
    });
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
    await blind.kill9();
    await birds[0]!.restart();

    const second = await startBirdfeed(tapped, etcd, args);
    const again = await second.reaches('degraded again', ({ config, data, bird }) => {
      return config.state === 'degraded' && data.state === 'fresh' && bird.state === 'applied';
    });
    expect(again.config.reason).toContain('syntax error');
    expect(again.generation?.number).toBe(1);
    expect((await second.get('/readyz')).code).toBe(503);
    const attempts = () => tap.commands.filter((command) => command.startsWith('configure'));
    const configure = (generation: number) =>
      `configure "${host.cache}/generations/0000000${generation}/bird.conf"`;
    expect(attempts()).toEqual([configure(1), configure(2), configure(1)]);

    await etcd.client.del(nodeKey('n3'));
    const healed = await second.settled();
    expect(healed.generation?.sessions).toBe(4);
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_fd00__2', ...NODE_4]);
    expect(attempts()).toHaveLength(4);
    expect((await second.get('/readyz')).code).toBe(200);
  });

  it('by one of two daemons reverts the one that accepted', async () => {
    const host = await makeHost(BIRD1);
    const template = shippedTemplate('bird6.cfg.njk') + BREAKS.replace('ipv4', 'ipv6');
    const confdir = ownTemplate(host, 'bird6.cfg.njk', template);
    const birds = await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd, ['--confdir', confdir, '--syntax-check', 'off']);
    await birdfeed.settled();
    const loaded = birds.map(reconfigurations);
    await etcd.client.put(...meshNode(4));
    const refused = await birdfeed.reaches('back to the good one', ({ config, bird, generation }) => {
      return config.state === 'degraded' && bird.state === 'applied' && generation?.number === 1;
    });
    expect(refused.config.reason).toMatch(/^BIRD refused generation 2: .*bird6\.cfg/);
    await birdsHave(birds, MESH);
    // bird took generation 2 and went back; bird6 never left generation 1.
    expect(birds.map(reconfigurations)).toEqual([loaded[0]! + 2, loaded[1]!]);
    expect(currentFiles(host).map((file) => readFileSync(file, 'utf8'))).not.toContain('nonsense');
    await etcd.client.del(nodeKey('n3'));
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_fd00__2', ...NODE_4]);
    await birdfeed.settled();
  });
});

describe('reload_cmd', () => {
  /** A resource whose copy a BIRD 1.6 daemon loads when `birdc` says so. */
  async function makeCommandHost() {
    const host = await makeHost(BIRD1);
    const dest = join(host.directory, 'etc', 'bird.cfg');
    mkdirSync(join(host.directory, 'etc'));
    const { birdc } = BIRD1.binary;
    const template = `${shippedTemplate('bird.cfg.njk')}{% if ipv4.sessions.length > 2 %}nonsense here;\n{% endif %}`;
    const confdir = ownTemplate(host, 'bird.cfg.njk', template);
    mkdirSync(join(confdir, 'conf.d'));
    const toml = [
      '[template]',
      'src = "bird.cfg.njk"',
      `dest = "${dest}"`,
      'model = "calico"',
      'dialect = "bird1"',
      `reload_cmd = "${birdc} -s ${host.sockets[0]} configure"`,
    ];
    writeFileSync(join(confdir, 'conf.d', 'bird.cfg.toml'), `${toml.join('\n')}\n`);
    const args = ['--confdir', confdir, '--reload', 'command', '--syntax-check', 'off'];
    return { host, dest, args };
  }

  it('"birdc configure" is judged by what BIRD says, since 1.6 exits 0 on a refused file', async () => {
    const { host, dest, args } = await makeCommandHost();
    const first = await startBirdfeed(host, etcd, args);
    // BIRD is not there: the reload is owed, and tried again.
    const owed = await first.reaches('owed', ({ bird }) => bird.state === 'unapplied');
    expect(owed.bird.reason).toMatch(/Unable to connect to server control socket/);
    await first.stop();
    const bird = await startBird(host, 0, { from: [dest] });
    const loaded = reconfigurations(bird);
    const second = await startBirdfeed(host, etcd, args);
    await second.settled();
    await until(() => reconfigurations(bird) === loaded + 1);

    await etcd.client.put(...meshNode(4));
    const refused = await second.reaches(
      'refused and taken back',
      ({ bird: { state }, config, generation }) => {
        return state === 'applied' && config.state === 'degraded' && generation?.number === 1;
      },
    );
    expect(refused.config.reason).toMatch(/^BIRD refused generation 2: .*bird\.cfg.*syntax error/);
    expect(readFileSync(dest, 'utf8')).not.toContain('nonsense');
    expect(reconfigurations(bird)).toBe(loaded + 1);
    expect(second.logs.filter(({ msg }) => msg === 'reload command failed')).toHaveLength(1);
    await etcd.client.del(nodeKey('n3'));
    await second.settled();
    await birdsHave([bird], ['Mesh_10_0_0_2', 'Mesh_10_0_0_4']);
    await second.stop();

    // What has been loaded is not loaded again.
    const third = await startBirdfeed(host, etcd, args);
    await third.settled();
    expect(third.logs.filter(({ msg }) => msg === 'reload command done')).toEqual([]);
  });
});

/** What `current` holds now, for a BIRD that will come up with old files. */
function keepCopies(host: Host): string[] {
  return currentFiles(host).map((file, index) => {
    const copy = join(host.directory, `old-${index}.conf`);
    copyFileSync(file, copy);
    return copy;
  });
}
