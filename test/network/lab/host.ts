import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { askDaemon } from '../../../src/app/admin.ts';
import type { Status } from '../../../src/status/status.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import { builtProgram } from '../../support/birdfeed-command.ts';
import { DaemonProcess } from '../../support/daemon-process.ts';
import type { NetworkNode } from '../../support/netns.ts';
import { until } from '../../support/wait.ts';
import { type Path, parsePaths, parseSession, type Session } from './bird-view.ts';
import { type Family, type Flavour, familyOf } from './flavour.ts';
import { RouteWatch } from './route-watch.ts';

export interface HostSpec {
  readonly name: string;
  readonly flavour: Flavour;
  readonly node: NetworkNode;
  /** Where pods run: the other end of `cali0`. Null: a host without workloads. */
  readonly pod: NetworkNode | null;
  /** The blocks of this host, one of each family. Empty without workloads. */
  readonly blocks: readonly string[];
  /** A new directory of this host's own. */
  readonly directory: string;
  readonly etcdUrl: string;
  readonly secretsDir: string;
  readonly exec: (...command: string[]) => Promise<string>;
}

export type StatusAnswer = Status & { readonly headline: string };

export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
}

/** A machine of the cluster: BIRD, and birdfeed as its sidecar. Its kernel and its cache outlive both. */
export class Host {
  readonly name: string;
  readonly flavour: Flavour;
  readonly node: NetworkNode;
  readonly pod: NetworkNode | null;
  readonly blocks: readonly string[];
  readonly cache: string;
  readonly #spec: HostSpec;
  #birds: readonly BirdDaemon[] = [];
  #birdfeed: DaemonProcess | undefined;
  #watch: RouteWatch | undefined;

  constructor(spec: HostSpec) {
    ({ name: this.name, flavour: this.flavour, node: this.node, pod: this.pod, blocks: this.blocks } = spec);
    this.cache = join(spec.directory, 'cache');
    this.#spec = spec;
  }

  /** The kernel forwards, the pod has its way out, and the kernel's routes are followed. */
  async prepare(): Promise<void> {
    const { exec, pod } = this.#spec;
    const on = 'for name; do echo 1 > /proc/sys/net/$name; done';
    await exec('sh', '-c', on, 'sh', 'ipv4/ip_forward', 'ipv6/conf/all/forwarding');
    if (pod !== null) await this.#route(pod);
    this.#watch = await RouteWatch.start(this.node, exec);
  }

  get watch(): RouteWatch {
    if (this.#watch === undefined) throw new Error(`${this.name} is not prepared`);
    return this.#watch;
  }

  /** `birdfeed --onetime`, as an init container runs it. Resolves to its exit code and what it printed. */
  async initialise(...more: string[]): Promise<{ readonly code: number | string; readonly output: string }> {
    const once = this.#run(['--onetime', '--reload', 'none', ...more]);
    await once.ended();
    return { code: once.exit ?? 'not started', output: once.output };
  }

  /** BIRD, from what is current in the cache. Rejects with BIRD's message when it does not start. */
  async startBird(): Promise<void> {
    const { binary, daemons } = this.flavour;
    this.#birds = await Promise.all(
      daemons.map(({ file, families }) =>
        BirdDaemon.start(binary, {
          config: { path: join(this.cache, 'current', file) },
          socket: this.#socket(file),
          ipv6: !families.includes(4),
          // -R: takes its sessions up again; -d: logs to standard error.
          args: ['-R', '-d'],
          netns: this.node.netns,
        }),
      ),
    );
  }

  startBirdfeed(...more: string[]): void {
    const sockets = this.flavour.daemons.flatMap(({ file }) => ['--control-socket', this.#socket(file)]);
    this.#birdfeed = this.#run([...sockets, ...more]);
  }

  /** Everything, in the order of a pod. */
  async start(): Promise<void> {
    const { code, output } = await this.initialise();
    if (code !== 0) throw new Error(`birdfeed --onetime of ${this.name} ended with ${code}: ${output}`);
    await this.startBird();
    this.startBirdfeed();
  }

  async stopBirdfeed(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#birdfeed?.end(signal);
    this.#birdfeed = undefined;
  }

  async stopBird(how: 'SIGTERM' | 'SIGKILL' | 'graceful restart'): Promise<void> {
    for (const bird of this.#birds) {
      if (how === 'SIGKILL') await bird.kill9();
      else if (how === 'SIGTERM') await bird.stop();
      else await gracefully(bird);
      await bird.close();
    }
    this.#birds = [];
  }

  /** As a crash of the whole machine's software: nobody says goodbye. */
  async kill(): Promise<void> {
    await Promise.all([this.stopBirdfeed('SIGKILL'), this.stopBird('SIGKILL')]);
  }

  /** As with a container's own file system: what was rendered is gone with it. */
  wipeCache(): Promise<void> {
    return rm(this.cache, { recursive: true, force: true });
  }

  /** The IPv4 daemon, for those who speak to it themselves. */
  birdFiles(): { readonly bird: string; readonly birdc: string; readonly socket: string } {
    const { bird, birdc } = this.flavour.binary;
    return { bird, birdc, socket: this.#birdFor(4).socket };
  }

  async close(): Promise<void> {
    await this.kill();
    await this.#watch?.close();
  }

  async status(): Promise<StatusAnswer> {
    const answer = await askDaemon(this.cache, { do: 'status' });
    if (answer === undefined) throw new Error(`no birdfeed runs on ${this.name}: ${this.log.slice(-1_000)}`);
    return answer as StatusAnswer;
  }

  async readiness(): Promise<Readiness> {
    return (await askDaemon(this.cache, { do: 'probe', what: 'ready' })) as Readiness;
  }

  /** Fresh, nothing wrong, and BIRD runs the current generation. */
  async settled(): Promise<StatusAnswer> {
    const what = `birdfeed of ${this.name} to be fresh, good and applied`;
    return until(
      async () => {
        const status = await this.status();
        const { headline, bird } = status;
        if (headline !== 'fresh' || bird.state !== 'applied') throw new Error(`${headline}: ${bird.reason}`);
        return status;
      },
      { timeout: 30_000, every: 50, what },
    );
  }

  /** What birdfeed logged since its last start. */
  get log(): string {
    return this.#birdfeed?.output ?? '';
  }

  /** What BIRD logged since its last start. */
  get birdLog(): string {
    return this.#birds.map(({ output }) => output).join('\n');
  }

  /** How often BIRD has taken a configuration since its start. */
  get reconfigurations(): number {
    return this.#birds.reduce((all, { output }) => all + (output.match(/Reconfiguring/g)?.length ?? 0), 0);
  }

  async sessions(): Promise<ReadonlyMap<string, Session>> {
    const all = await Promise.all(this.#birds.map((bird) => bird.protocols()));
    const sessions = all.flatMap((rows) => [...rows].flatMap(([name, row]) => parseSession(name, row) ?? []));
    return new Map(sessions.map((session) => [session.name, session]));
  }

  async paths(prefix: string): Promise<readonly Path[]> {
    return parsePaths((await this.#birdFor(familyOf(prefix)).cmd(`show route ${prefix} all`)).text);
  }

  /** Networks of the kernel that BIRD has put there, with the gateway, or `blackhole`. */
  async kernelRoutes(family: Family): Promise<ReadonlyMap<string, string>> {
    const text = await this.#spec.exec('ip', `-${family}`, 'route', 'show', 'proto', 'bird');
    const routes = text.split('\n').flatMap((line) => {
      const found = /^(blackhole )?(\S+)(?: via (\S+))?/.exec(line);
      return found === null ? [] : [[found[2], found[1]?.trim() ?? found[3] ?? 'direct'] as [string, string]];
    });
    return new Map(routes);
  }

  /** A command of birdfeed on this host, as an operator gives it. */
  async command(...args: string[]): Promise<{ readonly code: number | string; readonly output: string }> {
    const process_ = new DaemonProcess(process.execPath, [builtProgram(), ...args, '--cache', this.cache], {
      netns: this.node.netns,
    });
    await process_.ended();
    return { code: process_.exit ?? 'not started', output: process_.output };
  }

  #birdFor(family: Family): BirdDaemon {
    const index = this.flavour.daemons.findIndex(({ families }) => families.includes(family));
    const bird = this.#birds[index];
    if (bird === undefined) throw new Error(`BIRD of ${this.name} does not run`);
    return bird;
  }

  #socket(file: string): string {
    return join(this.#spec.directory, `${file}.ctl`);
  }

  #run(args: readonly string[]): DaemonProcess {
    const { etcdUrl, secretsDir, name } = this.#spec;
    const options = [
      ...['--node-name', name, '--cache', this.cache, '--etcd-endpoints', etcdUrl],
      ...['--bird', this.flavour.dialect, '--bird-binary', this.flavour.binary.bird],
      ...['--secrets-dir', secretsDir, '--log-format', 'json'],
    ];
    return new DaemonProcess(process.execPath, [builtProgram(), ...options, ...args], {
      netns: this.node.netns,
      // All data comes from etcd, also where the lab itself runs in a pod.
      env: { KUBERNETES_SERVICE_HOST: '' },
    });
  }

  /** As Calico wires a pod: single addresses, and everything goes to the host. */
  async #route(pod: NetworkNode): Promise<void> {
    const { exec } = this.#spec;
    await exec('ip', 'addr', 'add', '169.254.1.1/32', 'dev', 'cali0');
    await exec('ip', 'addr', 'add', 'fe80::1/64', 'dev', 'cali0', 'nodad');
    // Felix's protocol and its normal priority. BIRD 1.6 takes a route without a metric for one of metric 0, which is a
    // priority above normal: it would be announced beside its block, as a workload in live migration.
    for (const address of [pod.ipv4, pod.ipv6])
      await exec('ip', 'route', 'add', address, 'dev', 'cali0', 'proto', '80', 'metric', '1024');
    const inPod = ['ip', '-n', pod.netns];
    await exec(...inPod, 'route', 'add', 'default', 'via', '169.254.1.1', 'dev', 'eth0', 'onlink');
    await exec(...inPod, '-6', 'route', 'add', 'default', 'via', 'fe80::1', 'dev', 'eth0');
  }
}

/** The way of BIRD 2 and later to end so that its peers keep its routes. */
async function gracefully(bird: BirdDaemon): Promise<void> {
  const { code, text } = await bird.cmd('graceful restart');
  if (code !== '0025') throw new Error(`BIRD answered "graceful restart" with ${code} ${text}`);
  await bird.ended();
}

export async function makeHost(spec: HostSpec): Promise<Host> {
  await mkdir(spec.directory, { recursive: true });
  const host = new Host(spec);
  await host.prepare();
  return host;
}
