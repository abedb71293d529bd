import { describe, expect, it } from 'vitest';
import { engineOf, errorOf, render } from './support.ts';

describe('a template', () => {
  it('prints names, members, loops, conditions, macros and includes', () => {
    const engine = engineOf({
      'main.njk': [
        '{% import "m.njk" as m %}',
        '{% from "m.njk" import twice as double %}',
        '{% for s in sessions %}',
        '{{ loop.index }}: {{ m.line(s, end=";") }}',
        '{% else %}',
        'none',
        '{% endfor %}',
        '{% include "part.njk" %}',
        '{{ double("x") }}',
        '',
      ].join('\n'),
      'm.njk':
        '{% macro line(s, end=".") %}{{ s.name }}{{ end }}{% endmacro %}{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}',
      'part.njk': '{% if sessions | length > 1 %}many{% elif sessions.length == 1 %}one{% endif %}\n\n',
    });
    const sessions = [{ name: 'a' }, { name: 'b' }];
    expect(engine.problems.size).toBe(0);
    expect(engine.render('main.njk', { sessions })).toBe('1: a;\n2: b;\nmany\nxx\n');
    expect(engine.render('main.njk', { sessions: [] })).toBe('none\n\nxx\n');
  });

  it('does not escape quotes', () => {
    expect(render('{{ a }}', { a: '"<&>\'' })).toBe('"<&>\'');
  });

  it('supports inheritance with super', () => {
    const engine = engineOf({
      base: '[{% block a %}base{% endblock %}]',
      child: '{% extends "base" %}{% block a %}{{ super() }}+{{ x }}{% endblock %}',
    });
    expect(engine.render('child', { x: 1 })).toBe('[base+1]');
  });

  it('supports call blocks, filters over blocks, set blocks and switch', () => {
    expect(
      render('{% macro w(t) %}<{{ t }}{{ caller() }}>{% endmacro %}{% call w("x") %}y{% endcall %}'),
    ).toBe('<xy>');
    expect(render('{% filter upper %}abc{% endfilter %}')).toBe('ABC');
    expect(render('{% set a %}x{{ b }}{% endset %}{{ a }}', { b: 1 })).toBe('x1');
    expect(render('{% switch a %}{% case 1 %}one{% default %}other{% endswitch %}', { a: 1 })).toBe('one');
  });

  it('reads "not" as weaker than comparison', () => {
    expect(render('{{ "yes" if not a == 2 else "no" }}', { a: 1 })).toBe('yes');
    expect(render('{{ "yes" if not a == 2 else "no" }}', { a: 2 })).toBe('no');
  });

  it('loops over an object in the order of its sorted keys', () => {
    expect(render('{% for k, v in o %}{{ k }}={{ v }} {% endfor %}', { o: { b: 1, a: 2, 10: 3 } })).toBe(
      '10=3 a=2 b=1 ',
    );
  });

  it('prints large numbers without exponent', () => {
    expect(render('{{ a }} {{ b }} {{ c }}', { a: 4200000000, b: 12345678901234567890n, c: 1e21 })).toBe(
      '4200000000 12345678901234567890 1000000000000000000000',
    );
  });

  it('lets optional names be tested and defaulted', () => {
    expect(
      render('{{ a | default("x") }}{{ o.b | default("y") }}{{ o.b.c | default("z") }}', { o: {} }),
    ).toBe('xyz');
    expect(
      render('{% if o.b is defined %}1{% else %}2{% endif %}{% if c is not defined %}3{% endif %}', {
        o: {},
      }),
    ).toBe('23');
    expect(render('{% if o.b %}1{% else %}2{% endif %}{{ "n" if o.b is none }}', { o: { b: null } })).toBe(
      '2n',
    );
  });
});

describe('what nunjucks would let pass silently is an error', () => {
  const cases: readonly [name: string, text: string, message: RegExp][] = [
    ['a missing name', 'x\n{{ nmae }}', /^t:2:4: nmae is not defined; did you mean "name"\?$/],
    ['a missing name in if', '{% if nmae %}{% endif %}', /^t:1:7: nmae is not defined/],
    [
      'a missing member',
      '{{ peer.adress }}',
      /^t:1:8: peer has no member "adress"; did you mean "address"\?$/,
    ],
    ['a missing member in if', '{% if peer.x %}{% endif %}', /peer has no member "x"/],
    ['a missing member in a comparison', '{% if peer.x == 1 %}{% endif %}', /peer has no member "x"/],
    ['a missing member in a filter', '{{ peer.x | upper }}', /peer has no member "x"/],
    ['a missing member in a loop', '{% for a in peer.x %}{% endfor %}', /peer has no member "x"/],
    ['a member of null', '{{ nothing.x }}', /^t:1:11: nothing is null, so it has no x$/],
    ['a member behind a missing one', '{{ peer.a.b.c }}', /peer has no member "a"/],
    ['an index beyond the end', '{{ list[2] }}', /list has 2 elements and no 2/],
    ['null printed', '{{ nothing }}', /^t:1:4: nothing is null$/],
    ['null in a filter', '{{ nothing | upper }}', /^t:1:14: nothing \| upper: is null$/],
    ['null in ~', '{{ "a" ~ nothing }}', /cannot join "a" and nothing: one is null/],
    ['null in +', '{{ "a" + nothing }}', /cannot join/],
    ['null in arithmetic', '{{ 1 + nothing }}', /cannot calculate with 1 and nothing: one is null/],
    ['text in arithmetic', '{{ "a" - 1 }}', /cannot calculate with "a" and 1: one is a string/],
    ['division by zero', '{{ 1 / 0 }}', /result of 1 and 0 is not a finite number/],
    ['an object printed', '{{ peer }}', /peer is an object/],
    ['a list printed', '{{ list }}', /list is a list; use join/],
    ['a function printed', '{{ range }}', /range is a function; call it/],
    ['a loop over null', '{% for a in nothing %}{% endfor %}', /cannot loop over nothing: it is null/],
    ['a loop over text', '{% for a in name %}{% endfor %}', /cannot loop over name: it is a string/],
    ['a loop with one name over an object', '{% for a in peer %}{% endfor %}', /loop with two names/],
    ['a call of what is no function', '{% set range2 = 1 %}{{ range2() }}', /range2 is not a function/],
    [
      'an argument left out',
      '{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}',
      /^t:1:20: a has no value here$/,
    ],
    [
      'a set that was not reached',
      '{% if false %}{% set a = 1 %}{% endif %}{{ a }}',
      /^t:1:44: a is not defined/,
    ],
  ];
  const context = { name: 'n', nothing: null, list: [1, 2], peer: { address: '10.0.0.1' } };
  it.each(cases)('%s', (_name, text, message) => {
    const error = errorOf(() => render(text, context));
    expect(error.message).toMatch(message);
    expect(error.code).toBe('BF_TEMPLATE_FAILED');
  });
});

describe('the way to the host is closed', () => {
  it.each([
    '{{ "".constructor.constructor("return process.version")() }}',
    '{{ range.constructor("return 1")() }}',
    '{{ [].__proto__ }}',
    '{{ o.prototype }}',
    '{{ o["const" ~ "ructor"] }}',
    '{{ constructor }}',
    '{{ toString }}',
    '{{ o.toString() }}',
    '{{ o.hasOwnProperty("x") }}',
    '{{ l.push(1) }}',
    '{{ o["constructor"] | default(1) }}',
  ])('%s', (text) => {
    const error = errorOf(() => render(text, { o: {}, l: [] }));
    expect(error.code).toBe('BF_TEMPLATE_FAILED');
    expect(error.message).toMatch(/not allowed|is not defined|has no member|elements and no/);
  });

  it('has neither random values nor HTML filters', () => {
    for (const name of ['random', 'escape', 'safe', 'urlize']) {
      expect(errorOf(() => render(`{{ "a" | ${name} }}`)).message).toContain(`unknown filter "${name}"`);
    }
  });
});

describe('an error', () => {
  it('names the macro file and its line, the way there, and shows the lines around', () => {
    const engine = engineOf({
      'main.njk': '\n{% import "m.njk" as m %}\n{{ m.peer({ name: 1 }) }}\n',
      'm.njk': '{% macro peer(p) %}\nfirst\n{{ p.adress }}\nlast\n{% endmacro %}',
    });
    const error = errorOf(() => engine.render('main.njk', {}));
    expect(error.message).toBe('m.njk:3:5: p has no member "adress"');
    expect(error.details).toMatchObject({
      template: 'm.njk',
      file: '/templates/m.njk',
      line: 3,
      column: 5,
      via: ['m.peer(…) at main.njk:3'],
    });
    expect(error.details['excerpt']).toBe('  2 | first\n> 3 | {{ p.adress }}\n    |     ^\n  4 | last');
  });

  it('names the innermost include', () => {
    const engine = engineOf({ a: '{% include "b" %}', b: 'x\n{% include "c" %}', c: 'x\ny\n  {{ z }}' });
    expect(errorOf(() => engine.render('a', {})).message).toBe('c:3:6: z is not defined');
  });

  it('has a line for what is never closed', () => {
    const errors: [string, string][] = [
      ['a\n{% for x in y %}\nb', 't:2:4: {% for %} is never closed'],
      ['{% if a %}\n{% if b %}\n{% endif %}', 't:1:4: {% if %} is never closed'],
      ['a\n\n{{ foo(1', 't:3:1: this expression has no end'],
      ['a\n{% macro m() %}', 't:2:4: {% macro %} is never closed'],
      ['\n{% block b %}', 't:2:4: {% block %} is never closed'],
      ['\n{% fragment b in c %}', 't:2:4: {% fragment %} is never closed'],
    ];
    for (const [text, message] of errors) {
      const error = errorOf(() => render(text));
      expect(error.message).toBe(message);
      expect(error.code).toBe('BF_TEMPLATE_SYNTAX');
    }
  });

  it('has a place for unknown filters, tests, functions, tags, templates and macros, before anything is rendered', () => {
    const engine = engineOf({
      filter: '{% if false %}\n{{ 1 | uper }}{% endif %}',
      test: '\n\n{{ 1 is evn }}',
      fn: '\n{{ rnge(3) }}',
      tag: '\n{% fro x %}',
      async: '{% asyncEach x in y %}{% endeach %}',
      include: '\n{% if false %}{% include "fitler" %}{% endif %}',
      macro: '{% from "lib" import pear %}',
      lib: '{% macro peer() %}{% endmacro %}',
    });
    const messages = Object.fromEntries([...engine.problems].map(([name, error]) => [name, error.message]));
    expect(messages).toEqual({
      filter: 'filter:2:8: unknown filter "uper"; did you mean "upper"?',
      test: 'test:3:9: unknown test "evn"; did you mean "even"?',
      fn: 'fn:2:4: unknown function or macro "rnge"; did you mean "range"?',
      tag: 'tag:2:4: unknown block tag: fro',
      async: 'async:1:4: {% asyncEach %} is not possible: nothing waits here',
      include: 'include:2:26: template "fitler" does not exist; did you mean "filter"?',
      macro: 'macro:1:22: lib has no macro pear; did you mean "peer"?',
    });
    expect(engine.problems.get('include')?.code).toBe('BF_TEMPLATE_MISSING');
  });

  it('recognises a Go template', () => {
    expect(errorOf(() => render('{{range gets "/a/*"}}{{.Value}}{{end}}')).message).toContain(
      'looks like a Go template',
    );
  });

  it('is located when a computed include does not exist', () => {
    const error = errorOf(() => render('a\n{% include x %}', { x: 'nowhere' }));
    expect(error.message).toBe('t:2:1: template "nowhere" does not exist');
    expect(error.code).toBe('BF_TEMPLATE_MISSING');
  });

  it('says so when templates include each other or macros call themselves without end', () => {
    const include = errorOf(() => render('x\n{% include "t" %}'));
    expect(include.message).toBe(
      't:2:1: includes are nested deeper than 50; does a template include itself?',
    );
    const macro = errorOf(() => render('{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'));
    expect(macro.message).toMatch(/^t:1:\d+: .*macros call each other without end$/);
  });

  it('does not count includes one after the other as nested', () => {
    const engine = engineOf({
      t: '{% include "a" %}'.repeat(200),
      u: '{% for i in range(500) %}{% include "a" %}{% endfor %}',
      a: 'x',
    });
    expect(engine.render('t', {})).toBe('x'.repeat(200));
    expect(engine.render('u', {})).toBe('x'.repeat(500));
  });

  it('of one template leaves the others alone and reaches those that include it', () => {
    const engine = engineOf({
      good: 'g',
      bad: '{% if %}',
      user: '{% include "bad" %}',
      optional: '{% include "no" ignore missing %}!',
    });
    expect(engine.render('good', {})).toBe('g');
    expect(engine.render('optional', {})).toBe('!');
    expect(errorOf(() => engine.render('bad', {})).code).toBe('BF_TEMPLATE_SYNTAX');
    expect(errorOf(() => engine.render('user', {})).message).toMatch(/^bad:1:/);
    expect(errorOf(() => engine.render('goood', {})).message).toContain('did you mean "good"?');
  });
});
