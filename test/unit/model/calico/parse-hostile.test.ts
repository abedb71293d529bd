import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Parsed, parseStored } from '../../../../src/model/calico/parse.ts';
import { schemas } from '../../../../src/model/calico/schemas/all.ts';
import type { ResourceKind } from '../../../../src/model/calico/types.ts';
import { KEYS } from './stored.ts';

const KINDS = Object.keys(schemas) as ResourceKind[];
const kind = fc.constantFrom(...KINDS);

/** What holds of every result, whatever went in. */
function check(parsed: Parsed): void {
  if (parsed.outcome !== 'quarantined') return;
  const { message } = parsed.quarantined;
  expect(message).not.toContain('internal error');
  expect(message).toMatch(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u);
  expect(message.length).toBeLessThan(1_000);
}

/** Every name that a schema mentions, so that random objects reach the fields that are read. */
const FIELD_NAMES = [
  ...new Set([...JSON.stringify(Object.values(schemas)).matchAll(/"(\w+)":/g)].map(([, name]) => name!)),
];
const fieldName = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...FIELD_NAMES) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '0',
      '',
    ),
  },
  { weight: 1, arbitrary: fc.string() },
);
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    0,
    -1,
    1.5,
    1e308,
    4_294_967_295,
    true,
    false,
    'Accept',
    'Enabled',
    '10.0.0.1/24',
    'fd00::1',
    '[::1]:0',
    '1:2:3',
    'all()',
    'has(',
    '10s',
    '1.1',
    'node.',
    'default',
    'x',
    'ns',
    '\u0000',
    '"',
    "'",
    '\\',
    '\ud800',
    '\u2028',
    '%',
    '::ffff:1.2.3.4',
    'MQ==',
  ),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.ipV4(),
  fc.ipV6(),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(fieldName, tie('value')), { maxLength: 6 }).map((pairs) => Object.fromEntries(pairs)),
  ),
})).value;

/** A value that its schema accepts in shape, with scalars that may be anything of the right type. */
function shaped(schema: Readonly<Record<string, unknown>>, root = schema): fc.Arbitrary<unknown> {
  const ref = schema['$ref'];
  if (typeof ref === 'string')
    return shaped((root['$defs'] as Record<string, never>)[ref.replace('#/$defs/', '')]!, root);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const type = [schema['type']].flat()[0];
  if (type === 'object' && schema['properties'] !== undefined) {
    const fields = Object.entries(schema['properties'] as Record<string, Record<string, unknown>>);
    return fc.record(Object.fromEntries(fields.map(([name, of]) => [name, shaped(of, root)])), {
      requiredKeys: [],
    });
  }
  if (type === 'object') return fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.base64String()));
  if (type === 'array')
    return fc.array(shaped(schema['items'] as Record<string, unknown>, root), { maxLength: 3 });
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer')
    return fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.constantFrom(1, 32, 64_512));
  return scalar.filter((value) => typeof value === 'string');
}
const shapedValue = kind.chain((of) => shaped(schemas[of].json).map((value) => [of, value] as const));

describe('no stored value makes the parser throw', { timeout: 60_000 }, () => {
  it('random text', () => {
    fc.assert(
      fc.property(kind, fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (of, text) => {
        check(parseStored(of, KEYS[of], text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('random JSON with the names that are read', () => {
    fc.assert(
      fc.property(kind, json, (of, value) => {
        check(parseStored(of, KEYS[of], JSON.stringify(value)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('JSON of the right shape', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(shapedValue, ([of, value]) => {
        const parsed = parseStored(of, KEYS[of], JSON.stringify(value));
        check(parsed);
        outcomes.add(parsed.outcome);
      }),
      { numRuns: 2_000 },
    );
    // The test would be worth little if everything were refused.
    expect(outcomes).toContain('resource');
  });

  it('text that was cut anywhere', () => {
    const text = JSON.stringify({ metadata: { name: 'x' }, spec: { peerIP: '10.0.0.1', filters: ['a'] } });
    for (let length = 0; length < text.length; length += 1) {
      const parsed = parseStored('BGPPeer', KEYS.BGPPeer, text.slice(0, length));
      expect(parsed.outcome).toBe('quarantined');
      check(parsed);
    }
  });

  it('random keys', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('..', '', 'ipv4', 'block', '10.0.0.0-26', '__proto__'),
    );
    fc.assert(
      fc.property(kind, fc.array(part, { maxLength: 4 }), (of, parts) => {
        const key = `${KEYS[of].replace(/\/[^/]*$/, '')}/${parts.join('/')}`;
        check(parseStored(of, key, '{}'));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(KINDS)('%s: very deep, very long, very many', (of) => {
    const long = 'x'.repeat(1_000_000);
    for (const text of [
      '['.repeat(100_000) + ']'.repeat(100_000),
      `${'{"spec":'.repeat(50_000)}{}${'}'.repeat(50_000)}`,
      `{"spec":{"bgp":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
      JSON.stringify(long),
      JSON.stringify({ kind: long }),
      JSON.stringify({ metadata: { name: long, labels: { [long]: long } } }),
      JSON.stringify({
        spec: { peerIP: long, peerSelector: '('.repeat(60_000), cidr: long, importV4: [{ cidr: long }] },
      }),
      JSON.stringify({
        spec: { bgp: { ipv4Address: long, asNumber: long } },
        data: { [long]: 'not base64' },
        state: long,
      }),
      JSON.stringify({
        spec: { filters: new Array(100_000).fill('a') },
        endpoints: new Array(100_000).fill({}),
      }),
    ])
      check(parseStored(of, KEYS[of], text));
  });
});

describe('names of properties that objects inherit', () => {
  it('pollute nothing', () => {
    const hostile = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
    for (const of of KINDS) {
      check(
        parseStored(
          of,
          KEYS[of],
          `${hostile},"spec":${hostile}},"metadata":{"labels":{"__proto__":"x"}},"data":{"__proto__":"eA=="}}`,
        ),
      );
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it('are kept as labels and Secret keys', () => {
    const node = parseStored('Node', KEYS.Node, '{"metadata":{"labels":{"__proto__":"x"}}}');
    expect(node).toMatchObject({ outcome: 'resource' });
    const secret = parseStored('Secret', KEYS.Secret, '{"data":{"__proto__":"eA=="}}');
    if (secret.outcome !== 'resource' || !('data' in secret.resource)) throw new Error('not a Secret');
    expect(Object.entries(secret.resource.data)).toEqual([['__proto__', 'x']]);
  });
});
