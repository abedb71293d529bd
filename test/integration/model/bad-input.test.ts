import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compatOptions, type ModelDialect } from '../../../src/model/bgp/options.ts';
import { badOf, goodOf, mixtures } from '../../unit/model/parity/mixtures.ts';
import { worldOf } from '../../unit/model/parity/support.ts';
import { ParseBatch } from './bird-parse.ts';

const DIALECTS: readonly ModelDialect[] = ['bird1', 'bird1-calico', 'bird2'];

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
        expect(world.problemIds.filter((id) => id === 'resource-invalid')).toHaveLength(
          Object.keys(quarantined).length,
        );
        batch.add(dialect, files);
      }),
      { numRuns: Number(process.env['BF_RUNS'] ?? 150) },
    );
    const refused = await batch.run();
    expect(refused.map(({ program, message }) => `${program}: ${message}`)).toEqual([]);
    expect(batch.size).toBeGreaterThan(100);
    expect(bad).toBeGreaterThan(20);
  });
});
