import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compatOptions, type ModelDialect } from '../../../src/model/bgp/options.ts';
import type { ResourceKind } from '../../../src/model/calico/types.ts';
import { fieldsOf, GOOD, only, SAMPLES, withValue, wrongValues } from '../../unit/model/parity/fields.ts';
import { badOf, goodOf, mixtures, parsed } from '../../unit/model/parity/mixtures.ts';
import { type Stored, type World, worldOf } from '../../unit/model/parity/support.ts';
import { ParseBatch } from './bird-parse.ts';

const DIALECTS: readonly ModelDialect[] = ['bird1', 'bird1-calico', 'bird2'];

/** Kinds that are read whatever is in them; the others only when something asks for them. */
const ALWAYS = /^(Node|BGPPeer|BGPConfiguration|BGPFilter|IPPool|BlockAffinity)\//;

function reported({ result }: World): readonly string[] {
  const found = result.problems.filter(({ id }) => id === 'resource-invalid').map(({ subject }) => subject);
  return found.filter((subject) => ALWAYS.test(subject)).sort();
}

function subjects(bad: Stored): readonly string[] {
  const all = Object.entries(bad).map(([key, value]) => {
    const found = parsed(key, value);
    return found.outcome === 'quarantined' ? `${found.quarantined.kind}/${found.quarantined.name}` : '';
  });
  return all.filter((subject) => ALWAYS.test(subject)).sort();
}

describe('one field of one resource wrong, or odd', () => {
  it('gives files that every BIRD accepts, whether the resource is refused or not', async () => {
    const batch = new ParseBatch();
    for (const dialect of DIALECTS) {
      const world = worldOf(GOOD, { dialect });
      batch.add(dialect, world.files());
      for (const kind of Object.keys(SAMPLES) as ResourceKind[]) {
        const { key, value } = SAMPLES[kind];
        for (const { path, schema } of fieldsOf(kind)) {
          for (const wrong of wrongValues(schema)) {
            const values = only(kind, withValue(value, path, wrong));
            // What is refused changes nothing, as wrong-fields.test.ts shows.
            if (parsed(key, values[key]).outcome === 'quarantined') continue;
            world.change(values);
            batch.add(dialect, world.files());
          }
        }
        world.change({ [key]: undefined });
      }
    }
    expect(await batch.run()).toEqual([]);
    expect(batch.size).toBeGreaterThan(100);
  });
});

describe('random mixtures of good, odd and bad resources', () => {
  it('render as if the bad ones were absent, in files that every BIRD accepts', async () => {
    const batch = new ParseBatch();
    let bad = 0;
    fc.assert(
      fc.property(mixtures, fc.constantFrom(...DIALECTS), fc.boolean(), (values, dialect, asCalico) => {
        const options = { dialect, compat: compatOptions(asCalico) };
        const world = worldOf(values, options);
        const files = world.files();
        const quarantined = badOf(values);
        bad += Object.keys(quarantined).length;
        expect(files).toEqual(worldOf(goodOf(values), options).files());
        expect(reported(world)).toEqual(subjects(quarantined));
        batch.add(dialect, files);
      }),
      { numRuns: Number(process.env['BIRDFEED_PROPERTY_RUNS'] ?? 150) },
    );
    const refused = await batch.run();
    expect(refused.map(({ program, message }) => `${program}: ${message}`)).toEqual([]);
    expect(batch.size).toBeGreaterThan(100);
    expect(bad).toBeGreaterThan(20);
  });
});
