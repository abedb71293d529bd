import { describe, expect, it } from 'vitest';
import { type ListPlan, listAtHead } from '../../../src/datastore/etcd/list.ts';
import type { RangeRequest, RangeResponse } from '../../../src/datastore/etcd/messages.ts';
import { rangesOf } from '../../../src/datastore/etcd/ranges.ts';
import { COMPACTED, FakeEtcd, keyValue, TOO_LARGE } from './etcd-fake.ts';

const HEAD = { datastoreId: '77', revision: 10, term: 2, witness: 'unknown' } as const;

function planFor(etcd: FakeEtcd, prefixes: readonly string[], overrides: Partial<ListPlan> = {}): ListPlan {
  const ranges = rangesOf(prefixes.map((prefix) => ({ prefix, required: true })));
  return {
    ranges,
    paging: { firstKeys: 4, maxKeys: 8, targetBytes: 100, maxBytes: 1_000 },
    sizes: ranges.map(() => ({ keys: 4 })),
    read: (request) => etcd.range(request),
    readHead: async () => ({ ...HEAD, revision: HEAD.revision + 1 }),
    onPage: () => {},
    ...overrides,
  };
}

function etcdWith(count: number, value: string): FakeEtcd {
  const etcd = new FakeEtcd();
  etcd.kvs = Array.from({ length: count }, (_, index) =>
    keyValue(`/a/${100 + index}`, value, index === 7 ? 9 : 3),
  );
  return etcd;
}

const limits = (etcd: FakeEtcd) => etcd.reads.filter(({ rangeEnd }) => rangeEnd).map(({ limit }) => limit);

describe('paged list', () => {
  it('reads every key once, page after page, all at one revision', async () => {
    const etcd = etcdWith(30, 'v');
    const pages: number[] = [];
    const { head, listing } = await listAtHead(
      HEAD,
      planFor(etcd, ['/a'], { onPage: (_mount, entries) => pages.push(entries.length) }),
    );
    expect(listing.entries.map((entries) => entries.map(({ key }) => key))).toEqual([
      etcd.kvs.map(({ key }) => String(key)),
    ]);
    expect(pages).toEqual([4, 8, 8, 8, 2]);
    expect(new Set(etcd.reads.map(({ revision }) => revision))).toEqual(new Set([10]));
    expect(head).toBe(HEAD);
    expect(listing.witness).toEqual({ key: Buffer.from('/a/107'), modRevision: 9, origin: '9 1', at: 10 });
  });

  it('lets what arrives meanwhile in while it tells of a large page', async () => {
    const etcd = etcdWith(220, 'v');
    const paging = { firstKeys: 1_000, maxKeys: 1_000, targetBytes: 100_000, maxBytes: 100_000 };
    const told: string[] = [];
    const plan = planFor(etcd, ['/a'], {
      paging,
      sizes: [{ keys: 1 }, { keys: 1_000 }],
      onPage: (_mount, entries) => {
        told.push(String(entries.length));
        setImmediate(() => told.push('turn'));
        // Work that takes longer than a turn may.
        for (const end = performance.now() + 12; performance.now() < end; );
      },
    });
    const { listing } = await listAtHead(HEAD, plan);
    expect(told).toEqual(['50', 'turn', '50', 'turn', '50', 'turn', '50', 'turn', '20']);
    expect(listing.entries[0]?.map(({ key }) => key)).toEqual(etcd.kvs.map(({ key }) => String(key)));
  });

  it('sizes pages by what the values weigh', async () => {
    const etcd = etcdWith(12, 'v'.repeat(20));
    await listAtHead(HEAD, planFor(etcd, ['/a']));
    // 26 bytes a key: three of them come closest to 100.
    expect(limits(etcd)).toEqual([4, 3, 3, 3]);
  });

  it('asks for less when an answer is too large, down to one key, and remembers', async () => {
    const etcd = etcdWith(3, 'v'.repeat(500));
    const read = async (request: RangeRequest): Promise<RangeResponse> => {
      const page = await etcd.range(request);
      if (page.kvs.length > 1) throw TOO_LARGE;
      return page;
    };
    const plan = planFor(etcd, ['/a'], { read, sizes: [{ keys: 4 }, { keys: 64 }] });
    const { listing } = await listAtHead(HEAD, plan);
    expect(listing.entries[0]).toHaveLength(3);
    expect(limits(etcd)).toEqual([64, 8, 1, 1, 1]);
    etcd.reads.length = 0;
    await listAtHead(HEAD, plan);
    expect(limits(etcd)).toEqual([1, 1, 1]);
  });

  it('fails when one key alone is too large', async () => {
    const read = () => Promise.reject(TOO_LARGE);
    await expect(listAtHead(HEAD, planFor(new FakeEtcd(), ['/a'], { read }))).rejects.toBe(TOO_LARGE);
  });

  it('starts over at a newer revision when its own was compacted, but not for ever', async () => {
    const etcd = etcdWith(30, 'v');
    etcd.revision = 11;
    const read = async (request: RangeRequest) => {
      if (request.revision === 10 && etcd.reads.length > 3) throw COMPACTED;
      return etcd.range(request);
    };
    const { head, listing } = await listAtHead(HEAD, planFor(etcd, ['/a'], { read }));
    expect([head.revision, listing.entries[0]?.length]).toEqual([11, 30]);
    const never = planFor(etcd, ['/a'], { read: () => Promise.reject(COMPACTED) });
    await expect(listAtHead(HEAD, never)).rejects.toBe(COMPACTED);
  });

  it('tells nobody of pages after it failed', async () => {
    const etcd = etcdWith(30, 'v');
    etcd.kvs.push(...Array.from({ length: 30 }, (_, index) => keyValue(`/b/${100 + index}`, 'v', 3)));
    const read = async (request: RangeRequest) => {
      if (String(request.key).startsWith('/b/1')) throw new Error('gone');
      return etcd.range(request);
    };
    let pages = 0;
    const onPage = () => {
      pages += 1;
    };
    await expect(listAtHead(HEAD, planFor(etcd, ['/a', '/b'], { read, onPage }))).rejects.toThrow('gone');
    const told = pages;
    const { length } = etcd.reads;
    await new Promise((resolve) => setImmediate(resolve));
    expect(pages).toBe(told);
    // One page may have been under way.
    expect(etcd.reads.length).toBeLessThanOrEqual(length + 1);
  });

  it('keeps mounts apart', async () => {
    const etcd = new FakeEtcd();
    etcd.kvs = ['/a', '/a/1', '/b/1'].map((key) => keyValue(key, key, 5));
    const { listing } = await listAtHead(HEAD, planFor(etcd, ['/a', '/b', '/c']));
    expect(listing.entries.map((entries) => entries.map(({ key }) => key))).toEqual([
      ['/a', '/a/1'],
      ['/b/1'],
      [],
    ]);
  });
});
