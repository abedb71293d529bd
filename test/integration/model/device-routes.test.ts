import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaries, requireBinary, requireNamespaces } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { createNetwork, type Network } from '../../support/netns.ts';
import { until } from '../../support/wait.ts';

requireNamespaces();
const VERSIONS = [
  { of: 'BIRD 1.6.8', binary: requireBinary(binaries.bird16, 'bird16'), isOne: true },
  { of: 'BIRD 2.0.12', binary: requireBinary(binaries.bird20, 'bird20'), isOne: false },
  { of: 'BIRD 3.1.8', binary: requireBinary(binaries.bird31, 'bird31'), isOne: false },
] as const;

function config(isOne: boolean, filter: string): string {
  const channel = (text: string) => (isOne ? text : `ipv4 { ${text} };`);
  return `router id 10.99.0.1;
protocol device {}
protocol direct { ${isOne ? '' : 'ipv4;'} }
protocol static { ${channel('')} route 198.51.100.0/24 blackhole; }
protocol kernel { ${channel(`export filter { ${filter} accept; };`)} }
`;
}

/** Why the kernel filter of the dialect bird2 begins with a rejection that that of bird1 does not have. */
describe.each(VERSIONS)('the network of an interface, exported to the kernel by $of', ({ binary, isOne }) => {
  let network: Network<'a'>;
  beforeAll(async () => {
    network = await createNetwork(['a'] as const);
  });
  afterAll(() => network?.close());

  async function programmed(filter: string): Promise<readonly string[]> {
    const bird = await BirdDaemon.start(binary, {
      config: config(isOne, filter),
      netns: network.nodes.a.netns,
    });
    try {
      const routes = () => network.exec('a', ['ip', '-4', 'route', 'show', 'proto', 'bird']);
      // The blackhole comes last at the latest when everything else has.
      await until(async () => (await routes()).includes('198.51.100.0/24'), {
        timeout: 10_000,
        what: 'the blackhole',
      });
      return (await routes())
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.includes('198.51.100'));
    } finally {
      await bird.stop();
      await bird.close();
    }
  }

  it(isOne ? 'is not programmed' : 'is programmed beside the one that is there', async () => {
    const lines = await programmed('');
    expect(lines.filter((line) => line.startsWith('10.99.0.0/24'))).toHaveLength(isOne ? 0 : 1);
  });

  it('is not programmed once it is rejected', async () => {
    expect(await programmed('if source = RTS_DEVICE then reject;')).toEqual([]);
  });
});
