import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipSuite } from '../../support/binaries.ts';
import { birdfeedImage } from '../../support/image.ts';
import { canRunPods, type Image, Pod } from '../../support/pod.ts';
import { makeDir, removeDir } from '../../support/tmp.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const containerfile = readFileSync(join(repository, 'Containerfile'), 'utf8');

let dir: string;
let image: Image;
beforeAll(async () => {
  dir = await makeDir('bf-image');
  image = birdfeedImage(dir);
});
afterAll(() => removeDir(dir));

describe('the image in a container that may write nothing', () => {
  if (!canRunPods()) skipSuite('containers cannot be run here (needs root and mount namespaces)');

  const securityContext = { runAsUser: 65532, runAsGroup: 65532, readOnlyRootFilesystem: true };
  const pod = () =>
    new Pod(
      {
        containers: [
          {
            name: 'c',
            image: 'i',
            securityContext,
            volumeMounts: [{ name: 'cache', mountPath: '/var/lib/birdfeed' }],
          },
        ],
        volumes: [{ name: 'cache', emptyDir: {} }],
      },
      { dir, images: { i: image }, nodeName: 'n1' },
    );

  it('has birdfeed on the path', async () => {
    expect(await pod().exec('c', ['birdfeed', '--version'])).toEqual({
      code: 0,
      output: `birdfeed ${JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).version}\n`,
    });
  });

  it('is another user without any capability on a file system that is read-only', async () => {
    const script = `
      const { readFileSync, writeFileSync } = require('node:fs');
      const status = readFileSync('/proc/self/status', 'utf8');
      const field = (name) => status.match(new RegExp(name + ':\\\\s*(.*)'))[1].trim();
      const attempt = (path) => { try { writeFileSync(path, ''); return 'written'; } catch ({ code }) { return code; } };
      console.log(JSON.stringify([process.getuid(), process.getgid(), field('CapEff'), field('NoNewPrivs'),
        attempt('/x'), attempt('/tmp/x'), attempt('/usr/lib/birdfeed/x'), attempt('/var/lib/birdfeed/x')]));`;
    const { output } = await pod().exec('c', ['node', '-e', script]);
    expect(JSON.parse(output)).toEqual([
      ...[65532, 65532, '0000000000000000', '1'],
      ...['EROFS', 'EROFS', 'EROFS', 'written'],
    ]);
  });

  it('starts with the code cache that was made for its Node', async () => {
    const script = `
      const { scripts, load } = require('/usr/lib/birdfeed/dist/birdfeed.js');
      process.argv = [process.argv[0], 'birdfeed', '--version'];
      load('./main.js');
      console.log([...scripts.values()].map((script) => script.cachedDataRejected));`;
    const { output } = await pod().exec('c', ['node', '-e', script]);
    expect(output).toContain('false');
    expect(output).not.toContain('true');
  });

  it('needs no package beside the bundle', async () => {
    const script = `
      const { load } = require('/usr/lib/birdfeed/dist/birdfeed.js');
      const chunks = require('node:fs').readdirSync('/usr/lib/birdfeed/dist/chunks').filter((name) => name.endsWith('.js'));
      for (const name of chunks) if (name !== 'main.js') load('./' + name);
      console.log('all loaded');`;
    expect((await pod().exec('c', ['node', '-e', script])).output).toBe('all loaded\n');
  });

  it('locks the cache, and runs commands of resources through its shell', async () => {
    const { code, output } = await pod().exec('c', [
      ...['/bin/sh', '-c'],
      'exec 3>/var/lib/birdfeed/lock && flock -n 3 && echo locked',
    ]);
    expect({ code, output }).toEqual({ code: 0, output: 'locked\n' });
  });
});

describe('the image', () => {
  it('is no larger than its Node and a little', () => {
    const size = Number(execFileSync('du', ['-sb', image.root], { encoding: 'utf8' }).split('\t')[0]);
    expect(size - statSync(join(image.root, 'usr/bin/node')).size).toBeLessThan(40 * 1024 * 1024);
  });

  it('can be assembled from what .containerignore lets through', { timeout: 120_000 }, () => {
    const ignore = readFileSync(join(repository, '.containerignore'), 'utf8');
    const kept = ignore.match(/(?<=^!).*/gm) ?? [];
    const source = join(dir, 'source');
    for (const name of kept) cpSync(join(repository, name), join(source, name), { recursive: true });
    symlinkSync(join(repository, 'node_modules'), join(source, 'node_modules'));
    for (const [script, ...args] of [['build.mjs'], ['image.mjs', join(dir, 'again')]])
      execFileSync(process.execPath, [join(source, 'scripts', script!), ...args]);
    expect(statSync(join(dir, 'again/usr/lib/birdfeed/dist/birdfeed.js')).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(repository, '.dockerignore'), 'utf8')).toBe(ignore);
  });

  it('is what Containerfile copies, on no base, for the user that the script makes', () => {
    const last = containerfile.slice(containerfile.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^\nFROM scratch\nCOPY --from=build \/image \/\n/);
    expect(containerfile).toContain('npm ci --no-audit --no-fund && node scripts/image.mjs /image');
    const [, user] = /^USER (\d+:\d+)$/m.exec(last) ?? [];
    expect(readFileSync(join(image.root, 'etc/passwd'), 'utf8')).toContain(`birdfeed:x:${user}:`);
  });
});
