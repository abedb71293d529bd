import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Options } from '../config/options.ts';
import { sha256 } from '../core/digest.ts';

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

/** The node's name: what was asked for, else the host name, in lower case as Kubernetes has it. */
export function nodeName(options: Options, hostname: string): string {
  return options.nodeName ?? hostname.toLowerCase();
}
