import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { generateValidators } from '../../../../scripts/generate-validators.mjs';
import { schemas } from '../../../../src/model/calico/schemas/all.ts';
import { extendField, refusal } from '../../../../src/model/calico/validators.ts';

it('are what the schemas compile to today (else: node scripts/generate-validators.mjs)', {
  timeout: 60_000,
}, async () => {
  const generated = await generateValidators();
  expect(generated.size).toBe(2);
  for (const [url, text] of generated) expect(await readFile(new URL(url), 'utf8')).toBe(text);
});

it('exist for every kind and accept an empty object', () => {
  for (const kind of Object.keys(schemas) as (keyof typeof schemas)[]) {
    expect(refusal(kind, {}), kind).toBeNull();
    expect(refusal(kind, []), kind).toEqual({ field: '', reason: 'must be an object, not a list' });
    expect(refusal(kind, null), kind).toEqual({ field: '', reason: 'must be an object, not null' });
  }
});

it('allow fields that are not read and nulls anywhere', () => {
  expect(
    refusal('Node', { apiVersion: 'v9', spec: { bgp: null, future: [[1]] }, metadata: { uid: {} } }),
  ).toBeNull();
  expect(refusal('BGPFilter', { spec: { importV4: [null, { cidr: null, operations: null }] } })).toBeNull();
});

it.each([
  ['', 'spec', 'spec'],
  ['spec', 'importV4', 'spec.importV4'],
  ['spec.importV4', '2', 'spec.importV4[2]'],
  ['metadata.labels', 'kubernetes.io/os', 'metadata.labels["kubernetes.io/os"]'],
  ['metadata.labels', 'a\n"b', 'metadata.labels["a\\n\\"b"]'],
  ['data', 'x'.repeat(1_000), `data["${'x'.repeat(60)}..."]`],
])('write %j + %j as %s', (field, name, expected) => {
  expect(extendField(field, name)).toBe(expected);
});
