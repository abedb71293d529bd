import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { type Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import { calicoConfiguration, calicoMesh, fillEtcd, meshNode, nodeKey } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { until } from '../../support/wait.ts';
import {
  BIRD2,
  bgpSessions,
  birdsHave,
  type Host,
  makeHost,
  onetime,
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
  await fillEtcd(etcd.client, calicoMesh(6));
  // One by one, as in life: the revision is then higher than that of a store that has been filled at once.
  for (const number of [1, 2, 3, 4, 5, 6]) await etcd.client.put(...meshNode(number));
});

const ALL = [2, 3, 4, 5, 6].flatMap((number) => [`Mesh_10_0_0_${number}`, `Mesh_fd00__${number}`]).sort();

/** A BIRD that runs generation 1, with all sessions, and birdfeed beside it. */
async function startFed() {
  const host = await makeHost(BIRD2);
  const birds = await startBirds(host);
  const birdfeed = await startBirdfeed(host, etcd);
  const { generation } = await birdfeed.settled();
  expect(generation).toMatchObject({ number: 1, sessions: 10 });
  return { host, birds, birdfeed };
}

async function held(birdfeed: Birdfeed) {
  const status = await birdfeed.reaches('held', ({ config, data }) => {
    return config.state === 'held' && data.state === 'fresh';
  });
  expect(status).toMatchObject({ headline: 'held', bird: { state: 'applied' } });
  return status;
}

const command = (host: Host, ...args: string[]) => runBirdfeed([...args, '--cache', host.cache]);
const current = (host: Host) => Number(readlinkSync(join(host.cache, 'current')).split('/')[1]);

describe('the guard holds, and BIRD keeps its sessions,', () => {
  it('when etcd comes back empty, until the data is back', async () => {
    const { host, birds, birdfeed } = await startFed();
    await etcd.restart({ wipe: true, clusterToken: 'another' });
    const { held: hold, generation } = await held(birdfeed);
    expect(hold?.reasons).toEqual(['the datastore has none of the 8 resources any more']);
    expect(generation?.number).toBe(1);
    expect([...(await bgpSessions(birds)).keys()].sort()).toEqual(ALL);
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    await etcd.client.putAll(calicoMesh(6));
    const status = await birdfeed.settled();
    expect(status).toMatchObject({ held: null, generation: { number: 1 } });
    expect(current(host)).toBe(1);
  });

  it('when etcd was restored to an older state that lacks even one resource', async () => {
    const { birdfeed, birds } = await startFed();
    // A single member with its old token keeps its cluster id: only the revision goes back.
    await etcd.restart({ wipe: true });
    await etcd.client.putAll(calicoMesh(5));
    await held(birdfeed);
    await birdfeed.reaches('one node lost', (status) =>
      status.held?.reasons.includes('the datastore went back in time and lacks 1 of 6 Node'),
    );
    expect([...(await bgpSessions(birds)).keys()].sort()).toEqual(ALL);
  });

  it('when this node is deleted, until it is back', async () => {
    const { birds, birdfeed } = await startFed();
    await etcd.client.del(nodeKey('n1'));
    const { held: hold } = await held(birdfeed);
    expect(hold?.reasons).toEqual(['this node (n1) is no longer in the datastore']);
    await birdsHave(birds, ALL);
    await etcd.client.put(...meshNode(1));
    await birdfeed.settled();
  });

  it('when most nodes vanish at once, over a restart too, until an operator approves it', async () => {
    const { host, birds, birdfeed: first } = await startFed();
    await etcd.client.txn(['n3', 'n4', 'n5', 'n6'].map((name) => ({ del: nodeKey(name) })));
    const { held: hold } = await held(first);
    expect(hold?.reasons).toEqual(['4 of 6 Node vanished at once']);
    await birdsHave(birds, ALL);
    // Something else may change meanwhile: what is held stays the same loss.
    await etcd.client.put(...meshNode(2));
    await first.kill9();

    const second = await startBirdfeed(host, etcd);
    const again = await held(second);
    expect(again.held?.reasons).toEqual(hold?.reasons);
    expect((await second.get('/readyz')).code).toBe(503);
    expect(await command(host, 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('4 of 6 Node vanished at once  (birdfeed approve)'),
    });
    const wrong = await command(host, 'approve', 'ffffffffffff');
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('what is held has another digest');
    await birdsHave(birds, ALL);

    const approved = await command(host, 'approve', again.held!.digest.slice(0, 12));
    expect(approved).toMatchObject({ code: 0 });
    expect(approved.stdout).toContain('4 of 6 Node vanished at once');
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_fd00__2']);
    const status = await second.settled();
    expect(status).toMatchObject({ held: null, generation: { number: 2, sessions: 2 } });
    expect((await second.get('/readyz')).code).toBe(200);
    const idle = await command(host, 'approve');
    expect(idle.code).not.toBe(0);
    expect(idle.stderr).toContain('nothing is held');
  });

  it('but not when sessions go because of an explicit value', async () => {
    const { birds, birdfeed } = await startFed();
    await etcd.client.put(...calicoConfiguration({ nodeToNodeMeshEnabled: false, asNumber: 64512 }));
    await birdsHave(birds, []);
    const status = await birdfeed.settled();
    expect(status.generation).toMatchObject({ number: 2, sessions: 0 });
  });

  it('and never without a last good generation', async () => {
    await fillEtcd(etcd.client, [meshNode(1)]);
    const host = await makeHost(BIRD2);
    expect(await onetime(host, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    expect(current(host)).toBe(1);
  });
});

describe('a roll-back', () => {
  it('pins a generation over changes and restarts until resume', async () => {
    const { host, birds, birdfeed: first } = await startFed();
    await etcd.client.put(...meshNode(7));
    await birdsHave(birds, [...ALL, 'Mesh_10_0_0_7', 'Mesh_fd00__7']);
    await first.settled();
    expect(await command(host, 'generations', 'rollback', '1')).toMatchObject({
      code: 0,
      stdout: 'generation 1 is current and pinned; BIRD is being told\n',
    });
    await birdsHave(birds, ALL);
    const pinned = await first.reaches('pinned and applied', ({ config, bird }) => {
      return config.state === 'pinned' && bird.state === 'applied';
    });
    expect(pinned).toMatchObject({ headline: 'pinned', pinned: 1, generation: { number: 1 } });
    await etcd.client.put(...meshNode(8));
    await first.reaches('another look', ({ counters }) => counters.runs > pinned.counters.runs);
    expect(current(host)).toBe(1);
    await first.kill9();

    const second = await startBirdfeed(host, etcd);
    const again = await second.reaches('pinned still', ({ config, data, bird }) => {
      return config.state === 'pinned' && data.state === 'fresh' && bird.state === 'applied';
    });
    expect(again).toMatchObject({ pinned: 1, generation: { number: 1 }, counters: { published: 0 } });
    // A pin is an operator's word: it does not keep the node from being ready.
    expect((await second.get('/readyz')).code).toBe(200);
    const listed = await command(host, 'generations', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { generation: 1, current: true, pinned: true, node: 'n1', dialect: 'bird2', sessions: 10, fault: null },
      { generation: 2, current: false, pinned: false, sessions: 12 },
    ]);
    expect(await command(host, 'generations', 'resume')).toMatchObject({ code: 0 });
    const status = await second.settled();
    expect(status).toMatchObject({ pinned: null, generation: { number: 3, sessions: 14 } });
    const idle = await command(host, 'generations', 'resume');
    expect(idle.code).not.toBe(0);
    expect(idle.stderr).toContain('nothing is pinned');
  });

  it('takes the copies outside the cache back with it', async () => {
    const host = await makeHost(BIRD2);
    const dest = join(host.directory, 'bird.conf');
    const confdir = join(host.directory, 'confdir');
    mkdirSync(join(confdir, 'conf.d'), { recursive: true });
    writeFileSync(
      join(confdir, 'conf.d', 'bird.conf.toml'),
      `[template]\nsrc = "bird.conf.njk"\ndest = "${dest}"\nmodel = "calico"\ndialect = "bird2"\n`,
    );
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none', '--confdir', confdir]);
    await birdfeed.settled();
    const first = await until(() => readFileSync(dest, 'utf8'));
    await etcd.client.put(...meshNode(7));
    await until(() => readFileSync(dest, 'utf8').includes('Mesh_10_0_0_7'));
    expect(await command(host, 'generations', 'rollback', '1')).toMatchObject({ code: 0 });
    await until(() => readFileSync(dest, 'utf8') === first);
    expect(await command(host, 'generations', 'resume')).toMatchObject({ code: 0 });
    await until(() => readFileSync(dest, 'utf8').includes('Mesh_10_0_0_7'));
  });

  it('works while no birdfeed runs, and is taken up by the next one', async () => {
    const host = await makeHost(BIRD2);
    expect(await onetime(host, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    await etcd.client.put(...meshNode(7));
    expect(await onetime(host, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    const back = await command(host, 'generations', 'rollback', '1');
    expect(back).toMatchObject({ code: 0 });
    expect(back.stdout).toContain('no birdfeed runs on this cache');
    expect(current(host)).toBe(1);
    expect(await onetime(host, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    expect(current(host)).toBe(1);
    const shown = await command(host, 'generations', 'show');
    expect(shown.stdout).toMatch(/^generation 1 \(parent none\), made .* by birdfeed /);
    expect(shown.stdout).toMatch(/^file .*generations\/00000001\/bird\.conf, \d+ bytes, mode 0640/m);
    expect(shown.stdout).toMatch(/^session Mesh_10_0_0_2 with 10\.0\.0\.2 AS 64512 \(mesh\)$/m);
    expect(await command(host, 'generations', 'resume')).toMatchObject({ code: 0 });
    expect(await onetime(host, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    expect(current(host)).not.toBe(1);
  });
});
