import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { BirdfeedError } from '../core/errors.ts';
import { byText } from '../core/order.ts';

/** Larger files are refused: a template is text that people write. */
export const MAX_TEMPLATE_BYTES = 1024 * 1024;

export interface TemplateSource {
  /** Path below its template directory, with `/`: the name that includes and resources use. */
  readonly name: string;
  /** Where it was read, for messages. */
  readonly file: string;
  readonly text: string;
}

export interface LoadedTemplates {
  readonly sources: ReadonlyMap<string, TemplateSource>;
  /** Files that cannot be used, by name; an error only for those who name them. */
  readonly refused: ReadonlyMap<string, BirdfeedError>;
}

/**
 * Reads every file below `dirs`. The first directory that has a name wins, so a user's directory in front of the shipped
 * one replaces single files. Hidden entries are skipped: a Kubernetes ConfigMap keeps its copies in `..data` and links to
 * them from the top. A link that leads out of all the directories is refused: templates are code, and these directories are
 * what the operator vouched for. A directory that does not exist is empty.
 */
export function loadTemplates(dirs: readonly string[]): LoadedTemplates {
  const sources = new Map<string, TemplateSource>();
  const refused = new Map<string, BirdfeedError>();
  const roots = dirs.map(realpathOrUndefined).filter((root) => root !== undefined);
  for (const dir of dirs) {
    for (const file of listFiles(dir, [])) {
      const name = relative(dir, file).split(sep).join('/');
      if (sources.has(name) || refused.has(name)) continue;
      try {
        sources.set(name, { name, file, text: readTemplate(file, roots) });
      } catch (error) {
        refused.set(name, asLoadError(name, file, error));
      }
    }
  }
  return { sources, refused };
}

function listFiles(dir: string, parents: readonly string[]): string[] {
  const files: string[] = [];
  const real = realpathOrUndefined(dir);
  // A linked directory may be its own ancestor.
  if (real === undefined || parents.includes(real)) return files;
  for (const entry of entriesOf(dir)) {
    if (entry.startsWith('.')) continue;
    const path = join(dir, entry);
    if (isDirectory(path)) files.push(...listFiles(path, [...parents, real]));
    else files.push(path);
  }
  return files;
}

/** False also for broken links and links in circles: listed as files, they say what is wrong when they are read. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir).sort(byText);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    const message = `template directory ${dir} cannot be read: ${(error as Error).message}`;
    throw new BirdfeedError('BF_TEMPLATE_MISSING', message, { cause: error, details: { file: dir } });
  }
}

function readTemplate(file: string, roots: readonly string[]): string {
  const real = realpathSync(file);
  if (!roots.some((root) => real.startsWith(root + sep))) {
    throw new Error(`leads to ${real}, outside the template directories; copy the file instead`);
  }
  const stat = statSync(real);
  if (!stat.isFile()) throw new Error('not a regular file');
  if (stat.size > MAX_TEMPLATE_BYTES)
    throw new Error(`has ${stat.size} bytes; at most ${MAX_TEMPLATE_BYTES} are read; split it with include`);
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(real));
}

function asLoadError(name: string, file: string, error: unknown): BirdfeedError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BirdfeedError('BF_TEMPLATE_MISSING', `template ${name}: ${reason}`, {
    cause: error,
    details: { template: name, file },
  });
}

function realpathOrUndefined(dir: string): string | undefined {
  try {
    return realpathSync(dir);
  } catch {
    return undefined;
  }
}
