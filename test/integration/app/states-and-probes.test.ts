import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { type Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import { calicoMesh, calicoPeer, fillEtcd, meshNode, peerKey } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import {
  BIRD1,
  BIRD2,
  birdsHave,
  FIRST_CONFIG,
  makeHost,
  onetime,
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

/** Whether exec probes and HTTP probes say yes; they must agree. */
async function probes(birdfeed: Birdfeed): Promise<{ ready: boolean; live: boolean }> {
  const probe = (what: string) => runBirdfeed(['probe', what, '--cache', birdfeed.cache]);
  const [ready, live, readyz, livez] = await Promise.all([
    probe('ready'),
    probe('live'),
    birdfeed.get('/readyz'),
    birdfeed.get('/livez'),
  ]);
  expect([ready.code, live.code]).toEqual([readyz.code === 200 ? 0 : 1, livez.code === 200 ? 0 : 1]);
  const told = JSON.parse(ready.stdout) as { ready: boolean; reason: string };
  // A second may pass between the two.
  const timeless = (reason: unknown) => String(reason).replace(/for \d+ s/, 'for a time');
  expect([told.ready, timeless(told.reason)]).toEqual([
    readyz.body['ready'],
    timeless(readyz.body['reason']),
  ]);
  return { ready: readyz.code === 200, live: livez.code === 200 };
}

describe('data', () => {
  it('is starting without etcd and cache, live but not ready, and fresh once etcd is there', async () => {
    await etcd.kill9();
    const host = await makeHost(BIRD2);
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
    const starting = await birdfeed.reaches('a reason', ({ data }) => data.reason !== null);
    expect(starting).toMatchObject({ headline: 'starting', generation: null });
    expect(starting.data.reason).toContain(etcd.url);
    expect(await probes(birdfeed)).toEqual({ ready: false, live: true });
    await etcd.restart();
    await birdfeed.settled({ timeout: 60_000 });
    expect(await probes(birdfeed)).toEqual({ ready: true, live: true });
  });

  it('is waiting-for-node while the datastore lacks this node, and fresh once it has it', async () => {
    const host = { ...(await makeHost(BIRD2)), nodeName: 'n4' };
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
    const waiting = await birdfeed.reaches('waiting', ({ data }) => data.state === 'waiting-for-node');
    expect(waiting.data.reason).toBe(
      'node "n4" is not in the datastore (it has n1, n2, n3); set --node-name or NODENAME to the Calico node\'s name',
    );
    expect(waiting.generation).toBe(null);
    expect(await probes(birdfeed)).toEqual({ ready: false, live: true });
    await etcd.client.put(...meshNode(4));
    await birdfeed.settled();
  });

  it('is stale while etcd is away, stays ready, and is fresh again by itself without a reload', async () => {
    const host = await makeHost(BIRD2);
    await startBirds(host);
    const birdfeed = await startBirdfeed(host, etcd);
    const fresh = await birdfeed.settled();
    await etcd.kill9();
    const stale = await birdfeed.reaches('stale', ({ data }) => data.state === 'stale');
    expect(stale.data.reason).toContain(etcd.url);
    expect(stale.bird.state).toBe('applied');
    const { code, body } = await birdfeed.get('/readyz');
    expect(code).toBe(200);
    expect(body).toMatchObject({ headline: 'stale', data: 'stale', generation: 1 });
    expect(body['ageSeconds']).toBeGreaterThanOrEqual(0);
    await etcd.restart();
    const again = await birdfeed.settled({ timeout: 60_000 });
    expect(again.counters.reloads).toBe(fresh.counters.reloads);
  });

  it('makes a stale process unready after --unready-when-stale, for as long as it lasts', async () => {
    const host = await makeHost(BIRD2);
    const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none', '--unready-when-stale', '300ms']);
    await birdfeed.settled();
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    await etcd.kill9();
    await birdfeed.reaches('unready', async () => (await birdfeed.get('/readyz')).code === 503);
    expect((await birdfeed.get('/readyz')).body['reason']).toMatch(/^stale for \d+ s: /);
    expect(await probes(birdfeed)).toEqual({ ready: false, live: true });
    await etcd.restart();
    await birdfeed.reaches('ready', async () => (await birdfeed.get('/readyz')).code === 200, {
      timeout: 60_000,
    });
  });
});

describe('config', () => {
  it('is degraded by one bad object, which is named; everything else goes on, and readiness with it', async () => {
    const host = await makeHost(BIRD2);
    const birds = await startBirds(host);
    await etcd.client.put(...calicoPeer('tor', { peerIP: 'not an address', asNumber: 65001 }));
    const birdfeed = await startBirdfeed(host, etcd);
    const degraded = await birdfeed.reaches('degraded and applied', ({ config, bird, data }) => {
      return config.state === 'degraded' && bird.state === 'applied' && data.state === 'fresh';
    });
    expect(degraded.headline).toBe('degraded');
    expect(degraded.config.reason).toMatch(/^BGPPeer\/tor: .*peerIP/);
    expect(degraded.problems).toMatchObject([{ severity: 'error', subject: 'BGPPeer/tor' }]);
    expect(await probes(birdfeed)).toEqual({ ready: true, live: true });
    await etcd.client.put(...meshNode(4));
    const mesh = [
      'Mesh_10_0_0_2',
      'Mesh_10_0_0_3',
      'Mesh_10_0_0_4',
      'Mesh_fd00__2',
      'Mesh_fd00__3',
      'Mesh_fd00__4',
    ];
    await birdsHave(birds, mesh);
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 65001 }));
    await birdfeed.settled();
    // Bad again: its last good version goes on.
    await etcd.client.put(...calicoPeer('tor', { peerIP: '172.16.0.1', asNumber: 'many' }));
    await birdfeed.reaches('degraded again', ({ config }) => config.state === 'degraded');
    await birdsHave(birds, [...mesh, 'Global_172_16_0_1']);
    await etcd.client.del(peerKey('tor'));
    await birdfeed.settled();
    await birdsHave(birds, mesh);
  });
});

describe('bird', () => {
  it('is unapplied, and told nothing, when it does not speak the dialect', async () => {
    const host = await makeHost(BIRD2);
    const bird = await startBird({ ...host, flavour: BIRD1 }, 0, { config: FIRST_CONFIG });
    const birdfeed = await startBirdfeed(host, etcd);
    const status = await birdfeed.reaches('fresh', ({ data, bird: { reason } }) => {
      return data.state === 'fresh' && reason !== null;
    });
    expect(status).toMatchObject({ headline: 'unapplied', bird: { state: 'unapplied' } });
    expect(status.bird.reason).toMatch(
      /^dialect bird2 is for BIRD 2 or 3, but this is BIRD 1\.6\.8: use --bird bird1/,
    );
    await birdsHave([bird], []);
    expect(await probes(birdfeed)).toEqual({ ready: false, live: true });
  });

  it('is unapplied while a reload command fails, and applied once it does not', async () => {
    const host = await makeHost(BIRD2);
    const args = ['--bird', 'bird2', '--reload', 'command', '--confdir', `${host.directory}/confdir`];
    mkdirSync(`${host.directory}/confdir/conf.d`, { recursive: true });
    writeFileSync(
      `${host.directory}/confdir/conf.d/bird.conf.toml`,
      `[template]\nsrc = "bird.conf.njk"\ndest = "bird.conf"\nmodel = "calico"\ndialect = "bird2"\nreload_cmd = "test -e ${host.directory}/go"\n`,
    );
    const birdfeed = await startBirdfeed(host, etcd, args);
    const failing = await birdfeed.reaches('unapplied', ({ bird }) => bird.state === 'unapplied');
    expect(failing.bird.reason).toMatch(/reload_cmd "test -e .*" failed \(exit status 1\)/);
    expect(await probes(birdfeed)).toEqual({ ready: false, live: true });
    writeFileSync(`${host.directory}/go`, '');
    await birdfeed.settled();
    expect(await probes(birdfeed)).toEqual({ ready: true, live: true });
  });
});

describe('standby', () => {
  it('waits for the cache, live but not ready, and takes over when the holder is killed', async () => {
    const host = await makeHost(BIRD2);
    const birds = await startBirds(host);
    const first = await startBirdfeed(host, etcd);
    await first.settled();
    const second = await startBirdfeed(host, etcd);
    const line = await second.says('standby: another birdfeed has the cache');
    expect(line['holder']).toContain(`process ${first.pid}`);
    const standby = await second.reaches('standby', (status) => status.standby);
    expect(standby.headline).toBe('standby');
    expect((await second.get('/readyz')).code).toBe(503);
    expect((await second.get('/livez')).code).toBe(200);
    await etcd.client.put(...meshNode(4));
    await first.reaches('generation 2', ({ generation }) => generation?.number === 2);
    await first.kill9();
    const taken = await second.settled();
    expect(taken).toMatchObject({ standby: false, generation: { number: 2 } });
    expect(taken.counters.published).toBe(0);
    expect(await probes(second)).toEqual({ ready: true, live: true });
    await etcd.client.del(meshNode(4)[0]);
    await birdsHave(birds, ['Mesh_10_0_0_2', 'Mesh_10_0_0_3', 'Mesh_fd00__2', 'Mesh_fd00__3']);
  });

  it('ends on SIGTERM', async () => {
    const host = await makeHost(BIRD2);
    const first = await startBirdfeed(host, etcd, ['--reload', 'none']);
    await first.settled();
    const second = await startBirdfeed(host, etcd, ['--reload', 'none']);
    await second.says('standby: another birdfeed has the cache');
    expect(await second.stop()).toBe(0);
    expect((await first.get('/readyz')).code).toBe(200);
  });

  it('of --onetime ends with 75 after its bound, naming the holder', async () => {
    const host = await makeHost(BIRD2);
    const first = await startBirdfeed(host, etcd, ['--reload', 'none']);
    await first.settled();
    const result = await onetime(host, etcd, ['--reload', 'none', '--wait', '1s']);
    expect(result.code).toBe(75);
    expect(result.stderr).toMatch(new RegExp(`is in use by process ${first.pid} on .*--cache`));
  });
});

describe('without a running birdfeed', () => {
  it('both probes say no, and why', async () => {
    const host = await makeHost(BIRD2);
    for (const what of ['ready', 'live']) {
      const result = await runBirdfeed(['probe', what, '--cache', host.cache]);
      expect(result.code).toBe(1);
      expect(JSON.parse(result.stdout)).toEqual({ reason: `no birdfeed runs on ${host.cache}` });
    }
  });
});
