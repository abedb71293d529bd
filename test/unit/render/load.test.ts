import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/render/engine.ts';
import { MAX_TEMPLATE_BYTES } from '../../../src/render/load.ts';
import { errorOf } from './support.ts';

let root: string;
let dir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bf-templates-'));
  dir = join(root, 'own');
  mkdirSync(dir);
});

afterEach(() => rmSync(root, { recursive: true }));

describe('template directories', () => {
  it('are read with their folders, the first directory winning name by name', () => {
    const shipped = join(root, 'shipped');
    mkdirSync(join(shipped, 'dialect'), { recursive: true });
    writeFileSync(join(shipped, 'main'), 'shipped {% include "dialect/a" %}');
    writeFileSync(join(shipped, 'dialect', 'a'), 'A');
    writeFileSync(join(dir, 'main'), 'own {% include "dialect/a" %}');
    const engine = createEngine({ templateDirs: [dir, shipped, join(root, 'absent')] });
    expect(engine.names).toEqual(['dialect/a', 'main']);
    expect(engine.render('main', {})).toBe('own A');
  });

  it('may be a mounted ConfigMap, whose files are links into a hidden folder', () => {
    mkdirSync(join(dir, '..2026'));
    writeFileSync(join(dir, '..2026', 'a'), 'A');
    symlinkSync('..2026', join(dir, '..data'));
    symlinkSync('..data/a', join(dir, 'a'));
    const engine = createEngine({ templateDirs: [dir] });
    expect(engine.names).toEqual(['a']);
    expect(engine.render('a', {})).toBe('A');
  });

  it('refuse links that lead out, endless folders, large files and what is not text, each alone', () => {
    writeFileSync(join(root, 'secret'), 'S');
    symlinkSync(join(root, 'secret'), join(dir, 'out'));
    symlinkSync('nowhere', join(dir, 'broken'));
    symlinkSync('.', join(dir, 'loop'));
    writeFileSync(join(dir, 'large'), 'x'.repeat(MAX_TEMPLATE_BYTES + 1));
    writeFileSync(join(dir, 'binary'), Buffer.from([0xff, 0xfe]));
    writeFileSync(join(dir, 'good'), 'G');
    const engine = createEngine({ templateDirs: [dir] });
    expect([...engine.problems.keys()].sort()).toEqual(['binary', 'broken', 'large', 'out']);
    expect(engine.render('good', {})).toBe('G');
    expect(errorOf(() => engine.render('out', {})).message).toContain('outside the template directories');
    expect(engine.problems.get('large')?.message).toContain(`at most ${MAX_TEMPLATE_BYTES}`);
  });

  it('refuse links that lead to each other in circles, each alone', () => {
    symlinkSync('b', join(dir, 'a'));
    symlinkSync('a', join(dir, 'b'));
    writeFileSync(join(dir, 'good'), 'G');
    writeFileSync(join(dir, 'bad'), '{% include "a" %}');
    const engine = createEngine({ templateDirs: [dir] });
    expect(engine.render('good', {})).toBe('G');
    expect(errorOf(() => engine.render('bad', {}))).toMatchObject({
      code: 'BF_TEMPLATE_MISSING',
      message: expect.stringMatching(/^template a: ELOOP/),
    });
  });

  it.each([
    ['include', '{% include "b" %}', '{% include "a" %}'],
    ['import', '{% import "b" as b %}', '{% import "a" as a %}'],
    ['extend', '{% extends "b" %}', '{% extends "a" %}'],
  ])(
    'hold templates that %s each other without end: these fail, at once, the others render',
    (_how, a, b) => {
      writeFileSync(join(dir, 'a'), a);
      writeFileSync(join(dir, 'b'), b);
      writeFileSync(join(dir, 'good'), 'G');
      const engine = createEngine({ templateDirs: [dir] });
      expect(errorOf(() => engine.render('a', {}))).toMatchObject({
        code: 'BF_TEMPLATE_FAILED',
        message: expect.stringMatching(/^[ab]:1:\d+: .*deeper than 50; does a template include itself\?$/),
      });
      expect(engine.render('good', {})).toBe('G');
    },
  );

  it('cannot be left by a name', () => {
    writeFileSync(join(root, 'secret'), 'S');
    writeFileSync(join(dir, 't'), '{% include x %}');
    const engine = createEngine({ templateDirs: [dir] });
    for (const x of ['../secret', join(root, 'secret'), './../secret']) {
      expect(errorOf(() => engine.render('t', { x })).code).toBe('BF_TEMPLATE_MISSING');
    }
  });

  it('give a digest that changes with any name or text and with nothing else', () => {
    writeFileSync(join(dir, 'a'), 'A');
    const first = createEngine({ templateDirs: [dir] }).digest;
    expect(createEngine({ templateDirs: [dir, root] }).digest).not.toBe('');
    expect(createEngine({ templateDirs: [dir] }).digest).toBe(first);
    writeFileSync(join(dir, 'a'), 'B');
    expect(createEngine({ templateDirs: [dir] }).digest).not.toBe(first);
  });
});
