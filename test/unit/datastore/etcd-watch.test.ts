import { describe, expect, it } from 'vitest';
import {
  firstReason,
  type Head,
  type Held,
  heldAfter,
  heldAfterList,
  positionOf,
  wentBack,
} from '../../../src/datastore/etcd/held.ts';
import { type LifeEvent, type LifeState, nextState } from '../../../src/datastore/etcd/life.ts';
import type { WatchEvent, WatchResponse } from '../../../src/datastore/etcd/messages.ts';
import { rangesOf } from '../../../src/datastore/etcd/ranges.ts';
import { ResponseReader, watchIdOf } from '../../../src/datastore/etcd/responses.ts';
import { keyValue } from './etcd-fake.ts';

function response(own: Partial<WatchResponse>): WatchResponse {
  return {
    header: { clusterId: '77', revision: 500, raftTerm: 2 },
    watchId: watchIdOf(0),
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events: [],
    ...own,
  };
}

function event(type: WatchEvent['type'], key: string, revision: number): WatchEvent {
  return { type, kv: keyValue(key, type, revision) };
}

describe('responses on the watch stream', () => {
  it('deliver the parts of a batch together, per watcher', () => {
    const reader = new ResponseReader(2);
    expect(reader.read(response({ fragment: true, events: [event('put', '/a', 5)] }))).toEqual({
      kind: 'alive',
    });
    expect(reader.read(response({ watchId: watchIdOf(1), events: [event('put', '/b', 6)] }))).toMatchObject({
      range: 1,
      revision: 6,
    });
    expect(reader.read(response({ fragment: true, events: [event('delete', '/a', 7)] }))).toEqual({
      kind: 'alive',
    });
    expect(reader.read(response({ events: [event('put', '/c', 7)] }))).toEqual({
      kind: 'changes',
      range: 0,
      changes: [
        { type: 'put', entry: { key: '/a', value: 'put', revision: 5 } },
        { type: 'delete', key: '/a' },
        { type: 'put', entry: { key: '/c', value: 'put', revision: 7 } },
      ],
      revision: 7,
      witness: { key: Buffer.from('/c'), modRevision: 7, origin: '7 1', at: 7 },
    });
    expect(reader.read(response({}))).toEqual({ kind: 'notice', range: 0, revision: 500 });
  });

  it('have no witness when all was deleted', () => {
    const heard = new ResponseReader(1).read(response({ events: [event('delete', '/a', 5)] }));
    expect(heard).toMatchObject({ kind: 'changes', revision: 5, witness: undefined });
  });

  it.each([watchIdOf(2), 2, -2])('for the watcher %s that nobody asked for are refused', (watchId) => {
    expect(() => new ResponseReader(2).read(response({ watchId }))).toThrow(
      expect.objectContaining({ code: 'BF_DATASTORE_PROTOCOL' }),
    );
  });

  it('are told apart although a proxy has numbered the watchers itself', () => {
    const reader = new ResponseReader(2);
    expect(reader.read(response({ watchId: 1, created: true }))).toEqual({ kind: 'created', range: 1 });
    expect(reader.read(response({ watchId: 0, events: [event('put', '/a', 6)] }))).toMatchObject({
      range: 0,
      revision: 6,
    });
  });

  it('tell a compaction from a refusal', () => {
    const reader = new ResponseReader(1);
    expect(reader.read(response({ canceled: true, compactRevision: 22 }))).toEqual({
      kind: 'compacted',
      revision: 22,
    });
    expect(reader.read(response({ watchId: -1, created: true, canceled: true, cancelReason: 'no' }))).toEqual(
      { kind: 'refused', reason: 'no' },
    );
    expect(reader.read(response({ canceled: true }))).toEqual({
      kind: 'refused',
      reason: 'it gave no reason',
    });
  });
});

describe('what was delivered', () => {
  const mounts = ['/a', '/b'].map((prefix) => ({ prefix, required: true }));
  const ranges = rangesOf(mounts);
  const head: Head = { datastoreId: '77', revision: 10, term: 2, witness: 'unknown' };
  const witness = { key: Buffer.from('/a/1'), modRevision: 4, origin: '4 1', at: 10 };
  const held: Held = heldAfterList(head, ranges, mounts.length, witness);

  it('moves one range and its mount forward, and never back', () => {
    const later = heldAfter(held, 1, 0, { revision: 20 });
    expect(later.next).toEqual([11, 21, 11, 11]);
    expect([positionOf(later, 0).revision, positionOf(later, 1).revision]).toEqual([20, 10]);
    expect(later.witness).toBe(witness);
    expect(heldAfter(later, 0, 0, { revision: 15 }).revisions).toEqual([20, 10]);
    expect(heldAfter(later, 1, 0, { revision: 12 }).next).toEqual([11, 21, 11, 11]);
    expect(held.next).toEqual([11, 11, 11, 11]);
  });

  it.each<[boolean, string, Partial<Head>]>([
    [false, 'nothing changed', {}],
    [false, 'the store went on', { revision: 99, term: 7, witness: 'confirmed' }],
    [true, 'the revision is lower', { revision: 9 }],
    [true, 'the cluster is another one', { datastoreId: '78', revision: 99 }],
    [true, 'the term is lower', { revision: 99, term: 1 }],
    [true, 'the witness is denied', { revision: 99, witness: 'denied' }],
  ])('shows that the store went back (%s) when %s', (expected, _what, change) => {
    expect(wentBack(held, { ...head, ...change })).toBe(expected);
  });

  it('gives the first snapshot its reason', () => {
    expect(firstReason(undefined, head)).toBe('initial');
    expect(firstReason({ datastoreId: '77', revision: 10 }, head)).toBe('initial');
    expect(firstReason({ datastoreId: '77', revision: 11 }, head)).toBe('regressed');
    expect(firstReason({ datastoreId: '78', revision: 1 }, head)).toBe('regressed');
  });
});

describe('life of the connection', () => {
  const states: LifeState[] = ['dialing', 'listing', 'opening', 'watching', 'waiting', 'stopped'];
  const events: LifeEvent[] = [
    'resumable',
    'stale',
    'listed',
    'opened',
    'doubted',
    'failed',
    'waited',
    'stopped',
  ];

  it('goes from dialling to watching, with a list when one is needed', () => {
    const walk = (...path: LifeEvent[]) => path.reduce<LifeState>(nextState, 'dialing');
    expect(walk('stale')).toBe('listing');
    expect(walk('stale', 'listed', 'opened')).toBe('watching');
    expect(walk('resumable', 'opened')).toBe('watching');
    expect(walk('stale', 'listed', 'opened', 'doubted')).toBe('dialing');
    expect(walk('stale', 'listed', 'opened', 'failed', 'waited')).toBe('dialing');
  });

  it('waits after every failure, and stays ended', () => {
    for (const state of states) {
      expect(nextState(state, 'stopped')).toBe('stopped');
      if (state !== 'stopped') expect(nextState(state, 'failed')).toBe('waiting');
    }
    expect(new Set(events.map((happened) => nextState('stopped', happened)))).toEqual(new Set(['stopped']));
  });

  it('never watches without having dialled and opened', () => {
    for (const state of states) {
      for (const happened of events) {
        const next = nextState(state, happened);
        if (next === 'watching') expect([state, happened]).toEqual(['opening', 'opened']);
        if (next === 'opening')
          expect(['dialing resumable', 'listing listed']).toContain(`${state} ${happened}`);
      }
    }
  });
});
