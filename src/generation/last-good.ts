import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CacheFs } from './fs.ts';
import { errnoOf, guardFs } from './fs-errors.ts';
import { replaceFile } from './replace-file.ts';
import { readSignedJson, signedJson } from './signed-json.ts';
import { stagingOf } from './state-file.ts';

export interface LoadedLastGood {
  readonly values: ReadonlyMap<string, string>;
  /** One line when the file was there but could not be used. */
  readonly problem: string | null;
}

/**
 * Reads `last-good.json`: stored texts, by key, of what is quarantined now. A damaged file is as good as none: what is
 * quarantined is then left out, or a session without its password withheld, which is reported by the model.
 */
export function loadLastGood(path: string): LoadedLastGood {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === null) throw error;
    return { values: new Map(), problem: errno === 'ENOENT' ? null : `cannot read ${path}: ${errno}` };
  }
  const read = readSignedJson(bytes);
  if (read.type === 'damaged') return { values: new Map(), problem: `${path} ${read.finding}: not used` };
  const texts = Object.entries(read.value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { values: new Map(texts), problem: null };
}

/**
 * Writes `last-good.json`, mode 0600, since stored texts may hold passwords. An empty map removes the file: a secret is
 * kept no longer than it is needed.
 */
export async function saveLastGood(
  fs: CacheFs,
  path: string,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  await guardFs('cache', 'write', path, async () => {
    if (values.size > 0) {
      await replaceFile(fs, path, signedJson(Object.fromEntries(values)), { staging: stagingOf(path) });
      return;
    }
    if ((await fs.facts(path)) === null) return;
    await fs.remove(path);
    await fs.syncDirectory(dirname(path));
  });
}
