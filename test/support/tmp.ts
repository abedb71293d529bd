import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A new directory directly below /tmp, not below TMPDIR: paths of control sockets inside it must stay under the 108 bytes
 * of sun_path (unix(7)). The caller removes it; see {@link testDir} for one that goes away by itself.
 */
export function makeDir(prefix = 'bf'): Promise<string> {
  return mkdtemp(join('/tmp', `${prefix}-`));
}

export function removeDir(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** A directory for the running test, removed when the test ends. Use inside a test or a beforeEach hook. */
export async function testDir(prefix?: string): Promise<string> {
  const path = await makeDir(prefix);
  onTestFinished(() => removeDir(path));
  return path;
}
