import { BirdfeedError } from '../../../src/core/errors.ts';
import { type CompileOptions, compileEngine, type Engine } from '../../../src/render/engine.ts';

/** An engine over templates given as text. */
export function engineOf(templates: Readonly<Record<string, string>>, options: CompileOptions = {}): Engine {
  const sources = new Map(
    Object.entries(templates).map(([name, text]) => [name, { name, file: `/templates/${name}`, text }]),
  );
  return compileEngine({ sources, refused: new Map() }, options);
}

/** Renders one template given as text. */
export function render(text: string, context: Readonly<Record<string, unknown>> = {}): string {
  return engineOf({ t: text }).render('t', context);
}

/** The BirdfeedError that `fn` throws; fails when it throws something else or nothing. */
export function errorOf(fn: () => unknown): BirdfeedError {
  try {
    fn();
  } catch (error) {
    if (error instanceof BirdfeedError) return error;
    throw error;
  }
  throw new Error('expected an error, got none');
}
