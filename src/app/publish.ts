import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import { type CacheState, verdictOn, withVerdict } from '../generation/state.ts';
import type { Store } from '../generation/store.ts';
import type { Generation, StampInput } from '../generation/types.ts';
import type { CheckOutcome } from '../reload/types.ts';
import type { RenderedFile } from '../render/types.ts';
import type { Fact } from '../status/status.ts';
import type { Checker } from './checker.ts';
import type { SetPlan } from './set-plan.ts';

export interface PublishDeps {
  readonly store: Store;
  readonly checker: Checker;
  readonly checkRequired: boolean;
  readonly clock: Clock;
  report(fact: Fact): void;
  /** Changes the state file; what cannot be written now is written later. */
  remember(change: (state: CacheState) => CacheState): Promise<void>;
}

export interface Published {
  readonly generation: Generation;
  readonly previous: Generation | null;
}

/**
 * Stages the files of a set, has them checked and makes them `current`. Returns what the check has against them.
 * @throws BF_CACHE_*, BF_GENERATION_HELD when a pin came meanwhile; `current` is then what it was
 */
export async function publishFiles(
  deps: PublishDeps,
  plan: SetPlan,
  files: readonly RenderedFile[],
  stamp: StampInput,
): Promise<Published | BirdfeedError> {
  const { store, checker, report } = deps;
  const { contentDigest } = stamp;
  const known = verdictOn(store.state.value, contentDigest, await checker.birdVersion(plan));
  if (known !== undefined) return known.undone ? undone(known.message) : refused(known.message);
  const previous = store.current;
  const stage = await store.stage({ files, stamp });
  try {
    const objection = await objectionOf(
      await checker.check(stage.directory, plan, contentDigest),
      contentDigest,
      deps,
    );
    if (objection !== null) {
      await stage.discard();
      return objection;
    }
    const generation = await stage.seal();
    report({ type: 'count', counter: 'published' });
    return { generation, previous };
  } catch (error) {
    await stage.discard().catch(() => undefined);
    throw error;
  }
}

/**
 * Null when the files may be published. BIRD's refusal is remembered for this content and this BIRD; a check command's is
 * not, since the command may be what is wrong.
 */
async function objectionOf(
  outcome: CheckOutcome,
  contentDigest: string,
  { checkRequired, clock, report, remember }: PublishDeps,
): Promise<BirdfeedError | null> {
  switch (outcome.type) {
    case 'passed':
      return null;
    case 'condition':
      return outcome.error;
    case 'not-checked': {
      if (!checkRequired) return null;
      const message = `not checked: ${outcome.why}; --syntax-check required publishes nothing unchecked`;
      return new BirdfeedError('BF_CHECK_UNAVAILABLE', message);
    }
    case 'failed': {
      report({ type: 'count', counter: 'checkFailures' });
      const { birdVersion, file, line } = outcome;
      const message = `${line === null ? file : `${file}:${line}`}: ${outcome.message}`;
      const at = new Date(clock.now()).toISOString();
      if (birdVersion !== null)
        await remember((state) => withVerdict(state, { contentDigest, birdVersion, message, at }));
      return refused(message);
    }
  }
}

function undone(message: string): BirdfeedError {
  return new BirdfeedError('BF_BIRD_UNDONE', `the rendered configuration was taken back before: ${message}`);
}

function refused(message: string): BirdfeedError {
  return new BirdfeedError('BF_CHECK_FAILED', `BIRD does not accept the rendered configuration: ${message}`);
}

/** Tells the status which generation is current. */
export function reportGeneration(report: (fact: Fact) => void, { number, stamp }: Generation): void {
  const { contentDigest, createdAt, sessions } = stamp;
  report({ type: 'generation', generation: { number, contentDigest, createdAt, sessions: sessions.length } });
}
