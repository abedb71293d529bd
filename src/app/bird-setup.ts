import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import { silentLogger } from '../core/log.ts';
import { findLocalBird, probeLocalBird } from '../reload/local-bird.ts';
import { BirdClient } from '../reload/socket-client.ts';
import type { Target } from '../reload/types.ts';
import { isCalicoFork } from '../reload/version.ts';
import { DIALECTS, type Dialect } from '../render/types.ts';

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_SOCKETS = ['/run/bird/bird.ctl', '/run/bird/bird6.ctl'];

/** Whether BIRD is told over its control socket. */
export function usesSocket(options: Options): boolean {
  if (options.reload !== 'auto') return options.reload === 'socket';
  return options.fixtures === null || options.controlSocket !== null;
}

/**
 * Which dialect is wanted; null for none. `auto` asks, in this order: the last generation's stamp, the BIRD on the
 * control socket, the local binary.
 * @throws BF_USAGE naming the choices when nothing tells
 */
export async function chooseDialect(
  options: Options,
  stamped: string | null,
  env: Env,
  clock: Clock,
): Promise<Dialect | null> {
  if (options.bird === 'none') return null;
  if (options.bird !== 'auto') return options.bird;
  const known = DIALECTS.find((dialect) => dialect === stamped);
  if (known !== undefined) return known;
  const version = (await versionOnSocket(options, clock)) ?? (await versionOfBinary(options, env, clock));
  if (version !== null) return dialectOf(version);
  throw new BirdfeedError(
    'BF_USAGE',
    `cannot tell which BIRD to write for: no generation in the cache, no BIRD on the control socket, no bird binary. Set --bird ${DIALECTS.join(', ')} or none`,
  );
}

export function dialectOf(version: string): Dialect {
  if (isCalicoFork(version)) return 'bird1-calico';
  return version.startsWith('1.') ? 'bird1' : 'bird2';
}

async function versionOnSocket(options: Options, clock: Clock): Promise<string | null> {
  if (!usesSocket(options)) return null;
  const path = socketPaths(options)[0]!;
  try {
    const client = await BirdClient.connect({ path, clock, log: silentLogger, timeoutMs: 2_000 });
    client.close();
    return client.version;
  } catch {
    return null;
  }
}

async function versionOfBinary(options: Options, env: Env, clock: Clock): Promise<string | null> {
  const path = findLocalBird('bird.conf', options.birdBinary, env);
  return path === null ? null : ((await probeLocalBird(path, { clock }))?.version ?? null);
}

function socketPaths(options: Options): readonly string[] {
  return (options.controlSocket ?? DEFAULT_SOCKETS).map((text) => text.slice(text.indexOf('=') + 1));
}

/**
 * Which daemon loads which of these files: control sockets in the files' order, or `FILE=PATH`.
 * @throws BF_USAGE when there are fewer sockets than files, or one names a file that is not rendered
 */
export function targetsFor(options: Options, files: readonly string[]): readonly Target[] {
  if (!usesSocket(options) || files.length === 0) return [];
  const given = options.controlSocket;
  if (given === null) return files.map((file, index) => ({ file, socket: DEFAULT_SOCKETS[index]! }));
  const named = given.filter((text) => text.includes('='));
  if (named.length === 0) {
    const missing = files[given.length];
    if (missing !== undefined) {
      const remedy = `give one --control-socket for each of ${files.join(', ')}, or name them: --control-socket ${files[0]}=PATH`;
      throw new BirdfeedError('BF_USAGE', `no control socket for ${missing}; ${remedy}`);
    }
    return files.map((file, index) => ({ file, socket: given[index]! }));
  }
  return given.map((text) => {
    const file = text.slice(0, Math.max(0, text.indexOf('=')));
    if (!files.includes(file)) {
      throw new BirdfeedError(
        'BF_USAGE',
        `--control-socket ${text}: no such file is rendered; there is ${files.join(', ')}`,
      );
    }
    return { file, socket: text.slice(file.length + 1) };
  });
}
