import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { binaries, requireBinary, requireNamespaces } from '../../support/binaries.ts';
import type { BirdDaemon } from '../../support/bird-daemon.ts';
import type { Birdfeed } from '../../support/birdfeed.ts';
import { calicoConfiguration, calicoNode, calicoPool, fillEtcd } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { createNetwork, type Network } from '../../support/netns.ts';
import { until } from '../../support/wait.ts';
import {
  bgpSessions,
  currentFiles,
  FLAVOURS,
  type Flavour,
  type Host,
  makeHost,
  onetime,
  readState,
  reconfigurations,
  startBirdfeed,
  startBirds,
} from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

/** BIRD goes back after this; sessions have 80 % of it. */
const SECONDS = 10;
const TRIAL = ['--commit-confirm', String(SECONDS)];
const RESETS_EVERY_SESSION = calicoConfiguration({ nodeMeshMaxRestartTime: '90s' });
const PATIENT = { timeout: 60_000, every: 100 };

interface Cluster {
  readonly host: Host;
  readonly birds: readonly BirdDaemon[];
  readonly network: Network<'a' | 'b' | 'c'>;
}

describe.each(FLAVOURS)('with --commit-confirm, %s', (_name, flavour) => {
  requireNamespaces();

  it('keeps a change whose sessions come back, and is told so', async () => {
    const { host, birds } = await startCluster(flavour);
    const birdfeed = await startBirdfeed(host, etcd, TRIAL);
    await allEstablished(birds);
    await birdfeed.settled(PATIENT);
    await etcd.client.put(...RESETS_EVERY_SESSION);
    await birdfeed.reaches(
      'generation 2 applied',
      ({ generation, bird }) => {
        return generation?.number === 2 && bird.state === 'applied';
      },
      PATIENT,
    );
    for (const bird of birds) expect((await bird.cmd('configure confirm')).code).toBe('0019');
    expect(readState(host).trials).toEqual({});
    await allEstablished(birds);
    expect(birds.map(reconfigurations)).toEqual(birds.map(() => 2));
  });

  it('goes back from a change whose sessions do not, says why, and does not try it again', async () => {
    const { host, birds, network } = await startCluster(flavour);
    const birdfeed = await startBirdfeed(host, etcd, TRIAL);
    await birdfeed.settled(PATIENT);
    await allEstablished(birds);
    await etcd.client.put(...nodeOf(network, 'b', { asNumber: 64999 }));
    const tried = await birdfeed.reaches('on trial', ({ bird }) => bird.reason?.includes('trial') === true);
    expect(tried.bird).toMatchObject({ state: 'unapplied' });
    expect(tried.bird.reason).toContain('generation 2 is on trial: waiting for Mesh_');
    expect((await birdfeed.get('/readyz')).code).toBe(200);
    const undone = await birdfeed.reaches(
      'generation 1 again',
      ({ generation, bird, config }) => {
        return generation?.number === 1 && bird.state === 'applied' && config.state === 'degraded';
      },
      PATIENT,
    );
    expect(undone.config.reason).toContain('taken back');
    // With two daemons either may be the first to say so.
    expect(undone.config.reason).toMatch(/Mesh_(10_99_0_2|fd\w+)/);
    expect(undone.config.reason).toContain(`did not come back within ${SECONDS * 0.8} s`);
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000001');
    await allEstablished(birds);
    expect(readState(host).verdicts).toMatchObject([{ undone: true }]);
    expect(
      birdfeed.logs.filter(({ msg }) => msg.startsWith('the configuration was taken back')),
    ).toHaveLength(1);

    const loaded = birds.map(reconfigurations);
    const { counters } = await birdfeed.status();
    // A change that leads to the same bytes has everything looked at again.
    await etcd.client.put(...nodeOf(network, 'b', { asNumber: 64999, wireguard: null }));
    await birdfeed.reaches('another run', (status) => status.counters.runs > counters.runs, PATIENT);
    expect(birds.map(reconfigurations)).toEqual(loaded);

    await etcd.client.put(...nodeOf(network, 'b', {}));
    await birdfeed.reaches(
      'good again',
      ({ config, bird }) => {
        return config.state === 'good' && bird.state === 'applied';
      },
      PATIENT,
    );
    expect(birds.map(reconfigurations)).toEqual(loaded);
  });

  it('goes back by itself when birdfeed dies in the middle, and is given it once more at most', async () => {
    const { host, birds, network } = await startCluster(flavour);
    const first = await startBirdfeed(host, etcd, TRIAL);
    await first.settled(PATIENT);
    await allEstablished(birds);
    await etcd.client.put(...nodeOf(network, 'b', { asNumber: 64999 }));
    await onTrial(first);
    await first.kill9();
    // Nobody is left to say anything: BIRD's own timer.
    await allEstablished(birds);
    expect(readlinkSync(join(host.cache, 'current'))).toBe('generations/00000002');
    const second = await startBirdfeed(host, etcd, TRIAL);
    await onTrial(second);
    await second.kill9();
    await allEstablished(birds);
    const third = await startBirdfeed(host, etcd, TRIAL);
    const given = await third.reaches(
      'generation 1',
      ({ generation, bird, config }) => {
        return generation?.number === 1 && bird.state === 'applied' && config.reason !== null;
      },
      PATIENT,
    );
    expect(given.config.reason).toContain('was on trial 2 times');
    await allEstablished(birds);
    // Loaded at the start, and twice tried and taken back: a daemon that was not reached in time, less often.
    for (const bird of birds) expect(reconfigurations(bird)).toBeLessThanOrEqual(5);
  });

  it('is seen through when birdfeed comes back before BIRD has gone back', async () => {
    const { host, birds } = await startCluster(flavour);
    const first = await startBirdfeed(host, etcd, TRIAL);
    await first.settled(PATIENT);
    await allEstablished(birds);
    await etcd.client.put(...RESETS_EVERY_SESSION);
    await until(() => Object.keys(readState(host).trials).length === birds.length);
    await first.kill9();
    const second = await startBirdfeed(host, etcd, TRIAL);
    await second.settled(PATIENT);
    await allEstablished(birds);
    for (const bird of birds) expect((await bird.cmd('configure confirm')).code).toBe('0019');
    expect((await second.status()).generation?.number).toBe(2);
    expect(readState(host).trials).toEqual({});
  });

  it('is judged by a newer change on its own, after the sessions have come back from an older one', async () => {
    const { host, birds, network } = await startCluster(flavour);
    const birdfeed = await startBirdfeed(host, etcd, TRIAL);
    await birdfeed.settled(PATIENT);
    await allEstablished(birds);
    await etcd.client.put(...nodeOf(network, 'b', { asNumber: 64999 }));
    await onTrial(birdfeed);
    await etcd.client.put(...nodeOf(network, 'b', { asNumber: 64998 }));
    await birdfeed.reaches(
      'generation 1 again',
      ({ generation, bird, config }) => {
        return generation?.number === 1 && bird.state === 'applied' && config.state === 'degraded';
      },
      PATIENT,
    );
    await allEstablished(birds);
    expect(readState(host).verdicts).toMatchObject([{ undone: true }, { undone: true }]);
  });
});

async function onTrial(birdfeed: Birdfeed): Promise<void> {
  await birdfeed.reaches('on trial', ({ bird }) => bird.reason?.includes('trial') === true, PATIENT);
}

function nodeOf(
  network: Network<'a' | 'b' | 'c'>,
  name: 'a' | 'b' | 'c',
  bgp: Readonly<Record<string, unknown>>,
) {
  const { ipv4, ipv6 } = network.nodes[name];
  return calicoNode(name, { v4: `${ipv4}/24`, v6: `${ipv6}/64`, bgp });
}

/** Nodes a, b and c in a mesh of both families; BIRD of a runs nothing yet, those of b and c keep what they have. */
async function startCluster(flavour: Flavour): Promise<Cluster> {
  const names = ['a', 'b', 'c'] as const;
  const network = await createNetwork(names);
  onTestFinished(() => network.close());
  await fillEtcd(etcd.client, [
    ...names.map((name) => nodeOf(network, name, {})),
    calicoPool('pool4', '192.168.0.0/16'),
  ]);
  for (const name of ['b', 'c'] as const) {
    const other = { ...(await makeHost(flavour)), nodeName: name };
    expect(await onetime(other, etcd, ['--reload', 'none'])).toMatchObject({ code: 0 });
    const from = currentFiles(other).map((path, index) => {
      const own = join(other.directory, `own${index}.conf`);
      // Peers that forgive at once, so that a test is over soon.
      writeFileSync(
        own,
        readFileSync(path, 'utf8').replaceAll(/error wait time [\d,]+/g, 'error wait time 1,2'),
      );
      return own;
    });
    await startBirds(other, { from, netns: network.nodes[name].netns });
  }
  const host = { ...(await makeHost(flavour)), nodeName: 'a' };
  return { host, network, birds: await startBirds(host, { netns: network.nodes.a.netns }) };
}

async function allEstablished(birds: readonly BirdDaemon[]): Promise<void> {
  const names = ['Mesh_10_99_0_2', 'Mesh_10_99_0_3', 'Mesh_fd99__2', 'Mesh_fd99__3'];
  await until(
    async () => {
      const sessions = await bgpSessions(birds);
      expect([...sessions.keys()].sort()).toEqual(names);
      for (const row of sessions.values()) expect(row).toMatch(/ Established\b/);
      return true;
    },
    { timeout: 40_000, every: 100, what: 'all sessions Established' },
  );
}
