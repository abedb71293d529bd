import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type BirdBinary, binaries, requireBinary, requireNamespaces } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { runBirdfeed } from '../../support/birdfeed.ts';
import { createNetwork, type Network } from '../../support/netns.ts';
import { makeDir, removeDir, testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

// The steps of docs/replace-calico-confd.md that can be tried without a cluster.

const bird16 = requireBinary(binaries.bird16, 'bird16');
const bird217 = requireBinary(binaries.bird217, 'bird217');

const NODES = { n1: '10.99.0.1', n2: '10.99.0.2' };
const OWN_BLOCK = { n1: '10.244.1.0/26', n2: '10.244.2.0/26' };

/** Two nodes and their blocks, as calicoctl prints them. */
const CLUSTER = [
  'kind: IPPool\nmetadata: { name: pods }\nspec: { cidr: 10.244.0.0/16, ipipMode: Never, vxlanMode: Never }',
  ...(['n1', 'n2'] as const).flatMap((node) => [
    `kind: Node\nmetadata: { name: ${node} }\nspec: { bgp: { ipv4Address: ${NODES[node]}/24 } }`,
    `kind: BlockAffinity\nmetadata: { name: ${node}-block }\nspec: { node: ${node}, cidr: ${OWN_BLOCK[node]}, state: confirmed }`,
  ]),
]
  .map((object) => `apiVersion: projectcalico.org/v3\n${object}\n`)
  .join('---\n');

/** What calico-node runs on n1: BIRD 1.6 with the session, the kernel protocol and the block that its confd gives it. */
const CALICO = `
router id ${NODES.n1};
protocol device { scan time 2; }
protocol kernel { learn; persist; scan time 2; import all; export all; graceful restart; }
protocol static { route ${OWN_BLOCK.n1} blackhole; }
protocol bgp Mesh_10_99_0_2 {
  local as 64512; neighbor ${NODES.n2} as 64512; source address ${NODES.n1};
  multihop; gateway recursive; passive on; add paths on; graceful restart;
  import all; export where source = RTS_STATIC; next hop self;
  connect delay time 2; connect retry time 5; error wait time 5,30;
}
`;

let cluster: string;
beforeAll(async () => {
  cluster = await makeDir('bf-move');
  await writeFile(join(cluster, 'cluster.yaml'), CLUSTER);
});
afterAll(() => removeDir(cluster));

/** The file that birdfeed makes for a node. */
async function rendered(node: string, bird: 'bird1' | 'bird2'): Promise<string> {
  const cache = await testDir('bf-cache');
  const options = ['--fixtures', cluster, '--node-name', node, '--bird', bird, '--reload', 'none'];
  const { code, logs } = await runBirdfeed(['--onetime', ...options, '--cache', cache]);
  expect(code, JSON.stringify(logs)).toBe(0);
  return join(cache, 'current', bird === 'bird1' ? 'bird.cfg' : 'bird.conf');
}

describe('moving a node from calico-node’s BIRD 1.6 to BIRD 2 with birdfeed', () => {
  requireNamespaces();

  /** Every 20 ms whether a node has a route in its kernel, from now on until `gone` is called: how often it had not. */
  function watchRoute(network: Network<'n1' | 'n2'>, node: 'n1' | 'n2', prefix: string) {
    const loop = `while sleep 0.02; do [ -n "$(ip route show ${prefix})" ] && echo 1 || echo 0; done`;
    const child = spawn('ip', ['netns', 'exec', network.nodes[node].netns, 'sh', '-c', loop]);
    onTestFinished(() => void child.kill());
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
    });
    return async (): Promise<{ looks: number; missing: number }> => {
      child.kill();
      const all = seen.trim().split('\n');
      return { looks: all.length, missing: all.filter((line) => line === '0').length };
    };
  }

  it('loses no route on the way there and on the way back', { timeout: 120_000 }, async () => {
    const network = await createNetwork(['n1', 'n2']);
    const birds: BirdDaemon[] = [];
    onTestFinished(async () => {
      await Promise.all(birds.map((bird) => bird.close()));
      await network.close();
    });
    const start = async (node: 'n1' | 'n2', binary: BirdBinary, config: string | { path: string }) => {
      const { netns } = network.nodes[node];
      const bird = await BirdDaemon.start(binary, { config, netns, args: ['-R'] });
      birds.push(bird);
      return bird;
    };
    const established = async (bird: BirdDaemon, peer: string) => {
      const name = `Mesh_${peer.replaceAll('.', '_')}`;
      await until(async () => (await bird.protocols()).get(name)?.endsWith('Established'), {
        timeout: 30_000,
      });
    };
    const hasRoute = (node: 'n1' | 'n2', prefix: string) =>
      until(async () => (await network.exec(node, ['ip', 'route', 'show', prefix])) !== '', {
        timeout: 30_000,
      });

    // A mixed fleet: n2 has moved already, n1 has not.
    const n2 = await start('n2', bird217, { path: await rendered('n2', 'bird2') });
    const old = await start('n1', bird16, CALICO);
    await Promise.all([established(old, NODES.n2), established(n2, NODES.n1)]);
    await Promise.all([hasRoute('n2', OWN_BLOCK.n1), hasRoute('n1', OWN_BLOCK.n2)]);

    // There. The pod of calico-node ends with a grace period of 0, which is KILL.
    const there = [watchRoute(network, 'n2', OWN_BLOCK.n1), watchRoute(network, 'n1', OWN_BLOCK.n2)];
    await old.kill9();
    const moved = await start('n1', bird217, { path: await rendered('n1', 'bird2') });
    await Promise.all([established(moved, NODES.n2), established(n2, NODES.n1)]);
    // A second restart before the first is over would be none that BIRD forgives: what is still stale then goes.
    await until(async () => !(await n2.cmd('show protocols all')).text.includes('graceful restart active'), {
      timeout: 60_000,
    });
    for (const stop of there) expect((await stop()).missing).toBe(0);

    // And back.
    const back = [watchRoute(network, 'n2', OWN_BLOCK.n1), watchRoute(network, 'n1', OWN_BLOCK.n2)];
    expect((await moved.cmd('graceful restart')).code).toBe('0025');
    await moved.ended();
    const again = await start('n1', bird16, CALICO);
    await Promise.all([established(again, NODES.n2), established(n2, NODES.n1)]);
    for (const stop of back) {
      const { looks, missing } = await stop();
      expect(missing).toBe(0);
      expect(looks).toBeGreaterThan(10);
    }
  });
});

describe('what Calico’s tools read from BIRD’s socket', () => {
  // calicoctl node status and calico-node's --bird-ready compare the headings of `show protocols` with these words, and
  // take the sessions of these names (calicoctl/commands/node/status.go, node/pkg/health/bird).
  const HEADINGS = 'name proto table state since info';
  const NAME = /^(Global|Node|Mesh)_(.+)$/;

  async function table(binary: BirdBinary, dialect: 'bird1' | 'bird2'): Promise<string[][]> {
    const bird = await BirdDaemon.start(binary, { config: { path: await rendered('n1', dialect) } });
    onTestFinished(() => bird.close());
    const { text } = await bird.cmd('show protocols');
    return text.split('\n').map((line) => line.trim().split(/\s+/));
  }

  it('is what they expect with BIRD 1.6', async () => {
    const [headings, ...rows] = await table(bird16, 'bird1');
    expect(headings?.join(' ')).toBe(HEADINGS);
    const sessions = rows.filter(([, protocol]) => protocol === 'BGP');
    expect(sessions.map(([name]) => NAME.exec(name!)?.[2]?.replaceAll('_', '.'))).toEqual([NODES.n2]);
  });

  it('is not with BIRD 2, which writes the headings otherwise', async () => {
    const [headings] = await table(bird217, 'bird2');
    expect(headings?.join(' ')).not.toBe(HEADINGS);
    expect(headings?.join(' ').toLowerCase()).toBe(HEADINGS);
  });
});
