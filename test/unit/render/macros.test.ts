import { expect, it } from 'vitest';
import { engineOf } from './support.ts';

const MACRO = `{% macro m(a, b='-', c='=') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}`;

it.each([
  ['m(1)', '[1-=]'],
  ['m(1, 2)', '[12=]'],
  ['m(1, 2, 3)', '[123]'],
  ['m(1, c=3)', '[1-3]'],
  ['m(a=1, b=2)', '[12=]'],
])('a macro called as %s has its arguments in place', (call, text) => {
  expect(engineOf({ t: `${MACRO}{{ ${call} }}` }).render('t', {})).toBe(text);
});

it('a macro takes an object for a plain argument', () => {
  const engine = engineOf({ t: '{% macro m(s) %}{{ s.name }}{{ s.next.name }}{% endmacro %}{{ m(x) }}' });
  expect(engine.render('t', { x: { name: 'a', next: { name: 'b' } } })).toBe('ab');
});

it('a macro sees its arguments and nothing of its caller', () => {
  const engine = engineOf({
    t: `{% macro m(a) %}{% for n in [1] %}{{ a }}{{ n }}{% endfor %}{{ caller() }}{% endmacro %}
{%- for b in [7] %}{% call m(b) %}<{{ b }}>{% endcall %}{% endfor %}`,
    leaks: '{% macro m(a) %}{{ b }}{% endmacro %}{% for b in [7] %}{{ m(b) }}{% endfor %}',
    prototype: '{% macro m(a) %}{{ constructor }}{% endmacro %}{{ m(1) }}',
  });
  expect(engine.render('t', {})).toBe('71<7>');
  expect(() => engine.render('leaks', {})).toThrow('b is not defined');
  expect(() => engine.render('prototype', {})).toThrow('constructor is not defined');
});

it.each([
  ['{{ s.gone }}', 's has no member "gone"'],
  ['{{ s.gone.more }}', 's has no member "gone"'],
  ['{{ s.nothing.more }}', 's.nothing is null, so it has no more'],
  ['{{ s.nothing }}', 's.nothing is null'],
  ['{{ s.text.size }}', 's.text has no member "size"'],
  ['{{ s.constructor }}', 'access to constructor is not allowed'],
  ['{{ s.text.constructor.name }}', 'access to constructor is not allowed'],
  ['{{ s.toString }}', 's has no member "toString"'],
])('%s of a local name fails: %s', (source, message) => {
  const engine = engineOf({ t: `{% for s in list %}${source}{% endfor %}` });
  expect(() => engine.render('t', { list: [{ nothing: null, text: 'a,b' }] })).toThrow(message);
});

it('methods of a local name keep their object', () => {
  const engine = engineOf({
    t: `{% for s in list %}{{ s.text.split(',').length }}{{ s.list.join('+') }}{% endfor %}`,
  });
  expect(engine.render('t', { list: [{ text: 'a,b', list: [1, 2] }] })).toBe('21+2');
});
