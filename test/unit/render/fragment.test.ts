import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { engineOf, errorOf, render } from './support.ts';

const MACROS =
  '{% macro line(s) %}{{ s.name }}={{ s.as }}{% for t in s.tags %} {{ t }}{% endfor %}\n{% endmacro %}';

describe('a fragment', () => {
  it('prints what the same loop prints, for any change of any list', () => {
    const body =
      '{{ m.line(s) }}{% if s.as > 5 %}big{% set x = s.as %}{{ x }}{% endif %}{{ s.name | upper }}';
    const engine = engineOf({
      m: MACROS,
      kept: `{% import "m" as m %}[{% fragment s in sessions %}${body}{% endfragment %}]`,
      plain: `{% import "m" as m %}[{% for s in sessions %}${body}{% endfor %}]`,
    });
    const session = fc.record({
      name: fc.string({ unit: 'binary' }),
      as: fc.nat(10),
      tags: fc.array(fc.string(), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        fc.array(session, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (pool, picks) => {
          // Lists over a pool of objects: items stay the same object, move, repeat, vanish and come back.
          for (let end = 0; end <= picks.length; end += 1) {
            const sessions = picks.slice(end).map((pick) => pool[pick % pool.length]!);
            expect(engine.render('kept', { sessions })).toBe(engine.render('plain', { sessions }));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('renders an item once, whatever the number of renders', () => {
    let reads = 0;
    const item = {
      get name() {
        reads += 1;
        return 'a';
      },
    };
    const engine = engineOf({ t: '{% fragment s in list %}{{ s.name }}{% endfragment %}' });
    expect(engine.render('t', { list: [item] })).toBe('a');
    const once = reads;
    expect(engine.render('t', { list: [item, item] })).toBe('aa');
    expect(engine.render('t', { list: [item] })).toBe('a');
    expect(reads).toBe(once);
  });

  it('keeps the text of two fragments and of two templates over one object apart', () => {
    const engine = engineOf({
      t: '{% fragment s in l %}A{{ s.n }}{% endfragment %}{% fragment s in l %}B{{ s.n }}{% endfragment %}',
      u: '{% fragment s in l %}C{{ s.n }}{% endfragment %}',
    });
    const l = [{ n: 1 }];
    expect(engine.render('t', { l }) + engine.render('u', { l }) + engine.render('t', { l })).toBe(
      'A1B1C1A1B1',
    );
  });

  it('may hold another fragment', () => {
    const engine = engineOf({
      t: '{% fragment a in l %}{{ a.n }}({% fragment b in a.l %}{{ b.n }}{% endfragment %}){% endfragment %}',
    });
    expect(engine.render('t', { l: [{ n: 1, l: [{ n: 2 }, { n: 3 }] }] })).toBe('1(23)');
  });

  it('prints its text wherever it stands', () => {
    const l = [{ n: 1 }, { n: 2 }];
    const f = '{% fragment s in l %}<{{ s.n }}>{% endfragment %}';
    const engine = engineOf({
      captured: `{% set x %}${f}{% endset %}{{ x | length }}{{ x }}{{ x }}`,
      filtered: `{% filter replace('<', '(') %}${f}{% endfilter %}${f}`,
      macro: `{% macro m(l) %}${f}{% endmacro %}{{ m(l) | length }}{{ m(l) }}`,
      call: `{% macro m() %}{{ caller() | length }}{% endmacro %}{% call m() %}${f}{% endcall %}`,
      part: f,
      include: '{% include "part" %}|{% set x %}{% include "part" %}{% endset %}{{ x | length }}',
      base: `a{% block b %}${f}{% endblock %}c`,
      child: '{% extends "base" %}{% block b %}{{ super() | length }}{{ super() }}{% endblock %}',
      loop: `{% for a in [1, 2] %}${f}{% if a == 2 %}${f}{% endif %}{% endfor %}`,
    });
    const printed = (name: string): string => engine.render(name, { l });
    expect(printed('captured')).toBe('6<1><2><1><2>');
    expect(printed('filtered')).toBe('(1>(2><1><2>');
    expect(printed('macro')).toBe('6<1><2>');
    expect(printed('call')).toBe('6');
    expect(printed('include')).toBe('<1><2>|6');
    expect(printed('child')).toBe('a6<1><2>c');
    expect(printed('loop')).toBe('<1><2><1><2><1><2>');
  });

  it('does not let its variables out, nor change those around it', () => {
    const text = '{% set x = "out" %}{% fragment s in l %}{% set x = s.n %}{{ x }}{% endfragment %}{{ x }}';
    expect(render(text, { l: [{ n: 1 }] })).toBe('1out');
  });

  it('renders 10,000 items with one changed in a few milliseconds', () => {
    const engine = engineOf({
      m: MACROS,
      t: '{% import "m" as m %}{% fragment s in l %}{{ m.line(s) }}{% endfragment %}',
    });
    const l = Array.from({ length: 10_000 }, (_, i) => ({ name: `node-${i}`, as: i, tags: ['a', 'b'] }));
    engine.render('t', { l });
    const times: number[] = [];
    for (let i = 0; i < 20; i += 1) {
      l[i] = { name: 'changed', as: i, tags: [] };
      const started = performance.now();
      expect(engine.render('t', { l })).toContain('changed=');
      times.push(performance.now() - started);
    }
    expect(Math.min(...times)).toBeLessThan(5);
  });

  it.each([
    [
      'a name from outside',
      '{% fragment s in l %}\n{{ model.x }}{% endfragment %}',
      /^t:2:4: .*model comes from outside/,
    ],
    [
      'the loop around it',
      '{% for a in l %}{% fragment s in a %}{{ loop.index }}{% endfragment %}{% endfor %}',
      /loop comes from outside/,
    ],
    [
      'the item of the loop around it',
      '{% for a in l %}{% fragment s in a %}{{ a.n }}{% endfragment %}{% endfor %}',
      /a comes from outside/,
    ],
    [
      'the item of the fragment around it',
      '{% fragment a in l %}{% fragment b in a.l %}{{ a.n }}{% endfragment %}{% endfragment %}',
      /a comes from outside/,
    ],
    [
      'a variable of the template',
      '{% set x = 1 %}{% fragment s in l %}{{ x }}{% endfragment %}',
      /x comes from outside/,
    ],
    [
      'a macro of its own template',
      '{% macro f() %}{{ model }}{% endmacro %}{% fragment s in l %}{{ f() }}{% endfragment %}',
      /f comes from outside/,
    ],
    [
      'an import with context',
      '{% import "m" as m with context %}{% fragment s in l %}{{ m.line(s) }}{% endfragment %}',
      /m comes from outside/,
    ],
    [
      'an import that is set again',
      '{% import "m" as m %}{% set m = 1 %}{% fragment s in l %}{{ m }}{% endfragment %}',
      /m comes from outside/,
    ],
    [
      'an import by a computed name',
      '{% import x as m %}{% fragment s in l %}{{ m.line(s) }}{% endfragment %}',
      /m comes from outside/,
    ],
    [
      'macros that include by a computed name',
      '{% import "dynamic" as d %}{% fragment s in l %}{{ d.f(s) }}{% endfragment %}',
      /cannot use d: dynamic includes or imports by a computed name/,
    ],
    [
      'include',
      '{% fragment s in l %}\n {% include "m" %}{% endfragment %}',
      /^t:2:5: \{% include %\} is not possible/,
    ],
    [
      'block',
      '{% fragment s in l %}{% block b %}{% endblock %}{% endfragment %}',
      /\{% block %\} is not possible/,
    ],
  ])('refuses %s when compiling', (_name, text, message) => {
    const dynamic = '{% macro f(s) %}{% include s.file %}{% endmacro %}';
    const error = errorOf(() => engineOf({ t: text, m: MACROS, dynamic }).render('t', { l: [] }));
    expect(error.code).toBe('BF_TEMPLATE_SYNTAX');
    expect(error.message).toMatch(message);
  });

  it('refuses items without identity', () => {
    expect(errorOf(() => render('{% fragment s in l %}{% endfragment %}', { l: ['a'] })).message).toMatch(
      /^t:1:4: \{% fragment s %\} needs objects, not a string$/,
    );
  });

  it('names the item that failed, and does not keep the failure', () => {
    const engine = engineOf({ t: 'x\n{% fragment s in l %}\n{{ s.as }}{% endfragment %}' });
    const bad: { name: string; as?: number } = { name: 'n7' };
    const error = errorOf(() => engine.render('t', { l: [{ name: 'n1', as: 1 }, bad] }));
    expect(error.message).toBe('t:3:5: s has no member "as"');
    expect(error.details['via']).toEqual(['{% fragment s %} of "n7" at t:2']);
    bad.as = 2;
    expect(engine.render('t', { l: [bad] })).toBe('x\n2');
  });
});
