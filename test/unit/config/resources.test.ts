import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_RESOURCE_BYTES, readResourceFiles } from '../../../src/config/resource-files.ts';
import {
  type ParsedResources,
  parseResources,
  type Resource,
  resourcesFor,
} from '../../../src/config/resources.ts';

const OPTIONS = {
  dialects: ['bird1', 'bird2'],
  models: ['keys', 'calico'],
  defaultSet: 'default',
  globalPrefix: '',
};

function parse(files: Record<string, string>, options: Partial<typeof OPTIONS> = {}): ParsedResources {
  const list = Object.entries(files).map(([file, text]) => ({ file, text }));
  return parseResources(list, { ...OPTIONS, ...options });
}

function one(fields: string, options: Partial<typeof OPTIONS> = {}): Resource {
  const { resources, errors } = parse({ '/c/conf.d/a.toml': `[template]\n${fields}` }, options);
  expect(errors.map((error) => error.message)).toEqual([]);
  return resources[0]!;
}

function messages(text: string): string[] {
  const { resources, errors } = parse({ 'a.toml': text });
  expect(resources).toEqual([]);
  for (const error of errors) {
    expect(error.code).toBe('BF_RESOURCE_FILE');
    expect(error.details['file']).toBe('a.toml');
  }
  return errors.map((error) => error.message);
}

describe('a resource file', () => {
  it("is confd's, with all its fields", () => {
    const resource = one(`
      src = "nginx.conf.tmpl"
      dest = "/etc/nginx/nginx.conf"
      prefix = "/prod/app"
      keys = ["/db", "users/", "//shared/asn", "/"]
      mode = "0640"
      uid = 0
      gid = -1
      check_cmd = "nginx -t -c {{.src}}"
      reload_cmd = "nginx -s reload # {{ dest }}"
    `);
    expect(resource).toEqual({
      file: '/c/conf.d/a.toml',
      src: 'nginx.conf.tmpl',
      dest: '/etc/nginx/nginx.conf',
      name: 'nginx.conf',
      destination: '/etc/nginx/nginx.conf',
      set: 'a',
      model: 'keys',
      dialects: null,
      prefix: '/prod/app',
      keys: [
        { path: '/prod/app/db', name: '/db' },
        { path: '/prod/app/users', name: '/users' },
        { path: '/shared/asn', name: '//shared/asn' },
        { path: '/prod/app', name: '' },
      ],
      minKeys: null,
      schema: [],
      mode: 0o640,
      uid: 0,
      gid: null,
      owner: null,
      group: null,
      checkCmd: 'nginx -t -c {{.src}}',
      reloadCmd: 'nginx -s reload # {{ dest }}',
      checkMain: null,
    });
  });

  it('has our fields', () => {
    const resource = one(`
      src = "a.njk"
      dest = "a.conf"
      set = "edge"
      dialect = ["bird2", "bird1"]
      owner = "bird"
      group = "bird"
      min_keys = 3
      [template.schema]
      "/peers/*" = "peer.json"
      "/as" = "/schemas/as.json"
    `);
    expect(resource).toMatchObject({
      set: 'edge',
      dialects: ['bird2', 'bird1'],
      name: 'a.conf',
      destination: null,
      owner: 'bird',
      minKeys: 3,
      schema: [
        { pattern: '/peers/*', file: '/c/conf.d/peer.json' },
        { pattern: '/as', file: '/schemas/as.json' },
      ],
    });
    expect(one('src = "a"\ndest = "a"\nschema = "s.json"').schema).toEqual([
      { pattern: null, file: '/c/conf.d/s.json' },
    ]);
    expect(one('src = "a"\ndest = "a"\ndialect = "bird1"').dialects).toEqual(['bird1']);
  });

  it('puts the global prefix in front of its own, and of neither for keys with two slashes', () => {
    const resource = one('src = "a"\ndest = "a"\nprefix = "app"\nkeys = ["k", "//x"]', {
      globalPrefix: 'prod/',
    });
    expect(resource.prefix).toBe('/prod/app');
    expect(resource.keys).toEqual([
      { path: '/prod/app/k', name: '/k' },
      { path: '/x', name: '//x' },
    ]);
    expect(one('src = "a"\ndest = "a"\nkeys = ["/"]').keys).toEqual([{ path: '', name: '' }]);
  });

  it.each([
    ['"644"', 0o644],
    ['"0644"', 0o644],
    ['"0600"', 0o600],
  ])('reads mode %s as octal', (mode, bits) => {
    expect(one(`src = "a"\ndest = "/a"\nmode = ${mode}`).mode).toBe(bits);
  });
});

describe('a mistake in a resource file', () => {
  const base = '[template]\nsrc = "a"\ndest = "/etc/a"\n';
  it.each([
    ['', ['a.toml: has no [template] table']],
    [
      '[templte]\nsrc = "a"',
      [
        'a.toml:1: templte does not belong at the top of the file; did you mean "template"?',
        'a.toml: has no [template] table',
      ],
    ],
    [
      'src = "a"',
      [
        'a.toml:1: src does not belong at the top of the file; put it below [template]',
        'a.toml: has no [template] table',
      ],
    ],
    ['[[template]]\nsrc = "a"', ['a.toml: holds several [[template]]; write one file for each']],
    [
      '[template]\nx = 1',
      ['a.toml:2: x is not a field', 'a.toml: src is missing', 'a.toml: dest is missing'],
    ],
    [`${base}kyes = []`, ['a.toml:4: kyes is not a field; did you mean "keys"?']],
    [
      `${base}mode = 644`,
      [
        'a.toml:4: mode must be text, since a TOML number is decimal: put the octal digits in quotes, as in mode = "0644"',
      ],
    ],
    [`${base}mode = "0o644"`, ['a.toml:4: mode must be three octal digits, as in mode = "0644"']],
    [`${base}mode = "4755"`, ['a.toml:4: mode must be three octal digits, as in mode = "0644"']],
    [`${base}mode = "888"`, ['a.toml:4: mode must be three octal digits, as in mode = "0644"']],
    [`${base}keys = "/a"`, ['a.toml:4: keys must be a list; write keys = ["/a"]']],
    [`${base}keys = ["/a", 1]`, ['a.toml:4: keys must hold text only, not a number']],
    [`${base}keys = [""]`, ['a.toml:4: keys has an empty key; write "/" for everything below the prefix']],
    [`${base}uid = "bird"`, ['a.toml:4: uid must be a number from 0; for a name use owner or group']],
    [`${base}uid = 1\nowner = "x"`, ['a.toml:5: owner is given beside uid; keep one']],
    [
      `${base}check_cmd = "x {{.source}}"`,
      ['a.toml:4: check_cmd has {{.source}}; only {{src}} and {{dest}} are replaced'],
    ],
    [`${base}reload_cmd = ""`, ['a.toml:4: reload_cmd is empty; leave it out instead']],
    [
      `${base}dialect = "bird3"`,
      ['a.toml:4: dialect is "bird3"; it can be bird1, bird2; did you mean "bird1"?'],
    ],
    [`${base}dialect = []`, ['a.toml:4: dialect is an empty list; leave it out to use the resource always']],
    [
      `${base}model = "calcio"`,
      ['a.toml:4: model is "calcio"; it can be keys, calico; did you mean "calico"?'],
    ],
    [`${base}model = "calico"\nmin_keys = 1`, ['a.toml:5: min_keys has no meaning with model = "calico"']],
    [
      `${base}set = "../x"`,
      ['a.toml:4: set must be of a–z, 0–9 and "-", at most 63 characters, beginning with a letter or digit'],
    ],
    [`${base}min_keys = -1`, ['a.toml:4: min_keys must be a whole number from 0']],
    [`${base}schema = 1`, ['a.toml:4: schema must be a file or a table of key pattern = file, not a number']],
    ['[template]\nsrc = "../a"\ndest = "a"', ['a.toml:2: src must not contain empty, "." or ".." parts']],
    [
      '[template]\nsrc = "a"\ndest = "x/a"',
      ['a.toml:3: dest must be a file name without slash, or an absolute path'],
    ],
    [
      '[template]\nsrc = "a"\ndest = "/etc/../a"',
      ['a.toml:3: dest must be the plain path of a file; write "/a"'],
    ],
    [
      '[template]\nsrc = "a"\ndest = "stamp.json"',
      ['a.toml:3: dest must not be "stamp.json", which every generation has for itself'],
    ],
    [
      '[template]\nsrc = 1\ndest = ".a"',
      ['a.toml:2: src must be text, not a number', 'a.toml:3: dest must not begin with a dot'],
    ],
  ])('%j', (text, expected) => {
    expect(messages(text)).toEqual(expected);
  });

  it('in the TOML itself has line and column', () => {
    expect(messages('[template]\nsrc = "a\n')).toEqual([
      expect.stringMatching(/^a\.toml:2:\d+: not valid TOML: /),
    ]);
  });

  it('in one file does not stop the others', () => {
    const { resources, errors } = parse({ 'a.toml': '[', 'b.toml': base, 'c.toml': '[template]' });
    expect(resources.map((resource) => resource.file)).toEqual(['b.toml']);
    expect(errors).toHaveLength(3);
  });
});

const at = (dest: string, more = '', set = 'set = "default"'): string =>
  `[template]\nsrc = "a"\ndest = "${dest}"\n${set}\n${more}`;

describe('several resource files', () => {
  it('must not write the same file, unless never at once', () => {
    const { errors } = parse({ 'a.toml': at('x'), 'b.toml': at('x') });
    expect(errors.map((error) => error.message)).toEqual(['b.toml: dest is "x", as in a.toml']);
    const apart = parse({
      'a.toml': at('x', 'dialect = "bird1"'),
      'b.toml': at('x', 'dialect = "bird2"'),
      'c.toml': at('x', '', 'set = "other"'),
    });
    expect(apart.errors).toEqual([]);
    expect(resourcesFor(apart.resources, 'default', 'bird2').map((r) => r.file)).toEqual(['b.toml']);
    expect(resourcesFor(apart.resources, 'default', null)).toEqual([]);
    expect(resourcesFor(apart.resources, 'other', null).map((r) => r.file)).toEqual(['c.toml']);
  });

  it('may copy to files of one name in different directories', () => {
    const { resources, errors } = parse({
      'a.toml': at('/etc/a/x.conf'),
      'b.toml': at('/etc/b/x.conf'),
      'c.toml': at('x.conf'),
    });
    expect(errors).toEqual([]);
    expect(resources.map((resource) => resource.name)).toEqual(['etc_a_x.conf', 'etc_b_x.conf', 'x.conf']);
    expect(parse({ 'a.toml': at('/etc/a'), 'b.toml': at('/etc/a') }).errors).toHaveLength(1);
  });

  it('name a main file that exists', () => {
    expect(parse({ 'a.toml': at('m'), 'b.toml': at('x', 'check_main = "m"') }).errors).toEqual([]);
    const { errors } = parse({ 'a.toml': at('main'), 'b.toml': at('x', 'check_main = "mian"') });
    expect(errors.map((error) => error.message)).toEqual([
      'b.toml: check_main names "mian", which no resource of the set writes; did you mean "main"?',
    ]);
  });

  it('are warned about what works but cannot be meant', () => {
    const { warnings, errors } = parse({
      'a.toml': at('/etc/a', 'check_cmd = "bird -p -c /etc/a"'),
      'b.toml': at('b', 'mode = "0600"\nmodel = "calico"\nkeys = ["/x"]'),
    });
    expect(errors).toEqual([]);
    expect(warnings).toEqual([
      'a.toml: check_cmd does not use {{src}}, so it cannot check the new file',
      'b.toml: keys and prefix have no effect with model = "calico", which knows its keys',
      'b.toml: without effect, since there is no copy (dest is not absolute): mode',
    ]);
  });
});

describe('the set of a resource', () => {
  it('is its own when it is plain and names none, so that it fails alone', () => {
    const { resources } = parse({
      '/c/haproxy.toml': at('h.cfg', '', ''),
      '/c/x/my app.toml': at('m.cfg', '', ''),
    });
    expect(resources.map((resource) => resource.set)).toEqual(['haproxy', 'my-app']);
  });

  it('is the default one for the BGP view', () => {
    const { resources } = parse({ '/c/bird.toml': at('bird.conf', 'model = "calico"', '') });
    expect(resources.map((resource) => resource.set)).toEqual(['default']);
  });

  it('does not hide that two copies go to one place', () => {
    const { errors } = parse({ 'a.toml': at('/etc/x', '', ''), 'b.toml': at('/etc/x', '', '') });
    expect(errors.map((error) => error.message)).toEqual(['b.toml: dest is "/etc/x", as in a.toml']);
  });
});

describe('conf.d directories', () => {
  it('are read in order of names, folders too, the first directory winning', () => {
    const root = mkdtempSync(join(tmpdir(), 'bf-confd-'));
    try {
      const [own, shipped] = [join(root, 'own'), join(root, 'shipped')];
      mkdirSync(join(own, 'sub'), { recursive: true });
      mkdirSync(join(own, '..2026'));
      mkdirSync(shipped);
      for (const [file, text] of Object.entries({
        'own/b.toml': 'B',
        'own/sub/a.toml': 'A',
        'own/x.txt': '',
        'own/..2026/c.toml': 'C',
        'shipped/b.toml': 'old',
        'shipped/a.toml': 'S',
      })) {
        writeFileSync(join(root, file), text);
      }
      symlinkSync('..2026', join(own, '..data'));
      symlinkSync('..data/c.toml', join(own, 'c.toml'));
      symlinkSync('nowhere', join(own, 'z.toml'));
      symlinkSync('.', join(own, 'loop'));
      const { files, errors } = readResourceFiles([own, shipped, join(root, 'absent')]);
      expect(files.map(({ file, text }) => [file.slice(root.length + 1), text])).toEqual([
        ['shipped/a.toml', 'S'],
        ['own/b.toml', 'B'],
        ['own/c.toml', 'C'],
        ['own/sub/a.toml', 'A'],
      ]);
      expect(errors.map((error) => error.message)).toEqual([
        expect.stringContaining(`${own}/z.toml: cannot be read: `),
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('name what is too large, a link in circles or no file, and give all the others', () => {
    const root = mkdtempSync(join(tmpdir(), 'bf-confd-'));
    try {
      writeFileSync(join(root, 'good.toml'), 'G');
      writeFileSync(join(root, 'full.toml'), '#'.repeat(MAX_RESOURCE_BYTES));
      writeFileSync(join(root, 'large.toml'), '#'.repeat(MAX_RESOURCE_BYTES + 1));
      symlinkSync('b.toml', join(root, 'a.toml'));
      symlinkSync('a.toml', join(root, 'b.toml'));
      symlinkSync('here', join(root, 'here'));
      symlinkSync('/dev/zero', join(root, 'zero.toml'));
      const { files, errors } = readResourceFiles([root]);
      expect(files.map(({ file }) => file)).toEqual([join(root, 'full.toml'), join(root, 'good.toml')]);
      const said = (name: string, what: RegExp) => ({
        code: 'BF_RESOURCE_FILE',
        message: expect.stringMatching(what),
        details: { file: join(root, name) },
      });
      expect(errors).toMatchObject([
        said('a.toml', /a\.toml: cannot be read: ELOOP/),
        said('b.toml', /b\.toml: cannot be read: ELOOP/),
        said('large.toml', /large\.toml: .* has 1048577 bytes, and at most 1048576 are read; shorten it$/),
        said('zero.toml', /zero\.toml: .* not a regular file; remove it/),
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('say so when one of them is itself a link in circles', () => {
    const root = mkdtempSync(join(tmpdir(), 'bf-confd-'));
    try {
      symlinkSync('conf.d', join(root, 'conf.d'));
      mkdirSync(join(root, 'other'));
      writeFileSync(join(root, 'other', 'a.toml'), 'A');
      const { files, errors } = readResourceFiles([join(root, 'conf.d'), join(root, 'other')]);
      expect(files.map(({ text }) => text)).toEqual(['A']);
      expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/conf\.d: .*ELOOP/)]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
