import { describe, expect, it } from 'vitest';
import { BIRD_TABLE, CONFIG_TABLE, DATA_TABLE } from '../../../src/status/axes.ts';
import { probeReadiness } from '../../../src/status/server.ts';
import {
  type Fact,
  headline,
  initialStatus,
  lastConfirmedAt,
  readiness,
  reduce,
  type Status,
} from '../../../src/status/status.ts';

const T0 = '2026-01-01T00:00:00.000Z';

function statusAfter(...facts: Fact[]): Status {
  let status = initialStatus({ version: '1', node: 'n1', set: 'default' }, T0);
  for (const [index, fact] of facts.entries()) {
    status = reduce(status, fact, new Date(Date.parse(T0) + (index + 1) * 1000).toISOString());
  }
  return status;
}

const generation = {
  type: 'generation',
  generation: { number: 1, contentDigest: 'd', createdAt: T0, sessions: 2 },
} as const satisfies Fact;
const confirmed = { type: 'confirmed' } as const satisfies Fact;
const noBird = { type: 'bird-setup', dialect: null, tellsBird: false } as const satisfies Fact;
const target = (applied: boolean) =>
  ({
    type: 'target',
    target: { socket: '/s', file: 'bird.conf', birdVersion: '2.0.12', applied, ack: 'mark', reason: null },
  }) as const satisfies Fact;
const fact = <T extends 'data' | 'config' | 'bird'>(
  type: T,
  event: Extract<Fact, { type: T }> extends { event: infer E } ? E : never,
) => ({ type, event, reason: null }) as Fact;

describe('the axes', () => {
  const rows = (table: Record<string, Record<string, string>>) =>
    Object.entries(table).flatMap(([state, row]) =>
      Object.entries(row).map(([event, next]) => [state, event, next] as const),
    );

  it.each(rows(DATA_TABLE))('data: %s on %s becomes %s, a state of the table', (_state, _event, next) => {
    expect(Object.keys(DATA_TABLE)).toContain(next);
  });

  it('has every event in every state', () => {
    for (const table of [DATA_TABLE, CONFIG_TABLE, BIRD_TABLE] as Record<string, Record<string, string>>[]) {
      const events = Object.keys(Object.values(table)[0]!).sort();
      for (const row of Object.values(table)) expect(Object.keys(row).sort()).toEqual(events);
    }
  });

  it.each([
    ['starting', 'cache-loaded', 'cached'],
    ['starting', 'synced', 'fresh'],
    ['starting', 'node-absent', 'waiting-for-node'],
    ['starting', 'lost', 'starting'],
    ['waiting-for-node', 'synced', 'fresh'],
    ['cached', 'lost', 'cached'],
    ['cached', 'synced', 'fresh'],
    ['fresh', 'lost', 'stale'],
    ['stale', 'synced', 'fresh'],
    ['fresh', 'node-absent', 'fresh'],
  ] as const)('data: %s on %s becomes %s', (state, event, next) => {
    expect(DATA_TABLE[state][event]).toBe(next);
  });

  it.each([
    ['pinned', 'published', 'pinned'],
    ['pinned', 'unpinned', 'degraded'],
    ['held', 'published', 'good'],
    ['good', 'faulted', 'degraded'],
    ['degraded', 'published', 'good'],
    ['good', 'held', 'held'],
  ] as const)('config: %s on %s becomes %s', (state, event, next) => {
    expect(CONFIG_TABLE[state][event]).toBe(next);
  });

  it.each([
    ['applied', 'behind', 'unapplied'],
    ['applied', 'unreachable', 'unknown'],
    ['unknown', 'acknowledged', 'applied'],
    ['unapplied', 'acknowledged', 'applied'],
  ] as const)('bird: %s on %s becomes %s', (state, event, next) => {
    expect(BIRD_TABLE[state][event]).toBe(next);
  });

  it('keeps the time of an axis while its state stays', () => {
    const status = statusAfter(fact('data', 'synced'), fact('data', 'synced'));
    expect(status.data.since).toBe('2026-01-01T00:00:01.000Z');
  });
});

describe('readiness', () => {
  const ready = (status: Status, now = Date.parse(T0) + 60_000, limit: number | null = null) =>
    readiness(status, now, limit).ready;

  it('is not reached from the cache alone', () => {
    expect(
      ready(
        statusAfter(generation, fact('data', 'cache-loaded'), target(true), fact('bird', 'acknowledged')),
      ),
    ).toBe(false);
  });

  it('is not reached before BIRD runs the generation', () => {
    expect(
      ready(
        statusAfter(generation, confirmed, fact('data', 'synced'), target(false), fact('bird', 'behind')),
      ),
    ).toBe(false);
  });

  it('is reached once fresh and applied, and stays when the datastore or BIRD goes', () => {
    const once = [generation, confirmed, fact('data', 'synced'), target(true), fact('bird', 'acknowledged')];
    expect(ready(statusAfter(...once))).toBe(true);
    expect(ready(statusAfter(...once, fact('data', 'lost')))).toBe(true);
    expect(ready(statusAfter(...once, fact('bird', 'unreachable')))).toBe(true);
  });

  it('is not reached with a generation that the datastore has not confirmed', () => {
    const applied = [target(true), fact('bird', 'acknowledged')];
    expect(ready(statusAfter(generation, ...applied, fact('data', 'synced')))).toBe(false);
    const next = { ...generation, generation: { ...generation.generation, number: 2 } };
    const replaced = statusAfter(generation, confirmed, ...applied, next, fact('data', 'synced'));
    expect(ready(replaced)).toBe(false);
    expect(replaced.bird).toMatchObject({ state: 'unapplied', reason: 'generation 2 is not loaded yet' });
  });

  it('is not reached by what an earlier process confirmed, which only says how old the generation is', () => {
    const remembered = { type: 'remembered', at: '2025-12-31T23:59:00.000Z' } as const satisfies Fact;
    const cached = [noBird, fact('data', 'cache-loaded'), generation, remembered];
    const fresh = statusAfter(...cached, fact('data', 'synced'));
    expect(ready(fresh)).toBe(false);
    expect(lastConfirmedAt(fresh)).toBe(remembered.at);
    expect(probeReadiness(fresh, Date.parse(T0), null)).toMatchObject({ ready: false, ageSeconds: 60 });
    const agreed = reduce(fresh, confirmed, '2026-01-01T00:01:00.000Z');
    expect([ready(agreed), lastConfirmedAt(agreed)]).toEqual([true, '2026-01-01T00:01:00.000Z']);
    const next = { ...generation, generation: { ...generation.generation, number: 2 } };
    expect(lastConfirmedAt(statusAfter(...cached, next))).toBe(null);
  });

  it('is reached with a pinned generation, which an operator has confirmed', () => {
    const pin = { type: 'pin', pinned: 1 } as const;
    expect(ready(statusAfter(noBird, generation, pin, fact('data', 'synced')))).toBe(true);
  });

  it('needs no BIRD when there is none to ask', () => {
    expect(ready(statusAfter(noBird, generation, confirmed, fact('data', 'synced')))).toBe(true);
  });

  it('is lost after a bounded staleness only when that is asked for', () => {
    const stale = statusAfter(noBird, generation, confirmed, fact('data', 'synced'), fact('data', 'lost'));
    expect(ready(stale, Date.parse(T0) + 3_600_000, null)).toBe(true);
    expect(ready(stale, Date.parse(T0) + 30_000, 60_000)).toBe(true);
    expect(ready(stale, Date.parse(T0) + 3_600_000, 60_000)).toBe(false);
  });

  it('is not reached while the guard holds the first input', () => {
    const held = { type: 'held', held: { digest: 'x', reasons: ['node absent'] } } as const;
    expect(ready(statusAfter(noBird, generation, confirmed, held, fact('data', 'synced')))).toBe(false);
  });
});

describe('the headline', () => {
  it('names what is not as it should be, and nothing else', () => {
    expect(headline(statusAfter(noBird, fact('data', 'synced')))).toBe('fresh');
    expect(headline(statusAfter(noBird, fact('data', 'cache-loaded')))).toBe('cached');
    expect(
      headline(
        statusAfter(fact('data', 'synced'), fact('config', 'held'), target(false), fact('bird', 'behind')),
      ),
    ).toBe('held, unapplied');
    expect(headline(statusAfter({ type: 'standby', standby: true }))).toBe('standby');
  });
});
