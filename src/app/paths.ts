import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Options } from '../config/options.ts';
import { sha256 } from '../core/digest.ts';
import { BirdfeedError } from '../core/errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where the cache is: what was asked for, else /var/lib/birdfeed; on a laptop with fixtures a directory of its own per
 * fixture set under $XDG_STATE_HOME, which needs no privilege.
 */
export function cacheDirectory(options: Options, env: Env): string {
  if (options.cache !== null) return resolve(options.cache);
  if (options.fixtures === null) return '/var/lib/birdfeed';
  // Empty counts as unset, as the base directory specification says.
  const state = env['XDG_STATE_HOME'] || (env['HOME'] ? join(env['HOME'], '.local', 'state') : '/var/lib');
  const id = sha256(resolve(options.fixtures)).slice(0, 8);
  return join(state, 'birdfeed', `fixtures-${id}`);
}

/** The directories that hold conf.d/ and templates/, the user's first: a file of the same name replaces a later one. */
export function configurationDirectories(options: Options): readonly string[] {
  const shipped = packageRoot();
  const own =
    options.confdir ??
    (existsSync('/etc/birdfeed/conf.d') || existsSync('/etc/birdfeed/templates') ? '/etc/birdfeed' : null);
  return own === null ? [shipped] : [resolve(own), shipped];
}

/** The directory with templates/, from the bundle (dist/*.js) and from source (src/app/paths.ts) alike. */
export function packageRoot(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, 'templates'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('birdfeed is not installed whole: no templates above its code');
    directory = parent;
  }
  return directory;
}

/**
 * The node's name, found in calico-node's order, so that both mean the same Node: what was asked for, the file that
 * calico-node wrote, `HOSTNAME`, the host name; the latter two in lower case, as Kubernetes has them.
 * @throws BF_CONFIG_FILE when there is such a file and it cannot be read: another name would be a guess
 */
export function nodeName(options: Options, env: Env, hostname: string): string {
  return (
    options.nodeName ?? storedNodeName(options.nodeNameFile) ?? (env['HOSTNAME'] || hostname).toLowerCase()
  );
}

function storedNodeName(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    const what = `cannot read the node's name from ${path}: ${message}; give it with --node-name`;
    throw new BirdfeedError('BF_CONFIG_FILE', what, { cause: error });
  }
}
