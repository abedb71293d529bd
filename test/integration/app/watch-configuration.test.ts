import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { watchConfiguration } from '../../../src/app/watch-configuration.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

it('reads again what changed between the reading and the first watch, and what changes later', async () => {
  const confdir = await testDir();
  const file = join(confdir, 'templates', 'deep', 'x.njk');
  mkdirSync(join(confdir, 'templates', 'deep'), { recursive: true });
  writeFileSync(file, 'x');
  const { options } = resolveOptions(new Map([['confdir', confdir]]), {}, null);
  const readings: string[] = [];
  const reread = async () => void readings.push('read');
  const watcher = await watchConfiguration(options, {
    log: silentLogger,
    reread,
    readAt: Date.now() - 1_000,
  });
  onTestFinished(() => watcher.close());
  await until(() => readings.length === 1);
  writeFileSync(file, 'y');
  await until(() => readings.length === 2);
  expect(readings).toHaveLength(2);
});
