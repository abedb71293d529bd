import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compatOptions } from '../../src/model/bgp/options.ts';
import type { ResourceKind } from '../../src/model/calico/types.ts';
import { fieldsOf, SAMPLES } from './model/parity/fields.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(path(name), 'utf8');

/** The rows of all tables of a page whose first heading cell is one of these. */
function rowsOf(page: string, first: string): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  let inside = false;
  for (const line of read(page).split('\n')) {
    const cells = line.startsWith('|')
      ? line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim())
      : null;
    if (cells === null) inside = false;
    else if (cells[0] === first) inside = true;
    else if (inside && !/^-+$/.test(cells[0]!)) rows.push(cells);
  }
  return rows;
}

const texts = new Map<string, string>();

/** What is wrong with a cell like `` `test/x.test.ts`: the name of a test ``, or null. */
function testFault(cell: string): string | null {
  const found = /^`(test\/[\w./-]+\.test\.ts)`: (.+)$/.exec(cell);
  if (found === null) return `not a test: ${JSON.stringify(cell)}`;
  const [, file, name] = found as unknown as [string, string, string];
  if (!existsSync(path(file))) return `${file} does not exist`;
  const text = texts.get(file) ?? read(file);
  texts.set(file, text);
  const quotes = ["'", '"', '`'].map((quote) => `${quote}${name}${quote}`);
  const escaped = `'${name.replaceAll("'", "\\'")}'`;
  return [...quotes, escaped].some((quoted) => text.includes(quoted))
    ? null
    : `${file} has no test "${name}"`;
}

function faultsOf(rows: readonly (readonly string[])[]): readonly string[] {
  return rows.flatMap((row) => {
    const cells = (row.at(-1) ?? '').split('<br>').map((cell) => cell.trim());
    return cells.map(testFault).flatMap((fault) => (fault === null ? [] : [`${row[0]}: ${fault}`]));
  });
}

describe('docs/differences-from-calico-confd.md', () => {
  const rows = rowsOf('docs/differences-from-calico-confd.md', 'what');

  it('says of every difference what Calico does, what birdfeed does, what restores it, and which test holds it', () => {
    expect(rows.length).toBeGreaterThan(40);
    const incomplete = rows.filter((row) => row.length !== 5 || row.some((cell) => cell === ''));
    expect(incomplete).toEqual([]);
  });

  it('names tests that there are', () => {
    expect(faultsOf(rows)).toEqual([]);
  });

  it('names options that there are, all of them, or says why there is none', () => {
    const named = rows.map((row) => row[3]!);
    const options = named.flatMap((cell) => /^`(\w+)`$/.exec(cell)?.[1] ?? []);
    expect([...options].sort()).toEqual(Object.keys(compatOptions(true)).sort());
    for (const cell of named) if (!cell.startsWith('`')) expect(cell).toMatch(/^none: \S+( \S+){2,}/);
  });
});

describe('docs/calico-compatibility.md', () => {
  const page = 'docs/calico-compatibility.md';
  const rows = rowsOf(page, 'field');

  it('says of every field whether it is supported, with a test that there is', () => {
    for (const row of rows) {
      expect(row).toHaveLength(3);
      expect(row[1]).toMatch(/^(yes|no): \S/);
    }
    expect(faultsOf(rows)).toEqual([]);
  });

  it.each(Object.keys(SAMPLES) as ResourceKind[])('has every field of a %s that is read', (kind) => {
    const section =
      read(page)
        .split(/^## /m)
        .find((part) => part.startsWith(`${kind}\n`)) ?? '';
    const fields = fieldsOf(kind).map(({ path: at }) => at.join('.'));
    const leaves = fields.filter((field) => !fields.some((other) => other.startsWith(`${field}.`)));
    const missing = leaves.filter((field) => {
      if (/^(kind|metadata\.(name|namespace))$|^metadata\.labels/.test(field)) return false;
      const shown = field
        .replace(/^spec\.(importV4|exportV4|importV6|exportV6)\.0/, 'rule')
        .replace(/\.(0|added)$/, '')
        .replaceAll('.0.', '[].');
      return !section.includes(`\`${shown}\``);
    });
    expect(missing).toEqual([]);
  });
});

describe('docs/bird-dialects.md', () => {
  it('names files that there are', () => {
    const names = [...read('docs/bird-dialects.md').matchAll(/`((?:test|templates)\/[\w./-]+)`/g)].map(
      ([, name]) => name!,
    );
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(existsSync(path(name)), name).toBe(true);
  });
});
