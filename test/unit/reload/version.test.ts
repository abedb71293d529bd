import { describe, expect, test } from 'vitest';
import { dialectConflict, isCalicoFork, majorVersion, parseVersion } from '../../../src/reload/version.ts';

test.each([
  ['BIRD 1.6.8 ready.', '1.6.8', 1],
  ['BIRD 2.0.12 ready.', '2.0.12', 2],
  ['BIRD version 3.1.8\n', '3.1.8', 3],
  ['BIRD 2.0.7+branch.mq.x ready.', '2.0.7+branch.mq.x', 2],
  // The banner that birdcl prints in a calico-node container.
  ['BIRD v0.3.3+birdv1.6.8 ready.', 'v0.3.3+birdv1.6.8', 1],
])('%s', (text, version, major) => {
  expect(parseVersion(text)).toBe(version);
  expect(majorVersion(version)).toBe(major);
});

test('what is no BIRD has no version', () => {
  expect(parseVersion('FRRouting 9.0')).toBeNull();
  expect(majorVersion('unknown')).toBeNull();
  expect(isCalicoFork('v0.3.3+birdv1.6.8')).toBe(true);
  expect(isCalicoFork('1.6.8')).toBe(false);
});

describe('a dialect', () => {
  test.each([
    ['bird1', '1.6.8'],
    ['bird1-calico', 'v0.3.3+birdv1.6.8'],
    ['bird2', '2.0.12'],
    ['bird2', '3.1.8'],
    ['bird2', null],
    ['bird1', 'garbage'],
  ] as const)('%s suits %s', (dialect, version) => {
    expect(dialectConflict(dialect, version)).toBeNull();
  });

  test.each([
    ['bird1', '2.0.12'],
    ['bird1-calico', '3.1.8'],
    ['bird2', '1.6.8'],
    ['bird2', 'v0.3.3+birdv1.6.8'],
  ] as const)('%s contradicts %s, and both are named', (dialect, version) => {
    expect(dialectConflict(dialect, version)).toContain(dialect);
    expect(dialectConflict(dialect, version)).toContain(version);
  });
});
