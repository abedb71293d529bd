import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';
import { byText } from '../core/order.ts';
import type { ResourceFile } from './resources.ts';

/** Larger files are refused unread: a resource is a few lines that people write. */
export const MAX_RESOURCE_BYTES = 1024 * 1024;

export interface ReadResourceFiles {
  readonly files: readonly ResourceFile[];
  /** Files and directories that could not be read (BF_RESOURCE_FILE). */
  readonly errors: readonly BirdfeedError[];
}

/**
 * Reads every `*.toml` below the given conf.d directories, sorted by their path within them. A file in an earlier directory
 * replaces the one of the same path in a later one. Hidden entries are skipped (a ConfigMap keeps its copies in `..data`).
 * A directory that does not exist is empty: whether that is wrong, the caller knows.
 */
export function readResourceFiles(dirs: readonly string[]): ReadResourceFiles {
  const found = new Map<string, ResourceFile>();
  const errors: BirdfeedError[] = [];
  for (const dir of dirs) {
    for (const file of listToml(dir, [], errors)) {
      const name = relative(dir, file);
      if (found.has(name)) continue;
      const text = attempt(file, errors, () => readResource(file));
      if (text !== undefined) found.set(name, { file, text });
    }
  }
  const names = [...found.keys()].sort(byText);
  return { files: names.map((name) => found.get(name)!), errors };
}

function listToml(dir: string, parents: readonly string[], errors: BirdfeedError[]): string[] {
  const real = attempt(dir, errors, () =>
    statSync(dir, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync(dir),
  );
  // A linked directory may be its own ancestor.
  if (real === undefined || parents.includes(real)) return [];
  const entries = attempt(dir, errors, () => readdirSync(dir)) ?? [];
  const files: string[] = [];
  for (const entry of entries.sort(byText)) {
    if (entry.startsWith('.')) continue;
    const path = join(dir, entry);
    if (isDirectory(path)) files.push(...listToml(path, [...parents, real], errors));
    else if (entry.endsWith('.toml')) files.push(path);
  }
  return files;
}

/** False also for what cannot be looked at, as a link in circles: reading it says what is wrong. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function readResource(file: string): string {
  const stat = statSync(file);
  // A pipe would be waited for.
  if (!stat.isFile()) throw new Error('it is not a regular file; remove it or put a file there');
  if (stat.size > MAX_RESOURCE_BYTES)
    throw new Error(`it has ${stat.size} bytes, and at most ${MAX_RESOURCE_BYTES} are read; shorten it`);
  return readFileSync(file, 'utf8');
}

function attempt<T>(path: string, errors: BirdfeedError[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const message = `${path}: cannot be read: ${(error as Error).message}`;
    errors.push(new BirdfeedError('BF_RESOURCE_FILE', message, { cause: error, details: { file: path } }));
    return undefined;
  }
}
