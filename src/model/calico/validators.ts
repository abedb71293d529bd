import { quoted } from './result.ts';
import { type StoredValue, schemas } from './schemas/all.ts';
import type { ResourceKind } from './types.ts';
import * as generated from './validators.generated.js';

/** What a compiled schema says about a value that it refuses (ajv's error object, as far as it is used). */
interface SchemaError {
  /** JSON pointer to the bad value. */
  readonly instancePath: string;
  readonly keyword: string;
}

/** A compiled schema. After a refusal, `errors` holds the reasons until the next call. */
export interface Validator<K extends ResourceKind> {
  (value: unknown): value is StoredValue<K>;
  readonly errors?: readonly SchemaError[] | null;
}

export const validators: { readonly [K in ResourceKind]: Validator<K> } = {
  Node: generated.validateNode,
  BGPConfiguration: generated.validateBGPConfiguration,
  BGPPeer: generated.validateBGPPeer,
  BGPFilter: generated.validateBGPFilter,
  IPPool: generated.validateIPPool,
  BlockAffinity: generated.validateBlockAffinity,
  Service: generated.validateService,
  EndpointSlice: generated.validateEndpointSlice,
  Secret: generated.validateSecret,
  EndpointStatus: generated.validateEndpointStatus,
};

/** The field that a schema refused, as users write it, and what is allowed there. Shows no value. */
export interface Refusal {
  readonly field: string;
  readonly reason: string;
}

/** What is wrong with a stored value, or null. The first fault is enough: users mend one thing at a time. */
export function refusal(kind: ResourceKind, value: unknown): Refusal | null {
  const validate: Validator<ResourceKind> = validators[kind];
  if (validate(value)) return null;
  const error = validate.errors?.[0];
  if (error === undefined) return { field: '', reason: 'is not valid' };
  const at = segments(error.instancePath);
  const rule = ruleFor(schemas[kind].json, at);
  return {
    field: at.reduce(extendField, ''),
    reason: `must be ${allowed(error.keyword, rule, dig(value, at))}`,
  };
}

function allowed(keyword: string, rule: Rule, value: unknown): string {
  const { enum: values, minimum, maximum, maxLength, minItems, maxItems, description, type } = rule;
  switch (keyword) {
    case 'enum':
      return `one of ${values?.filter(Boolean).join(', ')}`;
    case 'minimum':
    case 'maximum':
      return `${minimum} to ${maximum}`;
    case 'maxLength':
      return `at most ${maxLength} characters long`;
    case 'minItems':
    case 'maxItems':
      return minItems === maxItems ? `a list of ${minItems}` : `a list of ${minItems ?? 0} to ${maxItems}`;
    case 'pattern':
      return `${description}`;
    default:
      return `${wantedTypes(type)}, not ${typeOf(value)}`;
  }
}

/** The keywords that the schemas use. */
interface Rule {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly description?: string;
  readonly items?: Rule;
  readonly properties?: Readonly<Record<string, Rule>>;
  readonly additionalProperties?: Rule;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Rule>>;
}

/** The part of a schema that a value at `path` has to satisfy. */
function ruleFor(schema: Rule, path: readonly string[]): Rule {
  const resolve = (rule: Rule | undefined): Rule =>
    rule?.$ref === undefined ? (rule ?? {}) : (schema.$defs?.[rule.$ref.replace('#/$defs/', '')] ?? {});
  let rule = schema;
  for (const name of path) rule = resolve(rule.items ?? rule.properties?.[name] ?? rule.additionalProperties);
  return rule;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

function wantedTypes(types: unknown): string {
  const wanted = [types].flat().filter((type) => type !== 'null');
  return wanted.map((type) => TYPE_NAMES[String(type)] ?? String(type)).join(' or ');
}

function typeOf(value: unknown): string {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return type === 'boolean' ? 'a boolean' : (TYPE_NAMES[type] ?? type);
}

/** The parts of a JSON pointer. */
function segments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function dig(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = (found as Readonly<Record<string, unknown>>)[name];
  return found;
}

/** A field below another: `a.b`, `a[0]`, or `a["k8s.io/x"]` for a name that is not a word. */
export function extendField(field: string, name: string): string {
  if (/^\d{1,6}$/.test(name)) return `${field}[${name}]`;
  if (!/^\w{1,100}$/.test(name)) return `${field}[${quoted(name)}]`;
  return field === '' ? name : `${field}.${name}`;
}
