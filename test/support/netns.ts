import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface NetworkNode {
  /** Name of the namespace, for `ip netns exec` and {@link DaemonOptions.netns}. */
  readonly netns: string;
  /** Address on eth0, without the length: 10.99.0.N. */
  readonly ipv4: string;
  /** Address on eth0, without the length: fd99::N. */
  readonly ipv6: string;
}

export interface Network<Name extends string> {
  /** The namespace that holds the bridge, which every node reaches: 10.99.0.254 and fd99::fe. */
  readonly hub: NetworkNode;
  readonly nodes: Readonly<Record<Name, NetworkNode>>;
  /**
   * Makes one more namespace behind a node: its eth0 is the other end of `port` in the node. Addresses are single ones,
   * routes the caller's.
   */
  attach(name: Name, port: string, addresses: Pick<NetworkNode, 'ipv4' | 'ipv6'>): Promise<NetworkNode>;
  /** Runs a program in a node's namespace and returns its stdout. */
  exec(name: Name, command: readonly string[]): Promise<string>;
  /** Takes a node's eth0 down or up. */
  setLink(name: Name, state: 'up' | 'down'): Promise<void>;
  /** Deletes the namespaces. End the daemons in them first: a namespace lives as long as a process in it. */
  close(): Promise<void>;
}

/** Namespaces that exist now: a worker that ends without its hooks having run must not leave any behind. */
const namespaces = new Set<string>();
process.on('exit', () => {
  for (const name of namespaces) spawnSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
});

/**
 * Makes one network namespace per name, all on one bridge (in a further namespace), with addresses 10.99.0.N/24 and
 * fd99::N/64 in the order of `names`. Needs root. Nothing appears in the namespace of the tests; the names are unique.
 */
export async function createNetwork<Name extends string>(names: readonly Name[]): Promise<Network<Name>> {
  const tag = `bf${randomBytes(3).toString('hex')}`;
  const hub: NetworkNode = { netns: `${tag}-hub`, ipv4: '10.99.0.254', ipv6: 'fd99::fe' };
  const made: string[] = [];
  const nodes = {} as Record<Name, NetworkNode>;
  try {
    await addNamespace(hub.netns);
    await ip('-n', hub.netns, 'link', 'add', 'name', 'br0', 'type', 'bridge');
    await address(hub, 'br0', 24, 64);
    for (const [index, name] of names.entries()) {
      const node = {
        netns: `${tag}-${name}`,
        ipv4: `10.99.0.${index + 1}`,
        ipv6: `fd99::${(index + 1).toString(16)}`,
      };
      await addNamespace(node.netns);
      await wire(node, `e${index}`);
      nodes[name] = node;
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { hub, nodes, attach, exec, setLink, close };

  async function addNamespace(name: string): Promise<void> {
    await ip('netns', 'add', name);
    made.push(name);
    namespaces.add(name);
    await ip('-n', name, 'link', 'set', 'lo', 'up');
  }

  async function wire(node: NetworkNode, port: string): Promise<void> {
    await connect(hub.netns, port, node.netns);
    await ip('-n', hub.netns, 'link', 'set', port, 'master', 'br0', 'up');
    await address(node, 'eth0', 24, 64);
  }

  /** A cable between `port` of one namespace and eth0 of another. */
  async function connect(from: string, port: string, to: string): Promise<void> {
    const peer = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', to];
    await ip('link', 'add', 'name', port, 'netns', from, ...peer);
  }

  async function address(
    { netns, ipv4, ipv6 }: NetworkNode,
    device: string,
    length4: number,
    length6: number,
  ) {
    await ip('-n', netns, 'addr', 'add', `${ipv4}/${length4}`, 'dev', device);
    // Without nodad the address stays tentative for a second or two, and BIRD cannot bind it.
    await ip('-n', netns, 'addr', 'add', `${ipv6}/${length6}`, 'dev', device, 'nodad');
    await ip('-n', netns, 'link', 'set', device, 'up');
  }

  async function attach(name: Name, port: string, addresses: Pick<NetworkNode, 'ipv4' | 'ipv6'>) {
    const leaf = { ...addresses, netns: `${nodes[name].netns}-${port}` };
    await addNamespace(leaf.netns);
    await connect(nodes[name].netns, port, leaf.netns);
    await ip('-n', nodes[name].netns, 'link', 'set', port, 'up');
    await address(leaf, 'eth0', 32, 128);
    return leaf;
  }

  async function exec(name: Name, command: readonly string[]): Promise<string> {
    const { stdout } = await run('ip', ['netns', 'exec', nodes[name].netns, ...command]);
    return stdout;
  }

  async function setLink(name: Name, state: 'up' | 'down'): Promise<void> {
    await ip('-n', nodes[name].netns, 'link', 'set', 'eth0', state);
  }

  async function close(): Promise<void> {
    for (const name of made.splice(0)) {
      await ip('netns', 'del', name);
      namespaces.delete(name);
    }
  }
}

async function ip(...args: string[]): Promise<void> {
  await run('ip', args);
}
