import { decodePieces, flatText, JoinedText } from '../core/joined-text.ts';
import { byText } from '../core/order.ts';
import { didYouMean } from '../core/suggest.ts';
import { faultAt, TemplateFault } from './fault.ts';
import { makeMacro, NO_KEYWORDS, newScope } from './macros.ts';
import type { Callable, Frame, TemplateContext } from './nunjucks-internals.ts';
import { PrintedFragments } from './printed-fragments.ts';
import type { Place } from './strict-compiler.ts';

/** Reached from any value, these lead to `Function` and so to arbitrary code. */
const BLOCKED = new Set(['constructor', '__proto__', 'prototype']);

/** What templates may use of values that are not plain objects. Nothing that changes the value. */
const TEXT_MEMBERS = new Set([
  ...[
    'length',
    'split',
    'startsWith',
    'endsWith',
    'includes',
    'indexOf',
    'lastIndexOf',
    'slice',
    'substring',
  ],
  ...[
    'toUpperCase',
    'toLowerCase',
    'trim',
    'trimStart',
    'trimEnd',
    'replace',
    'replaceAll',
    'padStart',
    'padEnd',
  ],
  ...['charAt', 'repeat', 'at'],
]);
const ARRAY_MEMBERS = new Set(['length', 'join', 'includes', 'indexOf', 'slice', 'concat', 'at']);
const MAP_MEMBERS = new Set(['get', 'has', 'size', 'keys', 'values', 'entries']);

/**
 * The functions that compiled templates call (`env.strict`). Everything that nunjucks lets pass silently is an error here:
 * a missing name or member, null in text or arithmetic, a loop over what is not a list, NaN, an object where text belongs.
 * This is a guard rail for template authors, not a sandbox: templates are code and come from trusted directories only.
 */
export class StrictRuntime {
  private readonly places: readonly Place[];
  private readonly filters: ReadonlyMap<string, Callable>;
  readonly makeMacro = makeMacro;
  readonly newScope = newScope;
  readonly noKeywords = NO_KEYWORDS;
  /** Text of fragments, per place of the tag: of each item, and of all together. */
  private readonly fragments = new Map<
    number,
    { readonly texts: WeakMap<object, string>; readonly joined: JoinedText<object> }
  >();
  /** What fragments have printed in the rendering under way. */
  readonly printed = new PrintedFragments();

  constructor(places: readonly Place[], filters: ReadonlyMap<string, Callable>) {
    this.places = places;
    this.filters = filters;
  }

  private fail(message: string, place: number): never {
    throw new TemplateFault('BF_TEMPLATE_FAILED', message, this.places[place]!);
  }

  name(context: TemplateContext, frame: Frame, name: string, place: number): unknown {
    const value = this.nameOrUndefined(context, frame, name);
    return value === undefined ? this.unknownName(context, name, place) : value;
  }

  nameOrUndefined(context: TemplateContext, frame: Frame, name: string): unknown {
    const local = frame.lookup(name);
    if (local !== undefined) return local;
    if (Object.hasOwn(context.ctx, name)) return context.ctx[name];
    return Object.hasOwn(context.env.globals, name) ? context.env.globals[name] : undefined;
  }

  private unknownName(context: TemplateContext, name: string, place: number): never {
    const known = [...Object.keys(context.ctx), ...Object.keys(context.env.globals)];
    return this.fail(`${name} is not defined${didYouMean(name, known)}`, place);
  }

  unset(name: string, place: number): never {
    return this.fail(`${name} has no value here`, place);
  }

  member(target: unknown, key: unknown, place: number): unknown {
    const value = this.memberOrUndefined(target, key, place);
    return value === undefined ? this.missingMember(target, key, place) : value;
  }

  memberOrUndefined(target: unknown, key: unknown, place: number): unknown {
    if (target === null || target === undefined) return undefined;
    const name = String(key);
    if (BLOCKED.has(name)) this.fail(`access to ${name} is not allowed`, place);
    if (!mayRead(target, name)) return undefined;
    const value = (target as Record<string, unknown>)[name];
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => value.apply(target, args);
  }

  private missingMember(target: unknown, key: unknown, place: number): never {
    const { label } = this.places[place]!;
    const name = String(key);
    if (target === null || target === undefined)
      return this.fail(`${label} is ${target}, so it has no ${name}`, place);
    if (Array.isArray(target)) {
      return this.fail(`${label} has ${target.length} elements and no ${JSON.stringify(key)}`, place);
    }
    const known = typeof target === 'object' ? Object.keys(target) : [];
    return this.fail(`${label} has no member ${JSON.stringify(name)}${didYouMean(name, known)}`, place);
  }

  call(callee: unknown, context: TemplateContext, place: number, args: unknown[]): unknown {
    if (typeof callee !== 'function') this.fail(`${this.places[place]!.label} is not a function`, place);
    try {
      return (callee as Callable).apply(context, args);
    } catch (error) {
      const at = this.places[place]!;
      throw located(error, at, `${at.label}: `, `${at.label}(…) at ${at.template}:${at.line}`);
    }
  }

  filter(name: string, context: TemplateContext, place: number, value: unknown, args?: unknown[]): unknown {
    const filter = this.filters.get(name)!;
    try {
      return args === undefined ? filter.call(context, value) : filter.call(context, value, ...args);
    } catch (error) {
      const at = this.places[place]!;
      throw faultAt(error, at, `${at.label} | ${name}: `);
    }
  }

  print(value: unknown, place: number): string | number | boolean | bigint {
    if (typeof value === 'string') return value;
    const { label } = this.places[place]!;
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) this.fail(`${label} is ${value}`, place);
      return Math.abs(value) >= 1e21 ? BigInt(value) : value;
    }
    if (typeof value === 'boolean' || typeof value === 'bigint') return value;
    if (value === null || value === undefined) this.fail(`${label} is ${value}`, place);
    if (typeof value === 'function') this.fail(`${label} is a function; call it with ()`, place);
    return this.fail(`${label} is ${Array.isArray(value) ? 'a list; use join' : 'an object'}`, place);
  }

  iterable(value: unknown, names: number, place: number): unknown {
    const { label } = this.places[place]!;
    if (Array.isArray(value) || value instanceof Map || value instanceof Set) return value;
    if (typeof value !== 'object' || value === null) {
      const what = value === null || value === undefined ? String(value) : `a ${typeof value}`;
      return this.fail(`cannot loop over ${label}: it is ${what}`, place);
    }
    if (Symbol.iterator in value) return value;
    if (names !== 2) this.fail(`${label} is an object: loop with two names, for key, value in …`, place);
    // Sorted, as Go templates do it: the order in which JSON keys were written must not show in the output.
    return Object.entries(value).sort((a, b) => byText(a[0], b[0]));
  }

  /**
   * The text of all items; or, where it goes straight to the output (`isOutput`), a stand-in for it, so that text which is
   * kept needs not be put together and taken apart again.
   */
  fragment(
    place: number,
    items: Iterable<unknown>,
    isOutput: boolean,
    body: (item: object) => string,
  ): string {
    const kept = this.fragments.get(place) ?? { texts: new WeakMap(), joined: new JoinedText<object>() };
    this.fragments.set(place, kept);
    const textOf = (item: object): string => {
      const known = kept.texts.get(item);
      if (known !== undefined) return known;
      const text = flatText(this.renderItem(place, item, body));
      kept.texts.set(item, text);
      return text;
    };
    const list: readonly object[] = Array.isArray(items) ? items : [...items];
    const pieces = kept.joined.join(list, (some) => some.map(textOf).join(''));
    if (!isOutput) return decodePieces(pieces);
    return this.printed.standIn(pieces);
  }

  /** Text of another template or block that goes elsewhere than to the output. */
  whole(text: unknown): unknown {
    return this.printed.whole(text);
  }

  private renderItem(place: number, item: unknown, body: (item: object) => string): string {
    const at = this.places[place]!;
    if (typeof item !== 'object' || item === null) {
      this.fail(`${at.label} needs objects, not ${item === null ? 'null' : `a ${typeof item}`}`, place);
    }
    try {
      return body(item);
    } catch (error) {
      throw located(error, at, '', `${at.label} of ${describe(item)} at ${at.template}:${at.line}`);
    }
  }

  concat(a: unknown, b: unknown, place: number): string {
    return `${this.text(a, place)}${this.text(b, place)}`;
  }

  private text(value: unknown, place: number): unknown {
    if (value === null || value === undefined || typeof value === 'object' || Number.isNaN(value)) {
      this.fail(`cannot join ${this.places[place]!.label}: one is ${kindOf(value)}`, place);
    }
    return value;
  }

  add(a: unknown, b: unknown, place: number): unknown {
    if (typeof a === 'string' || typeof b === 'string') return this.concat(a, b, place);
    return this.arithmetic(
      a,
      b,
      place,
      (x, y) => x + y,
      (x, y) => x + y,
    );
  }

  sub(a: unknown, b: unknown, place: number): unknown {
    return this.arithmetic(
      a,
      b,
      place,
      (x, y) => x - y,
      (x, y) => x - y,
    );
  }

  mul(a: unknown, b: unknown, place: number): unknown {
    return this.arithmetic(
      a,
      b,
      place,
      (x, y) => x * y,
      (x, y) => x * y,
    );
  }

  div(a: unknown, b: unknown, place: number): unknown {
    return this.arithmetic(a, b, place, (x, y) => x / y);
  }

  floorDiv(a: unknown, b: unknown, place: number): unknown {
    return this.arithmetic(a, b, place, (x, y) => Math.floor(x / y));
  }

  mod(a: unknown, b: unknown, place: number): unknown {
    return this.arithmetic(a, b, place, (x, y) => x % y);
  }

  pow(a: unknown, b: unknown, place: number): unknown {
    return this.arithmetic(a, b, place, (x, y) => x ** y);
  }

  private arithmetic(
    a: unknown,
    b: unknown,
    place: number,
    onNumbers: (x: number, y: number) => number,
    onBigInts?: (x: bigint, y: bigint) => bigint,
  ): number | bigint {
    const { label } = this.places[place]!;
    if (typeof a === 'bigint' && typeof b === 'bigint' && onBigInts !== undefined) return onBigInts(a, b);
    if (typeof a !== 'number' || typeof b !== 'number') {
      const wrong = typeof a === 'number' ? b : a;
      return this.fail(`cannot calculate with ${label}: one is ${kindOf(wrong)}`, place);
    }
    const result = onNumbers(a, b);
    if (!Number.isFinite(result)) this.fail(`the result of ${label} is not a finite number`, place);
    return result;
  }

  /** For what reaches the end of a template's function, unlocated only when the language itself threw it. */
  located(error: unknown, template: string, line: number): TemplateFault {
    return faultAt(error, { template, line: line + 1, column: 1 });
  }
}

function mayRead(target: unknown, name: string): boolean {
  if (typeof target === 'string') return TEXT_MEMBERS.has(name) || Object.hasOwn(Object(target), name);
  if (typeof target !== 'object' && typeof target !== 'function') return false;
  if (Object.hasOwn(target as object, name)) return true;
  if (Array.isArray(target)) return ARRAY_MEMBERS.has(name);
  return (target instanceof Map || target instanceof Set) && MAP_MEMBERS.has(name);
}

function located(error: unknown, at: Place, prefix: string, step: string): TemplateFault {
  if (!(error instanceof TemplateFault)) return faultAt(error, at, prefix);
  if (error.via.length < 8) error.via.push(step);
  return error;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Names the item of a fragment in errors; only by what names things, never by its other members. */
function describe(item: object): string {
  for (const key of ['name', 'Key', 'key', 'id']) {
    const value = (item as Record<string, unknown>)[key];
    if (typeof value === 'string') return JSON.stringify(value);
  }
  return 'an item without a name';
}
