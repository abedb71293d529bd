import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaries, requireBinary, requireNamespaces } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { createNetwork, type Network } from '../../support/netns.ts';
import { until } from '../../support/wait.ts';

describe('two BIRD daemons in namespaces of their own', () => {
  requireNamespaces();
  const binary = requireBinary(binaries.bird20, 'bird20');
  let network: Network<'rr' | 'client'>;
  let rr: BirdDaemon;
  let client: BirdDaemon;

  beforeAll(async () => {
    network = await createNetwork(['rr', 'client']);
    const { rr: a, client: b } = network.nodes;
    rr = await BirdDaemon.start(binary, {
      config: session(a.ipv4, b.ipv4, 'rr client;', ''),
      netns: a.netns,
    });
    const route = 'protocol static { ipv4; route 10.244.1.0/26 blackhole; }';
    client = await BirdDaemon.start(binary, { config: session(b.ipv4, a.ipv4, '', route), netns: b.netns });
  });
  afterAll(async () => {
    await client?.close();
    await rr?.close();
    await network?.close();
  });

  it('bring their session up and exchange a route', async () => {
    await until(async () => (await rr.protocols()).get('peer')?.includes('Established'), {
      timeout: 20_000,
      every: 50,
    });
    await until(async () => (await rr.cmd('show route 10.244.1.0/26')).code === '0000', { timeout: 10_000 });
    const { text } = await rr.cmd('show route 10.244.1.0/26');
    expect(text).toContain(`via ${network.nodes.client.ipv4} on eth0`);
  });

  it('see nothing of one another when a link goes down', async () => {
    await network.setLink('client', 'down');
    await until(async () => !(await client.protocols()).get('peer')?.includes('Established'), {
      timeout: 20_000,
    });
    await network.setLink('client', 'up');
  });
});

describe('a network', () => {
  requireNamespaces();

  it('reaches between its nodes by IPv4 and IPv6, and leaves nothing behind', async () => {
    const network = await createNetwork(['a', 'b']);
    const { a, b } = network.nodes;
    try {
      expect(await network.exec('a', ['ip', '-o', 'addr', 'show', 'dev', 'eth0'])).toContain(`${a.ipv6}/64`);
      expect(await network.exec('a', ['ip', 'route', 'get', b.ipv4])).toContain(`dev eth0 src ${a.ipv4}`);
      expect(await network.exec('a', ['ip', '-6', 'route', 'get', b.ipv6])).toContain('dev eth0');
      expect(await network.exec('b', ['ip', '-o', 'link', 'show', 'lo'])).toContain('UP');
    } finally {
      await network.close();
    }
    const { stdout } = await promisify(execFile)('ip', ['netns', 'list']);
    expect(stdout).not.toContain(a.netns);
    expect(stdout).not.toContain(b.netns);
  });
});

function session(local: string, remote: string, options: string, more: string): string {
  return `
    log stderr all;
    router id ${local};
    protocol device { scan time 2; }
    ${more}
    protocol bgp peer {
      local ${local} as 64512; neighbor ${remote} as 64512; direct; ${options}
      connect delay time 1; connect retry time 1; error wait time 1,2; hold time 6;
      ipv4 { import all; export all; };
    }
  `;
}
