import { describe, expect, it } from 'vitest';
import {
  generationName,
  layoutOf,
  parseGenerationName,
  parseLinkTarget,
  requireFileName,
} from '../../../src/generation/layout.ts';
import {
  INITIAL_STATE,
  reloadOwed,
  verdictOn,
  withAcknowledgement,
  withApproval,
  withHold,
  withoutApprovals,
  withoutHold,
  withTargets,
  withVerdict,
} from '../../../src/generation/state.ts';

const at = '2026-01-01T00:00:00.000Z';
const ack = (contentDigest: string) => ({ generation: 7, contentDigest, ack: 'mark', at }) as const;

describe('cache state', () => {
  it('owes a reload to every target that did not acknowledge this very content', () => {
    const state = withAcknowledgement(withAcknowledgement(INITIAL_STATE, 'a', ack('new')), 'b', ack('old'));
    expect(reloadOwed(state, ['a', 'b', 'c'], 'new')).toEqual(['b', 'c']);
  });

  it('forgets targets that are gone', () => {
    const state = withAcknowledgement(withAcknowledgement(INITIAL_STATE, 'a', ack('x')), 'b', ack('x'));
    expect(Object.keys(withTargets(state, ['b']).acknowledged)).toEqual(['b']);
    expect(withTargets(state, ['a', 'b', 'c'])).toBe(state);
  });

  it('remembers a verdict by content and version of BIRD, the last message only', () => {
    const verdict = (birdVersion: string | null, message: string) => ({
      contentDigest: 'c',
      birdVersion,
      message,
      at,
    });
    let state = withVerdict(INITIAL_STATE, verdict('2.0.12', 'line 3'));
    state = withVerdict(state, verdict(null, 'line 4'));
    state = withVerdict(state, verdict('2.0.12', 'line 5'));
    expect(verdictOn(state, 'c', '2.0.12')?.message).toBe('line 5');
    expect(verdictOn(state, 'c', null)?.message).toBe('line 4');
    expect(verdictOn(state, 'c', '3.1.8')).toBeUndefined();
    expect(state.verdicts).toHaveLength(2);
  });

  it('takes the verdict of any BIRD while none is known', () => {
    const verdict = { contentDigest: 'c', birdVersion: '2.0.12', message: 'line 3', at: '' };
    const state = withVerdict(INITIAL_STATE, verdict);
    expect(verdictOn(state, 'c', null)?.message).toBe('line 3');
    expect(verdictOn(state, 'd', null)).toBeUndefined();
  });

  it('forgets the oldest verdicts and approvals', () => {
    let state = INITIAL_STATE;
    for (let i = 0; i < 500; i += 1) {
      state = withVerdict(state, { contentDigest: `c${i}`, birdVersion: null, message: '', at });
      state = withApproval(state, `d${i}`);
    }
    expect(state.verdicts.length).toBeLessThan(100);
    expect(verdictOn(state, 'c499', null)).toBeDefined();
    expect(state.approvals).toContain('d499');
    expect(state.approvals.length).toBeLessThan(100);
  });

  it('keeps the time of a hold while the loss stays the same', () => {
    const first = withHold(INITIAL_STATE, { digest: 'd', messages: ['x'], since: at });
    expect(withHold(first, { digest: 'd', messages: ['x'], since: 'later' })).toBe(first);
    expect(withHold(first, { digest: 'e', messages: ['y'], since: 'later' }).hold?.since).toBe('later');
  });

  it('ends a hold when the guard passes, and uses approvals up when something is published', () => {
    const state = withApproval(withHold(INITIAL_STATE, { digest: 'd', messages: [], since: at }), 'd');
    expect(withoutHold(state)).toEqual({ ...INITIAL_STATE, approvals: ['d'] });
    expect(withoutApprovals(withoutHold(state))).toEqual(INITIAL_STATE);
    expect(withoutApprovals(withoutHold(INITIAL_STATE))).toBe(INITIAL_STATE);
  });
});

describe('layout', () => {
  it('puts the default set at the root of the cache and others beside it', () => {
    expect(layoutOf('/c', 'default')).toMatchObject({
      root: '/c',
      current: '/c/current',
      state: '/c/state.json',
    });
    expect(layoutOf('/c/', 'nginx')).toMatchObject({
      cacheDir: '/c',
      root: '/c/sets/nginx',
      generations: '/c/sets/nginx/generations',
    });
  });

  it.each(['', '..', '.x', 'a/b', 'a b', 'a\n', 'x'.repeat(64)])(
    'refuses %j as the name of a set',
    (name) => {
      expect(() => layoutOf('/c', name)).toThrow(expect.objectContaining({ code: 'BF_RESOURCE_FILE' }));
    },
  );

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    '/etc/passwd',
    '.hidden',
    'stamp.json',
    'a\0b',
    'a\nb',
    'é'.repeat(128),
  ])('refuses %j as a file of a generation', (name) => {
    expect(() => requireFileName(name)).toThrow(expect.objectContaining({ code: 'BF_DEST_REFUSED' }));
  });

  it.each(['bird.conf', 'bird6.cfg', 'a b', 'é', '-x', 'x.stamp.json'])(
    'takes %j as a file of a generation',
    (name) => {
      expect(() => requireFileName(name)).not.toThrow();
    },
  );

  it.each([
    ['00000042', 42],
    ['123456789', 123_456_789],
    ['42', null],
    ['000000042', null],
    ['.stage-00000042', null],
    ['00000042.bak', null],
  ])('reads %s as %s', (name, number) => {
    expect(parseGenerationName(name)).toBe(number);
    if (number !== null) expect(generationName(number)).toBe(name);
  });

  it.each([
    ['generations/00000042', 42],
    ['generations/00000042/', 42],
    ['/c/generations/00000042', null],
    ['../generations/00000042', null],
    ['generations/../00000042', null],
  ])('takes the link target %s as %s', (target, number) => {
    expect(parseLinkTarget(target)).toBe(number);
  });
});
