import type { BirdfeedError } from '../core/errors.ts';
import type { PendingTrial } from '../generation/state.ts';
import type { Effect, Phase, TargetEvent, TargetFact, TargetState, Wanted } from './target-types.ts';
import { addVerdict, dropVerdicts, findVerdict, type Verdict, type Verdicts } from './verdicts.ts';

export interface Step {
  readonly state: TargetState;
  readonly effects: readonly Effect[];
}

type Handler<T extends TargetEvent['type']> = (
  state: TargetState,
  event: Extract<TargetEvent, { type: T }>,
) => Step;
type Row = { readonly [T in TargetEvent['type']]: Handler<T> };

/** Content that was on trial twice without an end to it, since something died each time, is not tried again. */
const MOST_TRIES = 2;

export function initialTarget(verdicts: Verdicts, trial: PendingTrial | null = null): TargetState {
  return {
    phase: 'waiting',
    wanted: null,
    loading: null,
    birdVersion: null,
    running: null,
    weak: null,
    reported: null,
    verdicts,
    trial,
    diedOf: null,
    attempt: 0,
    lastCondition: null,
  };
}

/** One step of a target's life. Pure. */
export function stepTarget(state: TargetState, event: TargetEvent): Step {
  const handler = TABLE[state.phase][event.type] as Handler<TargetEvent['type']>;
  return handler(state, event);
}

const stay = (state: TargetState): Step => ({ state, effects: [] });
const keepWanted: Handler<'want'> = (state, { wanted }) => stay({ ...state, wanted });
const connect = (state: TargetState): Step => ({
  state: { ...state, phase: 'connecting' },
  effects: [{ type: 'connect' }],
});
const read = (state: TargetState): Step => ({
  state: { ...state, phase: 'reading' },
  effects: [{ type: 'read' }],
});
const readAgain = (state: TargetState): Step => read(forgetVerdict(state));
const wantAndRead: Handler<'want'> = (state, { wanted }) =>
  sameContent(state.wanted, wanted) && state.phase === 'retrying'
    ? stay({ ...state, wanted })
    : read({ ...state, wanted });

function forgetVerdict(state: TargetState): TargetState {
  const { wanted, verdicts } = state;
  return {
    ...state,
    diedOf: null,
    trial: null,
    verdicts: wanted === null ? verdicts : dropVerdicts(verdicts, wanted.digest),
  };
}

const stop: Handler<'stop'> = (state) => ({
  state: { ...state, phase: 'stopped' },
  effects: [{ type: 'disconnect' }],
});

const lost: Handler<'lost'> = (state, { error }) => {
  const during = state.phase === 'reading' || state.phase === 'loading' ? state.phase : 'idle';
  const attempt = during === 'idle' ? 0 : state.attempt + 1;
  const report = (fact: TargetFact): Effect => ({ type: 'report', fact });
  const gone: TargetState = {
    ...state,
    phase: 'waiting',
    loading: null,
    running: null,
    reported: null,
    attempt,
  };
  const effects: Effect[] = [
    report({ type: 'disconnected', error, during }),
    { type: 'timer', reason: 'reconnect', attempt },
  ];
  const victim = during === 'loading' && error.code === 'BF_BIRD_DIED' ? state.loading : null;
  if (victim === null) return { state: gone, effects };
  if (state.diedOf !== victim.digest) return { state: { ...gone, diedOf: victim.digest }, effects };
  const message = 'BIRD died twice while loading it';
  const verdicts = addVerdict(state.verdicts, {
    digest: victim.digest,
    birdVersion: state.birdVersion,
    message,
  });
  const refusal = { wanted: victim, message, birdVersion: state.birdVersion };
  return {
    state: { ...gone, diedOf: null, verdicts },
    effects: [...effects, report({ type: 'refused', ...refusal, remembered: false })],
  };
};

const connected: Handler<'connected'> = (state, { version, conflict }) => {
  const report: Effect = { type: 'report', fact: { type: 'connected', birdVersion: version } };
  const next = { ...state, birdVersion: version, lastCondition: null };
  if (conflict === null) return prepend([report], read(next));
  return prepend([report], condition({ ...next, phase: 'contradicted' }, conflict));
};

const unconnectable: Handler<'unconnectable'> = (state, { error }) => {
  const next: TargetState = { ...state, phase: 'waiting', attempt: state.attempt + 1 };
  return append(condition(next, error), [{ type: 'timer', reason: 'reconnect', attempt: state.attempt }]);
};

const failed: Handler<'failed'> = (state, { error }) => {
  const next: TargetState = { ...state, phase: 'retrying', loading: null, attempt: state.attempt + 1 };
  return append(condition(next, error), [{ type: 'timer', reason: 'retry', attempt: state.attempt }]);
};

const hasRead: Handler<'read'> = (state, { running }) => {
  const isNews = state.running === null || state.running.mark !== running.mark;
  const report: Effect[] = isNews ? [{ type: 'report', fact: { type: 'running', mark: running.mark } }] : [];
  const next = { ...state, running };
  if (running.settled) return prepend(report, decide(next, true));
  const retrying: TargetState = { ...next, phase: 'retrying', attempt: state.attempt + 1 };
  return {
    state: retrying,
    effects: [...report, { type: 'timer', reason: 'retry', attempt: state.attempt }],
  };
};

const loaded: Handler<'loaded'> = (state, event) => {
  const wanted = state.loading;
  const { outcome, loadedAt } = event;
  if (outcome.type === 'condition') return failed(state, { type: 'failed', error: outcome.error });
  if (wanted === null) return stay(state);
  const next: TargetState = { ...state, loading: null, diedOf: null };
  if (outcome.type === 'refused') {
    const refused = refuse(next, wanted, { ...outcome, digest: wanted.digest });
    return prepend(refused.effects, decide(refused.state, false));
  }
  if (outcome.type === 'undone') {
    const undone = refuse(next, wanted, { ...outcome, digest: wanted.digest, undone: true });
    // Only BIRD can say what it has gone back to.
    return prepend(undone.effects, read(undone.state));
  }
  const applied: TargetState = {
    ...next,
    running: { mark: wanted.mark, loadedAt, settled: true },
    weak: outcome.ack === 'weak' ? { path: wanted.path, loadedAt } : null,
    reported: { type: 'applied', wanted },
  };
  const fact: TargetFact = { type: 'applied', wanted, ack: outcome.ack, adopted: false };
  return prepend([{ type: 'report', fact }], decide(applied, false));
};

/** A verdict that was passed just now. */
function refuse(state: TargetState, wanted: Wanted, { digest, birdVersion, message, undone }: Verdict): Step {
  const kind = undone === undefined ? {} : { undone };
  return {
    state: {
      ...state,
      trial: null,
      verdicts: addVerdict(state.verdicts, { digest, birdVersion, message, ...kind }),
      reported: { type: 'refused', wanted },
    },
    effects: [
      {
        type: 'report',
        fact: { type: 'refused', wanted, message, birdVersion, remembered: false, ...kind },
      },
    ],
  };
}

/** What to do about the difference between what BIRD runs and what it should run. */
function decide(state: TargetState, adopted: boolean): Step {
  const { wanted } = state;
  if (wanted === null) return rest(state, 'settled');
  const trial = state.trial?.digest === wanted.digest ? state.trial : null;
  if (runs(state, wanted)) {
    if (trial !== null) {
      return {
        state: { ...state, phase: 'loading', loading: wanted },
        effects: [{ type: 'resume', wanted, trial }],
      };
    }
    if (isReported(state, 'applied', wanted)) return rest(state, 'settled');
    const ack = wanted.mark === null ? 'weak' : 'mark';
    const fact: TargetFact = { type: 'applied', wanted, ack, adopted };
    return prepend(
      [{ type: 'report', fact }],
      rest({ ...state, reported: { type: 'applied', wanted } }, 'settled'),
    );
  }
  const verdict = findVerdict(state.verdicts, wanted.digest, state.birdVersion);
  if (verdict === null && trial !== null && trial.tries >= MOST_TRIES) {
    const message = `was on trial ${trial.tries} times, and BIRD went back each time before the trial had ended`;
    const { digest } = wanted;
    const undone = refuse(state, wanted, { digest, birdVersion: state.birdVersion, message, undone: true });
    return prepend(undone.effects, rest(undone.state, 'refused'));
  }
  if (verdict === null) {
    const reported = state.reported?.type === 'applied' ? null : state.reported;
    return {
      state: { ...state, phase: 'loading', loading: wanted, reported },
      effects: [{ type: 'load', wanted }],
    };
  }
  if (isReported(state, 'refused', wanted)) return rest(state, 'refused');
  const { message, birdVersion, undone } = verdict;
  const kind = undone === undefined ? {} : { undone };
  const fact: TargetFact = { type: 'refused', wanted, message, birdVersion, remembered: true, ...kind };
  return prepend(
    [{ type: 'report', fact }],
    rest({ ...state, reported: { type: 'refused', wanted } }, 'refused'),
  );
}

function runs(state: TargetState, wanted: Wanted): boolean {
  const { running, weak } = state;
  if (running === null) return false;
  if (wanted.mark !== null) return running.mark === wanted.mark;
  return weak !== null && weak.path === wanted.path && weak.loadedAt === running.loadedAt;
}

function rest(state: TargetState, phase: 'settled' | 'refused'): Step {
  return {
    state: { ...state, phase, attempt: 0, lastCondition: null },
    effects: [{ type: 'timer', reason: 'reread', attempt: 0 }],
  };
}

function condition(state: TargetState, error: BirdfeedError): Step {
  const text = `${error.code} ${error.message}`;
  if (state.lastCondition === text) return stay(state);
  return {
    state: { ...state, lastCondition: text, reported: null },
    effects: [{ type: 'report', fact: { type: 'condition', error } }],
  };
}

function isReported(state: TargetState, type: 'applied' | 'refused', wanted: Wanted): boolean {
  return state.reported?.type === type && state.reported.wanted.generation === wanted.generation;
}

function sameContent(a: Wanted | null, b: Wanted): boolean {
  return a !== null && a.digest === b.digest && a.path === b.path;
}

function prepend(effects: readonly Effect[], step: Step): Step {
  return { state: step.state, effects: [...effects, ...step.effects] };
}

function append(step: Step, effects: readonly Effect[]): Step {
  return { state: step.state, effects: [...step.effects, ...effects] };
}

/** What most phases do with events that belong to another phase: a late answer is worth nothing. */
const ignore = {
  start: stay,
  want: keepWanted,
  retry: stay,
  connected: stay,
  unconnectable: stay,
  read: stay,
  loaded: stay,
  trial: stay,
  failed: stay,
  lost: stay,
  notice: stay,
  timer: stay,
  stop,
} satisfies Row;

const resting = {
  ...ignore,
  want: wantAndRead,
  retry: readAgain,
  lost,
  notice: read,
  timer: read,
} satisfies Row;

const TABLE = {
  waiting: { ...ignore, start: connect, retry: (s) => connect(forgetVerdict(s)), timer: connect },
  connecting: { ...ignore, retry: (s) => stay(forgetVerdict(s)), connected, unconnectable },
  reading: { ...ignore, retry: (s) => stay(forgetVerdict(s)), read: hasRead, failed, lost },
  loading: {
    ...ignore,
    retry: (s) => stay(forgetVerdict(s)),
    loaded,
    trial: (s, { trial }) => stay({ ...s, trial }),
    failed,
    lost,
  },
  settled: resting,
  refused: resting,
  retrying: resting,
  contradicted: { ...ignore, lost },
  stopped: { ...ignore, want: stay, stop: stay },
} as const satisfies Record<Phase, Row>;
