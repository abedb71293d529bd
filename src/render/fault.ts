import { BirdfeedError, type ErrorCode } from '../core/errors.ts';

/** A place in a template. Line and column count from 1. */
export interface Position {
  readonly template: string;
  readonly line: number;
  readonly column: number;
}

const RENDER_CODES = [
  'BF_TEMPLATE_MISSING',
  'BF_TEMPLATE_SYNTAX',
  'BF_TEMPLATE_FAILED',
  'BF_KEY_MISSING',
] as const satisfies readonly ErrorCode[];
type RenderCode = (typeof RENDER_CODES)[number];

/**
 * An error on its way out of nunjucks. nunjucks flattens foreign errors into text at every include; it leaves alone what
 * has a `lineno` and an `Update` method, so this one arrives at the engine with its position intact.
 */
export class TemplateFault extends Error {
  readonly code: RenderCode;
  readonly at: Position;
  /** Calls and loops on the way to `at`, innermost first. */
  readonly via: string[] = [];
  /** Read by nunjucks: truthy means "already located". */
  readonly lineno = 1;

  constructor(code: RenderCode, message: string, at: Position, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'TemplateFault';
    this.code = code;
    this.at = at;
  }

  /** Called by nunjucks where it would rewrite the message. */
  Update(): this {
    return this;
  }
}

/** Any error thrown while the expression at `at` was computed, as a fault; one that is located already stays as it is. */
export function faultAt(error: unknown, at: Position, prefix = ''): TemplateFault {
  if (error instanceof TemplateFault) return error;
  if (error instanceof RangeError && error.message.includes('call stack')) {
    return new TemplateFault(
      'BF_TEMPLATE_FAILED',
      'includes or macros call each other without end',
      at,
      error,
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  const own = error instanceof BirdfeedError ? RENDER_CODES.find((code) => code === error.code) : undefined;
  const code = own ?? 'BF_TEMPLATE_FAILED';
  return new TemplateFault(code, prefix + message, at, error);
}

/**
 * The fault as the error that users see: one line `TEMPLATE:LINE:COLUMN: what`, with the excerpt around the place and the
 * way there in the details. `text` is the template's source, undefined when it is not known.
 */
export function asRenderError(fault: TemplateFault, text: string | undefined, file?: string): BirdfeedError {
  // A broken template that another one includes: its own error says more than the place of the include.
  if (fault.cause instanceof BirdfeedError && fault.cause.details['template'] !== undefined)
    return fault.cause;
  const { template, line, column } = fault.at;
  const details: Record<string, unknown> = { template, line, column };
  if (file !== undefined) details['file'] = file;
  if (text !== undefined && line > 0) details['excerpt'] = excerpt(text, line, column);
  if (fault.via.length > 0) details['via'] = fault.via;
  const place = line > 0 ? `${template}:${line}:${column}` : template;
  const options = fault.cause === undefined ? { details } : { details, cause: fault.cause };
  return new BirdfeedError(fault.code, `${place}: ${fault.message}`, options);
}

/** The line and its neighbours, numbered, with a caret below the column. */
export function excerpt(text: string, line: number, column: number): string {
  const lines = text.split('\n');
  const width = String(Math.min(line + 1, lines.length)).length;
  const out: string[] = [];
  for (let n = Math.max(1, line - 1); n <= Math.min(line + 1, lines.length); n += 1) {
    out.push(`${n === line ? '>' : ' '} ${String(n).padStart(width)} | ${lines[n - 1]}`);
    if (n === line) out.push(`${' '.repeat(width + 3)}| ${' '.repeat(Math.max(0, column - 1))}^`);
  }
  return out.join('\n');
}
