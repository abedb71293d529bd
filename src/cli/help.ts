import {
  fileEntry,
  OPTION_GROUPS,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type OptionSpec,
} from '../config/options.ts';
import { COMMANDS, type CommandSpec, GLOBAL_SWITCHES } from './commands.ts';

const WIDTH = 100;
const COLUMN = 30;

/** `birdfeed --help`: purpose, commands, every option with its variable, examples. */
export function mainHelp(): string {
  const lines = [
    'birdfeed feeds BIRD: it watches a datastore, renders BIRD configuration, publishes it atomically, proves that BIRD',
    'loaded it, and boots from its cache when the datastore is gone.',
    '',
    'Usage: birdfeed [COMMAND] [OPTIONS]',
    '',
    'Commands:',
    ...COMMANDS.flatMap((command) => entry(command.name, command.summary)),
    '',
  ];
  for (const group of OPTION_GROUPS) {
    lines.push(`${group}:`);
    for (const name of OPTION_NAMES)
      if (OPTIONS[name].group === group) lines.push(...optionEntry(OPTIONS[name]));
    if (group === 'Run')
      for (const [flag, help] of Object.entries(GLOBAL_SWITCHES)) lines.push(...entry(`--${flag}`, help));
    lines.push('');
  }
  lines.push(
    'Options may also stand in the configuration file (dashes become underscores) and in the variable named after "env".',
    'Precedence: flag, environment, file, default.',
    '',
    'Examples:',
    ...COMMANDS.flatMap((command) => command.examples.slice(0, 2).map((example) => `  ${example}`)),
    '',
    'Exit codes: 0 done, 1 findings or would change, 64 usage, 65 template, data or check failed, 69 BIRD refused,',
    '73 cannot write, 75 datastore unreachable or held, 77 permission, 78 configuration.',
  );
  return `${lines.join('\n')}\n`;
}

/** `birdfeed COMMAND --help`. */
export function commandHelp(command: CommandSpec): string {
  const switches = Object.entries(command.switches).flatMap(([flag, help]) => entry(`--${flag}`, help));
  const lines = [
    `Usage: ${command.usage}`,
    '',
    command.details,
    ...(switches.length > 0 ? ['', ...switches] : []),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
    'All options: birdfeed --help',
  ];
  return `${lines.join('\n')}\n`;
}

function optionEntry(spec: OptionSpec): string[] {
  const left = spec.type === 'flag' ? `--${spec.flag}` : `--${spec.flag} ${spec.value ?? 'VALUE'}`;
  const choices = spec.choices === undefined ? '' : ` {${spec.choices.join('|')}}`;
  const fallback = spec.default === null || spec.type === 'flag' ? '' : ` [${spec.default}]`;
  const env = spec.env[0] === undefined ? '' : ` (env ${spec.env.join(', ')})`;
  return entry(left, `${spec.help}${choices}${fallback}${env}`);
}

function entry(left: string, right: string): string[] {
  const rows = wrap(right, WIDTH - COLUMN);
  const head = `  ${left}`;
  const first = head.length < COLUMN - 1 ? [head.padEnd(COLUMN) + rows.shift()!] : [head];
  return [...first, ...rows.map((row) => ' '.repeat(COLUMN) + row)];
}

function wrap(text: string, width: number): string[] {
  const rows: string[] = [];
  let row = '';
  for (const word of text.split(' ')) {
    if (row !== '' && row.length + 1 + word.length > width) {
      rows.push(row);
      row = word;
    } else {
      row = row === '' ? word : `${row} ${word}`;
    }
  }
  rows.push(row);
  return rows;
}

/** The option table of README.md, as Markdown; a test holds the README to it. */
export function optionTable(): string {
  const rows = OPTION_NAMES.map((name: OptionName) => {
    const spec: OptionSpec = OPTIONS[name];
    const choices =
      spec.choices === undefined
        ? ''
        : `; one of ${spec.choices.map((choice) => `\`${choice}\``).join(', ')}`;
    const variables = spec.env.map((variable) => `\`${variable}\``).join(' ');
    return `| \`--${spec.flag}\` | \`${fileEntry(name)}\` | ${variables} | ${spec.default === null ? '' : `\`${spec.default}\``} | ${spec.help.replaceAll('|', '\\|')}${choices} |`;
  });
  return ['| flag | file entry | environment | default | meaning |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}
