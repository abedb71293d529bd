import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';

/**
 * What a failed `connect()` to BIRD's control socket means and what to do about it. ENOENT, ECONNREFUSED and EACCES ask
 * for three different actions, and a message that only says "cannot connect" gets none of them done.
 */
export async function connectError(path: string, cause: NodeJS.ErrnoException): Promise<BirdfeedError> {
  const details = { socket: path, errno: cause.code };
  const fail = (code: 'BF_BIRD_UNREACHABLE' | 'BF_BIRD_PERMISSION', message: string): BirdfeedError =>
    new BirdfeedError(code, message, { cause, details });

  if (cause.code === 'ENOENT') {
    return fail(
      'BF_BIRD_UNREACHABLE',
      `BIRD is not started: there is no control socket ${path} (its directory must be shared with BIRD's container)`,
    );
  }
  if (cause.code === 'ECONNREFUSED') {
    const kind = await stat(path).catch(() => null);
    const message =
      kind?.isSocket() === false
        ? `${path} is not a socket: --control-socket must name the path BIRD was given with -s`
        : `BIRD is dead: nobody listens on ${path}, a stale socket; BIRD's supervisor has to start it again`;
    return fail('BF_BIRD_UNREACHABLE', message);
  }
  if (cause.code === 'EACCES' || cause.code === 'EPERM') {
    return fail('BF_BIRD_PERMISSION', await permissionMessage(path));
  }
  return fail('BF_BIRD_UNREACHABLE', `cannot connect to BIRD's control socket ${path}: ${cause.message}`);
}

/** Names owner, group and mode of the socket beside our own, since one of the two has to change. */
async function permissionMessage(path: string): Promise<string> {
  const us = `uid ${process.geteuid?.()}, groups ${process.getgroups?.().join(' ')}`;
  const socket = await stat(path).catch(() => null);
  if (socket === null)
    return `not permitted to enter ${dirname(path)}, where BIRD's control socket is (we are ${us})`;
  const mode = (socket.mode & 0o777).toString(8).padStart(4, '0');
  return (
    `not permitted to use BIRD's control socket ${path} (owner ${socket.uid}, group ${socket.gid}, mode ${mode}; ` +
    `we are ${us}): add us to group ${socket.gid}, or start BIRD with -g and a group of ours`
  );
}
