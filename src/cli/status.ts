import { askDaemon } from '../app/admin.ts';
import { EXIT } from '../core/errors.ts';
import type { Status } from '../status/status.ts';
import { readCache } from './cache-reader.ts';
import type { CommandContext } from './commands.ts';

/** What a running birdfeed says of itself; without one, what the cache holds (exit 1). */
export async function status({ options, env, out }: CommandContext): Promise<number> {
  const { cacheDir, store } = readCache(options, env);
  const answer = (await askDaemon(cacheDir, { do: 'status' })) as (Status & { headline: string }) | undefined;
  if (answer === undefined) {
    const current = store.list().find((listed) => listed.current);
    const held = current === undefined ? 'no current generation' : `generation ${current.number} is current`;
    out(
      options.json
        ? `${JSON.stringify({ running: false, generation: current?.number ?? null })}\n`
        : `no birdfeed runs on ${cacheDir}; ${held}\n`,
    );
    return EXIT.findings;
  }
  out(options.json ? `${JSON.stringify(answer, null, 2)}\n` : describe(answer));
  return EXIT.ok;
}

function describe(status: Status & { headline: string }): string {
  const lines = [
    `${status.headline}  (node ${status.node}, birdfeed ${status.version}, dialect ${status.dialect ?? 'none'})`,
  ];
  for (const axis of ['data', 'config', 'bird'] as const) {
    const { since, reason } = status[axis];
    const state = axis === 'bird' && !status.tellsBird ? 'not told' : status[axis].state;
    lines.push(`${axis.padEnd(7)} ${state.padEnd(16)} since ${since}${reason === null ? '' : `  ${reason}`}`);
  }
  if (status.generation !== null) {
    const { number, createdAt, sessions } = status.generation;
    lines.push(
      `generation ${number} of ${createdAt}, ${sessions} sessions${status.pinned === null ? '' : ', pinned'}`,
    );
  }
  for (const target of status.targets) {
    lines.push(
      `BIRD ${target.birdVersion ?? '?'} on ${target.socket}: ${target.applied ? `runs it (${target.ack})` : (target.reason ?? 'not yet')}`,
    );
  }
  if (status.held !== null)
    lines.push(
      `held ${status.held.digest.slice(0, 12)}: ${status.held.reasons.join('; ')}  (birdfeed approve)`,
    );
  if (status.deferred !== null) {
    const { resets, removals, until } = status.deferred;
    lines.push(`deferred until ${until}: ${resets} sessions to reset, ${removals} to remove`);
  }
  for (const mount of status.mounts) {
    lines.push(
      `mount ${mount.prefix} (${mount.kind}) ${mount.synced ? `synced at ${mount.revision}` : (mount.error ?? 'not read yet')}`,
    );
  }
  for (const problem of status.problems)
    lines.push(`${problem.severity} ${problem.id} ${problem.subject}: ${problem.message}`);
  return `${lines.join('\n')}\n`;
}
