import type { BirdBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import type { NetworkNode } from '../../support/netns.ts';
import { type Path, parsePaths, parseSession } from './bird-view.ts';

/** A top-of-rack switch: a BIRD 2 in another AS, which takes what it is told and tells of the world outside. */
export class Tor {
  static readonly AS = 65_001;
  /** What lies behind it, one network of each family. */
  static readonly OUTSIDE = ['192.0.2.0/24', '2001:db8::/32'] as const;
  readonly #bird: BirdDaemon;

  private constructor(bird: BirdDaemon) {
    this.#bird = bird;
  }

  static async start(
    binary: BirdBinary,
    self: NetworkNode,
    peers: readonly NetworkNode[],
    peerAs: number,
  ): Promise<Tor> {
    return new Tor(
      await BirdDaemon.start(binary, { config: config(self, peers, peerAs), netns: self.netns }),
    );
  }

  /** Sessions that are Established, of those that it has. */
  async sessions(): Promise<{ readonly established: number; readonly total: number }> {
    const rows = [...(await this.#bird.protocols())].flatMap(([name, row]) => parseSession(name, row) ?? []);
    return { established: rows.filter(({ isEstablished }) => isEstablished).length, total: rows.length };
  }

  /** Every network that it knows. */
  async networks(): Promise<ReadonlySet<string>> {
    const { text } = await this.#bird.cmd('show route');
    return new Set([...text.matchAll(/^([\da-f.:]+\/\d+)\s/gm)].map(([, network]) => network as string));
  }

  async paths(prefix: string): Promise<readonly Path[]> {
    return parsePaths((await this.#bird.cmd(`show route ${prefix} all`)).text);
  }

  close(): Promise<void> {
    return this.#bird.close();
  }
}

function config(self: NetworkNode, peers: readonly NetworkNode[], peerAs: number): string {
  const [outside4, outside6] = Tor.OUTSIDE;
  const session = (name: string, local: string, neighbor: string, channel: string) => `
protocol bgp ${name} {
  local ${local} as ${Tor.AS};
  neighbor ${neighbor} as ${peerAs};
  connect delay time 1; connect retry time 2; error wait time 1,2;
  graceful restart on;
  ${channel} { import all; export where source = RTS_STATIC; };
}`;
  return `router id ${self.ipv4};
protocol device { scan time 2; }
protocol static { ipv4; route ${outside4} blackhole; }
protocol static { ipv6; route ${outside6} blackhole; }
protocol kernel { ipv4 { import none; export where source = RTS_BGP; }; }
protocol kernel { ipv6 { import none; export where source = RTS_BGP; }; }
${peers
  .map(
    ({ ipv4, ipv6 }, index) =>
      session(`peer${index}v4`, self.ipv4, ipv4, 'ipv4') + session(`peer${index}v6`, self.ipv6, ipv6, 'ipv6'),
  )
  .join('')}
`;
}
