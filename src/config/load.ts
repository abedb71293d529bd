import { BirdfeedError } from '../core/errors.ts';
import { didYouMean } from '../core/suggest.ts';
import {
  fileEntry,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type OptionSpec,
  type Options,
} from './options.ts';

/** Where each value came from, for `--print-config`. */
export type OptionOrigin = 'default' | 'file' | 'environment' | 'flag';

export interface LoadedOptions {
  readonly options: Options;
  readonly origins: Readonly<Record<OptionName, OptionOrigin>>;
}

export interface ParsedArguments {
  readonly flags: ReadonlyMap<OptionName, string>;
  readonly positionals: readonly string[];
  /** Flags that are not options: `help`, `version`, `print-config` and those of commands. */
  readonly switches: ReadonlySet<string>;
}

const NAME_BY_FLAG = new Map(OPTION_NAMES.map((name) => [OPTIONS[name].flag as string, name]));

/**
 * Splits the command line into options, switches and positional words. `knownSwitches` are the flags without a value
 * that a command understands. Single-dash spellings (`-onetime`) are accepted, since confd's users type them.
 * @throws BF_USAGE naming the flag, with a suggestion
 */
export function parseArguments(argv: readonly string[], knownSwitches: readonly string[]): ParsedArguments {
  const flags = new Map<OptionName, string>();
  const switches = new Set<string>();
  const positionals: string[] = [];
  const words = [...argv];
  while (words.length > 0) {
    const word = words.shift()!;
    if (word === '--') {
      positionals.push(...words);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const [flag, inline] = splitFlag(word.replace(/^--?/, ''));
    if (knownSwitches.includes(flag)) {
      switches.add(flag);
      continue;
    }
    const name = NAME_BY_FLAG.get(flag);
    if (name === undefined) throw unknownFlag(word, knownSwitches);
    const spec: OptionSpec = OPTIONS[name];
    const value = inline ?? (spec.type === 'flag' ? 'true' : words.shift());
    if (value === undefined)
      throw new BirdfeedError('BF_USAGE', `option --${flag} needs a value (${spec.value ?? 'VALUE'})`);
    const earlier = flags.get(name);
    flags.set(name, spec.type === 'list' && earlier !== undefined ? `${earlier},${value}` : value);
  }
  return { flags, positionals, switches };
}

function splitFlag(text: string): [string, string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function unknownFlag(word: string, knownSwitches: readonly string[]): BirdfeedError {
  const flag = word.replace(/^-+/, '').split('=')[0]!;
  const hint = didYouMean(flag, [...NAME_BY_FLAG.keys(), ...knownSwitches]);
  return new BirdfeedError('BF_USAGE', `unknown option ${word.split('=')[0]}${hint}; see birdfeed --help`);
}

/**
 * Merges defaults < configuration file < environment < flags into typed options.
 * `file` is the parsed TOML table with the path it came from.
 * @throws BF_USAGE for a bad flag or variable, BF_CONFIG_FILE for a bad entry; both name the place and what is allowed
 */
export function resolveOptions(
  flags: ReadonlyMap<OptionName, string>,
  env: Readonly<Record<string, string | undefined>>,
  file: { readonly path: string; readonly table: Readonly<Record<string, unknown>> } | null,
): LoadedOptions {
  if (file !== null) rejectUnknownEntries(file);
  const options: Record<string, unknown> = {};
  const origins: Record<string, OptionOrigin> = {};
  for (const name of OPTION_NAMES) {
    const found = findValue(name, flags, env, file);
    options[name] =
      found.text === null ? null : parseValue(OPTIONS[name], found.text, found.where, found.code);
    origins[name] = found.origin;
  }
  return Object.freeze({
    options: Object.freeze(options) as Options,
    origins: origins as Record<OptionName, OptionOrigin>,
  });
}

interface FoundValue {
  readonly text: string | null;
  readonly origin: OptionOrigin;
  readonly where: string;
  readonly code: 'BF_USAGE' | 'BF_CONFIG_FILE';
}

function findValue(
  name: OptionName,
  flags: ReadonlyMap<OptionName, string>,
  env: Readonly<Record<string, string | undefined>>,
  file: { readonly path: string; readonly table: Readonly<Record<string, unknown>> } | null,
): FoundValue {
  const spec: OptionSpec = OPTIONS[name];
  const flag = flags.get(name);
  if (flag !== undefined)
    return { text: flag, origin: 'flag', where: `option --${spec.flag}`, code: 'BF_USAGE' };
  // A variable that is set but empty counts as unset: manifests often carry empty placeholders.
  const variable = spec.env.find((candidate) => (env[candidate] ?? '') !== '');
  if (variable !== undefined) {
    const text = variable.endsWith('DATASTORE_TYPE') ? calicoDatastore(env[variable]!) : env[variable]!;
    return { text, origin: 'environment', where: `environment variable ${variable}`, code: 'BF_USAGE' };
  }
  const entry = file?.table[fileEntry(name)];
  if (file !== null && entry !== undefined) {
    return {
      text: entryText(spec, entry, file.path, fileEntry(name)),
      origin: 'file',
      where: `${file.path}: ${fileEntry(name)}`,
      code: 'BF_CONFIG_FILE',
    };
  }
  return { text: spec.default, origin: 'default', where: `default of --${spec.flag}`, code: 'BF_USAGE' };
}

/** Calico spells its datastores `etcdv3` and `kubernetes`. */
function calicoDatastore(text: string): string {
  return text.toLowerCase() === 'etcdv3' ? 'etcd' : text;
}

function rejectUnknownEntries(file: {
  readonly path: string;
  readonly table: Readonly<Record<string, unknown>>;
}): void {
  const known = OPTION_NAMES.map(fileEntry);
  for (const entry of Object.keys(file.table)) {
    if (known.includes(entry)) continue;
    throw new BirdfeedError(
      'BF_CONFIG_FILE',
      `${file.path}: unknown entry "${entry}"${didYouMean(entry, known)}`,
    );
  }
}

function entryText(spec: OptionSpec, entry: unknown, path: string, name: string): string {
  if (spec.type === 'list' && Array.isArray(entry) && entry.every((item) => typeof item === 'string'))
    return entry.join(',');
  const accepted =
    spec.type === 'flag'
      ? typeof entry === 'boolean'
      : spec.type === 'integer'
        ? Number.isInteger(entry)
        : typeof entry === 'string';
  if (accepted) return String(entry);
  const wanted = { flag: 'true or false', integer: 'a whole number', list: 'a list of strings' } as Partial<
    Record<OptionSpec['type'], string>
  >;
  throw new BirdfeedError('BF_CONFIG_FILE', `${path}: ${name} must be ${wanted[spec.type] ?? 'a string'}`);
}

function parseValue(
  spec: OptionSpec,
  text: string,
  where: string,
  code: 'BF_USAGE' | 'BF_CONFIG_FILE',
): unknown {
  const fail = (wanted: string): BirdfeedError =>
    new BirdfeedError(code, `${where}: ${spec.secret === true ? 'the value' : `"${text}"`} is not ${wanted}`);
  switch (spec.type) {
    case 'text':
      return text;
    case 'list':
      return Object.freeze(
        text
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      );
    case 'flag':
      if (/^(true|1|yes|on)$/i.test(text)) return true;
      if (/^(false|0|no|off)$/i.test(text)) return false;
      throw fail('true or false');
    case 'integer':
      if (!/^\d{1,9}$/.test(text)) throw fail('a whole number');
      return Number(text);
    case 'share': {
      const percent = /^(\d{1,3})%$/.exec(text)?.[1];
      const share = percent === undefined ? Number(text) : Number(percent) / 100;
      if (text.trim() === '' || !(share >= 0 && share <= 1)) throw fail('a share such as 50% or 0.5');
      return share;
    }
    case 'duration': {
      const milliseconds = parseDuration(text);
      if (milliseconds === null) throw fail('a duration such as 250ms, 30s, 5m or 1h');
      return milliseconds;
    }
    case 'choice':
      if (spec.choices?.includes(text) === true) return text;
      throw new BirdfeedError(
        code,
        `${where}: "${text}" is not one of ${spec.choices?.join(', ')}${didYouMean(text, spec.choices ?? [])}`,
      );
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1m30s`, `250ms`, `0` → milliseconds; null when it is not a duration. */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g))
    total += Number(amount) * UNIT_MS[unit!]!;
  return total;
}
