import { binaries, canUseNamespaces } from '../support/binaries.ts';
import { Report } from './lab/report.ts';
import { narrator, table } from './narrate.ts';
import { PLAYS, type Play } from './plays.ts';

const USAGE = `npm run demo:network [-- PLAY...]

Without a name all are played, one after the other:
${PLAYS.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join('\n')}
`;

/** Plays what is asked for, tells of it on standard output, and ends with a table. Resolves to an exit status. */
export async function demo(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => !PLAYS.some(({ name }) => name === arg));
  if (unknown.length > 0) {
    process.stdout.write(USAGE);
    return args.includes('--help') ? 0 : 64;
  }
  const obstacle = obstacleFor();
  if (obstacle !== null) {
    process.stdout.write(`The network cannot be made here: ${obstacle}.\n`);
    return 0;
  }
  // Everything goes with the process: daemons, namespaces and directories have hooks at its exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const report = new Report(narrator((text) => process.stdout.write(text)));
  for (const play of PLAYS.filter(({ name }) => args.length === 0 || args.includes(name)))
    await perform(play, report);
  process.stdout.write(table(report.steps));
  return report.failures.length === 0 ? 0 : 1;
}

/** Why there cannot be a network; null when there can. */
function obstacleFor(): string | null {
  if (!canUseNamespaces()) return 'it needs root, and network namespaces (iproute2)';
  const missing = Object.entries(binaries).filter(([, binary]) => binary === undefined);
  return missing.length === 0
    ? null
    : `missing ${missing.map(([name]) => name).join(', ')}; see node scripts/binaries.mjs`;
}

/** A play that breaks off leaves its last step on record; the next one begins all the same. */
async function perform(play: Play, report: Report): Promise<void> {
  const before = report.failures.length;
  try {
    await play.perform(report);
  } catch (error) {
    if (report.failures.length === before) throw error;
  }
}
