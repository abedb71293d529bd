import { didYouMean } from '../core/suggest.ts';
import type { NameUse, TemplateFacts } from './analyse.ts';
import { TemplateFault } from './fault.ts';
import { checkFragment } from './fragment.ts';

/** The names that every template of an engine can use. */
export interface Vocabulary {
  readonly filters: ReadonlySet<string>;
  readonly tests: ReadonlySet<string>;
  readonly globals: ReadonlySet<string>;
  /** Functions that come with the context of some producer (`getv` and its like). */
  readonly contextFunctions: ReadonlySet<string>;
  /** Filters and globals whose result may differ for equal arguments. */
  readonly impure: ReadonlySet<string>;
}

/** The templates of an engine: the names of all, the facts of those that could be parsed. */
export interface Templates {
  readonly names: ReadonlySet<string>;
  readonly facts: ReadonlyMap<string, TemplateFacts>;
}

/**
 * Checks one template against the vocabulary and the other templates: what nunjucks finds only when the line is executed,
 * and reports without a line. Throws the first TemplateFault in the order templates, filters, calls, fragments; returns the
 * functions that fragments count on.
 */
export function checkTemplate(
  facts: TemplateFacts,
  all: Templates,
  vocabulary: Vocabulary,
): ReadonlySet<string> {
  checkRefs(facts, all);
  for (const use of facts.filters) known('filter', use, vocabulary.filters);
  for (const use of facts.tests) known('test', use, vocabulary.tests);
  const callable = callableNames(all, vocabulary);
  for (const use of facts.calls) known('function or macro', use, callable);
  return new Set(facts.fragments.flatMap((node) => [...checkFragment(node, facts, all, vocabulary)]));
}

function checkRefs(facts: TemplateFacts, all: Templates): void {
  for (const ref of facts.refs) {
    if (!all.names.has(ref.name) && !ref.optional) {
      const message = `template ${JSON.stringify(ref.name)} does not exist${didYouMean(ref.name, all.names)}`;
      throw new TemplateFault('BF_TEMPLATE_MISSING', message, ref.at);
    }
    const target = all.facts.get(ref.name);
    if (target === undefined) continue;
    for (const take of ref.takes) {
      if (target.assigned.has(take.name) || target.hasDynamicRef || target.bound.has(take.name)) continue;
      const message = `${ref.name} has no macro ${take.name}${didYouMean(take.name, target.assigned)}`;
      throw new TemplateFault('BF_TEMPLATE_SYNTAX', message, take.at);
    }
  }
}

function known(what: string, use: NameUse, names: ReadonlySet<string>): void {
  if (names.has(use.name)) return;
  const message = `unknown ${what} ${JSON.stringify(use.name)}${didYouMean(use.name, names)}`;
  throw new TemplateFault('BF_TEMPLATE_SYNTAX', message, use.at);
}

const callableCache = new WeakMap<Templates, ReadonlySet<string>>();

/**
 * Every name that could be a function: an included template sees the macros of its includer, so the names of all templates
 * count. What remains is certainly a slip.
 */
function callableNames(all: Templates, vocabulary: Vocabulary): ReadonlySet<string> {
  const cached = callableCache.get(all);
  if (cached !== undefined) return cached;
  const names = new Set(['caller', 'super', ...vocabulary.globals, ...vocabulary.contextFunctions]);
  for (const facts of all.facts.values()) for (const name of facts.bound) names.add(name);
  callableCache.set(all, names);
  return names;
}
