import { describe, expect, it } from 'vitest';
import {
  type Baseline,
  baselineOfCensus,
  baselineOfStamp,
  type GuardOptions,
  type GuardVerdict,
  type HoldId,
  judge,
  judgeKeys,
  stampedCensus,
} from '../../../src/generation/guard.ts';
import { makeStamp } from '../../../src/generation/stamp.ts';
import type { Census } from '../../../src/model/types.ts';
import { census, names, stampInput } from './support.ts';

const quiet: GuardOptions = { reason: 'reconnect' };

/** The same baseline with names, as within one process, and with counts alone, as after a restart. */
function baselines(of: Census): readonly [string, Baseline][] {
  return [
    ['names', baselineOfCensus(of)],
    ['counts', { ...stampedCensus(of), names: null }],
  ];
}

interface Row {
  readonly what: string;
  readonly before: Census;
  readonly after: Census;
  readonly options?: Partial<GuardOptions>;
  /** What is held, in order; empty means pass. */
  readonly held: readonly HoldId[];
}

const cluster = {
  Node: names(10),
  BGPPeer: names(10, 'p'),
  IPPool: names(10, 'pool'),
  BGPFilter: names(10, 'f'),
};
const cut = (kind: keyof typeof cluster, left: number) => ({
  ...cluster,
  [kind]: cluster[kind].slice(0, left),
});

const rows: readonly Row[] = [
  {
    what: 'an empty tree',
    before: census(cluster),
    after: census({}, { nodePresent: false, address4: null }),
    held: ['empty-tree'],
  },
  {
    what: 'an empty tree, its kinds still listed',
    before: census(cluster),
    after: census({ Node: [], BGPPeer: [], IPPool: [], BGPFilter: [] }, { nodePresent: false }),
    held: ['empty-tree'],
  },
  { what: 'nothing then, nothing now', before: census({}), after: census({}), held: [] },
  { what: 'no change', before: census(cluster), after: census(cluster), held: [] },
  {
    what: 'more than half of the nodes',
    before: census(cluster),
    after: census(cut('Node', 4)),
    held: ['mass-removal'],
  },
  { what: 'exactly half of the nodes', before: census(cluster), after: census(cut('Node', 5)), held: [] },
  {
    what: 'more than half of the peers',
    before: census(cluster),
    after: census(cut('BGPPeer', 4)),
    held: ['mass-removal'],
  },
  {
    what: 'more than half of the pools',
    before: census(cluster),
    after: census(cut('IPPool', 4)),
    held: ['mass-removal'],
  },
  {
    what: 'all filters: not a kind that tears routing down',
    before: census(cluster),
    after: census(cut('BGPFilter', 0)),
    held: [],
  },
  {
    what: 'two kinds at once',
    before: census(cluster),
    after: census({ ...cut('Node', 1), BGPPeer: [] }),
    held: ['mass-removal', 'mass-removal'],
  },
  {
    what: 'a kind that is no longer listed at all',
    before: census(cluster),
    after: census({ Node: cluster.Node, IPPool: cluster.IPPool }),
    held: ['mass-removal'],
  },
  {
    what: 'two of two peers: below the floor',
    before: census({ ...cluster, BGPPeer: names(2) }),
    after: census({ ...cluster, BGPPeer: [] }),
    held: [],
  },
  {
    what: 'three of three peers: the floor',
    before: census({ ...cluster, BGPPeer: names(3) }),
    after: census({ ...cluster, BGPPeer: [] }),
    held: ['mass-removal'],
  },
  {
    what: 'one node of many scaled down',
    before: census({ Node: names(1000) }),
    after: census({ Node: names(999) }),
    held: [],
  },
  {
    what: 'a tighter share',
    before: census(cluster),
    after: census(cut('Node', 7)),
    options: { share: 0.2 },
    held: ['mass-removal'],
  },
  {
    what: 'a share of one, which no loss exceeds',
    before: census(cluster),
    after: census(cut('BGPPeer', 0)),
    options: { share: 1 },
    held: [],
  },
  {
    what: 'a higher floor',
    before: census(cluster),
    after: census(cut('Node', 4)),
    options: { floor: 7 },
    held: [],
  },
  {
    what: 'one filter lost by going back in time',
    before: census(cluster),
    after: census(cut('BGPFilter', 9)),
    options: { reason: 'regressed' },
    held: ['regressed-loss'],
  },
  {
    what: 'back in time without a loss',
    before: census(cluster),
    after: census({ ...cluster, Node: names(11) }),
    options: { reason: 'regressed' },
    held: [],
  },
  {
    what: 'a compaction that loses one filter',
    before: census(cluster),
    after: census(cut('BGPFilter', 9)),
    options: { reason: 'compacted' },
    held: [],
  },
  {
    what: 'this node missing',
    before: census(cluster),
    after: census({ ...cluster, Node: cluster.Node.slice(1) }, { nodePresent: false, address4: null }),
    held: ['node-missing'],
  },
  {
    what: 'the IPv4 address gone',
    before: census(cluster),
    after: census(cluster, { address4: null }),
    held: ['address-lost'],
  },
  {
    what: 'both addresses gone',
    before: census(cluster, { address6: 'fd00::1' }),
    after: census(cluster, { address4: null }),
    held: ['address-lost', 'address-lost'],
  },
  {
    what: 'another IPv4 address',
    before: census(cluster),
    after: census(cluster, { address4: '10.0.0.9' }),
    held: [],
  },
  {
    what: 'a first IPv6 address',
    before: census(cluster),
    after: census(cluster, { address6: 'fd00::1' }),
    held: [],
  },
  {
    what: 'a family it never had',
    before: census(cluster, { address4: null }),
    after: census(cluster, { address4: null }),
    held: [],
  },
];

describe.each(['names', 'counts'])('judge, with %s of the last good generation', (kind) => {
  it.each(rows)('$what', ({ before, after, options, held }) => {
    const [, baseline] = baselines(before).find(([name]) => name === kind)!;
    const verdict = judge(baseline, after, { ...quiet, ...options });
    expect(verdict.verdict === 'hold' ? verdict.reasons.map(({ id }) => id) : []).toEqual(held);
    expect(verdict.verdict).toBe(held.length > 0 ? 'hold' : 'pass');
  });
});

describe('judge', () => {
  it('passes anything when there is no last good generation', () => {
    expect(judge(null, census({}, { nodePresent: false }), { reason: 'regressed' }).verdict).toBe('pass');
  });

  it('sees all nodes replaced by others when it knows their names, and only then', () => {
    const after = census({ Node: names(10, 'other') });
    const [withNames, withCounts] = baselines(census({ Node: names(10) })).map(([, baseline]) =>
      judge(baseline, after, quiet),
    );
    expect(withNames!.verdict).toBe('hold');
    expect(withCounts!.verdict).toBe('pass');
  });

  it('names what is gone', () => {
    const verdict = held(judge(baselineOfCensus(census(cluster)), census(cut('Node', 4)), quiet));
    expect(verdict.reasons[0]).toMatchObject({
      subject: 'Node',
      before: 10,
      after: 4,
      message: '6 of 10 Node vanished at once',
    });
    expect(verdict.reasons[0]!.gone).toEqual(['n10', 'n5', 'n6', 'n7', 'n8', 'n9']);
  });

  it('lets an approved loss pass, also while unrelated things change', () => {
    const baseline = baselineOfCensus(census(cluster));
    const { digest } = held(judge(baseline, census(cut('Node', 4)), quiet));
    const busier = census({ ...cut('Node', 4), BGPPeer: names(12, 'p'), BGPFilter: [] });
    const verdict = judge(baseline, busier, { ...quiet, approved: new Set([digest]) });
    expect(verdict).toEqual({ verdict: 'pass', approved: digest });
  });

  it.each([
    ['one more name', census(cut('Node', 3))],
    ['as many, but other names', census({ ...cluster, Node: cluster.Node.slice(6) })],
    ['another kind besides', census({ ...cut('Node', 4), IPPool: [] })],
  ])('does not take an approval for a loss of %s', (_what, after) => {
    const baseline = baselineOfCensus(census(cluster));
    const { digest } = held(judge(baseline, census(cut('Node', 4)), quiet));
    expect(judge(baseline, after, { ...quiet, approved: new Set([digest]) }).verdict).toBe('hold');
  });

  it('gives the same loss the same digest every time', () => {
    const loss = () => held(judge(baselineOfCensus(census(cluster)), census(cut('Node', 4)), quiet)).digest;
    expect(loss()).toBe(loss());
    expect(loss()).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has nothing to compare with after a generation without a census', () => {
    const { stamp } = makeStamp(stampInput({ census: null }), {
      version: '1',
      generation: 1,
      parent: null,
      createdAt: 0,
      files: [],
    });
    expect(baselineOfStamp(stamp)).toBeNull();
  });
});

describe('judgeKeys', () => {
  it.each([
    ['nothing, never any', { previous: null, next: 0, minKeys: null }, null],
    ['nothing, where there was nothing', { previous: 0, next: 0, minKeys: null }, null],
    ['nothing, where there was something', { previous: 2, next: 0, minKeys: null }, 'empty-tree'],
    ['fewer', { previous: 9, next: 1, minKeys: null }, null],
    ['nothing, which min_keys = 0 allows', { previous: 2, next: 0, minKeys: 0 }, null],
    ['fewer than min_keys', { previous: 9, next: 4, minKeys: 5 }, 'min-keys'],
    ['as many as min_keys', { previous: 9, next: 5, minKeys: 5 }, null],
    ['fewer than min_keys the first time', { previous: null, next: 0, minKeys: 1 }, 'min-keys'],
  ] as const)('%s', (_what, keys, id) => {
    const verdict = judgeKeys(keys);
    expect(verdict.verdict === 'hold' ? verdict.reasons[0]!.id : null).toBe(id);
    if (verdict.verdict === 'hold') expect(judgeKeys(keys, new Set([verdict.digest])).verdict).toBe('pass');
  });
});

function held(verdict: GuardVerdict): Extract<GuardVerdict, { verdict: 'hold' }> {
  if (verdict.verdict !== 'hold') throw new Error('not held');
  return verdict;
}
