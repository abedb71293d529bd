import { EventEmitter } from 'node:events';
import type { watch } from 'chokidar';
import { describe, expect, it } from 'vitest';
import { watchConfiguration } from '../../../src/app/watch-configuration.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { until } from '../../support/wait.ts';

/** A watcher that says what the test wants. */
class Watcher extends EventEmitter {
  async close(): Promise<void> {}
}

function setUp(reread: () => Promise<void>) {
  const watcher = new Watcher();
  const warnings: object[] = [];
  const opened = watchConfiguration(resolveOptions(new Map(), {}, null).options, {
    log: { ...silentLogger, warn: (fields) => void warnings.push(fields) },
    reread,
    readAt: Date.now() + 60_000,
    watch: (() => watcher) as unknown as typeof watch,
  });
  return { watcher, opened, warnings };
}

describe('watching resources and templates', () => {
  it('goes on where the system refuses to watch, says so, and re-reads when asked', async () => {
    let rereads = 0;
    const { watcher, opened, warnings } = setUp(async () => {
      rereads += 1;
    });
    watcher.emit('error', new Error('ENOSPC: System limit for number of file watchers reached'));
    const configuration = await opened;
    expect(warnings).toMatchObject([{ reason: expect.stringContaining('ENOSPC') }]);
    configuration.reread();
    await until(() => rereads === 1);
    await configuration.close();
  });

  it('turns any number of changes during a re-read into one more, and none after it was closed', async () => {
    const finish: (() => void)[] = [];
    const { watcher, opened } = setUp(() => new Promise((resolve) => finish.push(resolve)));
    watcher.emit('ready');
    const configuration = await opened;
    configuration.reread();
    await until(() => finish.length === 1);
    for (let i = 0; i < 3; i += 1) watcher.emit('all', 'change', 'x.toml');
    await until(async () => {
      finish[0]!();
      return finish.length === 2;
    });
    watcher.emit('all', 'change', 'x.toml');
    const closed = configuration.close();
    finish[1]!();
    await closed;
    expect(finish).toHaveLength(2);
  });
});
