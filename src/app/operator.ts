import type { Clock } from '../core/clock.ts';
import { BirdfeedError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { didYouMean } from '../core/suggest.ts';
import { withApproval } from '../generation/state.ts';
import { probeReadiness } from '../status/server.ts';
import { headline } from '../status/status.ts';
import { type AdminRequest, processNamespace } from './admin.ts';
import { type Application, type AppSet, overallStatus } from './application.ts';

export interface OperatorDeps {
  readonly app: Application;
  readonly clock: Clock;
  readonly log: Logger;
  readonly unreadyWhenStaleMs: number | null;
  notify(set: AppSet): void;
}

/** Carries out what comes over the admin socket. Rejects with a line for the operator. */
export function createOperator(deps: OperatorDeps): (request: AdminRequest) => Promise<unknown> {
  const { app, clock, log } = deps;
  return async (request) => {
    switch (request.do) {
      case 'status': {
        const status = overallStatus(app);
        return { headline: headline(status), ...status };
      }
      case 'probe': {
        const isLive = request.what === 'live';
        const answer = isLive
          ? { live: true }
          : probeReadiness(overallStatus(app), clock.now(), deps.unreadyWhenStaleMs);
        return { ...answer, processes: processNamespace() };
      }
      case 'approve':
        return approve(request.digest);
      case 'rollback':
        return rollback(setNamed(request.set), request.generation);
      case 'resume':
        return resume(setNamed(request.set));
    }
  };

  function setNamed(name: string): AppSet {
    const found = app.sets.find((set) => set.name === name);
    if (found !== undefined) return found;
    const names = app.sets.map((set) => set.name);
    throw new BirdfeedError(
      'BF_USAGE',
      `there is no set "${name}"${didYouMean(name, names)}; there is ${names.join(', ')}`,
    );
  }

  async function approve(digest: string | null): Promise<unknown> {
    const held = app.sets.filter((set) => set.board.status.held !== null);
    const chosen = held.filter((set) => digest === null || set.board.status.held!.digest.startsWith(digest));
    if (chosen.length === 0) {
      throw new BirdfeedError(
        'BF_USAGE',
        held.length === 0
          ? 'nothing is held'
          : `what is held has another digest: ${held.map((set) => set.board.status.held!.digest.slice(0, 12)).join(', ')}`,
      );
    }
    const approved = [];
    for (const set of chosen) {
      const { digest: full, reasons } = set.board.status.held!;
      await set.store.state.update((state) => withApproval(state, full));
      log.warn({ set: set.name, digest: full.slice(0, 12), reasons }, 'held change approved by an operator');
      deps.notify(set);
      approved.push({ set: set.name, digest: full, reasons });
    }
    return { approved };
  }

  async function rollback(set: AppSet, number: number): Promise<unknown> {
    const { nodeName, dialect } = set.store.current?.stamp ?? { nodeName: null, dialect: null };
    const generation = await set.store.rollbackTo(number, { set: set.name, nodeName, dialect });
    log.warn({ generation: number }, 'rolled back and pinned by an operator');
    set.board.report({ type: 'pin', pinned: number });
    set.board.report({ type: 'config', event: 'pinned', reason: `pinned to generation ${number}` });
    void set.runtime.use(generation);
    return { generation: number };
  }

  async function resume(set: AppSet): Promise<unknown> {
    if (set.store.state.value.pin === null) throw new BirdfeedError('BF_USAGE', 'nothing is pinned');
    await set.store.resume();
    log.warn({}, 'pin ended by an operator');
    set.board.report({ type: 'pin', pinned: null });
    set.board.report({
      type: 'config',
      event: 'unpinned',
      reason: 'the pin has ended, the datastore is looked at',
    });
    deps.notify(set);
    return { resumed: true };
  }
}
