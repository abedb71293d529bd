import { sha256 } from '../core/digest.ts';
import { BirdfeedError } from '../core/errors.ts';
import { decodePieces, type Pieces } from '../core/joined-text.ts';
import { byText, sortedBy } from '../core/order.ts';
import { analyse, type TemplateFacts } from './analyse.ts';
import { createTemplateEnvironment, depthLimiter } from './environment.ts';
import { asRenderError, faultAt } from './fault.ts';
import { functionGroups } from './functions/all.ts';
import type { EnvironmentVariables } from './functions/environment.ts';
import type { TemplateFunction } from './functions/types.ts';
import { checkTemplate, type Vocabulary } from './link.ts';
import { type LoadedTemplates, loadTemplates } from './load.ts';
import {
  createLookupScope,
  type LookupRequest,
  type LookupScope,
  type LookupTable,
  NO_LOOKUPS,
} from './lookup-table.ts';
import { type CompiledTemplate, type Environment, transform } from './nunjucks-internals.ts';
import { parseTemplate } from './parse.ts';
import { type Place, StrictCompiler } from './strict-compiler.ts';
import { StrictRuntime } from './strict-runtime.ts';

export interface CompileOptions {
  /** Names of functions that contexts bring along (`getv`): calls of other unknown names are found when compiling. */
  readonly contextFunctions?: readonly string[];
  /** What `getenv` sees; nothing when left out. */
  readonly environment?: EnvironmentVariables;
  /** Used in place of compiling when the templates are these very ones. */
  readonly precompiled?: Precompiled | null;
}

/** All templates of an engine as code, made at build time with the same context functions. */
export interface Precompiled {
  /** {@link Engine.digest} of the templates. */
  readonly digest: string;
  /** What the numbers in the code stand for. */
  readonly places: readonly Place[];
  readonly templates: readonly {
    readonly name: string;
    /** Functions that its fragments count on. */
    readonly pinned: readonly string[];
    readonly make: () => CompiledTemplate;
  }[];
}

export interface EngineOptions extends CompileOptions {
  /** Searched in order; the first that has a name wins. */
  readonly templateDirs: readonly string[];
}

/** What came of one rendering. With anything unresolved there is no content: resolve it (resolve.ts) and render again. */
export interface RenderResult {
  readonly content: Pieces | null;
  /** Everything that was looked up, by key. */
  readonly asked: ReadonlyMap<string, LookupRequest>;
  readonly unresolved: readonly LookupRequest[];
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
  /**
   * For templates without look-ups (time, DNS, files); one that has some fails.
   * Throws BirdfeedError: BF_TEMPLATE_MISSING, BF_TEMPLATE_SYNTAX, BF_TEMPLATE_FAILED, BF_KEY_MISSING.
   */
  render(name: string, context: Readonly<Record<string, unknown>>): string;
  /** As render, with answers to look-ups. While some are unresolved, an error is not one yet. */
  renderWith(name: string, context: Readonly<Record<string, unknown>>, table: LookupTable): RenderResult;
}

/** Reads and compiles the templates. Throws only when a directory cannot be read. */
export function createEngine(options: EngineOptions): Engine {
  return compileEngine(loadTemplates(options.templateDirs), options);
}

/** The engine for templates that are in memory already. */
export function compileEngine(loaded: LoadedTemplates, options: CompileOptions = {}): Engine {
  let scope: LookupScope = createLookupScope(NO_LOOKUPS);
  const functions = Object.values(functionGroups(() => scope, options.environment ?? {})).flat();
  const roots = new Map<string, CompiledTemplate>();
  const problems = new Map(loaded.refused);
  const env = createTemplateEnvironment(roots, problems, functions);
  const digest = digestOf(loaded);
  const names = [...loaded.sources.keys(), ...loaded.refused.keys()].sort(byText);
  const isKnown = options.precompiled?.digest === digest && loaded.refused.size === 0;
  const compiled = isKnown
    ? options.precompiled
    : compileAll(loaded, vocabularyOf(env, functions, options.contextFunctions ?? []), problems);
  const pinned = new Set(compiled.templates.flatMap((template) => template.pinned));
  const limitDepth = depthLimiter();
  for (const { name, make } of compiled.templates) roots.set(name, limitDepth(make()));
  const strict = new StrictRuntime(compiled.places, new Map(Object.entries(env.filters)));
  Object.assign(env, { strict });

  function renderWith(
    name: string,
    context: Readonly<Record<string, unknown>>,
    table: LookupTable,
  ): RenderResult {
    refuseHiding(name, context, pinned);
    const own = createLookupScope(table);
    scope = own;
    const { asked, unresolved } = own;
    try {
      const content = strict.printed.piecesOf(() => env.render(name, context));
      return { content: unresolved.length === 0 ? content : null, asked, unresolved };
    } catch (error) {
      if (unresolved.length > 0) return { content: null, asked, unresolved };
      throw asError(loaded, name, error);
    }
  }

  function render(name: string, context: Readonly<Record<string, unknown>>): string {
    const { content, unresolved } = renderWith(name, context, NO_LOOKUPS);
    if (content !== null) return decodePieces(content);
    const kinds = [...new Set(unresolved.map((request) => request.kind))].join(', ');
    throw new BirdfeedError('BF_TEMPLATE_FAILED', `${name}: look-ups (${kinds}) are not possible here`);
  }

  return { names, problems, digest, render, renderWith };
}

/** For the build: the templates as text that can become code again, to be handed to `compileEngine` later. */
export function precompile(
  loaded: LoadedTemplates,
  options: CompileOptions,
): Omit<Precompiled, 'templates'> & { readonly templates: readonly CodeOfTemplate[] } {
  const functions = Object.values(functionGroups(() => createLookupScope(NO_LOOKUPS), {})).flat();
  const problems = new Map(loaded.refused);
  const env = createTemplateEnvironment(new Map(), problems, functions);
  const vocabulary = vocabularyOf(env, functions, options.contextFunctions ?? []);
  const { places, templates } = compileAll(loaded, vocabulary, problems);
  for (const problem of problems.values()) throw problem;
  return { digest: digestOf(loaded), places, templates };
}

interface CodeOfTemplate {
  readonly name: string;
  readonly pinned: readonly string[];
  /** Body of a function that gives a {@link CompiledTemplate}. */
  readonly code: string;
}

/** Parses all templates, then checks and compiles each, since the checks look at the others. Adds to `problems`. */
function compileAll(
  loaded: LoadedTemplates,
  vocabulary: Vocabulary,
  problems: Map<string, BirdfeedError>,
): Pick<Precompiled, 'places'> & {
  readonly templates: (CodeOfTemplate & Precompiled['templates'][number])[];
} {
  const places: Place[] = [];
  const facts = new Map<string, TemplateFacts>();
  const attempt = (name: string, step: () => void): void => {
    try {
      step();
    } catch (error) {
      problems.set(name, asError(loaded, name, error));
    }
  };
  for (const [name, source] of loaded.sources) {
    attempt(name, () => facts.set(name, analyse(name, parseTemplate(name, source.text))));
  }
  const all = { names: new Set([...loaded.sources.keys(), ...loaded.refused.keys()]), facts };
  const templates: (CodeOfTemplate & Precompiled['templates'][number])[] = [];
  for (const [name, own] of facts) {
    attempt(name, () => {
      const pinned = [...checkTemplate(own, all, vocabulary)];
      const code = compile(own, places);
      const make = new Function(code) as () => CompiledTemplate;
      templates.push({ name, pinned, code, make });
    });
  }
  return { places, templates };
}

function asError(loaded: LoadedTemplates, name: string, error: unknown): BirdfeedError {
  const fault = faultAt(error, { template: name, line: 0, column: 0 });
  const source = loaded.sources.get(fault.at.template);
  return asRenderError(fault, source?.text, source?.file);
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

/** Code that returns the template's functions. */
function compile(facts: TemplateFacts, places: Place[]): string {
  const compiler = new StrictCompiler(facts.name, places);
  compiler.compile(transform(facts.tree));
  return compiler.getCode();
}

/** A context that hides a function which a fragment calls would make the fragment's text depend on the context. */
function refuseHiding(
  name: string,
  context: Readonly<Record<string, unknown>>,
  pinned: ReadonlySet<string>,
): void {
  const hidden = [...pinned].find((key) => Object.hasOwn(context, key));
  if (hidden === undefined) return;
  const message = `${name}: the context hides the function ${hidden}, on which a fragment counts`;
  throw new BirdfeedError('BF_TEMPLATE_FAILED', message);
}

function digestOf(loaded: LoadedTemplates): string {
  const sources = sortedBy(loaded.sources.values(), (source) => source.name);
  return sha256(JSON.stringify(sources.map((source) => [source.name, source.text])));
}
