import { BirdfeedError, EXIT } from '../core/errors.ts';
import type { End, Explanation, Finding } from '../model/bgp/explain-types.ts';
import type { CommandContext } from './commands.ts';
import { dryRun } from './dry-run.ts';

/** Why sessions are there or not. @throws BF_USAGE for a subject that names nothing, with what it may have meant */
export async function explain({ options, env, args, out }: CommandContext): Promise<number> {
  const [subject, ...more] = args;
  if (subject === undefined || more.length > 0)
    throw new BirdfeedError(
      'BF_USAGE',
      'explain takes one BGPPeer, node, address or protocol name; see birdfeed explain --help',
    );
  return dryRun(options, env, async ({ sets }) => {
    const explanations: Explanation[] = [];
    let suggestion: string | null = null;
    for (const { set, outcome } of sets) {
      if (set.runtime.loop.plan.dialect === null) continue;
      if (outcome.type === 'waiting') throw outcome.error;
      const explained = set.runtime.loop.plan.explain(subject);
      explanations.push(...(explained?.explanations ?? []));
      suggestion ??= explained?.suggestion ?? null;
    }
    if (explanations.length === 0) throw unknown(subject, suggestion);
    if (options.json) out(`${JSON.stringify(explanations, null, 2)}\n`);
    else for (const explanation of explanations) out(describe(explanation));
    return EXIT.ok;
  });
}

function unknown(subject: string, suggestion: string | null): BirdfeedError {
  const meant = suggestion === null ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  const what = `nothing is known about ${JSON.stringify(subject)}: no BGPPeer, node, session, address of one or quarantined resource`;
  return new BirdfeedError('BF_USAGE', `${what}${meant}`);
}

function describe({ subject, nodeName, findings }: Explanation): string {
  const lines = findings.map((finding) => `  ${describeFinding(finding)}\n`);
  return `${subject}, seen from node ${nodeName}:\n${lines.join('')}`;
}

function describeFinding({ family, resource, rule, outcome, session, ends, message }: Finding): string {
  const where = family === null ? '' : `IPv${family}: `;
  const source = rule === null ? resource : `${resource} (${rule})`;
  if (ends === null) return `${where}no session, ${outcome}: ${source}: ${message}`;
  return `${where}session ${session}: ${source}: ${describeEnd(ends.local)} with ${describeEnd(ends.remote)}: ${message}`;
}

function describeEnd({ node, address, port, asNumber }: End): string {
  const at = port === null ? address : `${address} port ${port}`;
  return `${node === null ? '' : `${node} `}${at} AS ${asNumber}`;
}
