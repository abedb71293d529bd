import { fileURLToPath } from 'node:url';
import type { PolicyFunction, Statement } from '../../../src/model/bgp/policy.ts';
import { createEngine } from '../../../src/render/engine.ts';
import type { BirdBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { createNetwork, type Network } from '../../support/netns.ts';
import type { Route } from '../../support/policy-interpreter.ts';
import { until } from '../../support/wait.ts';

const engine = createEngine({
  templateDirs: [
    fileURLToPath(new URL('../../../templates', import.meta.url)),
    fileURLToPath(new URL('./templates', import.meta.url)),
  ],
});

export type Family = 4 | 6;

/** A BIRD of one family: 1.6 has a daemon for each, 2.x one for both, of which one family is used. */
export interface Flavour {
  readonly binary: BirdBinary;
  readonly isOne: boolean;
  readonly family: Family;
}

/** A filter under test; every route of the lab is passed through each. */
export interface TestFilter {
  readonly name: string;
  readonly body: readonly Statement[];
}

/** What is fed: routes by how they come into BIRD. Attributes are statements in BIRD's filter language. */
export interface Feed {
  readonly static: readonly { readonly net: string; readonly target: string; readonly set: string }[];
  readonly bgp: readonly { readonly net: string; readonly set: string }[];
  readonly kernel: readonly { readonly net: string; readonly device: string; readonly metric: number }[];
}

const DEVICES = ['cali1', 'tunl9', 'vxlan.calico', 'bpfout.cali'] as const;

/** A gateway behind one of the devices. */
export function gatewayOn(device: (typeof DEVICES)[number], family: Family): string {
  const index = DEVICES.indexOf(device);
  return family === 4 ? `10.200.${index}.2` : `fd20:${index}::2`;
}
/** Metrics of the kernel do not travel with BGP: a community stands for one. */
const METRICS = `
  if (64999, 1) ~ bgp_community then krt_metric = 512;
  if (64999, 2) ~ bgp_community then krt_metric = 1024;
  if (64999, 3) ~ bgp_community then krt_metric = 4000000000;
  accept;`;

/**
 * Two real BIRDs in namespaces of their own: one feeds the other by internal BGP, and the other one passes everything it
 * has through pipes whose filters are the policies under test.
 */
export class BirdLab {
  readonly flavour: Flavour;
  readonly #network: Network<'feeder' | 'subject'>;
  readonly #feeder: BirdDaemon;
  readonly #subject: BirdDaemon;

  private constructor(
    flavour: Flavour,
    network: Network<'feeder' | 'subject'>,
    daemons: readonly [BirdDaemon, BirdDaemon],
  ) {
    this.flavour = flavour;
    this.#network = network;
    [this.#feeder, this.#subject] = daemons;
  }

  static async open(flavour: Flavour): Promise<BirdLab> {
    const network = await createNetwork(['feeder', 'subject'] as const);
    for (const [index, device] of DEVICES.entries())
      for (const command of [
        ['ip', 'link', 'add', 'name', device, 'type', 'bridge'],
        // No link-local address that comes later and makes BIRD look at the interface again.
        ['ip', 'link', 'set', device, 'addrgenmode', 'none'],
        // 1.6 takes an interface for down that has no address.
        ['ip', 'addr', 'add', `10.200.${index}.1/24`, 'dev', device],
        ['ip', 'addr', 'add', `fd20:${index}::1/64`, 'dev', device, 'nodad'],
        ['ip', 'link', 'set', device, 'up'],
      ])
        await network.exec('subject', command);
    const start = (name: 'feeder' | 'subject') =>
      BirdDaemon.start(flavour.binary, {
        config: 'router id 10.99.0.9;\nprotocol device {}\n',
        netns: network.nodes[name].netns,
        ipv6: flavour.isOne && flavour.family === 6,
      });
    return new BirdLab(flavour, network, [await start('feeder'), await start('subject')]);
  }

  async close(): Promise<void> {
    await this.#feeder.close();
    await this.#subject.close();
    await this.#network.close();
  }

  /** Every route as BIRD has it, and what became of it by filter. */
  async run(
    functions: readonly PolicyFunction[],
    filters: readonly TestFilter[],
    feed: Feed,
  ): Promise<{
    readonly routes: readonly Route[];
    readonly after: ReadonlyMap<string, ReadonlyMap<string, Route>>;
  }> {
    await this.#setKernel(feed.kernel);
    await this.#configure(this.#feeder, this.#feederConfig(feed));
    await this.#configure(this.#subject, this.#subjectConfig(functions, filters, feed));
    const routes = await this.#settled(feed);
    const after = new Map<string, ReadonlyMap<string, Route>>();
    for (const [index, { name }] of filters.entries()) {
      const found = await this.#table(`t${index}`);
      after.set(name, new Map(found.map((route) => [route.net, route])));
    }
    return { routes, after };
  }

  async #configure(bird: BirdDaemon, config: string): Promise<void> {
    const reply = await bird.configure(config);
    if (!/^000[34]/.test(reply.code)) throw new Error(`${reply.text}\n${config}`);
  }

  /** Waits until everything that was fed is there, and returns it. */
  async #settled(feed: Feed): Promise<readonly Route[]> {
    const count = (source: Route['source'], routes: readonly Route[]) =>
      routes.filter((route) => route.source === source).length;
    const learned = (await this.#kernelRoutes()).length;
    return until(
      async () => {
        const routes = await this.#table(this.#main);
        const here = ['bgp', 'inherit', 'static'].map((source) => count(source as Route['source'], routes));
        const wanted = [feed.bgp.length, learned, feed.static.length];
        if (here.join() !== wanted.join()) throw new Error(`${here.join()} of ${wanted.join()}`);
        return routes;
      },
      { timeout: 20_000, every: 100, what: `${feed.bgp.length} routes by BGP, ${learned} of the kernel` },
    );
  }

  async #table(table: string): Promise<readonly Route[]> {
    return parseRoutes((await this.#subject.cmd(`show route table ${table} all`)).text);
  }

  get #main(): string {
    return this.flavour.isOne ? 'master' : `master${this.flavour.family}`;
  }

  get #ip(): readonly string[] {
    return ['ip', this.flavour.family === 4 ? '-4' : '-6', 'route'];
  }

  async #kernelRoutes(): Promise<readonly string[]> {
    const text = await this.#network.exec('subject', [...this.#ip, 'show', 'proto', 'static']);
    return text.split('\n').filter((line) => line.trim() !== '');
  }

  async #setKernel(routes: Feed['kernel']): Promise<void> {
    await this.#network.exec('subject', [...this.#ip, 'flush', 'proto', 'static']);
    for (const { net, device, metric } of routes)
      await this.#network.exec('subject', [
        ...[...this.#ip, 'add', net, 'dev', device],
        ...['metric', String(metric), 'proto', 'static'],
      ]);
  }

  #channel(content: string): string {
    return this.flavour.isOne ? content : `ipv${this.flavour.family} { ${content} };`;
  }

  #bgp(self: 'feeder' | 'subject', other: 'feeder' | 'subject', content: string): string {
    const address = this.flavour.family === 4 ? 'ipv4' : 'ipv6';
    const { nodes } = this.#network;
    return `protocol bgp fromfeeder {
  local ${nodes[self][address]} as 64512;
  neighbor ${nodes[other][address]} as 64512;
  connect delay time 1;
  ${this.#channel(content)}
}`;
  }

  #feederConfig({ bgp }: Feed): string {
    const routes = bgp.map(({ net, set }) => `  route ${net} ${this.#blackhole} { ${set} };`);
    return `router id 10.99.0.1;
protocol device {}
protocol direct { ${this.flavour.isOne ? '' : 'ipv4; ipv6;'} }
protocol static fed { ${this.#channel('')}
${routes.join('\n')}
}
${this.#bgp('feeder', 'subject', 'next hop keep; import none; export where proto = "fed";')}
`;
  }

  /** "blackhole" in all versions. */
  readonly #blackhole = 'blackhole';

  #subjectConfig(
    functions: readonly PolicyFunction[],
    filters: readonly TestFilter[],
    { static: own }: Feed,
  ): string {
    const { isOne, family } = this.flavour;
    const routes = own.map(({ net, target, set }) => `  route ${net} ${target} { ${set} };`);
    const pipes = filters.map(({ name }, index) =>
      [
        `${isOne ? '' : `ipv${family} `}table t${index};`,
        `protocol pipe pipe${index} { ${isOne ? 'mode transparent; ' : ''}table ${this.#main}; peer table t${index}; import none; export filter ${name}; }`,
      ].join('\n'),
    );
    return `router id 10.99.0.2;
${engine.render('policies.njk', { functions, filters })}
protocol device { scan time 1; }
protocol direct { ${isOne ? '' : 'ipv4; ipv6;'} interface "eth0"; }
protocol kernel { learn; scan time 1; ${this.#channel('import all; export none;')} }
protocol static own { ${this.#channel('')}
${routes.join('\n')}
}
${this.#bgp('subject', 'feeder', `gateway recursive; import filter {${METRICS}\n}; export none;`)}
${pipes.join('\n')}
`;
  }
}

const SOURCES: readonly (readonly [prefix: string, source: Route['source']])[] = [
  ['fromfeeder', 'bgp'],
  ['own', 'static'],
  ['direct', 'device'],
  ['kernel', 'inherit'],
];

/** Reads what `show route all` says, alike for 1.6 and 2.x. */
function parseRoutes(text: string): readonly Route[] {
  const blocks: string[][] = [];
  for (const line of text.split('\n')) {
    if (/^\S+\/\d+\s/.test(line)) blocks.push([line]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.map((lines) => {
    const whole = lines.join('\n');
    const [net] = lines[0]!.split(/\s/) as [string];
    const protocol = /\[(\w+?)\d* /.exec(whole)![1]!;
    const value = (name: string): string | null =>
      new RegExp(`^\\s*${name}: (.*)$`, 'm').exec(whole)?.[1]?.trim() ?? null;
    const number = (name: string): number | null => {
      const found = value(name);
      return found === null ? null : Number(found);
    };
    return {
      net,
      source: SOURCES.find(([prefix]) => protocol.startsWith(prefix))![1],
      interface: /\b(?:dev|on) ([\w.-]+)/.exec(whole.replace(/\[.*?\]/g, ''))?.[1] ?? '',
      localPref: number('BGP\\.local_pref'),
      metric: number('Kernel\\.metric'),
      nextHop: value('BGP\\.next_hop')?.split(' ')[0] ?? null,
      asPath: (value('BGP\\.as_path') ?? '').split(' ').filter(Boolean).map(Number),
      communities: [...(value('BGP\\.community') ?? '').matchAll(/\((\d+),(\d+)\)/g)]
        .map(([, a, b]) => `${a}:${b}`)
        .concat(
          [...(value('BGP\\.large_community') ?? '').matchAll(/\((\d+), ?(\d+), ?(\d+)\)/g)].map(
            ([, a, b, c]) => `${a}:${b}:${c}`,
          ),
        ),
      preference: Number(/\((\d+)[/)]/.exec(lines.join(' ').replace(/\[.*?\]/, ''))![1]),
      tunnel: null,
    };
  });
}
