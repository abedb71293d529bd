import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BirdfeedError } from '../../../../src/core/errors.ts';
import { KEY_FUNCTION_NAMES } from '../../../../src/model/keys/functions.ts';
import {
  createKeysProducer,
  type DeclaredKey,
  type KeysProducerOptions,
  type KeysResult,
} from '../../../../src/model/keys/producer.ts';
import { compileSchemas } from '../../../../src/model/keys/schema.ts';
import { createTree, type Tree } from '../../../../src/tree/tree.ts';
import { engineOf, errorOf } from '../../render/support.ts';

const ROOT = { prefix: '' };

function treeOf(values: Readonly<Record<string, string>>, declared: readonly string[] = ['']): Tree {
  const tree = createTree();
  tree.declare(declared);
  tree.applySnapshot(
    ROOT,
    Object.entries(values).map(([key, value]) => ({ key, value, revision: 1 })),
  );
  return tree;
}

const put = (tree: Tree, key: string, value: string): void =>
  void tree.applyChanges(ROOT, [{ type: 'put', entry: { key, value, revision: 2 } }]);

const key = (path: string, prefix = ''): DeclaredKey => ({ path: prefix + path, name: path });

function producerOf(options: Partial<KeysProducerOptions> = {}) {
  return createKeysProducer({
    resource: 'a.toml',
    keys: [key('')],
    minKeys: null,
    check: () => null,
    lastGood: new Map(),
    ...options,
  });
}

const compute = (values: Record<string, string>, options: Partial<KeysProducerOptions> = {}): KeysResult =>
  producerOf(options).compute(treeOf(values), undefined);

function print(result: KeysResult, template: string): string {
  return engineOf({ t: template }, { contextFunctions: KEY_FUNCTION_NAMES }).render('t', result.context);
}

const APP = {
  '/app': 'own',
  '/app/db/host': 'h1',
  '/app/db/port': '5432',
  '/app/names/b': '1',
  '/app/names/a': '2',
  '/app/names/a/deep': '3',
  '/app-other': 'x',
};

describe("confd's functions", () => {
  it.each([
    ['get("/app/db/host").Key ~ "=" ~ get("/app/db/host").Value', '/app/db/host=h1'],
    ['getv("/app/db/host")', 'h1'],
    ['getv("/app/none", "dflt")', 'dflt'],
    ['getv("/app/none", "")', ''],
    ['getv("/app/db/host", "dflt")', 'h1'],
    ['gets("/app/names/*") | join(" ", "Key")', '/app/names/a /app/names/b'],
    ['gets("/app/*") | length', '0'],
    ['gets("/app/*/*") | join(" ", "Key")', '/app/db/host /app/db/port /app/names/a /app/names/b'],
    ['gets("/app*") | join(" ", "Key")', '/app /app-other'],
    ['getvs("/app/names/*") | join(" ")', '1 2'],
    ['exists("/app/db/host")', 'true'],
    ['exists("/app/db")', 'false'],
    ['exists("/elsewhere")', 'false'],
    ['ls("/app") | join(" ")', 'app db names'],
    ['ls("/app/") | join(" ")', 'app db names'],
    ['ls("/app/names") | join(" ")', 'a b'],
    ['ls("/app/names/a") | join(" ")', 'a deep'],
    ['ls("/") | join(" ")', 'app app-other'],
    ['ls("/ap") | join(" ")', ''],
    ['lsdir("/app") | join(" ")', 'db names'],
    ['lsdir("/app/names") | join(" ")', 'a'],
    ['lsdir("/") | join(" ")', 'app'],
    ['sortKVByLength(gets("/app/*/*")) | first | dump', '{"Key":"/app/db/host","Value":"h1"}'],
  ])('%s', (expression, expected) => {
    expect(print(compute(APP), `{{ ${expression} }}`)).toBe(expected);
  });

  it('render a confd-like template with JSON values', () => {
    const peers = {
      '/bgp/peers/b': '{"ip":"10.0.0.2","as":4200000000}',
      '/bgp/peers/a': '{"ip":"10.0.0.1","as":64512}',
    };
    const template =
      '{% for kv in gets("/bgp/peers/*") %}{% set p = json(kv.Value) %}{{ base(kv.Key) }} {{ p.ip }} {{ p.as }}\n{% endfor %}';
    expect(print(compute(peers), template)).toBe('a 10.0.0.1 64512\nb 10.0.0.2 4200000000\n');
  });

  it.each([
    [
      '{{ get("/app/db/hsot") }}',
      't:1:7: get: key "/app/db/hsot" does not exist; did you mean "/app/db/host"?',
    ],
    [
      '{{ getv("app/db/host") }}',
      't:1:8: getv: key "app/db/host" does not exist; did you mean "/app/db/host"?',
    ],
    ['\n{{ getv("/zzz") }}', 't:2:8: getv: key "/zzz" does not exist'],
  ])('%s names the place and the likely key', (template, message) => {
    const error = errorOf(() => print(compute(APP), template));
    expect(error.code).toBe('BF_KEY_MISSING');
    expect(error.message).toBe(message);
  });

  it('refuse a malformed pattern and what is no text', () => {
    expect(errorOf(() => print(compute(APP), '{{ gets("/[") }}')).message).toContain(
      'gets: "/[" is not a valid pattern',
    );
    expect(errorOf(() => print(compute(APP), '{{ getv(1) }}')).message).toContain(
      'getv: the key must be text, not a number',
    );
  });

  it('are known to the compiler', () => {
    expect(errorOf(() => print(compute(APP), '{{ getsv("/a") }}')).message).toContain(
      'unknown function or macro "getsv"',
    );
  });

  it('show keys without the prefix, and absolute ones with two slashes', () => {
    const values = { '/prod/app/db': '1', '/prod/app': 'top', '/shared/asn': '64512', '/prod/secret': 's' };
    const keys = [
      { path: '/prod/app', name: '' },
      { path: '/shared', name: '//shared' },
    ];
    const result = compute(values, { keys });
    expect(
      print(
        result,
        '{{ getv("/db") }} {{ getv("/") }} {{ getv("//shared/asn") }} {{ gets("//shared/*") | join(" ", "Key") }}',
      ),
    ).toBe('1 top 64512 //shared/asn');
    expect(result.keyCount).toBe(3);
  });

  it('see only the keys that the resource declares', () => {
    const result = compute(APP, { keys: [key('/app/db'), key('/app/names')] });
    expect(print(result, '{{ exists("/app") }} {{ gets("/*") | length }} {{ ls("/app") | join(" ") }}')).toBe(
      'false 0 db names',
    );
    expect(errorOf(() => print(result, '{{ getv("/app-other") }}')).message).toContain(
      'key "/app-other" is not among the resource\'s keys ("/app/db", "/app/names")',
    );
  });
});

describe('the producer of plain resources', () => {
  it('watches each declared key once', () => {
    const mounts = producerOf({
      keys: [key('/a/b'), key('/a'), key('/a'), key('/ab'), { path: '/a', name: '//a' }],
    }).mounts;
    expect(mounts).toEqual([
      { prefix: '/a', required: true },
      { prefix: '/ab', required: true },
      { prefix: '/a', required: true },
    ]);
  });

  it('never reads outside its mounts', () => {
    const tree = treeOf(APP, ['/app']);
    expect(producerOf({ keys: [key('/app')] }).compute(tree, undefined).keyCount).toBe(6);
  });

  it('gives the very same result while nothing below its keys changed, and the same pairs for unchanged keys', () => {
    const tree = treeOf(APP);
    const producer = producerOf({ keys: [key('/app')] });
    const first = producer.compute(tree, undefined);
    put(tree, '/app-other', 'y');
    expect(producer.compute(tree, first)).toBe(first);
    put(tree, '/app/db/host', 'h2');
    const second = producer.compute(tree, first);
    expect(second).not.toBe(first);
    const pairs = (result: KeysResult): unknown[] =>
      (result.context['gets'] as (p: string) => unknown[])('/app/db/*');
    expect(pairs(second)[1]).toBe(pairs(first)[1]);
    expect(pairs(second)[0]).not.toBe(pairs(first)[0]);
    expect(pairs(second)).toBe(pairs(second));
  });

  it('is not changed by what the tree does between computing and rendering', () => {
    const tree = treeOf(APP);
    const result = producerOf().compute(tree, undefined);
    put(tree, '/app/db/host', 'h2');
    expect(print(result, '{{ getv("/app/db/host") }}')).toBe('h1');
  });

  it('says when there are fewer keys than min_keys', () => {
    const result = compute({ '/a': '1' }, { minKeys: 2 });
    expect(result).toMatchObject({ keyCount: 1, minKeys: 2 });
    expect(result.problems).toEqual([
      {
        severity: 'error',
        id: 'min-keys',
        subject: 'a.toml',
        field: 'min_keys',
        message: '1 keys, min_keys asks for 2; nothing is published',
      },
    ]);
    expect(compute({ '/a': '1' }, { minKeys: 1 }).problems).toEqual([]);
  });

  it('finds, in any tree, what a search through all keys finds', () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', 'a-b', 'a0'), { minLength: 1, maxLength: 3 })
      .map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), name, (values, path) => {
        const { context } = compute(values);
        const call = (fn: string, arg: string): unknown => (context[fn] as (arg: string) => unknown)(arg);
        const below = Object.keys(values)
          .filter((k) => k.startsWith(`${path}/`))
          .map((k) => k.slice(path.length + 1));
        const own = values[path] === undefined ? [] : [path.slice(path.lastIndexOf('/') + 1)];
        expect(call('ls', path)).toEqual([...new Set([...own, ...below.map((k) => k.split('/')[0])])].sort());
        expect(call('lsdir', path)).toEqual(
          [...new Set(below.filter((k) => k.includes('/')).map((k) => k.split('/')[0]))].sort(),
        );
        expect((call('gets', `${path}/*`) as { Key: string }[]).map((pair) => pair.Key)).toEqual(
          below
            .filter((k) => !k.includes('/'))
            .map((k) => `${path}/${k}`)
            .sort(),
        );
      }),
    );
  });
});

describe('values with a schema', () => {
  const schema = JSON.stringify({
    type: 'object',
    required: ['ip', 'as'],
    additionalProperties: false,
    properties: {
      ip: { type: 'string', format: 'ipv4' },
      as: { type: 'integer' },
      password: { type: 'string', maxLength: 3 },
    },
  });
  const good = '{"ip":"10.0.0.1","as":1}';
  const check = () => compileSchemas([{ pattern: '/peers/*', file: 'peer.json', text: schema }]);

  it.each([
    ['nope', null, 'is not valid JSON'],
    ['{"ip":"10.0.0.1"}', null, "must have required property 'as'"],
    ['{"ip":"x","as":1}', 'ip', 'ip must match format "ipv4"'],
    ['{"ip":"10.0.0.1","as":1,"x":1}', null, 'must not have the member "x"'],
    [
      '{"ip":"10.0.0.1","as":1,"password":"s3cret"}',
      'password',
      'password must NOT have more than 3 characters',
    ],
  ])('%s is left out alone and named', async (value, field, message) => {
    const result = compute(
      { '/peers/a': value, '/peers/b': good, '/other': 'free text' },
      { check: await check() },
    );
    expect(result.problems).toEqual([
      {
        severity: 'error',
        id: 'value-invalid',
        subject: '/peers/a',
        field,
        message: `${message}; it is left out`,
      },
    ]);
    expect(print(result, '{{ gets("/peers/*") | join(" ", "Key") }} {{ getv("/other") }}')).toBe(
      '/peers/b free text',
    );
    expect(result.lastGood.size).toBe(0);
  });

  it('keep their last good version for as long as they are bad, also over a restart', async () => {
    const tree = treeOf({ '/peers/a': good });
    const producer = producerOf({ check: await check() });
    const value = (result: KeysResult): string => print(result, '{{ getv("/peers/a", "none") }}');
    let result = producer.compute(tree, undefined);
    for (const bad of ['bad 1', 'bad 2']) {
      put(tree, '/peers/a', bad);
      result = producer.compute(tree, result);
      expect(value(result)).toBe(good);
      expect(result.problems[0]?.message).toBe('is not valid JSON; its last good version is used');
      expect([...result.lastGood]).toEqual([['/peers/a', good]]);
    }
    const restarted = producerOf({ check: await check(), lastGood: result.lastGood }).compute(
      tree,
      undefined,
    );
    expect(value(restarted)).toBe(good);
    expect([...restarted.lastGood]).toEqual([['/peers/a', good]]);
    const stricter = producerOf({ check: () => ({ field: null, message: 'no' }), lastGood: result.lastGood });
    expect(value(stricter.compute(tree, undefined))).toBe('none');
    put(tree, '/peers/a', '{"ip":"10.0.0.9","as":2}');
    result = producer.compute(tree, result);
    expect(value(result)).toContain('10.0.0.9');
    expect(result.lastGood.size).toBe(0);
    expect(result.problems).toEqual([]);
  });

  it('go by the first rule that matches, drafts 7 and 2020-12', async () => {
    const rule = (pattern: string | null, type: string, more = {}) => ({
      pattern,
      file: 'f',
      text: JSON.stringify({ type, ...more }),
    });
    const find = await compileSchemas([
      rule('/n', 'number', { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
      rule(null, 'string', { $schema: 'http://json-schema.org/draft-07/schema#' }),
    ]);
    expect(find('/n', '1')).toBeNull();
    expect(find('/x', '1')).toEqual({ field: null, message: 'must be string' });
  });

  it.each([
    ['{', /^schema s\.json: /],
    ['{"type":"nope"}', /^schema s\.json: schema is invalid/],
    ['{"typ":"object"}', /^schema s\.json: strict mode: unknown keyword: "typ"$/],
  ])('%s is no schema', async (text, message) => {
    const error = await compileSchemas([{ pattern: null, file: 's.json', text }]).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(BirdfeedError);
    expect(error).toMatchObject({
      code: 'BF_RESOURCE_FILE',
      message: expect.stringMatching(message) as string,
    });
  });

  it('refuse a malformed key pattern', async () => {
    const promise = compileSchemas([{ pattern: '/[', file: 's.json', text: '{}' }]);
    await expect(promise).rejects.toThrow('schema s.json: the key pattern "/[" is not a valid pattern');
  });
});
