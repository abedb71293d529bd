import { askDaemon } from '../app/admin.ts';
import { cacheDirectory } from '../app/paths.ts';
import { EXIT } from '../core/errors.ts';
import type { CommandContext } from './commands.ts';

/** Exit 0 when ready (or alive), 1 when not, whatever the reason: what exec probes look at. */
export async function probe({ options, env, args, out }: CommandContext): Promise<number> {
  const what = args[0] === 'live' ? 'live' : 'ready';
  const cacheDir = cacheDirectory(options, env);
  let answer: unknown;
  try {
    answer = await askDaemon(cacheDir, { do: 'probe', what });
  } catch (error) {
    answer = { reason: (error as Error).message };
  }
  answer ??= { reason: `no birdfeed runs on ${cacheDir}` };
  out(`${JSON.stringify(answer)}\n`);
  const { ready, live } = answer as { ready?: boolean; live?: boolean };
  return ready === true || live === true ? EXIT.ok : EXIT.findings;
}
