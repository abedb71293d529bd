import { BirdfeedError } from '../../core/errors.ts';
import { compileGlob } from './glob.ts';

/** What is wrong with a value; never holds the value. */
export interface ValueFinding {
  /** `spec.asn`; null when the value as a whole is wrong. */
  readonly field: string | null;
  readonly message: string;
}

/** Says what is wrong with the value of a key, by the name templates see; null when nothing is or no rule covers it. */
export type CheckValue = (name: string, value: string) => ValueFinding | null;

export interface SchemaSource {
  /** Key pattern; null: every key. */
  readonly pattern: string | null;
  /** For messages. */
  readonly file: string;
  /** The file's content. */
  readonly text: string;
}

interface SchemaError {
  readonly instancePath: string;
  readonly message?: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Validate {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

/**
 * Compiles the schemas of a resource; the first rule whose pattern matches a key decides. ajv is loaded only here, since it
 * takes 50 ms. Rejects with BF_RESOURCE_FILE naming the file.
 */
export async function compileSchemas(sources: readonly SchemaSource[]): Promise<CheckValue> {
  if (sources.length === 0) return () => null;
  const compile = await loadCompiler();
  const rules = sources.map((source) => ({
    matches: source.pattern === null ? () => true : patternOf(source).matches,
    validate: compile(source),
  }));
  return (name, value) => {
    const rule = rules.find(({ matches }) => matches(name));
    return rule === undefined ? null : checkText(value, rule.validate);
  };
}

function checkText(value: string, validate: Validate): ValueFinding | null {
  let data: unknown;
  try {
    data = JSON.parse(value);
  } catch {
    return { field: null, message: 'is not valid JSON' };
  }
  if (validate(data)) return null;
  const [error] = validate.errors ?? [];
  if (error === undefined) return { field: null, message: 'does not fit its schema' };
  return { field: fieldOf(error), message: messageOf(error) };
}

/** `/spec/peers/0/ip` as `spec.peers[0].ip`. */
function fieldOf({ instancePath }: SchemaError): string | null {
  if (instancePath === '') return null;
  const parts = instancePath.slice(1).split('/');
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce(
    (path, name) => (/^\d+$/.test(name) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`),
    '',
  );
}

function messageOf({ keyword, params, message = 'does not fit its schema' }: SchemaError): string {
  if (keyword === 'additionalProperties')
    return `must not have the member ${JSON.stringify(params['additionalProperty'])}`;
  if (keyword === 'enum') return `must be one of ${JSON.stringify(params['allowedValues'])}`;
  return message;
}

function patternOf(source: SchemaSource): { matches(name: string): boolean } {
  try {
    return compileGlob(source.pattern ?? '*');
  } catch (error) {
    throw schemaError(source, `the key pattern ${(error as Error).message}`, error);
  }
}

async function loadCompiler(): Promise<(source: SchemaSource) => Validate> {
  // By their default exports: a bundle has no names for what a CommonJS module assigns to module.exports.
  const [{ default: ajv7 }, { default: ajv2020 }, { default: formats }] = await Promise.all([
    import('ajv'),
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ]);
  const options = {
    allErrors: false,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    logger: false,
  } as const;
  const draft7 = formats.default(new ajv7.Ajv(options));
  const draft2020 = formats.default(new ajv2020.Ajv2020(options));
  return (source) => {
    try {
      const schema = JSON.parse(source.text) as { readonly $schema?: string; readonly $async?: false };
      const ajv = schema.$schema?.includes('2020-12') ? draft2020 : draft7;
      return ajv.compile(schema) as Validate;
    } catch (error) {
      throw schemaError(source, (error as Error).message, error);
    }
  };
}

function schemaError({ file }: SchemaSource, reason: string, cause: unknown): BirdfeedError {
  return new BirdfeedError('BF_RESOURCE_FILE', `schema ${file}: ${reason}`, { cause, details: { file } });
}
