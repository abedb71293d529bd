import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Directories that exist now: a worker that ends without its hooks having run must not leave any behind. */
const directories = new Set<string>();
process.on('exit', () => {
  for (const path of directories) rmSync(path, { recursive: true, force: true });
});

/**
 * A new directory directly below /tmp, not below TMPDIR: paths of control sockets inside it must stay under the 108 bytes
 * of sun_path (unix(7)). The caller removes it; see {@link testDir} for one that goes away by itself.
 */
export async function makeDir(prefix = 'bf'): Promise<string> {
  const path = await mkdtemp(join('/tmp', `${prefix}-`));
  directories.add(path);
  return path;
}

export async function removeDir(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  directories.delete(path);
}

/** A directory for the running test, removed when the test ends. Use inside a test or a beforeEach hook. */
export async function testDir(prefix?: string): Promise<string> {
  const path = await makeDir(prefix);
  onTestFinished(() => removeDir(path));
  return path;
}
