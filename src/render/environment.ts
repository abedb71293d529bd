import { BirdfeedError } from '../core/errors.ts';
import { didYouMean } from '../core/suggest.ts';
import { KEPT_FILTERS, KEPT_GLOBALS, TAKES_NULL } from './functions/builtin.ts';
import type { TemplateFunction } from './functions/types.ts';
import { MARK_PLACEHOLDER } from './mark-placeholder.ts';
import { type CompiledTemplate, createEnvironment, type Environment } from './nunjucks-internals.ts';

/** nunjucks' Environment over compiled templates, with our filters and functions and what is kept of its own. */
export function createTemplateEnvironment(
  roots: ReadonlyMap<string, CompiledTemplate>,
  problems: ReadonlyMap<string, BirdfeedError>,
  functions: readonly TemplateFunction[],
): Environment {
  const env = createEnvironment((name) => {
    const obj = roots.get(name);
    return obj === undefined ? null : { src: { type: 'code', obj }, path: name, noCache: false };
  });
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

function missing(name: string, roots: ReadonlyMap<string, CompiledTemplate>): BirdfeedError {
  const message = `template ${JSON.stringify(name)} does not exist${didYouMean(name, roots.keys())}`;
  return new BirdfeedError('BF_TEMPLATE_MISSING', message);
}

/** Deeper includes are taken for endless ones, which nunjucks would follow for seconds. */
const MAX_DEPTH = 50;

/** Wraps the main function of compiled templates so that they count, together, how deeply they include each other. */
export function depthLimiter(): (compiled: CompiledTemplate) => CompiledTemplate {
  let depth = 0;
  return (compiled) => ({
    ...compiled,
    root(env, context, frame, runtime, callback) {
      if (depth >= MAX_DEPTH) {
        throw new Error(`includes are nested deeper than ${MAX_DEPTH}; does a template include itself?`);
      }
      depth += 1;
      try {
        // What follows an include in its template runs within the callback, where the included one has ended.
        compiled.root(env, context, frame, runtime, (error, text) => {
          depth -= 1;
          try {
            callback(error, text);
          } finally {
            depth += 1;
          }
        });
      } finally {
        depth -= 1;
      }
    },
  });
}
