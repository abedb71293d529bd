import { describe, expect, it } from 'vitest';
import { decodePieces } from '../../../src/core/joined-text.ts';
import type { LookupRequest, ServiceRecord } from '../../../src/render/lookup-table.ts';
import { renderResources } from '../../../src/render/render-resources.ts';
import { createLookups, type LookupDeps, renderResolved } from '../../../src/render/resolve.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { engineOf } from './support.ts';

const HOST: LookupRequest = { kind: 'address', host: 'peer.example' };
const TIME: LookupRequest = { kind: 'time' };

function setUp(options: Partial<LookupDeps> = {}) {
  const clock = new FakeClock();
  const state = {
    addresses: ['10.0.0.2', '10.0.0.1', '10.0.0.2'] as readonly string[],
    services: [] as readonly ServiceRecord[],
    files: new Set<string>(),
    failing: false,
    queries: 0,
  };
  const answer = async <T>(value: T): Promise<T> => {
    state.queries += 1;
    if (state.failing) throw new Error('SERVFAIL');
    return value;
  };
  const lookups = createLookups({
    clock,
    dns: { addresses: () => answer(state.addresses), services: () => answer(state.services) },
    fileExists: (path) => answer(state.files.has(path)),
    ttlMs: 1_000,
    ...options,
  });
  return { clock, state, lookups };
}

describe('look-ups', () => {
  it('answer sorted and without doubles, and ask once until the answer is stale', async () => {
    const { clock, state, lookups } = setUp();
    expect(lookups.dueIn()).toBeNull();
    await lookups.resolve([HOST]);
    await lookups.resolve([HOST]);
    expect(lookups.table().get('address peer.example')).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(state.queries).toBe(1);
    await clock.advance(400);
    expect(lookups.dueIn()).toBe(600);
    await clock.advance(600);
    expect(lookups.dueIn()).toBe(0);
    await lookups.resolve([HOST]);
    expect(state.queries).toBe(2);
  });

  it('keep the table as it is while no answer changes', async () => {
    const { clock, state, lookups } = setUp();
    await lookups.resolve([HOST]);
    const table = lookups.table();
    await clock.advance(1_000);
    state.addresses = ['10.0.0.1', '10.0.0.2'];
    expect(await lookups.refresh([HOST])).toBe(false);
    expect(lookups.table()).toBe(table);
    await clock.advance(1_000);
    state.addresses = ['10.0.0.3'];
    expect(await lookups.refresh([HOST])).toBe(true);
    expect(lookups.table().get('address peer.example')).toEqual(['10.0.0.3']);
    expect(table.get('address peer.example')).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it('keep the last answer while the resolver fails, and say so', async () => {
    const { clock, state, lookups } = setUp();
    await lookups.resolve([HOST]);
    await clock.advance(1_000);
    state.failing = true;
    expect(await lookups.refresh([HOST])).toBe(false);
    expect(lookups.table().get('address peer.example')).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(lookups.failures).toEqual([{ what: 'address peer.example', message: 'SERVFAIL' }]);
    await clock.advance(1_000);
    state.failing = false;
    await lookups.refresh([HOST]);
    expect(lookups.failures).toEqual([]);
  });

  it('that never worked give nothing, and false for a file', async () => {
    const { state, lookups } = setUp();
    state.failing = true;
    await lookups.resolve([HOST, { kind: 'file', path: '/f' }]);
    expect([...lookups.table()]).toEqual([
      ['address peer.example', []],
      ['file /f', false],
    ]);
  });

  it('sort SRV records by their text, as confd does', async () => {
    const { state, lookups } = setUp();
    const record = (Target: string, Port: number): ServiceRecord => ({
      Target,
      Port,
      Priority: 1,
      Weight: 1,
    });
    state.services = [record('b.', 1), record('a.', 20), record('a.', 179)];
    await lookups.resolve([{ kind: 'service', service: 'bgp', protocol: 'tcp', domain: 'x' }]);
    const records = lookups.table().get('service _bgp._tcp.x') as readonly ServiceRecord[];
    expect(records.map(({ Target, Port }) => `${Target}${Port}`)).toEqual(['a.179', 'a.20', 'b.1']);
  });

  it('move the time only when told to, and take it over from the generation before', async () => {
    const { clock, lookups } = setUp();
    await lookups.resolve([TIME]);
    const first = lookups.table().get('time');
    await clock.advance(5_000);
    await lookups.resolve([TIME]);
    expect(await lookups.refresh([TIME])).toBe(false);
    expect(lookups.table().get('time')).toBe(first);
    lookups.renewTime();
    expect(lookups.table().get('time')).toBe(Number(first) + 5_000);
    const later = setUp({ time: 42 });
    await later.lookups.resolve([TIME]);
    expect(later.lookups.table().get('time')).toBe(42);
  });

  it('forget what is no longer asked for', async () => {
    const { lookups } = setUp();
    await lookups.resolve([HOST]);
    await lookups.refresh([]);
    expect(lookups.dueIn()).toBeNull();
  });
});

describe('rendering a set', () => {
  const engine = engineOf({
    chain:
      '{% for ip in lookupIP("peer.example") %}{{ ip }}{% if fileExists("/" ~ ip) %}!{% endif %} {% endfor %}',
    endless: '{{ lookupIP("x" ~ lookupIP("x") | length) | length }}',
    first: '{{ lookupIP("peer.example")[0] }}',
    plain: '{{ x }}',
    broken: '{% if %}',
  });
  const job = (src: string, context = {}) => ({ file: `${src}.toml`, src, name: `${src}.conf`, context });

  it('answers look-ups that depend on each other, round by round', async () => {
    const { state, lookups } = setUp();
    state.files.add('/10.0.0.2');
    const result = await renderResolved(
      (table) => renderResources([job('chain'), job('first')], engine, table),
      lookups,
    );
    expect(result.files.map(({ name, content }) => [name, decodePieces(content)])).toEqual([
      ['chain.conf', '10.0.0.1 10.0.0.2! '],
      ['first.conf', '10.0.0.1'],
    ]);
    expect(result.unresolved).toEqual([]);
    expect(result.asked).toHaveLength(3);
  });

  it('reports each failure by its resource and goes on with the others', async () => {
    const { lookups } = setUp();
    const jobs = [job('broken'), job('plain'), job('plain', { x: 1 }), job('nothing')].map((j, i) => ({
      ...j,
      file: `${i}.toml`,
    }));
    const result = await renderResolved((table) => renderResources(jobs, engine, table), lookups);
    expect(result.files.map(({ name, content }) => [name, decodePieces(content)])).toEqual([
      ['plain.conf', '1'],
    ]);
    expect([...result.errors].map(([file, error]) => [file, error.code, error.details['resource']])).toEqual([
      ['0.toml', 'BF_TEMPLATE_SYNTAX', '0.toml'],
      ['1.toml', 'BF_TEMPLATE_FAILED', '1.toml'],
      ['3.toml', 'BF_TEMPLATE_MISSING', '3.toml'],
    ]);
  });

  it('shows an error that remains when everything is answered', async () => {
    const { state, lookups } = setUp();
    state.addresses = [];
    const result = await renderResolved((table) => renderResources([job('first')], engine, table), lookups);
    expect(result.errors.get('first.toml')?.message).toBe('first:1:28: lookupIP(…) has 0 elements and no 0');
  });
});
