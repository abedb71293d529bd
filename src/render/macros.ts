import { type Callable, type Frame, nunjucksMacro, RuntimeFrame } from './nunjucks-internals.ts';

/**
 * A scope of its own, as `new Frame()` of nunjucks gives it. That one keeps its names in `Object.create(null)`, which is a
 * hash table from the start and takes longer to make than a macro of a line takes to print.
 */
export function newScope(): Frame {
  const frame = Object.create(RuntimeFrame.prototype) as Record<keyof Frame | 'variables', unknown>;
  frame.variables = Object.create(NO_NAMES);
  frame.parent = undefined;
  return frame as unknown as Frame;
}

/** Without a prototype: a name that is not set must not be found there. */
const NO_NAMES: object = Object.freeze(Object.create(null));

/** As nunjucks' makeMacro, with a short way for the most frequent call: of a macro with one argument, with just that. */
export function makeMacro(names: readonly string[], defaults: readonly string[], body: Callable): Callable {
  const general = nunjucksMacro(names, defaults, body);
  if (names.length !== 1) return general;
  return function (this: unknown, ...args: unknown[]) {
    return args.length === 1 && !isKeywords(args[0]) ? body.call(this, args[0]) : general.apply(this, args);
  };
}

/** Whether nunjucks takes a value for the arguments that are given by name. */
function isKeywords(value: unknown): boolean {
  return Boolean((value as { readonly __keywords?: unknown } | null | undefined)?.__keywords);
}

/** What a macro gets as its arguments by name when there are none. */
export const NO_KEYWORDS: object = Object.freeze({});
