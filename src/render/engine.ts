import { sha256 } from '../core/digest.ts';
import { BirdfeedError } from '../core/errors.ts';
import { byText, sortedBy } from '../core/order.ts';
import { didYouMean } from '../core/suggest.ts';
import { analyse, type TemplateFacts } from './analyse.ts';
import { asRenderError, faultAt } from './fault.ts';
import { BIRD_FILTERS } from './functions/bird.ts';
import { KEPT_FILTERS, KEPT_GLOBALS, TAKES_NULL } from './functions/builtin.ts';
import type { TemplateFunction } from './functions/types.ts';
import { checkTemplate, type Vocabulary } from './link.ts';
import { type LoadedTemplates, loadTemplates } from './load.ts';
import { MARK_PLACEHOLDER } from './mark-placeholder.ts';
import { createEnvironment, type Environment, transform } from './nunjucks-internals.ts';
import { parseTemplate } from './parse.ts';
import { type Place, StrictCompiler } from './strict-compiler.ts';
import { StrictRuntime } from './strict-runtime.ts';

export interface EngineOptions {
  /** Searched in order; the first that has a name wins. */
  readonly templateDirs: readonly string[];
  /** Names of functions that contexts bring along (`getv`): calls of other unknown names are found when compiling. */
  readonly contextFunctions?: readonly string[];
}

/**
 * All templates of a set, compiled. One broken template breaks only itself and those that include it: `problems` holds its
 * error, and rendering it throws that error. A template that never ends cannot be stopped from inside the process.
 */
export interface Engine {
  /** Names of all templates, sorted; broken ones too. */
  readonly names: readonly string[];
  readonly problems: ReadonlyMap<string, BirdfeedError>;
  /** SHA-256 over names and texts of all templates. */
  readonly digest: string;
  /** Throws BirdfeedError: BF_TEMPLATE_MISSING, BF_TEMPLATE_SYNTAX, BF_TEMPLATE_FAILED, BF_KEY_MISSING. */
  render(name: string, context: Readonly<Record<string, unknown>>): string;
}

/** Reads and compiles the templates. Throws only when a directory cannot be read. */
export function createEngine(options: EngineOptions): Engine {
  return compileEngine(loadTemplates(options.templateDirs), options.contextFunctions);
}

/** The engine for templates that are in memory already. */
export function compileEngine(loaded: LoadedTemplates, contextFunctions: readonly string[] = []): Engine {
  const functions: readonly TemplateFunction[] = BIRD_FILTERS;
  const roots = new Map<string, unknown>();
  const problems = new Map(loaded.refused);
  const env = environment(roots, problems, functions);
  const places: Place[] = [];
  Object.assign(env, { strict: new StrictRuntime(places, new Map(Object.entries(env.filters))) });

  const facts = new Map<string, TemplateFacts>();
  const names = [...loaded.sources.keys(), ...loaded.refused.keys()].sort(byText);
  const all = { names: new Set(names), facts };
  const vocabulary = vocabularyOf(env, functions, contextFunctions);
  const report = (name: string, error: unknown): BirdfeedError => {
    const fault = faultAt(error, { template: name, line: 0, column: 0 });
    const source = loaded.sources.get(fault.at.template);
    return asRenderError(fault, source?.text, source?.file);
  };
  const attempt = (name: string, step: () => void): void => {
    try {
      step();
    } catch (error) {
      problems.set(name, report(name, error));
    }
  };
  for (const [name, source] of loaded.sources) {
    attempt(name, () => facts.set(name, analyse(name, parseTemplate(name, source.text))));
  }
  for (const [name, own] of facts) {
    attempt(name, () => {
      checkTemplate(own, all, vocabulary);
      roots.set(name, compile(own, places));
    });
  }
  return { names, problems, digest: digestOf(loaded), render };

  function render(name: string, context: Readonly<Record<string, unknown>>): string {
    refuseHiding(context, vocabulary.globals);
    try {
      return env.render(name, context);
    } catch (error) {
      throw report(name, error);
    }
  }
}

/** nunjucks' Environment over compiled templates, with our filters and functions and what is kept of its own. */
function environment(
  roots: ReadonlyMap<string, unknown>,
  problems: ReadonlyMap<string, BirdfeedError>,
  functions: readonly TemplateFunction[],
): Environment {
  const env = createEnvironment((name) =>
    roots.has(name) ? { src: { type: 'code', obj: roots.get(name) }, path: name, noCache: false } : null,
  );
  env.filters = keptFilters(env.filters);
  env.globals = Object.fromEntries(Object.keys(KEPT_GLOBALS).map((name) => [name, env.globals[name]]));
  env.globals['content_mark'] = MARK_PLACEHOLDER;
  for (const { name, as, call } of functions) {
    if (as !== 'function') env.filters[name] = call;
    if (as !== 'filter') env.globals[name] = call;
  }
  const getTemplate = env.getTemplate.bind(env);
  env.getTemplate = (name, eager, parent, ignoreMissing, callback) => {
    if (typeof name === 'string' && !roots.has(name)) {
      const problem = problems.get(name);
      if (problem !== undefined) throw problem;
      if (ignoreMissing !== true) throw missing(name, roots);
    }
    return getTemplate(name, eager, parent, ignoreMissing, callback);
  };
  return env;
}

function keptFilters(own: Environment['filters']): Environment['filters'] {
  const kept: Environment['filters'] = {};
  for (const name of Object.keys(KEPT_FILTERS)) {
    const filter = own[name]!;
    if (TAKES_NULL.has(name)) {
      kept[name] = filter;
      continue;
    }
    kept[name] = function (...args) {
      if (args[0] === null || args[0] === undefined) throw new Error(`is ${args[0]}`);
      return filter.apply(this, args);
    };
  }
  return kept;
}

function vocabularyOf(
  env: Environment,
  functions: readonly TemplateFunction[],
  contextFunctions: readonly string[],
): Vocabulary {
  return {
    filters: new Set(Object.keys(env.filters)),
    tests: new Set(Object.keys(env.tests)),
    globals: new Set(Object.keys(env.globals)),
    contextFunctions: new Set(contextFunctions),
    impure: new Set(functions.filter((f) => !f.pure).map((f) => f.name)),
  };
}

/** Runs the generated code, which returns the template's functions. */
function compile(facts: TemplateFacts, places: Place[]): unknown {
  const compiler = new StrictCompiler(facts.name, places);
  compiler.compile(transform(facts.tree));
  return new Function(compiler.getCode())();
}

/** A context that hides a function would make a fragment, which may call that function, depend on the context. */
function refuseHiding(context: Readonly<Record<string, unknown>>, globals: ReadonlySet<string>): void {
  for (const key of Object.keys(context)) {
    if (globals.has(key))
      throw new BirdfeedError('BF_INTERNAL', `the context hides the template function ${key}`);
  }
}

function missing(name: string, roots: ReadonlyMap<string, unknown>): BirdfeedError {
  const message = `template ${JSON.stringify(name)} does not exist${didYouMean(name, roots.keys())}`;
  return new BirdfeedError('BF_TEMPLATE_MISSING', message);
}

function digestOf(loaded: LoadedTemplates): string {
  const sources = sortedBy(loaded.sources.values(), (source) => source.name);
  return sha256(JSON.stringify(sources.map((source) => [source.name, source.text])));
}
