import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePieces } from '../../../src/core/joined-text.ts';
import { functionGroups } from '../../../src/render/functions/all.ts';
import { formatGoTime } from '../../../src/render/functions/go-time.ts';
import { parseJson, printJson } from '../../../src/render/functions/json.ts';
import { createLookupScope, NO_LOOKUPS } from '../../../src/render/lookup-table.ts';
import { engineOf, errorOf, render } from './support.ts';

const all = Object.values(functionGroups(() => createLookupScope(NO_LOOKUPS), {})).flat();

describe('every documented function', () => {
  it.each(all.filter((f) => f.example !== null).map((f) => [f.name, ...f.example!] as const))(
    '%s: %s',
    (_name, template, result) => {
      expect(render(template)).toBe(result);
    },
  );

  it('has a name of its own, a signature that shows it and a sentence', () => {
    expect(new Set(all.map((f) => f.name)).size).toBe(all.length);
    for (const f of all) {
      expect(f.signature).toContain(f.name);
      expect(f.doc).toMatch(/^[A-Z].*[.)]$/);
    }
  });
});

// [expression, printed]: the semantics of confd, which are those of Go's strings, path and strconv.
const RESULTS: readonly [string, string][] = [
  ['base("")', '.'],
  ['base("/")', '/'],
  ['base("//")', '/'],
  ['base("/a/b/")', 'b'],
  ['base("a")', 'a'],
  ['dir("")', '.'],
  ['dir("a")', '.'],
  ['dir("/")', '/'],
  ['dir("/a")', '/'],
  ['dir("/a/b/")', '/a/b'],
  ['dir("a//b/../c/d")', 'a/c'],
  ['"/a/b" | base', 'b'],
  ['"/a/b" | dir', '/a'],
  ['split("", ",") | length', '1'],
  ['split("a", ",") | join("|")', 'a'],
  ['split("a,,b", ",") | join("|")', 'a||b'],
  ['split("aé€", "") | join("|")', 'a|é|€'],
  ['split("", "") | length', '0'],
  ['"a b" | split(" ") | join("|")', 'a|b'],
  ['join([], ",")', ''],
  ['join([1, "b", true], "")', '1btrue'],
  ['[{ n: "a" }, { n: "b" }] | join(",", "n")', 'a,b'],
  ['replace("aaa", "a", "b", -1)', 'bbb'],
  ['replace("aaa", "a", "b")', 'bbb'],
  ['replace("aaa", "a", "b", 0)', 'aaa'],
  ['replace("aaa", "a", "b", 2)', 'bba'],
  ['replace("ab", "", "-", -1)', '-a-b-'],
  ['replace("ab", "", "-", 2)', '-a-b'],
  ['replace("a$b", "$", "$&", -1)', 'a$&b'],
  ['"a.b" | replace(".", "_")', 'a_b'],
  ['contains("abc", "")', 'true'],
  ['trimSuffix("abc", "x")', 'abc'],
  ['trimSuffix("abcc", "c")', 'abc'],
  ['trimPrefix("abc", "")', 'abc'],
  ['hasPrefix("abc", "b")', 'false'],
  ['toUpper("é")', 'É'],
  ['regexFind("x", "abc")', ''],
  ['regexMatch("(?i)ABC", "abc")', 'true'],
  ['regexReplaceAll("b", "abab", "-")', 'a-a-'],
  ['add(1, -2)', '-1'],
  ['add(9007199254740992, 1)', '9007199254740993'],
  ['mul(4294967296, 4294967296)', '18446744073709551616'],
  ['div(-7, 2)', '-3'],
  ['mod(-7, 2)', '-1'],
  ['64512 | add(1)', '64513'],
  ['atoi("+7")', '7'],
  ['atoi("-0")', '0'],
  ['atoi("9223372036854775807")', '9223372036854775807'],
  ['parseBool("F")', 'false'],
  ['seq(3, 1) | length', '0'],
  ['seq(-1, 1) | join(",")', '-1,0,1'],
  ['json(\'{"as":4200000000,"small":64512,"big":12345678901234567890}\').as', '4200000000'],
  ['json(\'{"big":12345678901234567890}\').big', '12345678901234567890'],
  ['json(\'{"big":-9007199254740993}\').big', '-9007199254740993'],
  ['json(\'{"a":{"b":[1,9007199254740993]}}\').a.b[1]', '9007199254740993'],
  ['json(\'{"s":"12345678901234567890"}\').s', '12345678901234567890'],
  ['json(\'{"f":1.5}\').f', '1.5'],
  ['jsonArray("[]") | length', '0'],
  ['map() | length', '0'],
  ['map("__proto__", 1) | toJson', '{"__proto__":1}'],
  ['reverse([]) | length', '0'],
  ['reverse("abc")', 'cba'],
  ['sortByLength(["bb", "aa", "a"]) | join(" ")', 'a bb aa'],
  ['sortByLength(["€", "aa"]) | join(" ")', 'aa €'],
  ['sortLongestFirst(["a", "bb", "cc"]) | join(" ")', 'bb cc a'],
  ['sortNatural(["b2", "a10", "a9", "a"]) | join(" ")', 'a a9 a10 b2'],
  ['sortNumeric(["2", 10, "1.5"]) | join(" ")', '1.5 2 10'],
  [
    'sortByIP(["10.0.0.0/8", "fd00::/8", "10.0.0.0", "9.0.0.0", "10.0.0.0/16"]) | join(" ")',
    '9.0.0.0 10.0.0.0 10.0.0.0/8 10.0.0.0/16 fd00::/8',
  ],
  ['sortByIP([{ ip: "10.0.0.2" }, { ip: "10.0.0.1" }], "ip") | join(" ", "ip")', '10.0.0.1 10.0.0.2'],
  ['base64Encode("é")', 'w6k='],
  ['base64Decode("w6k=")', 'é'],
  ['base64Decode("")', ''],
  [
    'toJson({ a: null, "n": [1, "n0", true], "s\\"": "x\\"y: " })',
    '{"a":null,"n":[1,"n0",true],"s\\"":"x\\"y: "}',
  ],
  ['json(\'{"a":9007199254740993}\') | toJson', '{"a":9007199254740993}'],
  ['empty(null)', 'true'],
  ['empty("0")', 'false'],
  ['ternary(1, 2, [])', '2'],
  ['"7x" | int', '7'],
  ['"x" | int(3)', '3'],
];

const ERRORS: readonly [string, RegExp][] = [
  ['base(1.5 | list)', /must be text, not a list|is/],
  ['split("a")', /split: the separator must be text, not undefined$/],
  ['join("abc", ",")', /join: the first argument must be a list, not a string$/],
  ['join([{}], ",")', /an element must be text, not an object/],
  ['[{}] | join(",", "n")', /an element has no member "n"/],
  ['add(1, "2")', /the second argument must be a whole number, not a string/],
  ['add(1.5, 1)', /must be a whole number, not a fraction/],
  ['div(1, 0)', /div: division by zero$/],
  ['mod(1, 0)', /mod: division by zero$/],
  ['atoi("1e3")', /not a whole number/],
  ['atoi("")', /not a whole number/],
  ['atoi(" 1")', /not a whole number/],
  ['atoi("9223372036854775808")', /64 bits/],
  ['parseBool("yes")', /not a truth value/],
  ['seq(1, 1000000)', /more than 100000/],
  ['json("[1]")', /the JSON text must be an object, not a list/],
  ['json("null")', /must be an object, not null/],
  ['json(\'{"password": s3cret}\')', /^t:1:8: json: the text is not valid JSON( \(character \d+\))?$/],
  ['jsonArray("{}")', /must be a list, not an object/],
  ['map("a")', /must come in pairs/],
  ['map(1, 2)', /a key must be text/],
  ['base64Decode("a")', /not valid base64/],
  ['base64Decode("YW=j")', /not valid base64/],
  ['base64Decode("/w==")', /not UTF-8/],
  ['sortNumeric(["x", "1"])', /not a number/],
  ['sortByIP(["x", "10.0.0.1"])', /not an IP address/],
  ['regexMatch("(", "a")', /not a valid regular expression/],
  ['coalesce("", null)', /all arguments are empty/],
  ['"x" | int', /not a number/],
  ['repeat(1000001, "a")', /from 0 to/],
];

describe('functions', () => {
  it.each(RESULTS)('%s prints %s', (expression, result) => {
    expect(render(`{{ ${expression} }}`)).toBe(result);
  });

  it.each(ERRORS)('%s fails', (expression, message) => {
    const error = errorOf(() => render(`{{ ${expression} }}`));
    expect(error.code).toBe('BF_TEMPLATE_FAILED');
    expect(error.message).toMatch(message);
    expect(JSON.stringify([error.message, String(error.cause)])).not.toContain('s3cret}');
  });

  it('do not change the lists they are given', () => {
    const list = Object.freeze(['bb', 'a']);
    expect(
      render('{{ sortByLength(l) | join }}{{ reverse(l) | join }}{{ l | sort | join }}{{ l | join }}', {
        l: list,
      }),
    ).toBe('abbabbabbbba');
  });

  it('read environment variables, with a default also for empty ones', () => {
    const engine = engineOf(
      { t: '{{ getenv("A") }}|{{ getenv("B", "b") }}|{{ getenv("C", "c") }}|{{ getenv("D") }}' },
      { environment: { A: 'a', B: '' } },
    );
    expect(engine.render('t', {})).toBe('a|b|c|');
  });

  it('keep every digit of JSON whole numbers, whatever surrounds them', () => {
    const leaf = fc.oneof(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, (data) => {
        const text = printJson(data);
        expect(printJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it('may be hidden by a context, except where a fragment counts on them', () => {
    expect(render('{{ list }}', { list: 'own' })).toBe('own');
    const engine = engineOf({ t: '{% fragment s in l %}{{ base(s.n) }}{% endfragment %}' });
    expect(errorOf(() => engine.render('t', { l: [], base: 1 })).message).toBe(
      't: the context hides the function base, on which a fragment counts',
    );
  });
});

describe('look-ups', () => {
  const at = Date.UTC(2026, 10, 3, 4, 5, 6);

  it.each([
    ['2006-01-02 15:04:05 -0700 MST', '2026-11-03 04:05:06 +0000 UTC'],
    ['Jan _2, 2006 at 3:04pm (MST)', 'Nov  3, 2026 at 4:05am (UTC)'],
    ['Monday, 02-Jan-06 15:04:05 MST', 'Tuesday, 03-Nov-26 04:05:06 UTC'],
    ['2006-01-02T15:04:05Z07:00', '2026-11-03T04:05:06Z'],
  ])('write time in the Go layout %s', (layout, result) => {
    expect(formatGoTime(at, layout)).toBe(result);
  });

  it('are asked for first and answered from the table then', () => {
    const engine = engineOf({
      t: '{{ datetime("2006") }} {{ lookupIP("a")[0] }} {{ lookupIPV6("a") | join }} {{ lookupSRV("bgp", "tcp", "x.net")[0].Port }} {{ fileExists("/f") }}',
    });
    const first = engine.renderWith('t', {}, NO_LOOKUPS);
    expect(first.content).toBeNull();
    expect(first.unresolved.map((r) => r.kind)).toEqual(['time', 'address']);
    const table = new Map<string, never>(
      Object.entries({
        time: at,
        'address a': ['10.0.0.1', 'fd00::1'],
        'service _bgp._tcp.x.net': [{ Target: 'x.', Port: 179, Priority: 0, Weight: 0 }],
        'file /f': true,
      }) as [string, never][],
    );
    const second = engine.renderWith('t', {}, table);
    expect(decodePieces(second.content!)).toBe('2026 10.0.0.1 fd00::1 179 true');
    expect([...second.asked.keys()]).toHaveLength(4);
  });

  it('are not possible in fragments, nor in macros that fragments use', () => {
    expect(
      errorOf(() => render('{% fragment s in l %}{{ datetime() }}{% endfragment %}', { l: [] })).message,
    ).toBe('t:1:25: a fragment cannot call datetime: its result changes by itself');
    const engine = engineOf({
      t: '{% import "m" as m %}{% fragment s in l %}{{ m.x(s) }}{% endfragment %}',
      m: '{% import "n" as n %}{% macro x(s) %}{{ n.y(s) }}{% endmacro %}',
      n: '\n{% macro y(s) %}{{ lookupIP(s.h)[0] }}{% endmacro %}',
    });
    expect(engine.problems.get('t')?.message).toContain('n:2 uses lookupIP');
  });

  it('make a plain render fail', () => {
    expect(errorOf(() => render('{{ datetime() }}')).message).toBe(
      't: look-ups (time) are not possible here',
    );
  });
});
