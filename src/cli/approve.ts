import { askDaemon } from '../app/admin.ts';
import { cacheDirectory } from '../app/paths.ts';
import { BirdfeedError, EXIT } from '../core/errors.ts';
import type { CommandContext } from './commands.ts';

export async function approve({ options, env, args, out }: CommandContext): Promise<number> {
  const cacheDir = cacheDirectory(options, env);
  const answer = await askDaemon(cacheDir, { do: 'approve', digest: args[0] ?? null });
  if (answer === undefined) {
    throw new BirdfeedError(
      'BF_ADMIN_UNREACHABLE',
      `no birdfeed runs on ${cacheDir}; it holds changes only while it runs (--cache names its cache)`,
    );
  }
  const { approved } = answer as {
    approved: readonly { set: string; digest: string; reasons: readonly string[] }[];
  };
  if (options.json) out(`${JSON.stringify(answer)}\n`);
  else
    for (const { set, digest, reasons } of approved)
      out(`approved ${digest.slice(0, 12)} of set ${set}: ${reasons.join('; ')}\n`);
  return EXIT.ok;
}
