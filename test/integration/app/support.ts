import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CacheState } from '../../../src/generation/state.ts';
import { type BirdBinary, binaries, requireBinary } from '../../support/binaries.ts';
import { BirdDaemon } from '../../support/bird-daemon.ts';
import {
  Birdfeed,
  type DaemonOptions,
  type Finished,
  type RunOptions,
  runBirdfeed,
} from '../../support/birdfeed.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

/** A BIRD as birdfeed's user has it: which dialect, and one daemon or two. */
export interface Flavour {
  readonly dialect: 'bird1' | 'bird2';
  readonly binary: BirdBinary;
  /** Whether each daemon is the IPv6 one, in the order of the control sockets. */
  readonly daemons: readonly { readonly file: string; readonly ipv6: boolean }[];
}

export const FLAVOURS: readonly (readonly [name: string, flavour: Flavour])[] = [
  [
    'BIRD 2.0.12',
    {
      dialect: 'bird2',
      binary: requireBinary(binaries.bird20, 'bird20'),
      daemons: [{ file: 'bird.conf', ipv6: false }],
    },
  ],
  [
    'BIRD 1.6.8',
    {
      dialect: 'bird1',
      binary: requireBinary(binaries.bird16, 'bird16'),
      daemons: [
        { file: 'bird.cfg', ipv6: false },
        { file: 'bird6.cfg', ipv6: true },
      ],
    },
  ],
];

export const [BIRD2, BIRD1] = FLAVOURS.map(([, flavour]) => flavour) as [Flavour, Flavour];

/** What a BIRD runs that nobody has told anything yet. */
export const FIRST_CONFIG = 'router id 10.0.0.1;\nprotocol device {}\n';

/** A host of its own: a directory with the cache and BIRD's control sockets. */
export interface Host {
  readonly directory: string;
  readonly cache: string;
  /** Control sockets, one for each daemon of the flavour. */
  readonly sockets: readonly string[];
  readonly flavour: Flavour;
  readonly nodeName: string;
}

export async function makeHost(flavour: Flavour): Promise<Host> {
  const directory = await testDir('bfa');
  const sockets = flavour.daemons.map(({ file }) => join(directory, `${file}.ctl`));
  return { directory, cache: join(directory, 'cache'), sockets, flavour, nodeName: 'n1' };
}

export interface BirdStart {
  /** Starts from these files instead of a configuration without sessions. */
  readonly from?: readonly string[];
  readonly config?: string;
  readonly netns?: string;
}

/** Starts every BIRD daemon of a host, and ends them with the running test. */
export function startBirds(host: Host, start: BirdStart = {}): Promise<BirdDaemon[]> {
  return Promise.all(host.flavour.daemons.map((_, index) => startBird(host, index, start)));
}

export async function startBird(host: Host, index: number, start: BirdStart = {}): Promise<BirdDaemon> {
  const { binary, daemons } = host.flavour;
  const path = start.from?.[index];
  const daemon = await BirdDaemon.start(binary, {
    config: path === undefined ? (start.config ?? FIRST_CONFIG) : { path },
    socket: host.sockets[index] as string,
    ipv6: daemons[index]?.ipv6 ?? false,
    // Without it, and without `log` in its configuration, BIRD logs to syslog.
    args: ['-d'],
    ...(start.netns === undefined ? {} : { netns: start.netns }),
  });
  onTestFinished(() => daemon.close());
  return daemon;
}

/** What a fresh BIRD of this host starts from. */
export function currentFiles({ cache, flavour }: Host): string[] {
  return flavour.daemons.map(({ file }) => join(cache, 'current', file));
}

/** The arguments that every run on this host needs. `bird -p` is the flavour's own. */
export function hostArgs(host: Host): string[] {
  const { flavour, sockets, nodeName } = host;
  return [
    ...['--node-name', nodeName, '--bird', flavour.dialect, '--bird-binary', flavour.binary.bird],
    ...sockets.flatMap((socket) => ['--control-socket', socket]),
  ];
}

/** What serves etcd's API, or would. */
export interface Endpoint {
  readonly url: string;
}

export function etcdArgs(etcd: Endpoint): string[] {
  return ['--etcd-endpoints', etcd.url];
}

/** Starts birdfeed on a host, against an etcd. */
export function startBirdfeed(
  host: Host,
  etcd: Endpoint,
  more: readonly string[] = [],
  options: Partial<DaemonOptions> = {},
): Promise<Birdfeed> {
  const args = [...hostArgs(host), ...etcdArgs(etcd), ...more];
  return Birdfeed.start(args, { cache: host.cache, ...options });
}

/** One run of `--onetime` on a host, against an etcd. */
export function onetime(
  host: Host,
  etcd: Endpoint,
  more: readonly string[] = [],
  options: RunOptions = {},
): Promise<Finished> {
  const args = ['--onetime', ...hostArgs(host), ...etcdArgs(etcd), '--cache', host.cache, ...more];
  return runBirdfeed(args, options);
}

/** The BGP sessions of all daemons: name → what `show protocols` says. */
export async function bgpSessions(birds: readonly BirdDaemon[]): Promise<Map<string, string>> {
  const all = await Promise.all(birds.map((bird) => bird.protocols()));
  return new Map(all.flatMap((rows) => [...rows].filter(([, row]) => row.startsWith('BGP'))));
}

/** Waits until the daemons have exactly these BGP sessions. */
export function birdsHave(birds: readonly BirdDaemon[], names: readonly string[], timeout = 15_000) {
  const wanted = [...names].sort().join(' ');
  return until(async () => [...(await bgpSessions(birds)).keys()].sort().join(' ') === wanted, {
    timeout,
    every: 25,
    what: `the sessions ${wanted}`,
  });
}

/** How often BIRD has been given a configuration that it took, since it started. */
export function reconfigurations(bird: BirdDaemon): number {
  return bird.output.match(/^bird6?: Reconfiguring/gm)?.length ?? 0;
}

/** What birdfeed remembers in the cache. */
export function readState({ cache }: Host): CacheState {
  const file = JSON.parse(readFileSync(join(cache, 'state.json'), 'utf8')) as { value: CacheState };
  return file.value;
}

/** The text of a template that birdfeed ships. */
export function shippedTemplate(name: string): string {
  return readFileSync(new URL(`../../../templates/${name}`, import.meta.url), 'utf8');
}

/** A `--confdir` of the host with one template in it, which takes the place of the shipped one. */
export function ownTemplate(host: Host, name: string, text: string): string {
  const confdir = join(host.directory, 'confdir');
  mkdirSync(join(confdir, 'templates'), { recursive: true });
  writeFileSync(join(confdir, 'templates', name), text);
  return confdir;
}
