import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const support = join(root, 'test/support');

const FILES = {
  'vitest.config.ts': `
    import { ClosingLineReporter } from '${support}/closing-line-reporter.ts';
    export default { test: { reporters: ['default', new ClosingLineReporter()] } };`,
  'mixed.test.ts': `
    import { beforeAll, describe, expect, it } from 'vitest';
    import { requireBinary } from '${support}/binaries.ts';
    it('passes', () => {});
    it('fails', () => expect(1).toBe(2));
    it('is skipped in the middle', (context) => context.skip('a note'));
    describe('a hook that throws', () => {
      beforeAll(() => { throw new Error('hook'); });
      it('never runs', () => {});
    });
    describe('a suite without its binary', () => {
      const binary = requireBinary(undefined, 'zebra');
      beforeAll(() => { throw new Error('must not run ' + binary); });
      it('never runs', () => {});
      describe('nested', () => it('never runs', () => {}));
    });`,
  'whole-file.test.ts': `
    import { beforeAll, it } from 'vitest';
    import { requireBinary } from '${support}/binaries.ts';
    const binary = requireBinary(undefined, 'quagga');
    beforeAll(() => { throw new Error('must not run ' + binary.bird); });
    it('never runs', () => {});`,
  'does-not-load.test.ts': `throw new Error('broken at import');`,
};

describe('a run of vitest with the closing line', () => {
  let dir: string;
  beforeAll(async () => {
    await mkdir(join(root, 'node_modules/.cache'), { recursive: true });
    // Below node_modules, so that the files can import vitest.
    dir = await mkdtemp(join(root, 'node_modules/.cache/closing-line-'));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(dir, name), text);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  function vitest(env: Record<string, string>, ...args: string[]) {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|BIRDFEED_TEST)/.test(name));
    return spawnSync(join(root, 'node_modules/.bin/vitest'), ['run', '--root', dir, ...args], {
      encoding: 'utf8',
      env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...env },
    });
  }

  it('counts tests, broken hooks and files that do not load, and tells why tests were skipped', () => {
    const { status, stdout } = vitest({});
    expect(stdout.trimEnd().split('\n').slice(-5).sort()).toEqual(
      [
        'skipped 1: a note',
        'skipped 1: no reason given',
        'skipped 1: quagga is missing: see `node scripts/binaries.mjs`',
        'skipped 2: zebra is missing: see `node scripts/binaries.mjs`',
        '1 passed, 3 failed, 5 skipped',
      ].sort(),
    );
    expect(stdout.endsWith('1 passed, 3 failed, 5 skipped\n')).toBe(true);
    expect(status).toBe(1);
  });

  it('passes when all there is was skipped, except when everything is required', () => {
    const lenient = vitest({}, 'whole-file');
    expect([lenient.status, lenient.stdout.trimEnd().split('\n').at(-1)]).toEqual([
      0,
      '0 passed, 0 failed, 1 skipped',
    ]);
    const strict = vitest({ BIRDFEED_TEST_REQUIRE_ALL: '1' }, 'whole-file');
    expect([strict.status, strict.stdout.trimEnd().split('\n').at(-1)]).toEqual([1, '0 passed, 1 failed']);
  });

  it('leaves the line to its caller when given a file for the numbers', async () => {
    const file = join(dir, 'summary.json');
    const { stdout } = vitest({ BIRDFEED_TEST_SUMMARY: file }, 'mixed', '-t', 'passes');
    expect(stdout).not.toMatch(/^\d+ passed, \d+ failed/m);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ passed: 1, failed: 0 });
  });
});
