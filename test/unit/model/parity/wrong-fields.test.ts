import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResourceKind } from '../../../../src/model/calico/types.ts';
import { fieldsOf, GOOD, only, SAMPLES, withValue, wrongValues } from './fields.ts';
import { goodOf, mixtures, parsed } from './mixtures.ts';
import { type World, worldOf } from './support.ts';

const KINDS = Object.keys(SAMPLES) as ResourceKind[];
describe.each(KINDS)('a %s', (kind) => {
  const { value } = SAMPLES[kind];
  it('that is right makes a difference, so that the next test can fail', () => {
    expect(parsed(SAMPLES[kind].key, value).outcome).toBe('resource');
    expect(worldOf({ ...GOOD, ...only(kind, value) }).text()).not.toBe(worldOf(GOOD).text());
  });

  it('with one field wrong is as if it were absent, alone and beside good ones, and is named', () => {
    const worlds = [worldOf(GOOD), worldOf({})].map((world) => ({ world, before: contextOf(world) }));
    const { key } = SAMPLES[kind];
    let refused = 0;
    for (const { path, schema } of fieldsOf(kind)) {
      for (const wrong of wrongValues(schema)) {
        const bad = only(kind, withValue(value, path, wrong));
        if (parsed(key, bad[key]).outcome !== 'quarantined') continue;
        refused += 1;
        const where = `${path.join('.')} = ${JSON.stringify(wrong)?.slice(0, 60)}`;
        for (const [index, { world, before }] of worlds.entries()) {
          world.change(bad);
          // The very same objects, since a computation that equals the last one gives them again.
          if (contextOf(world).some((part, at) => part !== before[at]))
            expect.fail(`${where} changes the configuration`);
          // What is read on demand is not read where nothing asks for it.
          if (index === 0 && !isNamed(world, kind)) expect.fail(`${where} is not reported`);
          world.change({ [key]: undefined });
        }
      }
    }
    expect(refused).toBeGreaterThan(fieldsOf(kind).length);
  });

  it('with one field wrong stays as it was when it was right before', () => {
    const before = { ...GOOD, ...only(kind, value) };
    const world = worldOf(before);
    const text = world.text();
    for (const { path, schema } of fieldsOf(kind)) {
      const wrong = wrongValues(schema).find(
        (candidate) =>
          parsed(SAMPLES[kind].key, only(kind, withValue(value, path, candidate))[SAMPLES[kind].key])
            .outcome === 'quarantined',
      );
      if (wrong === undefined) continue;
      world.change(only(kind, withValue(value, path, wrong)));
      if (world.text() !== text)
        expect.fail(`${path.join('.')} = ${JSON.stringify(wrong)} changes the configuration`);
    }
  });
});

/** What templates see. */
function contextOf({ node, ipv4, ipv6 }: World): readonly unknown[] {
  return [node, ipv4, ipv6];
}

function isNamed({ result }: World, kind: ResourceKind): boolean {
  return result.problems.some(
    ({ id, subject }) => id === 'resource-invalid' && subject.startsWith(`${kind}/`),
  );
}

describe('random mixtures', () => {
  it('give every session an explanation, by its name and by its address', () => {
    let sessions = 0;
    fc.assert(
      fc.property(mixtures, (values) => {
        const world = worldOf(goodOf(values));
        for (const { name } of world.sessions) {
          sessions += 1;
          const { explanations } = world.producer.explain(world.result, name);
          const found = explanations.flatMap(({ findings }) => findings);
          if (!found.some(({ session, outcome }) => session === name && outcome === 'session'))
            expect.fail(`${name} is not explained: ${JSON.stringify(explanations)}`);
        }
      }),
      { numRuns: 150 },
    );
    expect(sessions).toBeGreaterThan(150);
  });

  it('give the same files whatever came before', () => {
    fc.assert(
      fc.property(mixtures, mixtures, (before, after) => {
        const world = worldOf(goodOf(before));
        const gone = Object.keys(before).filter((key) => !(key in goodOf(after)));
        world.change({ ...Object.fromEntries(gone.map((key) => [key, undefined])), ...goodOf(after) });
        // Secrets that go away are remembered, and services are read once something asked for them: both are inputs.
        const fresh = worldOf(goodOf(after), { lastGood: world.result.lastGood });
        expect(world.files()).toEqual(fresh.files());
      }),
      { numRuns: 100 },
    );
  });
});
