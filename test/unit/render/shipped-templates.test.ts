import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readResourceFiles } from '../../../src/config/resource-files.ts';
import { parseResources } from '../../../src/config/resources.ts';
import { compileEngine, createEngine, type Precompiled, precompile } from '../../../src/render/engine.ts';
import { loadTemplates } from '../../../src/render/load.ts';
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

describe('templates compiled at build time', () => {
  const source = (text: string, name = 'a.njk') => ({
    sources: new Map([[name, { name, file: name, text }]]),
    refused: new Map(),
  });
  const built = (text: string): Precompiled => {
    const { digest, places, templates } = precompile(source(text), {});
    return {
      digest,
      places,
      // What the bundle does with the code, marked, so that it shows who made the text.
      templates: templates.map(({ name, pinned, code }) => ({
        name,
        pinned,
        make: new Function(
          code.replaceAll('hello', 'from the build'),
        ) as Precompiled['templates'][number]['make'],
      })),
    };
  };

  it('stand in for the same texts, errors and their places included', () => {
    const text = 'hello\n{{ who.name }}\n';
    const engine = compileEngine(source(text), { precompiled: built(text) });
    expect(engine.render('a.njk', { who: { name: 'x' } })).toBe('from the build\nx\n');
    expect(() => engine.render('a.njk', { who: {} })).toThrow(/a\.njk:2:\d+/);
  });

  it.each([
    ['another text', source('hello {{ 1 + 1 }}')],
    ['another name', source('hello', 'b.njk')],
  ])('are not used for %s', (_what, loaded) => {
    const engine = compileEngine(loaded, { precompiled: built('hello') });
    expect(engine.render(engine.names[0]!, {})).toMatch(/^hello/);
  });

  it('are all of what is shipped, and equal what is compiled at start', () => {
    const loaded = loadTemplates([shipped('templates')]);
    const { digest, templates } = precompile(loaded, { contextFunctions: [] });
    const engine = compileEngine(loaded);
    expect(digest).toBe(engine.digest);
    expect(templates.map(({ name }) => name).sort()).toEqual(engine.names);
  });
});
