import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BirdfeedError } from '../../../src/core/errors.ts';
import { initialTarget, stepTarget } from '../../../src/reload/target-state.ts';
import type {
  Effect,
  TargetEvent,
  TargetFact,
  TargetState,
  Wanted,
} from '../../../src/reload/target-types.ts';
import type { Verdicts } from '../../../src/reload/verdicts.ts';

const error = (code: BirdfeedError['code'] = 'BF_BIRD_UNREACHABLE') => new BirdfeedError(code, code);
const wanted = (n: number, mark: string | null = `m${n}`): Wanted => ({
  generation: n,
  path: `/g/${n}/bird.conf`,
  digest: `d${n}`,
  mark,
});

/** Feeds events one after the other; gives the last state, the last effects and all facts. */
function run(events: readonly TargetEvent[], verdicts: Verdicts = []) {
  let state: TargetState = initialTarget(verdicts);
  let effects: readonly Effect[] = [];
  const facts: TargetFact[] = [];
  for (const event of events) {
    ({ state, effects } = stepTarget(state, event));
    for (const effect of effects) if (effect.type === 'report') facts.push(effect.fact);
  }
  const work = effects.filter((effect) => effect.type !== 'report');
  return { state, work, facts, types: facts.map((fact) => fact.type) };
}

const connected: TargetEvent = { type: 'connected', version: '2.0.12', conflict: null };
const read = (mark: string | null, loadedAt = 't0', settled = true): TargetEvent => ({
  type: 'read',
  running: { mark, loadedAt, settled },
});
const want = (n: number, mark?: string | null): TargetEvent => ({ type: 'want', wanted: wanted(n, mark) });
const done = (ack: 'mark' | 'weak' = 'mark', loadedAt: string | null = null): TargetEvent => ({
  type: 'loaded',
  outcome: { type: 'applied', ack },
  loadedAt,
});
const refusal: TargetEvent = {
  type: 'loaded',
  outcome: { type: 'refused', message: 'no', birdVersion: '2.0.12' },
  loadedAt: null,
};
const start: TargetEvent = { type: 'start' };
const lost = (code?: BirdfeedError['code']): TargetEvent => ({ type: 'lost', error: error(code) });

describe('after connecting', () => {
  test('BIRD is asked what it runs before it is told anything', () => {
    expect(run([want(1), start, connected]).work).toEqual([{ type: 'read' }]);
  });

  test('what runs already is adopted', () => {
    const { state, facts } = run([want(1), start, connected, read('m1')]);
    expect(state.phase).toBe('settled');
    expect(facts.at(-1)).toMatchObject({ type: 'applied', ack: 'mark', adopted: true });
  });

  test('a file without a mark is loaded in any case: nobody can tell what runs', () => {
    expect(run([want(1, null), start, connected, read(null)]).work).toMatchObject([{ type: 'load' }]);
  });

  test('during a reconfiguration of somebody else nothing is concluded from the mark', () => {
    const { state, types } = run([want(1), start, connected, read('m1', 't0', false)]);
    expect(state.phase).toBe('retrying');
    expect(types).not.toContain('applied');
  });

  test('a conflict of dialect is told once and nothing is sent, whatever comes', () => {
    const conflict: TargetEvent = {
      type: 'connected',
      version: '2.0.12',
      conflict: error('BF_BIRD_DIALECT'),
    };
    const { state, work, types } = run([start, conflict, want(1), { type: 'retry' }, { type: 'timer' }]);
    expect(state.phase).toBe('contradicted');
    expect(work).toEqual([]);
    expect(types).toEqual(['connected', 'condition']);
  });
});

describe('while loading', () => {
  const loading = [start, connected, read('old'), want(1), read('old')];

  test('a newer generation waits and is then loaded, without the ones between', () => {
    const { work, facts } = run([...loading, want(2), want(3), done()]);
    expect(work).toEqual([{ type: 'load', wanted: wanted(3) }]);
    expect(facts.at(-1)).toMatchObject({ type: 'applied', wanted: { generation: 1 } });
  });

  test('a condition is retried after a pause that grows', () => {
    const failed: TargetEvent = { type: 'failed', error: error('BF_BIRD_FILE') };
    const once = run([...loading, failed]);
    expect(once.work).toEqual([{ type: 'timer', reason: 'retry', attempt: 0 }]);
    const again: TargetEvent[] = [{ type: 'timer' }, read('old'), failed];
    expect(run([...loading, failed, ...again]).work).toEqual([
      { type: 'timer', reason: 'retry', attempt: 1 },
    ]);
    expect(run([...loading, failed, ...again]).types.filter((type) => type === 'condition')).toHaveLength(1);
  });

  test('newer input does not wait for the pause; the same input does', () => {
    const failed: TargetEvent = { type: 'failed', error: error('BF_BIRD_FILE') };
    expect(run([...loading, failed, want(2)]).work).toEqual([{ type: 'read' }]);
    expect(run([...loading, failed, want(1)]).work).toEqual([]);
  });

  test('a death is retried once and then a verdict', () => {
    const died = [lost('BF_BIRD_DIED'), { type: 'timer' }, connected, read('old')] as const;
    const once = run([...loading, ...died]);
    expect(once.work).toMatchObject([{ type: 'load' }]);
    const twice = run([...loading, ...died, ...died]);
    expect(twice.state.phase).toBe('refused');
    expect(twice.facts).toContainEqual(expect.objectContaining({ type: 'refused', remembered: false }));
    expect(run([...loading, ...died, ...died, { type: 'retry' }, read('old')]).work).toMatchObject([
      { type: 'load' },
    ]);
  });

  test('a lost connection that is no death does not count as one', () => {
    const cut = [lost('BF_BIRD_TIMEOUT'), { type: 'timer' }, connected, read('old')] as const;
    expect(run([...loading, ...cut, ...cut, ...cut]).work).toMatchObject([{ type: 'load' }]);
  });
});

describe('a refusal', () => {
  const refused = [start, connected, read('old'), want(1), read('old'), refusal];

  test('is reported once and outlives the connection', () => {
    expect(
      run([...refused, { type: 'timer' }, read('old')]).types.filter((t) => t === 'refused'),
    ).toHaveLength(1);
    const later = run([...refused, lost(), { type: 'timer' }, connected, read('old')]);
    expect(later.state.phase).toBe('refused');
    expect(later.facts.at(-1)).toMatchObject({ type: 'refused', remembered: true });
  });

  test('does not bind another version of BIRD', () => {
    const upgraded: TargetEvent = { type: 'connected', version: '2.17.6', conflict: null };
    expect(run([...refused, lost(), { type: 'timer' }, upgraded, read('old')]).work).toMatchObject([
      { type: 'load' },
    ]);
  });

  test('is void when BIRD runs that content nevertheless', () => {
    expect(run([...refused, lost(), { type: 'timer' }, connected, read('m1')]).facts.at(-1)?.type).toBe(
      'applied',
    );
  });
});

test('without a mark another time of reconfiguration means another configuration', () => {
  const applied = [start, connected, read(null), want(1, null), read(null), done('weak', 't1')];
  expect(run([...applied, { type: 'timer' }, read(null, 't1')]).state.phase).toBe('settled');
  expect(run([...applied, { type: 'timer' }, read(null, 't0')]).work).toMatchObject([{ type: 'load' }]);
});

test('a notice of BIRD makes it look at once', () => {
  const settled = [want(1), start, connected, read('m1')];
  expect(run([...settled, { type: 'notice' }]).work).toEqual([{ type: 'read' }]);
});

describe('a trial', () => {
  const trial = (n: number, tries = 1) => ({ digest: `d${n}`, sessions: ['s'], until: 0, tries });
  const begun = (n: number, tries?: number): TargetEvent => ({ type: 'trial', trial: trial(n, tries) });
  const undone: TargetEvent = {
    type: 'loaded',
    outcome: { type: 'undone', message: 's did not come back', birdVersion: '2.0.12' },
    loadedAt: null,
  };
  const resumed = (n: number, tries: number, mark: string): readonly Effect[] => {
    const before = { ...initialTarget([], trial(n, tries)), wanted: wanted(n), phase: 'reading' as const };
    return stepTarget(before, read(mark)).effects;
  };

  test('that is undone is a verdict, and BIRD is asked what it has gone back to', () => {
    const { state, work, facts } = run([want(2), start, connected, read('m1'), begun(2), undone]);
    expect(work).toEqual([{ type: 'read' }]);
    expect(facts.at(-1)).toMatchObject({ type: 'refused', undone: true, remembered: false });
    expect(state.trial).toBeNull();
    const again = run([want(2), start, connected, read('m1'), begun(2), undone, read('m1')]);
    expect(again.state.phase).toBe('refused');
    expect(again.work).toEqual([{ type: 'timer', reason: 'reread', attempt: 0 }]);
  });

  test('that was undone leaves the way free for another generation', () => {
    const events = [want(2), start, connected, read('m1'), begun(2), want(3), undone, read('m1')];
    expect(run(events).work).toMatchObject([{ type: 'load', wanted: { generation: 3 } }]);
  });

  test('that BIRD still runs after a restart of ours is seen through instead of being taken for applied', () => {
    expect(resumed(2, 1, 'm2').at(-1)).toMatchObject({ type: 'resume', wanted: { generation: 2 } });
  });

  test('that BIRD has gone back from meanwhile is begun once more, and not a third time', () => {
    expect(resumed(2, 1, 'm1').at(-1)).toMatchObject({ type: 'load' });
    expect(resumed(2, 2, 'm1').filter(({ type }) => type === 'load')).toEqual([]);
    expect(resumed(2, 2, 'm1')).toContainEqual(
      expect.objectContaining({ fact: expect.objectContaining({ type: 'refused', undone: true }) }),
    );
  });

  test('of another content does not matter', () => {
    const before = { ...initialTarget([], trial(1, 2)), wanted: wanted(2), phase: 'reading' as const };
    expect(stepTarget(before, read('m1')).effects.at(-1)).toMatchObject({ type: 'load' });
  });
});

const anyEvent = fc.oneof(
  fc.constantFrom<TargetEvent>(
    start,
    connected,
    { type: 'connected', version: '3.1.8', conflict: null },
    { type: 'connected', version: '1.6.8', conflict: error('BF_BIRD_DIALECT') },
    { type: 'unconnectable', error: error() },
    { type: 'failed', error: error('BF_BIRD_FILE') },
    { type: 'retry' },
    { type: 'notice' },
    { type: 'timer' },
    done(),
    refusal,
    lost(),
    lost('BF_BIRD_DIED'),
  ),
  fc.integer({ min: 1, max: 4 }).map((n) => want(n)),
  fc.integer({ min: 1, max: 4 }).map((n) => read(`m${n}`)),
  fc.constantFrom(read(null), read('m1', 't1', false)),
);

describe('whatever happens', () => {
  test('each phase has exactly the work or the timer that gets it out again', () => {
    const needs: Record<TargetState['phase'], string | null> = {
      connecting: 'connect',
      reading: 'read',
      loading: 'load',
      waiting: 'timer',
      settled: 'timer',
      refused: 'timer',
      retrying: 'timer',
      contradicted: null,
      stopped: null,
    };
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
        let state = stepTarget(initialTarget([]), start).state;
        for (const event of events) {
          const step = stepTarget(state, event);
          const work = step.effects.filter((effect) => effect.type !== 'report').map((effect) => effect.type);
          if (step.state.phase !== state.phase)
            expect(work).toEqual([needs[step.state.phase]].filter((w) => w !== null));
          state = step.state;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('when BIRD comes back to its senses, it ends up with what is wanted', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), fc.boolean(), (events, died) => {
        let state = stepTarget(initialTarget([]), start).state;
        for (const event of events) state = stepTarget(state, event).state;
        // A new BIRD of a version that has refused nothing, which does all it is told.
        let mark: string | null = 'boot';
        const answer: Record<TargetState['phase'], (s: TargetState) => TargetEvent> = {
          connecting: () => ({ type: 'connected', version: 'new', conflict: null }),
          reading: () => read(mark, 'now'),
          loading: (s) => {
            mark = s.loading?.mark ?? null;
            return done();
          },
          waiting: () => ({ type: 'timer' }),
          settled: () => ({ type: 'timer' }),
          refused: () => ({ type: 'timer' }),
          retrying: () => ({ type: 'timer' }),
          contradicted: () => lost(),
          stopped: () => ({ type: 'timer' }),
        };
        const isConnected = !['waiting', 'connecting'].includes(state.phase);
        if (isConnected) state = stepTarget(state, lost(died ? 'BF_BIRD_DIED' : undefined)).state;
        state = stepTarget(state, want(9)).state;
        for (let i = 0; i < 12; i += 1) state = stepTarget(state, answer[state.phase](state)).state;
        expect(mark).toBe('m9');
        expect(state.reported).toMatchObject({ type: 'applied', wanted: { generation: 9 } });
      }),
      { numRuns: 500 },
    );
  });
});
