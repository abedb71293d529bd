import { describe, expect, it } from 'vitest';
import { parseArguments, parseDuration, resolveOptions } from '../../../src/config/load.ts';
import { fileEntry, OPTION_NAMES, OPTIONS, type OptionSpec } from '../../../src/config/options.ts';

const NO_FLAGS = new Map<never, string>();

function file(table: Record<string, unknown>) {
  return { path: '/etc/birdfeed/birdfeed.toml', table };
}

describe('the command line', () => {
  it('accepts --flag value, --flag=value, single dashes and repeated lists', () => {
    const { flags, positionals } = parseArguments(
      [
        'diff',
        '--node-name',
        'n1',
        '--cache=/c',
        '-onetime',
        '--control-socket',
        'a',
        '--control-socket',
        'b',
      ],
      [],
    );
    expect(Object.fromEntries(flags)).toEqual({
      nodeName: 'n1',
      cache: '/c',
      onetime: 'true',
      controlSocket: 'a,b',
    });
    expect(positionals).toEqual(['diff']);
  });

  it('names an unknown option and suggests the one that was meant', () => {
    expect(() => parseArguments(['--fixture', 'x'], [])).toThrow(
      'unknown option --fixture; did you mean "fixtures"?',
    );
  });

  it('says which option lacks its value', () => {
    expect(() => parseArguments(['--cache'], [])).toThrow('option --cache needs a value (DIR)');
  });
});

describe('resolving options', () => {
  it('prefers flag over environment over file over default', () => {
    const table = { node_name: 'from-file', log_level: 'debug', keep: 3 };
    const env = { NODENAME: 'from-env', BIRDFEED_LOG_LEVEL: 'warn' };
    const { options, origins } = resolveOptions(
      new Map([['nodeName', 'from-flag']] as const),
      env,
      file(table),
    );
    expect([options.nodeName, options.logLevel, options.keep, options.quiet]).toEqual([
      'from-flag',
      'warn',
      3,
      20,
    ]);
    expect([origins.nodeName, origins.logLevel, origins.keep, origins.quiet]).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ]);
  });

  it("honours Calico's variables, and the CALICO_ prefix wins", () => {
    const env = {
      DATASTORE_TYPE: 'etcdv3',
      ETCD_ENDPOINTS: 'https://a:2379',
      CALICO_ETCD_ENDPOINTS: 'https://b:2379,https://c:2379',
      ETCD_CA_CERT_FILE: '/ca',
      ETCD_CERT_FILE: '/cert',
      ETCD_KEY_FILE: '/key',
      ETCD_USERNAME: 'root',
      ETCD_PASSWORD: 'secret',
      CALICO_NODENAME: 'n7',
    };
    const { options } = resolveOptions(NO_FLAGS, env, null);
    expect(options).toMatchObject({
      datastore: 'etcd',
      etcdEndpoints: ['https://b:2379', 'https://c:2379'],
      etcdCaFile: '/ca',
      etcdCertFile: '/cert',
      etcdKeyFile: '/key',
      etcdUsername: 'root',
      etcdPassword: 'secret',
      nodeName: 'n7',
    });
  });

  it('names file, entry and the remedy for a bad or unknown entry', () => {
    expect(() => resolveOptions(NO_FLAGS, {}, file({ nodename: 'x' }))).toThrow(
      '/etc/birdfeed/birdfeed.toml: unknown entry "nodename"; did you mean "node_name"?',
    );
    expect(() => resolveOptions(NO_FLAGS, {}, file({ keep: 'many' }))).toThrow(
      '/etc/birdfeed/birdfeed.toml: keep must be a whole number',
    );
  });

  it('never repeats a secret in an error or a listing', () => {
    for (const name of OPTION_NAMES) {
      const spec: OptionSpec = OPTIONS[name];
      if (/password/i.test(name)) expect(spec.secret).toBe(true);
    }
  });

  it.each([
    ['250ms', 250],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['0', 0],
    ['1.5s', 1_500],
    ['5', null],
    ['-1s', null],
    ['', null],
  ])('reads the duration %j', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each([
    ['quiet', 'soon', 'option --quiet: "soon" is not a duration such as 250ms, 30s, 5m or 1h'],
    ['guardShare', '150%', 'option --guard-share: "150%" is not a share such as 50% or 0.5'],
    ['keep', '-1', 'option --keep: "-1" is not a whole number'],
    ['noop', 'perhaps', 'option --noop: "perhaps" is not true or false'],
  ] as const)('refuses --%s %s', (name, text, message) => {
    expect(() => resolveOptions(new Map([[name, text]]), {}, null)).toThrow(message);
  });

  it('refuses an unknown choice with the ones there are', () => {
    expect(() => resolveOptions(new Map([['bird', 'bird3']] as const), {}, null)).toThrow(
      '"bird3" is not one of auto, bird1, bird1-calico, bird2, none',
    );
  });
});

describe('the option table', () => {
  it('has no name twice and parses its own defaults', () => {
    expect(new Set(OPTION_NAMES.map(fileEntry)).size).toBe(OPTION_NAMES.length);
    expect(() => resolveOptions(NO_FLAGS, {}, null)).not.toThrow();
  });

  it('gives every option an environment variable of its own', () => {
    const all = OPTION_NAMES.map((name) => OPTIONS[name].env[0]);
    expect(new Set(all).size).toBe(all.length);
    for (const variable of all) expect(variable).toMatch(/^BIRDFEED_/);
  });
});
