import { describe, expect, it } from 'vitest';
import { birdFact, isEnough, outcomeError } from '../../../src/app/reload-outcome.ts';
import { BirdfeedError } from '../../../src/core/errors.ts';
import { combine, type SetOutcome, type TargetResult } from '../../../src/reload/targets.ts';

const applied: TargetResult = { type: 'applied', ack: 'mark', adopted: false };
const refused: TargetResult = { type: 'refused', message: 'syntax error', birdVersion: '2.0.12' };
const telling: TargetResult = { type: 'pending', error: null };
const absent: TargetResult = {
  type: 'pending',
  error: new BirdfeedError('BF_BIRD_UNREACHABLE', 'no BIRD on /run/bird.ctl'),
};

function outcome(...results: TargetResult[]): SetOutcome {
  const targets = results.map((result, index) => ({
    target: { file: `bird${index}.conf`, socket: `/run/bird${index}.ctl` },
    result,
  }));
  return { type: combine(results), generation: 1, targets };
}

describe('what daemons and reload commands mean together', () => {
  it.each<[string, SetOutcome | null, string | null, ReturnType<typeof birdFact>]>([
    ['all is done', outcome(applied), null, { event: 'acknowledged', reason: null }],
    ['only a command is owed', outcome(applied), 'exit 1', { event: 'behind', reason: 'exit 1' }],
    ['there are only commands, done', null, null, { event: 'acknowledged', reason: null }],
    ['there are only commands, failed', null, 'exit 1', { event: 'behind', reason: 'exit 1' }],
    [
      'one of two daemons is gone',
      outcome(applied, absent),
      null,
      { event: 'unreachable', reason: 'no BIRD on /run/bird.ctl' },
    ],
    [
      'a daemon is being told',
      outcome(telling),
      null,
      { event: 'behind', reason: 'waiting for BIRD’s answer' },
    ],
    [
      'a daemon refused',
      outcome(applied, refused),
      'exit 1',
      { event: 'behind', reason: '/run/bird1.ctl: BIRD refused bird1.conf: syntax error' },
    ],
  ])('when %s', (_what, daemons, commands, fact) => {
    expect(birdFact(daemons, commands)).toEqual(fact);
  });

  it('leaves a run that shall end nothing to wait for when BIRD is not there', () => {
    expect(
      [outcome(telling), outcome(absent), outcome(applied, absent), outcome(refused)].map(isEnough),
    ).toEqual([false, true, true, true]);
    expect(outcomeError(outcome(applied, absent))?.code).toBe('BF_BIRD_UNREACHABLE');
    expect(outcomeError(outcome(telling))?.code).toBe('BF_BIRD_TIMEOUT');
    expect(outcomeError(outcome(applied))).toBeNull();
  });
});
