import { mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaries, requireBinary } from '../../support/binaries.ts';
import { Birdfeed, runBirdfeed } from '../../support/birdfeed.ts';
import {
  calicoConfiguration,
  calicoMesh,
  calicoNode,
  calicoPeer,
  calicoPool,
  fillEtcd,
  meshNode,
  nodeKey,
  peerKey,
  type Stored,
} from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { BIRD2, type Host, makeHost, ownTemplate, startBirdfeed } from './support.ts';

const etcdBinary = requireBinary(binaries.etcd35, 'etcd35');
let etcd: EtcdServer;

beforeAll(async () => {
  etcd = await EtcdServer.start(etcdBinary);
});
afterAll(() => etcd?.close());

const peers = [1, 2, 3, 4].map((i) =>
  calicoPeer(`tor${i}`, { peerIP: `172.16.0.${i}`, asNumber: 65_000 + i }),
);
const pools = [1, 2, 3, 4].map((i) => calicoPool(`more${i}`, `10.${100 + i}.0.0/16`));
const BEFORE: readonly Stored[] = [...calicoMesh(6), ...peers, ...pools];
const poolKey = pools.map(([key]) => key);

interface Change {
  readonly put?: readonly Stored[];
  readonly del?: readonly string[];
}

/** All in one revision, as one operation of somebody. */
async function make({ put = [], del = [] }: Change): Promise<void> {
  await etcd.client.txn([...put.map((entry) => ({ put: entry })), ...del.map((key) => ({ del: key }))]);
}

const current = ({ cache }: Host): string => readlinkSync(join(cache, 'current'));

async function start(): Promise<{ host: Host; birdfeed: Birdfeed }> {
  await fillEtcd(etcd.client, BEFORE);
  const host = await makeHost(BIRD2);
  const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
  await birdfeed.settled();
  return { host, birdfeed };
}

interface Held {
  readonly host: Host;
  readonly birdfeed: Birdfeed;
  /** What stays current. */
  readonly generation?: number;
  readonly set?: string;
}

/** What is held, as an operator and a monitoring system see it. */
async function expectVisible({ host, birdfeed, generation = 1, set }: Held, reason: RegExp): Promise<void> {
  const { config, held, headline } = await birdfeed.reaches('held', (status) => {
    // Prefix by prefix, what is gone may be more and more.
    return status.config.state === 'held' && reason.test(status.config.reason ?? '');
  });
  expect(config.reason).toMatch(reason);
  expect(held?.reasons.join('; ')).toMatch(reason);
  expect(headline).toBe('held');
  const cache = set === undefined ? host.cache : join(host.cache, 'sets', set);
  expect(readlinkSync(join(cache, 'current'))).toBe(`generations/${String(generation).padStart(8, '0')}`);
  const ready = await birdfeed.get('/readyz');
  expect([ready.code, ready.body['config']]).toEqual([200, 'held']);
  const metrics = await (await fetch(`http://127.0.0.1:${birdfeed.port}/metrics`)).text();
  expect(metrics).toMatch(/^birdfeed_config_state\{state="held"\} 1$/m);
  const probe = await runBirdfeed(['probe', 'ready', '--cache', host.cache]);
  expect(probe.code).toBe(0);
  expect(probe.stdout + probe.stderr).toContain('held');
  const status = await runBirdfeed(['status', '--cache', host.cache]);
  expect(status.stdout).toContain(`held ${held?.digest.slice(0, 12)}`);
}

const HELD: readonly (readonly [what: string, harm: Change, reason: RegExp])[] = [
  ['every resource gone', { del: BEFORE.map(([key]) => key) }, /none of the \d+ resources/],
  ['most nodes gone', { del: [2, 3, 4, 5].map((i) => nodeKey(`n${i}`)) }, /^4 of 6 Node vanished at once$/],
  [
    'most BGPPeers gone',
    { del: [1, 2, 3].map((i) => peerKey(`tor${i}`)) },
    /^3 of 4 BGPPeer vanished at once$/,
  ],
  ['most pools gone', { del: poolKey }, /^4 of 6 IPPool vanished at once$/],
  [
    'an address of this node gone',
    { put: [calicoNode('n1', { v6: 'fd00::1/64' })] },
    /no longer has an IPv4 address; it was 10\.0\.0\.1/,
  ],
  ['this node gone', { del: [nodeKey('n1')] }, /node .*n1.* (no longer in|not in) the datastore/],
];

/** Without this node there is nothing that could be rendered. */
const UNAPPROVABLE: ReadonlySet<string> = new Set(['this node gone', 'every resource gone']);

describe.each(HELD)('%s', (what, harm, reason) => {
  it('is held and seen, ends by itself when the data is back, and is published when it is approved', async () => {
    const running = await start();
    const { host, birdfeed } = running;
    await make(harm);
    await expectVisible(running, reason);
    await make({ put: BEFORE });
    await birdfeed.settled();
    expect(current(host)).toBe('generations/00000001');
    await make(harm);
    await expectVisible(running, reason);
    if (UNAPPROVABLE.has(what)) return;
    const approved = await runBirdfeed(['approve', '--cache', host.cache]);
    expect(approved).toMatchObject({ code: 0 });
    await birdfeed.reaches('published', ({ generation, held }) => generation?.number === 2 && held === null);
  });
});

it('a plain resource whose keys fall under its min_keys is held and seen, ends by itself, and is published when it is approved', async () => {
  await fillEtcd(etcd.client, []);
  const host = await makeHost(BIRD2);
  const confdir = ownTemplate(host, 'servers.njk', '{{ gets("/*") | length }} servers\n');
  mkdirSync(join(confdir, 'conf.d'));
  writeFileSync(
    join(confdir, 'conf.d', 'servers.toml'),
    '[template]\nsrc = "servers.njk"\ndest = "servers"\nprefix = "/servers"\nkeys = ["/"]\nmin_keys = 3\n',
  );
  const key = (i: number) => `/servers/s${i}`;
  const all: Change = { put: [1, 2, 3, 4].map((i) => [key(i), '10.0.0.1'] as const) };
  await make(all);
  const args = ['--bird', 'none', '--confdir', confdir, '--etcd-endpoints', etcd.url];
  const birdfeed = await Birdfeed.start(args, { cache: host.cache });
  await birdfeed.settled();
  // As many as it asks for is enough.
  await make({ del: [key(4)] });
  await birdfeed.reaches('3 servers', ({ generation }) => generation?.number === 2);
  const served = { host, birdfeed, generation: 2, set: 'servers' };
  const reason = /2 keys, min_keys asks for 3/;
  await make({ del: [key(3)] });
  await expectVisible(served, reason);
  await make(all);
  await birdfeed.reaches('4 servers', ({ generation, held }) => generation?.number === 3 && held === null);
  await birdfeed.settled();
  await make({ del: [key(3), key(4)] });
  await expectVisible({ ...served, generation: 3 }, reason);
  expect(await runBirdfeed(['approve', '--cache', host.cache])).toMatchObject({ code: 0 });
  await birdfeed.reaches('2 servers', ({ generation, held }) => generation?.number === 4 && held === null);
});

const NEVER: readonly (readonly [what: string, change: Change])[] = [
  ['the mesh turned off', { put: [calicoConfiguration({ nodeToNodeMeshEnabled: false, asNumber: 64_512 })] }],
  [
    'a selector changed so that nothing matches',
    {
      put: [
        calicoPeer('tor1', { peerSelector: 'has(nothing)' }),
        calicoPeer('tor2', { peerSelector: 'has(nothing)' }),
      ],
    },
  ],
  [
    'a cluster id set, which takes this node out of the mesh',
    {
      put: [
        calicoNode('n1', {
          v4: '10.0.0.1/24',
          v6: 'fd00::1/64',
          bgp: { routeReflectorClusterID: '244.0.0.1' },
        }),
      ],
    },
  ],
  ['one node of six removed', { del: [nodeKey('n6')] }],
  ['two BGPPeers of four removed', { del: ['tor1', 'tor2'].map(peerKey) }],
];

describe.each(NEVER)('%s', (_what, change) => {
  it('is never held', async () => {
    const { birdfeed } = await start();
    await make(change);
    const status = await birdfeed.reaches(
      'the next generation',
      ({ generation }) => generation?.number === 2,
    );
    expect(status.held).toBeNull();
    expect(birdfeed.logs.filter(({ msg }) => msg.includes('held'))).toEqual([]);
  });
});

it('one node of a hundred removed at a time is never held, however many it comes to', async () => {
  await fillEtcd(etcd.client, [...calicoMesh(2), ...Array.from({ length: 98 }, (_, i) => meshNode(i + 3))]);
  const host = await makeHost(BIRD2);
  const birdfeed = await startBirdfeed(host, etcd, ['--reload', 'none']);
  await birdfeed.settled();
  for (let i = 1; i <= 10; i += 1) {
    await etcd.client.del(nodeKey(`n${101 - i}`));
    await birdfeed.reaches(`generation ${i + 1}`, ({ generation }) => generation?.number === i + 1);
  }
  expect(birdfeed.logs.filter(({ msg }) => msg.includes('held'))).toEqual([]);
});
