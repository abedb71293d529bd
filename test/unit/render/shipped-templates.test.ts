import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readResourceFiles } from '../../../src/config/resource-files.ts';
import { parseResources } from '../../../src/config/resources.ts';
import { createEngine } from '../../../src/render/engine.ts';
import { DIALECTS } from '../../../src/render/types.ts';

const shipped = (folder: string): string => fileURLToPath(new URL(`../../../${folder}`, import.meta.url));

describe('what is shipped', () => {
  const engine = createEngine({ templateDirs: [shipped('templates')] });

  it('has templates that all compile', () => {
    expect(engine.names).not.toEqual([]);
    expect([...engine.problems.values()].map((error) => error.message)).toEqual([]);
  });

  it('has resources without errors or warnings, for templates that are there', () => {
    const { files, errors } = readResourceFiles([shipped('conf.d')]);
    expect(errors).toEqual([]);
    const parsed = parseResources(files, {
      dialects: DIALECTS,
      models: ['calico', 'keys'],
      defaultSet: 'default',
      globalPrefix: '',
    });
    expect(parsed.errors.map((error) => error.message)).toEqual([]);
    expect(parsed.warnings).toEqual([]);
    expect(parsed.resources.length).toBeGreaterThan(0);
    for (const { src } of parsed.resources) expect(engine.names).toContain(src);
  });
});
