import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { COMMANDS, GLOBAL_SWITCHES } from '../../src/cli/commands.ts';
import { optionTable } from '../../src/cli/help.ts';
import { parseArguments, resolveOptions } from '../../src/config/load.ts';
import { OPTIONS } from '../../src/config/options.ts';
import { ERROR_CATALOGUE, EXIT } from '../../src/core/errors.ts';
import { compatOptions } from '../../src/model/bgp/options.ts';
import { PROBLEM_IDS } from '../../src/model/types.ts';
import { createMetrics } from '../../src/status/metrics.ts';
import { initialStatus, reduce } from '../../src/status/status.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const isUpdate = process.env['UPDATE_DOCS'] === '1';

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => join(folder, path)),
  ),
].sort();

describe('README.md', () => {
  test('has the option table', () => {
    const text = read('README.md');
    const [, begin, , end] =
      /(<!-- options: begin[^\n]*\n)([\s\S]*?)(<!-- options: end -->)/.exec(text) ?? [];
    const marked = /(<!-- options: begin[^\n]*\n)[\s\S]*?(<!-- options: end -->)/;
    const wanted = text.replace(
      marked,
      (_, before: string, after: string) => `${before}\n${optionTable()}\n\n${after}`,
    );
    expect([begin, end]).not.toContain(undefined);
    if (isUpdate) writeFileSync(join(root, 'README.md'), wanted);
    else expect(text).toBe(wanted);
  });

  test.each(Object.entries(EXIT))('explains the exit code for %s', (_, code) => {
    expect(read('README.md').includes(`\n| ${code} | `)).toBe(true);
  });

  test.each(COMMANDS.map(({ name }) => name))('names the command %s', (name) => {
    const shown = name === 'watch' ? '| `birdfeed` |' : `\`birdfeed ${name}`;
    expect(read('README.md').includes(shown)).toBe(true);
  });
});

describe('docs/messages.md', () => {
  const rows = read('docs/messages.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length > 4);
  const row = (name: string): string[] | undefined => rows.find((cells) => cells[1] === `\`${name}\``);

  test.each(Object.entries(ERROR_CATALOGUE))('explains the error code %s', (code, { exit, retryable }) => {
    expect(row(code)?.slice(2, 4)).toEqual([String(exit), retryable ? 'condition' : 'verdict']);
  });

  test.each(PROBLEM_IDS)('explains the problem %s', (id) => {
    expect(['error', 'warning']).toContain(row(id)?.[2]);
  });

  test('explains nothing else', () => {
    const names = rows.map((cells) => cells[1]!).filter((cell) => cell.startsWith('`'));
    const known = [...Object.keys(ERROR_CATALOGUE), ...PROBLEM_IDS].map((name) => `\`${name}\``);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });
});

test('docs/operations.md has every metric, and no other', async () => {
  const fact = { number: 1, contentDigest: '', createdAt: '2026-01-01T00:00:00Z', sessions: 1 };
  const start = initialStatus({ version: '0', node: 'n', set: 'default' }, '2026-01-01T00:00:00Z');
  const status = reduce(
    reduce(start, { type: 'generation', generation: fact }, '2026-01-01T00:00:00Z'),
    { type: 'confirmed' },
    '2026-01-01T00:00:00Z',
  );
  const page = await createMetrics()(status, 0);
  const names = [...page.matchAll(/^# TYPE (birdfeed_\w+) /gm)].map(([, name]) => name!);
  const documented = [...read('docs/operations.md').matchAll(/^\| `(birdfeed_\w+)/gm)].map(
    ([, name]) => name!,
  );
  expect(documented.sort()).toEqual(names.sort());
});

test('docs/calico.md explains every difference that --calico-compat takes back', () => {
  const documented = [...read('docs/calico.md').matchAll(/`(\w+)` \|$/gm)].map(([, name]) => name!);
  expect(documented.sort()).toEqual(Object.keys(compatOptions(true)).sort());
});

test('docs/architecture.md names files and tests that are there', () => {
  const paths = [...read('docs/architecture.md').matchAll(/`((?:src|test|templates|docs)\/[\w./-]+)`/g)];
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.map(([, path]) => path!).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe('docs/reliability.md', () => {
  const text = read('docs/reliability.md');
  const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim());

  test('names tests that are there, for every promise', () => {
    const promises = text.split('\n').filter((line) => line.startsWith('| ') && line.includes('`test/'));
    expect(promises.length).toBeGreaterThan(20);
    for (const line of promises) {
      const named = [...line.matchAll(/`(test\/[\w/-]+\.test\.ts)`|"([^"]+)"/g)];
      expect(named.some(([, , name]) => name !== undefined)).toBe(true);
      let source = '';
      for (const [, path, name] of named) {
        if (path !== undefined) source = read(path);
        else expect(source, line).toContain(`'${name}'`);
      }
    }
  });

  test('shows faults of the suite, each over within its bound in every run', () => {
    const folder = join(root, 'test/faults');
    const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const suite = sources.join('\n');
    const rows = text.split('\n').filter((line) => /^\|.*\|\s*\d+ \|\s*\d+ \|/.test(line));
    expect(rows.length).toBeGreaterThan(50);
    for (const row of rows) {
      const [, fault = '', runs, converged, bound = '', worst = ''] = cells(row);
      // The beginning of a name may be put together, from a version or the kind of command.
      expect(
        endsOf(fault).some((end) => suite.includes(end)),
        fault,
      ).toBe(true);
      expect(converged, fault).toBe(runs);
      if (bound !== '') expect(Number.parseFloat(worst), fault).toBeLessThanOrEqual(Number.parseFloat(bound));
    }
  });

  /** A name without none to five of its first words. */
  function endsOf(name: string): string[] {
    const words = name.split(' ');
    const ends = words.slice(0, 6).map((_, from) => words.slice(from).join(' '));
    return ends.filter((end) => end.length >= 4);
  }
});

test('docs/decisions/README.md lists every decision', () => {
  const listed = [...read('docs/decisions/README.md').matchAll(/\]\((\d{4}-[\w-]+\.md)\)/g)].map(
    ([, name]) => name!,
  );
  const there = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  expect(listed).toEqual(there.sort());
});

describe.each(documents)('%s', (path) => {
  const text = read(path);

  test('links to files that are there', () => {
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    const local = targets.filter((target) => !/^(https?:|#)/.test(target));
    const missing = local.filter(
      (target) => !existsSync(resolve(root, dirname(path), target.split('#')[0]!)),
    );
    expect(missing).toEqual([]);
  });

  test('shows only options and commands that exist', () => {
    for (const words of shownCommandLines(text)) expect(() => understand(words)).not.toThrow();
  });
});

/** The command lines of birdfeed in shell blocks and manifests, as words. */
function shownCommandLines(text: string): readonly (readonly string[])[] {
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language, body = '']) => {
    if (language === 'yaml') return containersIn(body);
    if (language === 'ini') return unitsIn(body);
    if (language !== 'sh' && language !== 'console') return [];
    const lines = body.replaceAll(/\\\n/g, ' ').split('\n');
    const commands =
      language === 'sh' ? lines : lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
    return commands.flatMap((line) => {
      const command = /^(?:sudo )?(?:birdfeed|node dist\/birdfeed\.js)( .*)?$/.exec(
        line.replace(/\s+#.*$/, ''),
      );
      const words = (command?.[1] ?? '').split(/ [|&;]| [0-9]?>/)[0]!.trim();
      return command === null ? [] : [words === '' ? [] : words.split(/\s+/)];
    });
  });
}

/** `ExecStart` of systemd units. */
function unitsIn(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/^ExecStart=\S*\/birdfeed (.*)$/gm)].map(([, words]) => words!.split(' '));
}

interface Container {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

function containersIn(yaml: string): readonly (readonly string[])[] {
  const document = parseDocument(yaml);
  expect(document.errors).toEqual([]);
  const found: (readonly string[])[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { command, args } = value as Container;
    // A container, or the command of a probe.
    const isOurs = Array.isArray(command) && command[0] === 'birdfeed';
    if (isOurs) found.push([...command.slice(1), ...(args ?? [])].map(String));
    for (const child of Object.values(value)) visit(child);
  };
  visit(document.toJS());
  return found;
}

/** As the program reads its command line; throws what it would say. */
function understand(words: readonly string[]): void {
  const switches = [
    ...Object.keys(GLOBAL_SWITCHES),
    ...COMMANDS.flatMap((command) => Object.keys(command.switches)),
  ];
  const { flags, positionals } = parseArguments(words, switches);
  resolveOptions(flags, {}, null);
  const [name = 'watch', argument] = positionals;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  if (argument !== undefined && command.words !== null && !command.words.includes(argument))
    throw new Error(`${name} does not know ${argument}`);
}

test('an option that does not exist would be noticed', () => {
  expect(() => understand(['--no-such-option'])).toThrow(/unknown option/);
  expect(() => understand(['generations', 'lst'])).toThrow(/does not know/);
  expect(shownCommandLines('```sh\nbirdfeed --no-such 2>/dev/null &\n```\n')).toEqual([['--no-such']]);
  expect(Object.keys(OPTIONS)).toContain('fixtures');
});
