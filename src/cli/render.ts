import { namedTexts } from '../app/announce.ts';
import { EXIT } from '../core/errors.ts';
import type { CommandContext } from './commands.ts';
import { dryRun } from './dry-run.ts';

/** The rendered files, or with `--context` what templates see. */
export async function render({ options, env, out, switches }: CommandContext): Promise<number> {
  return dryRun(options, env, async ({ sets }) => {
    for (const { set, outcome } of sets) {
      const { plan } = set.runtime.loop;
      if (outcome.type === 'waiting') throw outcome.error;
      if (switches.has('context')) {
        const contexts = Object.fromEntries(plan.contexts());
        out(`${JSON.stringify({ set: set.name, resources: contexts }, printable, 2)}\n`);
        continue;
      }
      const rendering = await plan.render();
      const [fault] = rendering.faults;
      if (fault !== undefined) throw fault;
      const files = namedTexts(rendering);
      if (options.json) {
        out(`${JSON.stringify({ set: set.name, files }, null, 2)}\n`);
        continue;
      }
      for (const { name, text } of files) out(`${files.length > 1 ? `# --- ${name}\n` : ''}${text}`);
    }
    return EXIT.ok;
  });
}

/** Passwords are blanked, functions and maps shown as what they are. */
function printable(key: string, value: unknown): unknown {
  if (key === 'password' && typeof value === 'string') return '[redacted]';
  if (typeof value === 'function') return `function ${value.name}`;
  if (value instanceof Map) return Object.fromEntries(value);
  if (typeof value === 'bigint') return value.toString();
  return value;
}
