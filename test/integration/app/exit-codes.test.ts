import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { runBirdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, fillEtcd, meshNode, nodeKey } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import {
  BIRD2,
  birdsHave,
  etcdArgs,
  FLAVOURS,
  type Host,
  hostArgs,
  makeHost,
  onetime,
  ownTemplate,
  shippedTemplate,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());
beforeEach(() => fillEtcd(etcd.client, calicoMesh(3)));

const NO_RELOAD = ['--reload', 'none'];
const BREAKS = '{% if ipv4.sessions.length > 2 %}nonsense here;\n{% endif %}';

describe.each(FLAVOURS)('--onetime with %s ends with', (_name, flavour) => {
  it('0 when BIRD runs what it published, and again when nothing is to be done', async () => {
    const host = await makeHost(flavour);
    const birds = await startBirds(host);
    expect(await onetime(host, etcd)).toMatchObject({ code: 0 });
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3']);
    expect(await onetime(host, etcd)).toMatchObject({ code: 0 });
    expect(current(host)).toBe(1);
  });

  it('0 when no BIRD runs yet, as in an init container', async () => {
    const host = await makeHost(flavour);
    const started = performance.now();
    const result = await onetime(host, etcd, ['--wait', '60s']);
    expect(result.code).toBe(0);
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(result.logs.map(({ msg }) => msg)).toContain(
      'BIRD is not running; it starts from the generation in place',
    );
    expect(current(host)).toBe(1);
  });

  it('65 when bird -p refuses the rendered file; the last good generation stays', async () => {
    const host = await makeHost(flavour);
    const name = flavour.daemons.at(-1)!.file;
    const confdir = ownTemplate(host, `${name}.njk`, shippedTemplate(`${name}.njk`) + BREAKS);
    const args = [...NO_RELOAD, '--confdir', confdir];
    expect(await onetime(host, etcd, args)).toMatchObject({ code: 0 });
    await etcd.client.put(...meshNode(4));
    const result = await onetime(host, etcd, args);
    expect(result.code).toBe(65);
    expect(result.logs.at(-1)).toMatchObject({ msg: 'nothing published', code: 'BF_CHECK_FAILED' });
    expect(result.logs.at(-1)?.['reason']).toMatch(
      new RegExp(`^BIRD does not accept the rendered configuration: ${name.replace('.', '\\.')}:\\d+: `),
    );
    expect(current(host)).toBe(1);
  });

  it('69 when BIRD refuses the file that nobody checked; the last good generation is back', async () => {
    const host = await makeHost(flavour);
    const name = flavour.daemons.at(-1)!.file;
    const confdir = ownTemplate(host, `${name}.njk`, shippedTemplate(`${name}.njk`) + BREAKS);
    const birds = await startBirds(host);
    const args = ['--confdir', confdir, '--syntax-check', 'off'];
    expect(await onetime(host, etcd, args)).toMatchObject({ code: 0 });
    await etcd.client.put(...meshNode(4));
    const result = await onetime(host, etcd, args);
    expect(result.code).toBe(69);
    expect(result.logs.at(-1)?.['reason']).toMatch(/^BIRD refused generation 2: /);
    expect(current(host)).toBe(1);
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3']);
  });
});

describe('--onetime ends with', () => {
  it('1 with --noop when something would change, else 0; and writes nothing', async () => {
    const host = await makeHost(BIRD2);
    const noop = [...NO_RELOAD, '--noop'];
    expect(await onetime(host, etcd, noop)).toMatchObject({ code: 1 });
    expect(() => readlinkSync(host.cache)).toThrow('ENOENT');
    expect(await onetime(host, etcd, NO_RELOAD)).toMatchObject({ code: 0 });
    expect(await onetime(host, etcd, noop)).toMatchObject({ code: 0 });
    await etcd.client.put(...meshNode(4));
    expect(await onetime(host, etcd, noop)).toMatchObject({ code: 1 });
    expect(current(host)).toBe(1);
  });

  it.each([
    [64, ['--nosuch'], /unknown option --nosuch/],
    [
      64,
      ['--bird', 'bird4'],
      /option --bird: "bird4" is not one of auto, bird1, .*, none; did you mean "bird1"\?$/m,
    ],
    [64, ['--wait', 'soon'], /option --wait: "soon" is not a duration such as/],
    [78, ['--config', '/nonexistent/birdfeed.toml'], /cannot read the configuration file \/nonexistent/],
  ] as const)('%d for %j', async (code, args, message) => {
    const host = await makeHost(BIRD2);
    const result = await onetime(host, etcd, [...NO_RELOAD, ...args]);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(result.stderr.trim()).not.toContain('\n');
  });

  it('65 when a template fails, with file, line and what is wrong; the last good generation stays', async () => {
    const host = await makeHost(BIRD2);
    expect(await onetime(host, etcd, NO_RELOAD)).toMatchObject({ code: 0 });
    const confdir = ownTemplate(host, 'bird.conf.njk', 'router id {{ node.routerId }};\n{{ nosuch.name }}\n');
    const result = await onetime(host, etcd, [...NO_RELOAD, '--confdir', confdir]);
    expect(result.code).toBe(65);
    expect(result.logs.at(-1)).toMatchObject({ level: 'error', msg: 'nothing published' });
    expect(result.logs.at(-1)?.['reason']).toMatch(/bird\.conf\.njk:2.*nosuch/);
    expect(current(host)).toBe(1);
  });

  it('73 when a copy cannot be written, which is named; the generation itself is published', async () => {
    const host = await makeHost(BIRD2);
    const confdir = join(host.directory, 'confdir');
    mkdirSync(join(confdir, 'conf.d'), { recursive: true });
    const dest = join(host.directory, 'nosuch', 'bird.conf');
    const toml = `[template]\nsrc = "bird.conf.njk"\ndest = "${dest}"\nmodel = "calico"\ndialect = "bird2"\n`;
    writeFileSync(join(confdir, 'conf.d', 'bird.conf.toml'), toml);
    const result = await onetime(host, etcd, [...NO_RELOAD, '--confdir', confdir, '--wait', '4s']);
    expect(result.code).toBe(73);
    expect(result.logs.map((line) => line['reason'])).toContainEqual(
      `cannot write ${dest}: the directory ${join(host.directory, 'nosuch')} does not exist; create it`,
    );
    expect(current(host)).toBe(1);
  });

  it('75 when the node is not in the datastore and nothing is cached, naming the nodes there are', async () => {
    const host = { ...(await makeHost(BIRD2)), nodeName: 'n9' };
    const result = await onetime(host, etcd, [...NO_RELOAD, '--wait', '4s']);
    expect(result.code).toBe(75);
    expect(result.logs.at(-1)?.['reason']).toMatch(
      /^node "n9" is not in the datastore \(it has n1, n2, n3\)/,
    );
  });

  it('0 from the cache, or 75 with --require-fresh, when the guard holds what the datastore has now', async () => {
    const host = await makeHost(BIRD2);
    expect(await onetime(host, etcd, NO_RELOAD)).toMatchObject({ code: 0 });
    await etcd.client.del(nodeKey('n1'));
    const kept = await onetime(host, etcd, NO_RELOAD);
    expect(kept.code).toBe(0);
    expect(kept.logs.at(-1)).toMatchObject({
      msg: 'serving the cached generation',
      reason: 'held: this node (n1) is no longer in the datastore',
    });
    expect(await onetime(host, etcd, [...NO_RELOAD, '--require-fresh'])).toMatchObject({ code: 75 });
    expect(current(host)).toBe(1);
  });

  it('78 for a resource file that is wrong, with file, line and remedy', async () => {
    const host = await makeHost(BIRD2);
    const confdir = join(host.directory, 'confdir');
    mkdirSync(join(confdir, 'conf.d'), { recursive: true });
    const file = join(confdir, 'conf.d', 'x.toml');
    writeFileSync(file, '[template]\nsrc = "x"\ndest = "x"\nkesy = ["/a"]\n');
    const result = await onetime(host, etcd, [...NO_RELOAD, '--confdir', confdir]);
    expect(result.code).toBe(78);
    expect(result.stderr).toBe(`birdfeed: ${file}:4: kesy is not a field; did you mean "keys"?\n`);
  });
});

describe('other commands', () => {
  it('diff: 1 with the difference when something would change, 0 when nothing would', async () => {
    const host = await makeHost(BIRD2);
    const args = ['diff', ...hostArgs(host), ...etcdArgs(etcd), '--cache', host.cache];
    expect(await onetime(host, etcd, NO_RELOAD)).toMatchObject({ code: 0 });
    expect(await runBirdfeed(args)).toMatchObject({
      code: 0,
      stdout: 'default: no difference to generation 1\n',
    });
    await etcd.client.put(...meshNode(4));
    const changed = await runBirdfeed(args);
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/^\+protocol bgp Mesh_10_0_0_4 /m);
    expect(changed.stdout).toMatch(
      /^default: differs from generation 1; sessions: 2 added \(Mesh_10_0_0_4, Mesh_fd00__4\)$/m,
    );
    const json = await runBirdfeed([...args, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { set: 'default', generation: 1, wouldChange: true, sessions: { removed: [], reset: [] } },
    ]);
  });

  it('diff: 75 when the datastore cannot be read', async () => {
    const host = await makeHost(BIRD2);
    const args = ['diff', ...hostArgs(host), '--cache', host.cache, '--wait', '4s'];
    const result = await runBirdfeed([...args, '--etcd-endpoints', 'http://127.0.0.1:1']);
    expect(result.code).toBe(75);
    expect(result.stderr).toContain('http://127.0.0.1:1');
  });

  it.each([
    [64, ['nosuch'], /unknown command "nosuch"/],
    [64, ['generations', 'rollback'], /rollback needs the number of a generation/],
    [64, ['probe', 'rady'], /probe does not know "rady".*ready/],
    [65, ['generations', 'rollback', '7'], /cannot roll back/],
    [69, ['approve'], /no birdfeed runs on/],
  ] as const)('%d for %j', async (code, args, message) => {
    const host = await makeHost(BIRD2);
    expect(await onetime(host, etcd, NO_RELOAD)).toMatchObject({ code: 0 });
    const result = await runBirdfeed([...args, '--cache', host.cache]);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
  });
});

/** The number of the generation that `current` names. */
function current({ cache }: Host): number {
  const link = readlinkSync(join(cache, 'current'));
  expect(readFileSync(join(cache, link, 'stamp.json'), 'utf8')).toContain('"generation"');
  return Number(link.split('/')[1]);
}
