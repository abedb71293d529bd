import { expect, test } from 'vitest';
import { combine, type TargetResult } from '../../../src/reload/targets.ts';
import { addVerdict, dropVerdicts, findVerdict, type Verdicts } from '../../../src/reload/verdicts.ts';

const verdict = (digest: string, birdVersion: string | null = '2.0.12') => ({
  digest,
  birdVersion,
  message: 'no',
});

test('a verdict is about one content and one version', () => {
  const verdicts = addVerdict([], verdict('a'));
  expect(findVerdict(verdicts, 'a', '2.0.12')).toEqual(verdict('a'));
  expect(findVerdict(verdicts, 'b', '2.0.12')).toBeNull();
  expect(findVerdict(verdicts, 'a', '2.17.6')).toBeNull();
  expect(findVerdict(dropVerdicts(verdicts, 'a'), 'a', '2.0.12')).toBeNull();
});

test('a newer verdict replaces the older one, and their number is bounded', () => {
  const twice = addVerdict(addVerdict([], verdict('a')), { ...verdict('a'), message: 'still no' });
  expect(twice).toEqual([{ ...verdict('a'), message: 'still no' }]);
  let many: Verdicts = [];
  for (let i = 0; i < 100; i += 1) many = addVerdict(many, verdict(`d${i}`));
  expect(many.length).toBeLessThan(50);
  expect(findVerdict(many, 'd99', '2.0.12')).not.toBeNull();
});

test('a set is applied when all daemons are, and refused when one is', () => {
  const applied: TargetResult = { type: 'applied', ack: 'mark', adopted: false };
  const refused: TargetResult = { type: 'refused', message: 'no', birdVersion: null };
  const pending: TargetResult = { type: 'pending', error: null };
  expect(combine([applied, applied])).toBe('applied');
  expect(combine([applied, pending])).toBe('pending');
  expect(combine([applied, refused])).toBe('refused');
  expect(combine([pending, refused])).toBe('refused');
  expect(combine([])).toBe('applied');
});
