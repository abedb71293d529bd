import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import {
  fileEntry,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type OptionSpec,
} from '../../../src/config/options.ts';
import { runBirdfeed } from '../../support/birdfeed.ts';
import { calicoNode, calicoPeer } from '../../support/calico.ts';
import { testDir } from '../../support/tmp.ts';

/** A value for each kind of option that is no option's default, as text and as it is printed. */
const SAMPLES = {
  text: { text: 'sample', value: 'sample' },
  list: { text: 'one,two', value: ['one', 'two'] },
  flag: { text: 'true', value: true },
  integer: { text: '7', value: 7 },
  share: { text: '25%', value: 0.25 },
  duration: { text: '11s', value: 11_000 },
} as const;

function sampleOf(spec: OptionSpec): { text: string; value: unknown } {
  if (spec.type !== 'choice') return SAMPLES[spec.type];
  const text = spec.choices!.find((choice) => choice !== spec.default)!;
  return { text, value: text };
}

/** Every option but the one that names the configuration file itself. */
const NAMES = OPTION_NAMES.filter((name) => name !== 'config');

type Printed = Readonly<Record<string, { value: unknown; origin: string }>>;

async function printConfig(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Printed> {
  const result = await runBirdfeed([...args, '--print-config', '--json'], { env });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(result.stdout) as Printed;
}

function expectSamples(printed: Printed, origin: string, names: readonly OptionName[] = NAMES): void {
  const shown = (name: OptionName) => {
    const spec: OptionSpec = OPTIONS[name];
    return spec.secret === true ? '[redacted]' : sampleOf(spec).value;
  };
  const expected = names.map((name) => [fileEntry(name), { value: shown(name), origin }]);
  expect(Object.fromEntries(names.map((name) => [fileEntry(name), printed[fileEntry(name)]]))).toEqual(
    Object.fromEntries(expected),
  );
}

describe('every option', () => {
  it('can be given as a flag', async () => {
    // --json is what the test itself says.
    const names = NAMES.filter((name) => name !== 'json');
    const args = names.flatMap((name) => {
      const spec: OptionSpec = OPTIONS[name];
      return spec.type === 'flag' ? [`--${spec.flag}`] : [`--${spec.flag}`, sampleOf(spec).text];
    });
    expectSamples(await printConfig(args), 'flag', names);
  });

  it('can be given in each of its environment variables', async () => {
    const most = Math.max(...NAMES.map((name) => OPTIONS[name].env.length));
    for (let nth = 0; nth < most; nth += 1) {
      const names = NAMES.filter((name) => OPTIONS[name].env[nth] !== undefined && name !== 'json');
      const env = names.map((name) => [OPTIONS[name].env[nth], sampleOf(OPTIONS[name]).text]);
      expectSamples(await printConfig([], Object.fromEntries(env)), 'environment', names);
    }
  });

  it('can be given in the configuration file', async () => {
    const file = join(await testDir(), 'birdfeed.toml');
    const names = NAMES.filter((name) => name !== 'json');
    const lines = names.map((name) => {
      const { text, value } = sampleOf(OPTIONS[name]);
      const isText = OPTIONS[name].type === 'share' || OPTIONS[name].type === 'duration';
      return `${fileEntry(name)} = ${JSON.stringify(isText ? text : value)}`;
    });
    writeFileSync(file, `${lines.join('\n')}\n`);
    expectSamples(await printConfig(['--config', file]), 'file', names);
    expectSamples(await printConfig([], { BIRDFEED_CONFIG: file }), 'file', names);
  });

  it('is taken from the flag before the environment, and from that before the file', async () => {
    const file = join(await testDir(), 'birdfeed.toml');
    writeFileSync(file, 'node_name = "file"\nkeep = 3\nquiet = "3s"\n');
    const env = { NODENAME: 'plain', CALICO_NODENAME: 'calico', BIRDFEED_KEEP: '4', BIRDFEED_QUIET: '' };
    const printed = await printConfig(['--config', file, '--keep', '5'], env);
    expect(printed).toMatchObject({
      node_name: { value: 'calico', origin: 'environment' },
      keep: { value: 5, origin: 'flag' },
      quiet: { value: 3_000, origin: 'file' },
      wait: { value: 30_000, origin: 'default' },
    });
  });

  it('printed by --print-config can be saved as the configuration file', async () => {
    const file = join(await testDir(), 'birdfeed.toml');
    const args = [
      '--node-name',
      'n1',
      '--guard-share',
      '25%',
      '--wait',
      '90s',
      '--etcd-endpoints',
      'http://a,http://b',
    ];
    const { stdout } = await runBirdfeed([...args, '--etcd-password', 'hush', '--print-config']);
    expect(stdout).not.toContain('hush');
    writeFileSync(file, stdout);
    const printed = await printConfig(['--config', file]);
    expect(printed).toMatchObject({
      node_name: { value: 'n1' },
      guard_share: { value: 0.25 },
      wait: { value: 90_000 },
      etcd_endpoints: { value: ['http://a', 'http://b'] },
      fixtures: { value: null },
    });
  });
});

describe('help', () => {
  it('names every command, and every option with its variables and its default', async () => {
    const { code, stdout } = await runBirdfeed(['--help']);
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const name of OPTION_NAMES) {
      const { flag, env } = OPTIONS[name];
      expect(stdout).toMatch(new RegExp(`^  --${flag}( |$)`, 'm'));
      for (const variable of env) expect(stdout).toContain(variable);
    }
    expect(stdout).toMatch(/^Examples:\n {2}birdfeed /m);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(130);
  });

  it.each(COMMANDS.map(({ name }) => name))('for %s has its usage and examples', async (name) => {
    const { code, stdout } = await runBirdfeed([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: birdfeed /);
    expect(stdout).toMatch(/^Examples:\n {2}birdfeed /m);
  });

  it('goes to standard output, and the version too', async () => {
    expect((await runBirdfeed(['help', 'diff'])).stdout).toMatch(/^Usage: birdfeed diff/);
    expect((await runBirdfeed(['-h'])).stdout).toContain('Usage: birdfeed [COMMAND]');
    expect(await runBirdfeed(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^birdfeed \d+\.\d+\.\d+\n$/),
    });
  });
});

describe('render', () => {
  async function fixtures(): Promise<string[]> {
    const directory = await testDir();
    const documents = [
      calicoNode('n1', { v4: '10.0.0.1/24' }),
      calicoNode('n2', { v4: '10.0.0.2/24' }),
      calicoPeer('tor', {
        peerIP: '172.16.0.1',
        asNumber: 65001,
        password: { secretKeyRef: { name: 'bgp', key: 'tor' } },
      }),
    ];
    // JSON is YAML.
    for (const [index, [, value]] of documents.entries())
      writeFileSync(join(directory, `${index}.yaml`), value);
    const secrets = await testDir();
    mkdirSync(join(secrets, 'kube-system', 'bgp'), { recursive: true });
    writeFileSync(join(secrets, 'kube-system', 'bgp', 'tor'), 'hush');
    const cache = join(await testDir(), 'cache');
    return [
      '--fixtures',
      directory,
      '--secrets-dir',
      secrets,
      '--node-name',
      'n1',
      '--bird',
      'bird2',
      '--cache',
      cache,
    ];
  }

  it('prints the files, and writes nothing', async () => {
    const args = await fixtures();
    const { code, stdout } = await runBirdfeed(['render', ...args]);
    expect(code).toBe(0);
    expect(stdout).toContain('protocol bgp Mesh_10_0_0_2 from bgp4 {');
    expect(stdout).toContain('password "hush";');
    const json = await runBirdfeed(['render', ...args, '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ set: 'default', files: [{ name: 'bird.conf', text: stdout }] });
    expect((await runBirdfeed(['generations', 'list', ...args])).stdout).toContain('no generations in');
  });

  it('is no failure when the reader goes away early', async () => {
    const directory = await testDir();
    const nodes = Array.from({ length: 1_000 }, (_, i) =>
      calicoNode(`n${i}`, { v4: `10.0.${i >> 8}.${i & 255}/16` }),
    );
    writeFileSync(join(directory, 'nodes.yaml'), nodes.map(([, value]) => value).join('\n---\n'));
    const args = [
      '--fixtures',
      directory,
      '--node-name',
      'n1',
      '--bird',
      'bird2',
      '--cache',
      join(directory, 'cache'),
    ];
    const result = await runBirdfeed(['render', ...args], { closeOutput: true });
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  it('--context prints what a template sees, without passwords', async () => {
    const { code, stdout } = await runBirdfeed(['render', '--context', ...(await fixtures())]);
    expect(code).toBe(0);
    expect(stdout).not.toContain('hush');
    const { resources } = JSON.parse(stdout) as { resources: Record<string, Record<string, unknown>> };
    expect(resources['bird.conf.njk']).toMatchObject({
      node: { nodeName: 'n1', routerId: '10.0.0.1' },
      ipv4: {
        address: '10.0.0.1',
        sessions: expect.arrayContaining([expect.objectContaining({ name: 'Mesh_10_0_0_2' })]),
      },
    });
  });
});
