import { askDaemon, processNamespace } from '../app/admin.ts';
import { cacheDirectory } from '../app/paths.ts';
import { EXIT } from '../core/errors.ts';
import type { CommandContext } from './commands.ts';

interface ProbeAnswer {
  readonly ready?: boolean;
  readonly live?: boolean;
  readonly reason?: string;
  readonly processes?: string | null;
}

/** Exit 0 when ready (or alive), 1 when not, whatever the reason: what exec probes look at. */
export async function probe({ options, env, args, out }: CommandContext): Promise<number> {
  const what = args[0] === 'live' ? 'live' : 'ready';
  const cacheDir = cacheDirectory(options, env);
  let answer: ProbeAnswer;
  try {
    const given = (await askDaemon(cacheDir, { do: 'probe', what })) as ProbeAnswer | undefined;
    answer = ownAnswer(given ?? { reason: `no birdfeed runs on ${cacheDir}` });
  } catch (error) {
    answer = { reason: (error as Error).message };
  }
  out(`${JSON.stringify(answer)}\n`);
  return answer.ready === true || answer.live === true ? EXIT.ok : EXIT.findings;
}

/** While another container has the cache, this one's birdfeed waits as standby: alive, and not ready. */
function ownAnswer({ processes, ...answer }: ProbeAnswer): ProbeAnswer {
  if (processes === undefined || processes === processNamespace() || answer.live === true) return answer;
  return { ready: false, reason: 'standby: the cache is in use by the birdfeed of another container' };
}
