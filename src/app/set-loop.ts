import { nextTurn } from '../core/clock.ts';
import { asBirdfeedError, BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { sameMap } from '../core/same.ts';
import type { Mount } from '../datastore/types.ts';
import type { CacheFs } from '../generation/fs.ts';
import { type GuardVerdict, stampedCensus } from '../generation/guard.ts';
import { saveLastGood } from '../generation/last-good.ts';
import { withHold, withoutApprovals, withoutHold } from '../generation/state.ts';
import type { StampInput } from '../generation/types.ts';
import type { Problem } from '../model/types.ts';
import type { ConfigEvent } from '../status/axes.ts';
import type { TreeView } from '../tree/types.ts';
import type { Copies } from './copies.ts';
import { absenceMessage, withoutAll } from './data-faults.ts';
import type { FeedView } from './feed.ts';
import { type PublishDeps, publishFiles, reportGeneration } from './publish.ts';
import type { Change, RunOutcome } from './run-outcome.ts';
import type { SetDeferral } from './set-deferral.ts';
import type { SetGuard } from './set-guard.ts';
import type { Computation, Rendering, SetPlan } from './set-plan.ts';

export interface SetLoopDeps extends PublishDeps {
  readonly plan: SetPlan;
  readonly nodeName: string;
  readonly view: TreeView;
  readonly feed: FeedView;
  /** For `last-good.json`. */
  readonly fs: CacheFs;
  readonly log: Logger;
  readonly noop: boolean;
  /** Whether others need the event loop while much is computed for the first time. */
  readonly warmsUp: boolean;
  readonly guard: SetGuard;
  readonly deferral: SetDeferral;
  readonly copies: Copies;
  /** BIRD died of this content once, and is about to be given it for the second and last time. */
  onTrial(contentDigest: string): boolean;
  /** Has the mounts that the model asks for opened; false while they are still being read, and a change follows. */
  requireMounts(mounts: readonly Mount[]): boolean;
  /** Nothing that was asked for is still being opened. */
  mountsOpen(): boolean;
  /** What is wrong around the data: files of the source, resources and templates that are not used. */
  outerProblems(): readonly Problem[];
}

/** One set's way from the tree to a generation. Call `run` from one scheduler only: runs must not overlap. */
export interface SetLoop {
  run(): Promise<RunOutcome>;
  /** The plan was replaced (conf.d or templates changed). */
  usePlan(plan: SetPlan): void;
  /** Notes that the datastore still says what is served, if it does. */
  confirm(): void;
  /** What was published turned out to be bad. */
  fault(error: BirdfeedError): RunOutcome;
  /** Says again what became of the last input, with what became of the copies. */
  reportConfig(): void;
  readonly plan: SetPlan;
  /** What the last rendering looked up. */
  readonly asked: Rendering['asked'];
}

export function createSetLoop(deps: SetLoopDeps): SetLoop {
  const { store, feed, copies, guard, deferral, log, report } = deps;
  let plan = deps.plan;
  let asked: Rendering['asked'] = [];
  /** What became of the last input, as the config axis has it. */
  let said: { readonly event: ConfigEvent; readonly reason: string | null } = {
    event: 'published',
    reason: null,
  };
  /** What is served is what the datastore says, by the last run. */
  let isMeasured = false;
  /** Something that the datastore says is put off. */
  let isPartial = false;
  /** Where the datastore stood when the last input was taken. */
  let positions: StampInput['mounts'] = [];
  let savedLastGood: ReadonlyMap<string, string> | null = null;

  async function run(): Promise<RunOutcome> {
    report({ type: 'count', counter: 'runs' });
    const outcome = await look();
    // Not before: fresh means that what is served has been measured against what the datastore says.
    if (outcome.type !== 'waiting') reportData();
    await settleCopies();
    return outcome;
  }

  /** Whatever came of the data: copies of what is served may be owed from before. */
  async function settleCopies(): Promise<void> {
    const { failure } = copies;
    await copies.settle();
    if (copies.failure !== failure) reportConfig();
  }

  async function look(): Promise<RunOutcome> {
    isMeasured = false;
    if (deps.warmsUp && isRead()) await plan.warmUp(deps.view);
    if (!isRead()) return stillReading();
    return runOnData().catch((error: unknown) => fault(asBirdfeedError(error)));
  }

  function isRead(): boolean {
    return feed.complete(plan.mounts) && deps.mountsOpen();
  }

  function stillReading(): RunOutcome {
    const trouble = feed.trouble(plan.mounts);
    if (trouble !== null) report({ type: 'data', event: 'lost', reason: trouble });
    const reason = trouble ?? 'waiting for the datastore';
    return { type: 'waiting', error: new BirdfeedError('BF_DATASTORE_UNREACHABLE', reason) };
  }

  async function runOnData(): Promise<RunOutcome> {
    guard.look(feed.regressions);
    // Before anything is awaited: what arrives from then on is not in what was computed.
    positions = feed.positions(plan.mounts);
    const computed = plan.compute(deps.view);
    const all = { ...computed, problems: [...deps.outerProblems(), ...computed.problems] };
    if (!deps.requireMounts(all.mounts)) return stillReading();
    report({ type: 'problems', problems: all.problems });
    const unread = feed.unread();
    if (unread !== null) return fault(withoutAll(unread, store.current));
    const absent = nodeAbsence(all);
    if (absent !== null && store.current === null) {
      report({ type: 'data', event: 'node-absent', reason: absent.message });
      return { type: 'waiting', error: absent };
    }
    if (!deps.noop) await keepLastGood(all.lastGood);
    if (absent !== null) return hold(guard.judge(all, store.state.value.approvals), absent.message, null);
    const computation = deferral.apply(plan, all);
    if (computation === null) return { type: 'unchanged', generation: store.current! };
    isPartial = computation !== all;
    // After a storm both the model and the rendering take their time.
    await nextTurn();
    let rendering = await plan.render();
    asked = rendering.asked;
    const [firstFault] = rendering.faults;
    if (firstFault !== undefined) {
      report({ type: 'count', counter: 'renderFailures' });
      return fault(firstFault);
    }
    const isServed = await store.isCurrent(stampOf(computation, rendering));
    if (isServed && !isPartial) return unchanged(computation);
    const verdict = guard.judge(computation, store.state.value.approvals);
    const change = { computation, rendering };
    if (verdict.verdict === 'hold') return hold(verdict, null, change);
    if (isServed) return unchanged(computation);
    await endHold();
    if (store.state.value.pin !== null) return pinned(store.state.value.pin.generation, change);
    if (deps.noop) {
      concludeGood(computation);
      return { type: 'would-change', change };
    }
    // The output changes anyhow: only then may a template's clock move on.
    if (rendering.asked.some(({ kind }) => kind === 'time')) {
      plan.lookups.renewTime();
      rendering = await plan.render();
    }
    return publish(computation, rendering);
  }

  function reportData(): void {
    const trouble = feed.trouble(plan.mounts);
    report({ type: 'data', event: trouble === null ? 'synced' : 'lost', reason: trouble });
  }

  function nodeAbsence({ census }: Computation): BirdfeedError | null {
    if (census === null || census.nodePresent) return null;
    return new BirdfeedError('BF_NODE_ABSENT', absenceMessage(deps.nodeName, census.kinds['Node'] ?? []));
  }

  async function hold(
    verdict: GuardVerdict,
    fallback: string | null,
    change: Change | null,
  ): Promise<RunOutcome> {
    // An approved absence of this node still has nothing that could be rendered.
    const reasons =
      verdict.verdict === 'hold' ? verdict.reasons.map((reason) => reason.message) : [fallback ?? 'held'];
    const digest = verdict.verdict === 'hold' ? verdict.digest : '';
    report({ type: 'held', held: { digest, reasons } });
    conclude('held', reasons.join('; '));
    if (!deps.noop && store.state.value.hold?.digest !== digest) {
      log.warn(
        { digest: digest.slice(0, 12), reasons },
        'change held by the guard; approve it with birdfeed approve',
      );
      const since = new Date(deps.clock.now()).toISOString();
      await deps.remember((state) => withHold(state, { digest, messages: reasons, since }));
    }
    return { type: 'held', reasons, digest, change };
  }

  function pinned(generation: number, change: Change | null): RunOutcome {
    conclude('pinned', `pinned to generation ${generation}`);
    return { type: 'pinned', generation, change };
  }

  async function unchanged(computation: Computation): Promise<RunOutcome> {
    report({ type: 'count', counter: 'unchanged' });
    await settle(computation);
    if (store.state.value.pin !== null) return pinned(store.state.value.pin.generation, null);
    return { type: 'unchanged', generation: store.current! };
  }

  async function publish(computation: Computation, rendering: Rendering): Promise<RunOutcome> {
    // Under a new number it would be current again, and what a BIRD starts from.
    if (deps.onTrial(rendering.contentDigest)) return fault(new BirdfeedError('BF_BIRD_DIED', ON_TRIAL));
    const published = await publishFiles(deps, plan, rendering.files, stampOf(computation, rendering));
    if (published instanceof BirdfeedError) return fault(published);
    const { generation } = published;
    // A roll-back that came meanwhile has the last word.
    if (store.current === generation) {
      reportGeneration(report, generation);
      copies.want(generation);
    }
    await settle(computation);
    return { type: 'published', ...published };
  }

  /** What is served is what the datastore says. */
  async function settle(computation: Computation): Promise<void> {
    guard.settle(computation);
    deferral.settle(plan);
    isMeasured = !isPartial;
    confirm();
    await endHold();
    concludeGood(computation);
    // An approval has served.
    await deps.remember(withoutApprovals);
  }

  function confirm(): void {
    if (!isMeasured || !feed.fresh(plan.mounts)) return;
    report({ type: 'confirmed' });
    if (deps.noop) return;
    store.state.confirm().catch((error: unknown) => {
      log.warn({ reason: asBirdfeedError(error).message }, 'not noted that the datastore was in agreement');
    });
  }

  async function endHold(): Promise<void> {
    report({ type: 'held', held: null });
    await deps.remember(withoutHold);
  }

  function concludeGood(computation: Computation): void {
    const errors = computation.problems.filter((problem) => problem.severity === 'error');
    const [first] = errors;
    if (first === undefined) return conclude('published', null);
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    // Of a file the message begins with its name, and the line.
    const what = first.message.startsWith(first.subject) ? '' : `${first.subject}: `;
    conclude('faulted', `${what}${first.message}${more}`);
  }

  function fault(error: BirdfeedError): RunOutcome {
    conclude('faulted', error.message);
    return { type: error.retryable ? 'condition' : 'failed', error };
  }

  function conclude(event: ConfigEvent, reason: string | null): void {
    said = { event, reason };
    reportConfig();
  }

  function reportConfig(): void {
    const { failure } = copies;
    if (failure === null || said.event !== 'published') return report({ type: 'config', ...said });
    report({ type: 'config', event: 'faulted', reason: failure.message });
  }

  async function keepLastGood(values: ReadonlyMap<string, string>): Promise<void> {
    if (savedLastGood !== null && sameMap(savedLastGood, values)) return;
    await saveLastGood(deps.fs, store.layout.lastGood, values);
    savedLastGood = values;
  }

  function stampOf(computation: Computation, rendering: Rendering): StampInput {
    return {
      set: plan.name,
      nodeName: deps.nodeName,
      dialect: plan.dialect,
      contentDigest: rendering.contentDigest,
      renderTime: renderTimeOf(rendering),
      templatesDigest: plan.templatesDigest,
      mounts: positions,
      sessions: computation.sessions,
      census: computation.census === null ? null : stampedCensus(computation.census),
    };
  }

  function renderTimeOf(rendering: Rendering): number | null {
    const time = rendering.asked.some(({ kind }) => kind === 'time')
      ? plan.lookups.table().get('time')
      : null;
    return typeof time === 'number' ? time : null;
  }

  return {
    run,
    usePlan(next) {
      plan = next;
    },
    get plan() {
      return plan;
    },
    get asked() {
      return asked;
    },
    confirm,
    fault,
    reportConfig,
  };
}

const ON_TRIAL = 'BIRD died while loading this configuration; the next BIRD is given it once more';
