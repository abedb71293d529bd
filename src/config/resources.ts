import { dirname, isAbsolute, posix, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { BirdfeedError } from '../core/errors.ts';
import { didYouMean } from '../core/suggest.ts';
import {
  FIELD_NAMES,
  type FieldContext,
  FieldError,
  type FieldName,
  type FieldValues,
  REQUIRED,
  RESOURCE_FIELDS,
  type SchemaRule,
} from './resource-fields.ts';

/** A key that a resource reads, with everything below it. */
export interface ResourceKey {
  /** In the datastore, in normal form: no trailing slash, the root is the empty text. */
  readonly path: string;
  /** As templates see it: without the prefix, or with two slashes when it was written so. */
  readonly name: string;
}

/** A conf.d file, understood: one template, where its output goes and what is done with it. */
export interface Resource {
  /** Path of the conf.d file, for messages and as the resource's identity. */
  readonly file: string;
  /** Name of the template. */
  readonly src: string;
  /** As written. */
  readonly dest: string;
  /** File name within the generation. */
  readonly name: string;
  /** Absolute path of the copy; null when the file stays in the generation. */
  readonly destination: string | null;
  readonly set: string;
  readonly model: string;
  /** Null: used with every dialect. */
  readonly dialects: readonly string[] | null;
  /** Global and own prefix together, in normal form. */
  readonly prefix: string;
  readonly keys: readonly ResourceKey[];
  readonly minKeys: number | null;
  /** Files are absolute paths. The first rule that matches a key counts. */
  readonly schema: readonly SchemaRule[];
  /** Permission bits. */
  readonly mode: number | null;
  readonly uid: number | null;
  readonly gid: number | null;
  readonly owner: string | null;
  readonly group: string | null;
  readonly checkCmd: string | null;
  readonly reloadCmd: string | null;
  readonly checkMain: string | null;
}

export interface ResourceFile {
  readonly file: string;
  readonly text: string;
}

export interface ResourceOptions extends FieldContext {
  /** The set of resources with a model (BIRD's) that name none. */
  readonly defaultSet: string;
  /** `--prefix`: goes in front of every resource's prefix. */
  readonly globalPrefix: string;
}

export interface ParsedResources {
  /** Of the files without errors, in the order given. */
  readonly resources: readonly Resource[];
  /** All findings of all files (BF_RESOURCE_FILE). Whether the good ones are used in spite of them is the caller's choice. */
  readonly errors: readonly BirdfeedError[];
  /** What works but looks wrong, one line each. */
  readonly warnings: readonly string[];
}

/** Parses conf.d files. Pure, and never throws: one bad file says so and does not stop the others. */
export function parseResources(files: readonly ResourceFile[], options: ResourceOptions): ParsedResources {
  const errors: BirdfeedError[] = [];
  const warnings: string[] = [];
  const resources: Resource[] = [];
  for (const file of files) {
    const found = parseFile(file, options);
    errors.push(...found.errors);
    warnings.push(...found.warnings);
    if (found.resource !== null) resources.push(found.resource);
  }
  const named = withUniqueNames(resources);
  errors.push(...conflicts(named), ...danglingMains(named));
  return { resources: named, errors, warnings };
}

/** The resources of one set that a dialect uses; `null` for a set without BIRD. */
export function resourcesFor(
  resources: readonly Resource[],
  set: string,
  dialect: string | null,
): Resource[] {
  return resources.filter(
    (resource) =>
      resource.set === set &&
      (resource.dialects === null || (dialect !== null && resource.dialects.includes(dialect))),
  );
}

interface FileResult {
  readonly resource: Resource | null;
  readonly errors: readonly BirdfeedError[];
  readonly warnings: readonly string[];
}

function parseFile(source: ResourceFile, options: ResourceOptions): FileResult {
  const failed = (...errors: BirdfeedError[]): FileResult => ({ resource: null, errors, warnings: [] });
  let document: Record<string, unknown>;
  try {
    document = parse(source.text);
  } catch (error) {
    return failed(syntaxError(source.file, error));
  }
  const table = document['template'];
  const strangers = Object.keys(document).filter((name) => name !== 'template');
  const errors = strangers.map((name) => unknownTable(source, name));
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    const what = Array.isArray(table)
      ? 'holds several [[template]]; write one file for each'
      : 'has no [template] table';
    return failed(...errors, resourceError(source, null, what));
  }
  const { values, problems } = readFields(source, table as Record<string, unknown>, options);
  errors.push(...problems);
  if (values !== null) errors.push(...contradictions(source, values));
  if (values === null || errors.length > 0) return failed(...errors);
  return {
    resource: assemble(source.file, values, options),
    errors: [],
    warnings: warningsFor(source.file, values),
  };
}

function readFields(
  source: ResourceFile,
  table: Record<string, unknown>,
  context: FieldContext,
): { readonly values: FieldValues | null; readonly problems: BirdfeedError[] } {
  const problems: BirdfeedError[] = [];
  for (const name of Object.keys(table)) {
    if ((FIELD_NAMES as readonly string[]).includes(name)) continue;
    problems.push(resourceError(source, name, `is not a field${didYouMean(name, FIELD_NAMES)}`));
  }
  const values: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const { absent, read } = RESOURCE_FIELDS[name];
    try {
      if (table[name] === undefined && absent === REQUIRED) throw new FieldError('is missing');
      values[name] = table[name] === undefined ? absent : read(table[name], context);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      problems.push(resourceError(source, name, error.message));
    }
  }
  return { values: problems.length === 0 ? (values as FieldValues) : null, problems };
}

function contradictions(source: ResourceFile, values: FieldValues): BirdfeedError[] {
  const errors: BirdfeedError[] = [];
  if (values.uid !== null && values.owner !== null)
    errors.push(resourceError(source, 'owner', 'is given beside uid; keep one'));
  if (values.gid !== null && values.group !== null)
    errors.push(resourceError(source, 'group', 'is given beside gid; keep one'));
  if (values.model === 'keys') return errors;
  if (values.min_keys !== null)
    errors.push(resourceError(source, 'min_keys', `has no meaning with model = "${values.model}"`));
  if (values.schema.length > 0)
    errors.push(resourceError(source, 'schema', `has no meaning with model = "${values.model}"`));
  return errors;
}

function warningsFor(file: string, values: FieldValues): string[] {
  const warnings: string[] = [];
  if (values.check_cmd !== null && !/\{\{\s*\.?src\s*\}\}/.test(values.check_cmd)) {
    warnings.push(`${file}: check_cmd does not use {{src}}, so it cannot check the new file`);
  }
  if (values.model !== 'keys' && (values.keys.length > 0 || values.prefix !== null)) {
    warnings.push(
      `${file}: keys and prefix have no effect with model = "${values.model}", which knows its keys`,
    );
  }
  if (!values.dest.startsWith('/')) {
    const idle = (['mode', 'uid', 'gid', 'owner', 'group'] as const).filter((name) => values[name] !== null);
    if (idle.length > 0)
      warnings.push(
        `${file}: without effect, since there is no copy (dest is not absolute): ${idle.join(', ')}`,
      );
  }
  return warnings;
}

function assemble(file: string, values: FieldValues, options: ResourceOptions): Resource {
  const destination = values.dest.startsWith('/') ? values.dest : null;
  const prefix = normalKey(`/${options.globalPrefix}/${values.prefix ?? ''}`);
  return {
    file,
    src: values.src,
    dest: values.dest,
    name: destination === null ? values.dest : posix.basename(destination),
    destination,
    set: values.set ?? (values.model === 'keys' ? ownSet(file) : options.defaultSet),
    model: values.model,
    dialects: values.dialect,
    prefix,
    keys: values.keys.map((key) => resourceKey(prefix, key)),
    minKeys: values.min_keys,
    schema: values.schema.map((rule) => ({
      ...rule,
      file: isAbsolute(rule.file) ? rule.file : resolve(dirname(file), rule.file),
    })),
    mode: values.mode,
    uid: values.uid,
    gid: values.gid,
    owner: values.owner,
    group: values.group,
    checkCmd: values.check_cmd,
    reloadCmd: values.reload_cmd,
    checkMain: values.check_main,
  };
}

/** A plain resource that names no set stands alone, as in confd: what fails in it holds up nothing else. */
function ownSet(file: string): string {
  return (
    posix
      .basename(file, '.toml')
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '') || 'resource'
  );
}

function resourceKey(prefix: string, key: string): ResourceKey {
  const path = normalKey(key);
  return key.startsWith('//') ? { path, name: `/${path}` } : { path: prefix + path, name: path };
}

/** One slash in front and between, none at the end; the root is the empty text. */
function normalKey(key: string): string {
  return key
    .split('/')
    .filter((part) => part !== '')
    .map((part) => `/${part}`)
    .join('');
}

/** Two copies may have the same file name in different directories; within the generation they get their whole path. */
function withUniqueNames(resources: readonly Resource[]): Resource[] {
  return resources.map((resource) => {
    const { destination } = resource;
    if (destination === null || !resources.some((other) => clash(resource, other))) return resource;
    return { ...resource, name: destination.slice(1).replaceAll('/', '_') };
  });
}

/** Whether both would be used together and have the same name within a generation. */
function clash(a: Resource, b: Resource): boolean {
  return a !== b && a.set === b.set && a.name === b.name && shareDialect(a, b);
}

/** Whether both would be used together and be copied to the same place, from whatever set. */
function collide(a: Resource, b: Resource): boolean {
  return a !== b && a.destination !== null && a.destination === b.destination && shareDialect(a, b);
}

function shareDialect(a: Resource, b: Resource): boolean {
  return (
    a.dialects === null || b.dialects === null || a.dialects.some((dialect) => b.dialects!.includes(dialect))
  );
}

function conflicts(resources: readonly Resource[]): BirdfeedError[] {
  const errors: BirdfeedError[] = [];
  for (const [index, resource] of resources.entries()) {
    const earlier = resources
      .slice(0, index)
      .find((other) => clash(resource, other) || collide(resource, other));
    if (earlier === undefined) continue;
    errors.push(
      resourceError(resource, 'dest', `is ${JSON.stringify(resource.dest)}, as in ${earlier.file}`),
    );
  }
  return errors;
}

function danglingMains(resources: readonly Resource[]): BirdfeedError[] {
  return resources
    .filter(
      ({ set, checkMain }) =>
        checkMain !== null && !resources.some((r) => r.set === set && r.name === checkMain),
    )
    .map((resource) => {
      const names = resources.filter((other) => other.set === resource.set).map((other) => other.name);
      const hint = didYouMean(resource.checkMain!, names);
      return resourceError(
        resource,
        'check_main',
        `names ${JSON.stringify(resource.checkMain)}, which no resource of the set writes${hint}`,
      );
    });
}

function syntaxError(file: string, error: unknown): BirdfeedError {
  if (!(error instanceof TomlError)) throw error;
  const reason = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
  const { line, column } = error;
  return new BirdfeedError('BF_RESOURCE_FILE', `${file}:${line}:${column}: not valid TOML: ${reason}`, {
    details: { file, line, column },
  });
}

function unknownTable(source: ResourceFile, name: string): BirdfeedError {
  const isField = (FIELD_NAMES as readonly string[]).includes(name);
  const hint = isField ? '; put it below [template]' : didYouMean(name, ['template']);
  return resourceError(source, name, `does not belong at the top of the file${hint}`);
}

function resourceError(
  source: { file: string; text?: string },
  field: FieldName | string | null,
  what: string,
): BirdfeedError {
  const line = field === null || source.text === undefined ? undefined : lineOf(source.text, field);
  const place = line === undefined ? source.file : `${source.file}:${line}`;
  return new BirdfeedError('BF_RESOURCE_FILE', `${place}: ${field === null ? '' : `${field} `}${what}`, {
    details: {
      file: source.file,
      ...(field === null ? {} : { field }),
      ...(line === undefined ? {} : { line }),
    },
  });
}

/** The TOML parser does not say where a value stood. */
function lineOf(text: string, field: string): number | undefined {
  const quoted = field.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`^\\s*(?:"${quoted}"|${quoted}\\s*[.=]|\\[+\\s*(?:template\\.)?${quoted}\\b)`);
  const index = text.split('\n').findIndex((line) => pattern.test(line));
  return index === -1 ? undefined : index + 1;
}
