import { textsOf } from '../app/announce.ts';
import type { AppSet } from '../app/application.ts';
import { compareSessions, describeSessionChanges, unifiedDiff } from '../app/changes.ts';
import type { RunOutcome } from '../app/set-loop.ts';
import { BirdfeedError, EXIT } from '../core/errors.ts';
import type { CommandContext } from './commands.ts';
import { dryRun } from './dry-run.ts';

/** Exit 0: nothing would change; 1: something would. */
export async function diff({ options, env, out }: CommandContext): Promise<number> {
  return dryRun(options, env, async ({ sets }) => {
    const results = [];
    for (const { set, outcome } of sets) results.push(await compare(set, outcome));
    if (options.json) out(`${JSON.stringify(results, null, 2)}\n`);
    else for (const result of results) out(describe(result));
    return results.some((result) => result.wouldChange) ? EXIT.findings : EXIT.ok;
  });
}

async function compare(set: AppSet, outcome: RunOutcome) {
  const { current } = set.store;
  const generation = current?.number ?? null;
  switch (outcome.type) {
    case 'would-change': {
      const sessions = compareSessions(current?.stamp.sessions ?? [], outcome.computation.sessions);
      const after = outcome.rendering.files.map(({ name, content }) => ({
        name,
        text: Buffer.from(content).toString('utf8'),
      }));
      const text = await unifiedDiff(current === null ? [] : textsOf(current), after);
      return { set: set.name, generation, wouldChange: true, sessions, diff: text };
    }
    case 'held': {
      const message = `the guard holds what the datastore has now: ${outcome.reasons.join('; ')}`;
      throw new BirdfeedError('BF_GENERATION_HELD', message);
    }
    case 'waiting':
    case 'failed':
    case 'condition':
      throw outcome.error;
    default:
      return {
        set: set.name,
        generation,
        wouldChange: false,
        sessions: { added: [], removed: [], reset: [] },
        diff: '',
      };
  }
}

function describe(result: Awaited<ReturnType<typeof compare>>): string {
  const against = result.generation === null ? 'nothing published yet' : `generation ${result.generation}`;
  if (!result.wouldChange) return `${result.set}: no difference to ${against}\n`;
  return `${result.diff}${result.set}: differs from ${against}; ${describeSessionChanges(result.sessions)}\n`;
}
