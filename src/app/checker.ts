import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import type { Clock } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import { type CheckedFile, checkStaged, checkWithCommand, type ScanFinding, worst } from '../reload/check.ts';
import { findLocalBird, type LocalBird, localBirdAbsence, probeLocalBird } from '../reload/local-bird.ts';
import type { TargetSupervisor } from '../reload/target.ts';
import type { CheckOutcome } from '../reload/types.ts';
import { dialectConflict } from '../reload/version.ts';
import { scanBirdFile } from '../render/scan.ts';
import type { Dialect } from '../render/types.ts';
import type { SetPlan } from './set-plan.ts';

export interface CheckerDeps {
  readonly options: Options;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Ends what is being run, in order and within a bound. */
  readonly signal: AbortSignal;
  /** Who loads the files; empty when nobody is told. */
  supervisors(): readonly TargetSupervisor[];
}

export interface Checker {
  /**
   * Checks the staged files of a set: its resources' `check_cmd`, and the ladder of ways to have BIRD parse them.
   * `contentDigest` is what a death of BIRD is remembered by.
   */
  check(directory: string, plan: SetPlan, contentDigest: string): Promise<CheckOutcome>;
  /**
   * The version of the BIRD whose opinion counts, for remembered refusals: the one that is told, else the local one. Null
   * when none is known.
   */
  birdVersion(plan: SetPlan): Promise<string | null>;
}

export function createChecker(deps: CheckerDeps): Checker {
  const { options, env, clock, signal } = deps;
  const locals = new Map<string, Promise<LocalBird | null>>();
  const run = { clock, signal, timeoutMs: options.checkTimeout };
  /** Digest of what BIRD was checking when it died. */
  let diedOf: string | null = null;

  return { check, birdVersion };

  async function check(directory: string, plan: SetPlan, contentDigest: string): Promise<CheckOutcome> {
    const commands = await Promise.all(
      plan.checks.map(({ command, file, dest }) => {
        const src = join(directory, file);
        return checkWithCommand(command, file, { src, dest: dest ?? src }, run);
      }),
    );
    if (plan.daemonFiles.length === 0)
      return worst(commands) ?? { type: 'not-checked', why: 'nothing to check with' };
    if (options.syntaxCheck === 'off')
      return worst(commands) ?? { type: 'not-checked', why: 'checks are off' };
    const files = await Promise.all(plan.daemonFiles.map((file) => checkedFile(file, plan.dialect)));
    const bird = await checkStaged(directory, files, { ...run, dialect: plan.dialect, scan: findings });
    return worst([...commands, mindDeath(bird, plan, contentDigest)])!;
  }

  /**
   * A BIRD that dies while it checks may have been killed by somebody: the next one is asked once more. When that dies, too,
   * the content is to blame. In between it is not published unchecked, or a BIRD that starts would find it.
   */
  function mindDeath(outcome: CheckOutcome, plan: SetPlan, contentDigest: string): CheckOutcome {
    const died = outcome.type === 'condition' && outcome.error.code === 'BF_BIRD_DIED';
    if (diedOf !== contentDigest) {
      diedOf = died ? contentDigest : null;
      return outcome;
    }
    if (outcome.type === 'not-checked') {
      const message = 'BIRD died while checking it; the next BIRD is asked once more';
      return { type: 'condition', error: new BirdfeedError('BF_BIRD_DIED', message) };
    }
    if (outcome.type !== 'condition') diedOf = null;
    if (!died) return outcome;
    diedOf = null;
    const birdVersion = deps.supervisors()[0]?.state.birdVersion ?? null;
    const [file = plan.name] = plan.daemonFiles;
    return { type: 'failed', file, line: null, message: 'BIRD died twice while checking it', birdVersion };
  }

  async function birdVersion({ daemonFiles: [file] }: SetPlan): Promise<string | null> {
    const [told] = deps.supervisors();
    if (told !== undefined) return told.state.birdVersion;
    return file === undefined || options.syntaxCheck === 'off'
      ? null
      : ((await local(file)).local?.version ?? null);
  }

  async function checkedFile(file: string, dialect: Dialect | null): Promise<CheckedFile> {
    const supervisor = deps.supervisors().find(({ target }) => target.file === file);
    const birdVersion = supervisor?.state.birdVersion ?? null;
    // A BIRD that does not speak the dialect will not load the file, so its opinion is none.
    if (dialect !== null && dialectConflict(dialect, birdVersion) !== null)
      return { file, client: null, birdVersion: null, ...(await local(file)) };
    return { file, client: supervisor?.client ?? null, birdVersion, ...(await local(file)) };
  }

  /**
   * Probed once: a package upgrade that swaps the binary under a running birdfeed also restarts BIRD. One that is missing
   * or cannot be run is looked for again with every check.
   */
  async function local(file: string): Promise<Pick<CheckedFile, 'local' | 'localAbsence'>> {
    const path = findLocalBird(file, options.birdBinary, env);
    if (path === null) return { local: null, localAbsence: localBirdAbsence(file, options.birdBinary) };
    const known = locals.get(path) ?? probeLocalBird(path, { clock });
    locals.set(path, known);
    const found = await known;
    if (found !== null) return { local: found };
    locals.delete(path);
    return { local: null, localAbsence: `${path} does not run as a BIRD (--bird-binary)` };
  }
}

/** What BIRD must never be given, as the check ladder wants it. */
function findings(content: Uint8Array): readonly ScanFinding[] {
  try {
    scanBirdFile({ name: '', content });
    return [];
  } catch (error) {
    const { message, details } = asBirdfeedError(error);
    const line = typeof details['line'] === 'number' ? details['line'] : null;
    return [{ line, message: message.replace(/^:\d+: /, '') }];
  }
}
