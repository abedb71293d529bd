/** A function or filter that templates can use, with what the template reference says about it. */
export interface TemplateFunction {
  readonly name: string;
  /** `split(text, separator)`: as it is written in a template. */
  readonly signature: string;
  readonly doc: string;
  /** An expression and what it prints; run by a test. Null where the result depends on the machine or the tree. */
  readonly example: readonly [expression: string, result: string] | null;
  readonly as: 'function' | 'filter' | 'both';
  /** False when equal arguments may give different results: not usable in fragments. */
  readonly pure: boolean;
  readonly call: (...args: unknown[]) => unknown;
}
