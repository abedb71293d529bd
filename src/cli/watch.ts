import type { CommandContext } from './commands.ts';

/** The main command: the daemon, or one run. */
export async function watch({ options, env }: CommandContext): Promise<number> {
  if (options.onetime) {
    const { runOnetime } = await import('../app/onetime.ts');
    return runOnetime(options, env);
  }
  const { runDaemon } = await import('../app/daemon.ts');
  return runDaemon(options, env);
}
