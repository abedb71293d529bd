import type { Clock } from '../core/clock.ts';
import type { Store } from '../generation/store.ts';
import type { NodeModel } from '../model/bgp/types.ts';
import type { Fact } from '../status/status.ts';
import type { Deferral } from './deferral.ts';
import type { Computation, SetPlan } from './set-plan.ts';

/** Puts off what {@link Deferral} says, in one set. */
export interface SetDeferral {
  /**
   * What is to be rendered of `all` now: `all` itself, or with sessions that stay for a while. Null: everything waits, since
   * this process has not made what is served and cannot render a part of it again. Has the set looked at when it is due.
   */
  apply(plan: SetPlan, all: Computation): Computation | null;
  /** What the plan rendered last is what is served. */
  settle(plan: SetPlan): void;
  stop(): void;
}

export interface SetDeferralDeps {
  readonly deferral: Deferral;
  readonly store: Pick<Store, 'current'>;
  readonly clock: Clock;
  report(fact: Fact): void;
  onChange(): void;
}

export function createSetDeferral({
  deferral,
  store,
  clock,
  report,
  onChange,
}: SetDeferralDeps): SetDeferral {
  let served: { readonly model: NodeModel | null; readonly generation: number } | null = null;
  let cancel = (): void => {};

  return {
    apply(plan, all) {
      const { current } = store;
      const servedModel = served !== null && served.generation === current?.number ? served.model : null;
      cancel();
      const deferred = deferral.decide({
        served: current?.stamp.sessions ?? [],
        servedModel,
        next: all.sessions,
        census: all.census,
        half: () => plan.reflectorHalf(),
      });
      const { dueInMs, reset, removed } = deferred;
      if (dueInMs === null) {
        report({ type: 'deferred', deferred: null });
        return all;
      }
      cancel = clock.after(dueInMs, onChange);
      const until = new Date(clock.now() + dueInMs).toISOString();
      report({ type: 'deferred', deferred: { resets: reset.size, removals: removed.size, until } });
      return servedModel === null ? null : { ...all, sessions: plan.keep(servedModel, deferred) };
    },
    settle(plan) {
      served = store.current === null ? null : { model: plan.model(), generation: store.current.number };
    },
    stop: () => cancel(),
  };
}
