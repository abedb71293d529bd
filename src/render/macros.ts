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

/** As nunjucks' makeMacro, with a short way for calls that give each argument by its place. */
export function makeMacro(names: readonly string[], defaults: readonly string[], body: Callable): Callable {
  const general = nunjucksMacro(names, defaults, body);
  return function (...args) {
    const last = args[args.length - 1] as { readonly __keywords?: unknown } | null | undefined;
    // By which nunjucks knows the object that holds the arguments given by name.
    const isPlain = args.length === names.length && !last?.__keywords;
    return (isPlain ? body : general).apply(this, args);
  };
}
