import { BirdfeedError } from '../core/errors.ts';
import type { Engine } from './engine.ts';
import type { LookupRequest, LookupTable } from './lookup-table.ts';
import type { RenderedFile } from './types.ts';

/** One file to render; structurally the part of a conf.d resource that rendering needs. */
export interface RenderJob {
  /** Where the job comes from: its conf.d file. */
  readonly file: string;
  /** Name of the template. */
  readonly src: string;
  /** Name of the rendered file. */
  readonly name: string;
  readonly context: Readonly<Record<string, unknown>>;
}

export interface RenderedResources {
  /** In the order of the jobs, with the placeholder of the mark; without those that failed or wait for look-ups. */
  readonly files: readonly RenderedFile[];
  /** By the job's `file`. A set with any is not published. */
  readonly errors: ReadonlyMap<string, BirdfeedError>;
  /** Everything that was looked up, without doubles. */
  readonly asked: readonly LookupRequest[];
  readonly unresolved: readonly LookupRequest[];
}

/** Renders the files of a set. A job that fails does not stop the others. */
export function renderResources(
  jobs: readonly RenderJob[],
  engine: Engine,
  table: LookupTable,
): RenderedResources {
  const files: RenderedFile[] = [];
  const errors = new Map<string, BirdfeedError>();
  const asked = new Map<string, LookupRequest>();
  const unresolved: LookupRequest[] = [];
  for (const { file, src, name, context } of jobs) {
    try {
      const result = engine.renderWith(src, context, table);
      for (const [key, request] of result.asked) asked.set(key, request);
      unresolved.push(...result.unresolved);
      if (result.content !== null) files.push({ name, content: result.content });
    } catch (error) {
      if (!(error instanceof BirdfeedError)) throw error;
      errors.set(
        file,
        new BirdfeedError(error.code, error.message, {
          cause: error,
          details: { ...error.details, resource: file },
        }),
      );
    }
  }
  return { files, errors, asked: [...asked.values()], unresolved };
}
