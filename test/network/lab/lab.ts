import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EtcdBinary } from '../../support/binaries.ts';
import { calicoBlock, calicoNode, type NodeSpec, type Stored } from '../../support/calico.ts';
import { EtcdServer } from '../../support/etcd-server.ts';
import { createNetwork, type Network, type NetworkNode } from '../../support/netns.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';
import type { Session } from './bird-view.ts';
import type { Flavour } from './flavour.ts';
import { type Host, makeHost } from './host.ts';
import type { Outage } from './route-watch.ts';
import { Prober, sum, type Traffic } from './traffic.ts';

/** As many hosts with pods as there are names, all of one flavour. */
export function hostsOf<Name extends string>(
  names: readonly Name[],
  flavour: Flavour,
): LabSpec<Name>['hosts'] {
  return Object.fromEntries(
    names.map((name) => [name, { flavour, hasPods: true }]),
  ) as LabSpec<Name>['hosts'];
}

export interface LabSpec<Name extends string> {
  readonly etcd: EtcdBinary;
  readonly hosts: Readonly<Record<Name, { readonly flavour: Flavour; readonly hasPods: boolean }>>;
  /** Further machines, of which only the network is made. */
  readonly others?: readonly string[];
}

/** The sessions of some hosts at one moment. */
export type Sessions = ReadonlyMap<string, Session>;

/**
 * A cluster in network namespaces: one etcd, and hosts on one bridge with BIRD and birdfeed. Everything is in namespaces and
 * directories of its own, and goes with {@link Lab.close}.
 */
export class Lab<Name extends string = string> {
  readonly etcd: EtcdServer;
  readonly hosts: Readonly<Record<Name, Host>>;
  readonly network: Network<string>;
  readonly directory: string;
  readonly #closers: (() => Promise<unknown>)[];
  #probers = new Map<string, Prober>();

  private constructor(parts: {
    etcd: EtcdServer;
    hosts: Record<Name, Host>;
    network: Network<string>;
    directory: string;
    closers: (() => Promise<unknown>)[];
  }) {
    ({ etcd: this.etcd, hosts: this.hosts, network: this.network, directory: this.directory } = parts);
    this.#closers = parts.closers;
  }

  /** Makes the network, starts etcd, and leaves the hosts without BIRD and birdfeed. Needs root. */
  static async open<Name extends string>(spec: LabSpec<Name>): Promise<Lab<Name>> {
    const closers: (() => Promise<unknown>)[] = [];
    try {
      const directory = await makeDir('bfl');
      closers.unshift(() => removeDir(directory));
      const names = Object.keys(spec.hosts) as Name[];
      const network = await createNetwork([...names, ...(spec.others ?? [])]);
      closers.unshift(() => network.close());
      const place = { netns: network.hub.netns, address: network.hub.ipv4 };
      const etcd = await EtcdServer.start(spec.etcd, { place });
      closers.unshift(() => etcd.close());
      const hosts = {} as Record<Name, Host>;
      for (const [index, name] of names.entries()) {
        const { flavour, hasPods } = spec.hosts[name];
        hosts[name] = await addHost(name, index + 1, flavour, hasPods, { network, etcd, directory });
        closers.unshift(() => hosts[name].close());
      }
      return new Lab({ etcd, hosts, network, directory, closers });
    } catch (error) {
      for (const close of closers) await close();
      throw error;
    }
  }

  get all(): readonly Host[] {
    return Object.values(this.hosts);
  }

  /** The objects of a host: its Node, and the affinities of its blocks. */
  objectsOf(name: Name, more: NodeSpec = {}): readonly Stored[] {
    const { node, blocks } = this.hosts[name];
    const addresses = { v4: `${node.ipv4}/24`, v6: `${node.ipv6}/64` };
    return [calicoNode(name, { ...addresses, ...more }), ...blocks.map((cidr) => calicoBlock(name, cidr))];
  }

  put(...objects: readonly Stored[]): Promise<number> {
    return this.etcd.client.putAll(objects);
  }

  /** Writes a key of a Secret, where all hosts have it mounted. */
  async secret(name: string, key: string, value: string): Promise<void> {
    const path = join(this.directory, 'secrets', name, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, value);
  }

  /** Waits until every session of these hosts is Established, and there are as many as wanted; returns how long, in ms. */
  async established(expected: Readonly<Partial<Record<Name, number>>>, timeout = 60_000): Promise<void> {
    await until(
      async () => {
        for (const [name, count] of Object.entries(expected) as [Name, number][]) {
          const sessions = [...(await this.hosts[name].sessions()).values()];
          const missing = sessions
            .filter(({ isEstablished }) => !isEstablished)
            .map((session) => session.name);
          if (missing.length > 0) throw new Error(`${name} has no session ${missing.join(', ')}`);
          if (sessions.length !== count)
            throw new Error(`${name} has ${sessions.length} sessions of ${count}`);
        }
        return true;
      },
      { timeout, every: 100, what: 'all sessions Established' },
    );
  }

  /** The sessions of these hosts, named `HOST SESSION`. */
  async sessions(...names: readonly Name[]): Promise<Sessions> {
    const all = await Promise.all(
      names.map(async (name) =>
        [...(await this.hosts[name].sessions())].map(([session, is]) => [`${name} ${session}`, is] as const),
      ),
    );
    return new Map(all.flat());
  }

  /** When the kernels of these hosts were without a route to one of these networks, since a time (epoch, ms). */
  outages(observers: readonly Name[], prefixes: readonly string[], since: number): readonly Outage[] {
    return observers.flatMap((name) => {
      const own = this.hosts[name].blocks;
      return this.hosts[name].watch.outages(
        prefixes.filter((prefix) => !own.includes(prefix)),
        since,
      );
    });
  }

  /** Sends from pods to pods, both families, until {@link endTraffic}. A pair is where from and where to. */
  async beginTraffic(pairs: readonly (readonly [from: Name, to: Name])[]): Promise<void> {
    await Promise.all([...new Set(pairs.flat())].map((name) => this.#prober(name)));
    for (const name of new Set(pairs.map(([from]) => from))) {
      const targets = pairs
        .filter(([from]) => from === name)
        .flatMap(([, to]) => {
          const { ipv4, ipv6 } = this.#pod(to);
          return [ipv4, ipv6].map((address) => ({ name: `${name} → ${to} ${address}`, address }));
        });
      (await this.#prober(name)).begin(targets);
    }
    this.#senders = [...new Set(pairs.map(([from]) => from))];
  }

  async endTraffic(): Promise<Traffic> {
    const flows = await Promise.all(this.#senders.map(async (name) => (await this.#prober(name)).end()));
    this.#senders = [];
    return sum(flows.flat());
  }

  #senders: readonly Name[] = [];

  async #prober(name: Name): Promise<Prober> {
    const known = this.#probers.get(name);
    if (known !== undefined) return known;
    const prober = await Prober.start(this.#pod(name));
    this.#probers.set(name, prober);
    this.#closers.unshift(() => prober.close());
    return prober;
  }

  #pod(name: Name): NetworkNode {
    const { pod } = this.hosts[name];
    if (pod === null) throw new Error(`${name} has no pods`);
    return pod;
  }

  /** Ends everything and removes what it made. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }
}

/** Sessions that were reset, have gone or have come between two moments. */
export function sessionChanges(before: Sessions, after: Sessions) {
  const reset = [...after].filter(
    ([name, { since }]) => before.get(name) && before.get(name)?.since !== since,
  );
  return {
    reset: reset.map(([name]) => name),
    gone: [...before.keys()].filter((name) => !after.has(name)),
    added: [...after.keys()].filter((name) => !before.has(name)),
  };
}

async function addHost(
  name: string,
  number: number,
  flavour: Flavour,
  hasPods: boolean,
  { network, etcd, directory }: { network: Network<string>; etcd: EtcdServer; directory: string },
): Promise<Host> {
  const addresses = { ipv4: `10.244.${number}.10`, ipv6: `fd00:10:244:${number}::10` };
  return makeHost({
    name,
    flavour,
    node: network.nodes[name] as NetworkNode,
    pod: hasPods ? await network.attach(name, 'cali0', addresses) : null,
    blocks: hasPods ? [`10.244.${number}.0/26`, `fd00:10:244:${number}::/122`] : [],
    directory: join(directory, name),
    etcdUrl: etcd.url,
    secretsDir: join(directory, 'secrets'),
    exec: (...command) => network.exec(name, command),
  });
}
