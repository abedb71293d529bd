import { namedTexts, textsOf } from '../app/announce.ts';
import type { AppSet } from '../app/application.ts';
import { compareSessions, describeSessionChanges, unifiedDiff } from '../app/changes.ts';
import type { Change, RunOutcome } from '../app/run-outcome.ts';
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
  const { change, why } = changeOf(outcome);
  const { current } = set.store;
  const generation = current?.number ?? null;
  if (change === null) {
    const sessions = { added: [], removed: [], reset: [] };
    return { set: set.name, generation, wouldChange: false, why: null, sessions, diff: '' };
  }
  const sessions = compareSessions(current?.stamp.sessions ?? [], change.computation.sessions);
  const before = current === null ? [] : textsOf(current);
  const text = await unifiedDiff(before, namedTexts(change.rendering));
  return { set: set.name, generation, wouldChange: true, why, sessions, diff: text };
}

/** What differs, and why it is not published all the same. */
function changeOf(outcome: RunOutcome): { readonly change: Change | null; readonly why: string | null } {
  switch (outcome.type) {
    case 'would-change':
      return { change: outcome.change, why: null };
    case 'pinned':
      return {
        change: outcome.change,
        why: `generation ${outcome.generation} is pinned until birdfeed generations resume`,
      };
    case 'held': {
      const why = `held by the guard (${outcome.reasons.join('; ')}) until birdfeed approve`;
      if (outcome.change === null) throw new BirdfeedError('BF_GENERATION_HELD', why);
      return { change: outcome.change, why };
    }
    case 'waiting':
    case 'failed':
    case 'condition':
      throw outcome.error;
    default:
      return { change: null, why: null };
  }
}

function describe({
  set,
  generation,
  wouldChange,
  why,
  sessions,
  diff,
}: Awaited<ReturnType<typeof compare>>): string {
  const against = generation === null ? 'nothing published yet' : `generation ${generation}`;
  if (!wouldChange) return `${set}: no difference to ${against}\n`;
  const note = why === null ? '' : `; ${why}`;
  return `${diff}${set}: differs from ${against}; ${describeSessionChanges(sessions)}${note}\n`;
}
