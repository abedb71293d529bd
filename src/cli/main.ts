import { readFileSync } from 'node:fs';
import { parseArguments, resolveOptions } from '../config/load.ts';
import { fileEntry, OPTION_NAMES, OPTIONS, type OptionName, type OptionSpec } from '../config/options.ts';
import { BirdfeedError, EXIT } from '../core/errors.ts';
import { writeOut } from '../core/stdout.ts';
import { didYouMean } from '../core/suggest.ts';
import { VERSION } from '../core/version.ts';
import { COMMANDS, type CommandContext, type CommandSpec, GLOBAL_SWITCHES } from './commands.ts';

/**
 * Finds the command, resolves the options, runs it, and turns what it throws into one line and an exit code.
 * Nothing heavy is imported here: each command loads what it needs.
 */
async function main(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const switches = [
    ...Object.keys(GLOBAL_SWITCHES),
    ...COMMANDS.flatMap((command) => Object.keys(command.switches)),
  ];
  const parsed = parseArguments(argv.map(shortFlag), switches);
  const asksForHelp = parsed.positionals[0] === 'help';
  const words = asksForHelp ? parsed.positionals.slice(1) : parsed.positionals;
  const { command, args } = findCommand(words);
  if (parsed.switches.has('version')) return print(`birdfeed ${VERSION}\n`);
  if (asksForHelp || parsed.switches.has('help')) {
    const { commandHelp, mainHelp } = await import('./help.ts');
    return print(words.length > 0 ? commandHelp(command) : mainHelp());
  }
  rejectForeignSwitches(command, parsed.switches);
  const file = await readConfigFile(parsed.flags.get('config') ?? env['BIRDFEED_CONFIG'] ?? null, env);
  const loaded = resolveOptions(parsed.flags, env, file);
  const context: CommandContext = {
    ...loaded,
    args,
    switches: parsed.switches,
    env,
    out: writeOut,
  };
  if (parsed.switches.has('print-config')) return print(await printConfig(context));
  const run = await command.load();
  return run(context);
}

function shortFlag(word: string): string {
  return word === '-h' ? '--help' : word === '-V' ? '--version' : word;
}

function print(text: string): number {
  writeOut(text);
  return EXIT.ok;
}

function findCommand(positionals: readonly string[]): { command: CommandSpec; args: readonly string[] } {
  const [word, ...args] = positionals;
  if (word === undefined) return { command: COMMANDS[0]!, args: [] };
  const command = COMMANDS.find((candidate) => candidate.name === word);
  const names = COMMANDS.map((candidate) => candidate.name);
  if (command === undefined) {
    throw new BirdfeedError(
      'BF_USAGE',
      `unknown command "${word}"${didYouMean(word, names)}; there are ${names.join(', ')}`,
    );
  }
  if (command.words !== null && args[0] !== undefined && !command.words.includes(args[0])) {
    const allowed = command.words.length === 0 ? 'no further words' : command.words.join(', ');
    throw new BirdfeedError(
      'BF_USAGE',
      `${command.name} does not know "${args[0]}"${didYouMean(args[0], command.words)}; it takes ${allowed}`,
    );
  }
  return { command, args };
}

function rejectForeignSwitches(command: CommandSpec, switches: ReadonlySet<string>): void {
  for (const name of switches) {
    if (name in GLOBAL_SWITCHES || name in command.switches) continue;
    throw new BirdfeedError(
      'BF_USAGE',
      `--${name} does not go with the command ${command.name}; see birdfeed ${command.name} --help`,
    );
  }
}

async function readConfigFile(
  path: string | null,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ path: string; table: Record<string, unknown> } | null> {
  const home = env['XDG_CONFIG_HOME'] || (env['HOME'] ? `${env['HOME']}/.config` : null);
  const candidates =
    path !== null
      ? [path]
      : ['/etc/birdfeed/birdfeed.toml', ...(home === null ? [] : [`${home}/birdfeed/birdfeed.toml`])];
  for (const candidate of candidates) {
    let text: string;
    try {
      text = readFileSync(candidate, 'utf8');
    } catch (error) {
      if (path === null && (error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw new BirdfeedError(
        'BF_CONFIG_FILE',
        `cannot read the configuration file ${candidate}: ${(error as Error).message}`,
        { cause: error },
      );
    }
    const { parse, TomlError } = await import('smol-toml');
    try {
      return { path: candidate, table: parse(text) };
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const { line, column, message } = error;
      const reason = message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
      const place = `${candidate}:${line}:${column}`;
      throw new BirdfeedError('BF_CONFIG_FILE', `${place}: not valid TOML: ${reason}`, { cause: error });
    }
  }
  return null;
}

async function printConfig(context: CommandContext): Promise<string> {
  const rows = OPTION_NAMES.map((name: OptionName) => {
    const spec: OptionSpec = OPTIONS[name];
    const value: unknown = context.options[name];
    return {
      name: fileEntry(name),
      value: spec.secret === true && value !== null ? '[redacted]' : value,
      origin: context.origins[name],
    };
  });
  if (context.options.json)
    return `${JSON.stringify(Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest])), null, 2)}\n`;
  // TOML that can be saved as the configuration file; what is unset is a comment.
  const lines = rows.map(({ name, value, origin }) =>
    value === null
      ? `# ${name} is not set`
      : `${name} = ${tomlValue(OPTIONS[OPTION_NAMES.find((n) => fileEntry(n) === name)!], value)}  # ${origin}`,
  );
  return `${lines.join('\n')}\n`;
}

function tomlValue(spec: OptionSpec, value: unknown): string {
  if (spec.type === 'duration') return `"${String(value)}ms"`;
  if (spec.type === 'share') return `"${String(value)}"`;
  return JSON.stringify(value);
}

function report(error: unknown): number {
  if (error instanceof BirdfeedError) {
    process.stderr.write(`birdfeed: ${error.message}\n`);
    return error.exitCode;
  }
  process.stderr.write(
    `birdfeed: internal error, please report it: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return EXIT.dataError;
}

// No await at the top: the bundle is CommonJS.
main(process.argv.slice(2), process.env)
  .catch(report)
  .then((code) => {
    process.exitCode = code;
  });
