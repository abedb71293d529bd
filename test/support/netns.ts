import { execFile } from 'node:child_process';
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
  readonly nodes: Readonly<Record<Name, NetworkNode>>;
  /** Runs a program in a node's namespace and returns its stdout. */
  exec(name: Name, command: readonly string[]): Promise<string>;
  /** Takes a node's eth0 down or up. */
  setLink(name: Name, state: 'up' | 'down'): Promise<void>;
  /** Deletes the namespaces. End the daemons in them first: a namespace lives as long as a process in it. */
  close(): Promise<void>;
}

/**
 * Makes one network namespace per name, all on one bridge (in a further namespace), with addresses 10.99.0.N/24 and
 * fd99::N/64 in the order of `names`. Needs root. Nothing appears in the namespace of the tests; the names are unique.
 */
export async function createNetwork<Name extends string>(names: readonly Name[]): Promise<Network<Name>> {
  const tag = `bf${randomBytes(3).toString('hex')}`;
  const hub = `${tag}-hub`;
  const made: string[] = [];
  const nodes = {} as Record<Name, NetworkNode>;
  try {
    await addNamespace(hub);
    await ip('-n', hub, 'link', 'add', 'name', 'br0', 'type', 'bridge');
    await ip('-n', hub, 'link', 'set', 'br0', 'up');
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
  return { nodes, exec, setLink, close };

  async function addNamespace(name: string): Promise<void> {
    await ip('netns', 'add', name);
    made.push(name);
    await ip('-n', name, 'link', 'set', 'lo', 'up');
  }

  async function wire(node: NetworkNode, port: string): Promise<void> {
    await ip(
      'link',
      'add',
      'name',
      port,
      'netns',
      hub,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      node.netns,
    );
    await ip('-n', hub, 'link', 'set', port, 'master', 'br0', 'up');
    await ip('-n', node.netns, 'addr', 'add', `${node.ipv4}/24`, 'dev', 'eth0');
    // Without nodad the address stays tentative for a second or two, and BIRD cannot bind it.
    await ip('-n', node.netns, 'addr', 'add', `${node.ipv6}/64`, 'dev', 'eth0', 'nodad');
    await ip('-n', node.netns, 'link', 'set', 'eth0', 'up');
  }

  async function exec(name: Name, command: readonly string[]): Promise<string> {
    const { stdout } = await run('ip', ['netns', 'exec', nodes[name].netns, ...command]);
    return stdout;
  }

  async function setLink(name: Name, state: 'up' | 'down'): Promise<void> {
    await ip('-n', nodes[name].netns, 'link', 'set', 'eth0', state);
  }

  async function close(): Promise<void> {
    for (const name of made.splice(0)) await ip('netns', 'del', name);
  }
}

async function ip(...args: string[]): Promise<void> {
  await run('ip', args);
}
