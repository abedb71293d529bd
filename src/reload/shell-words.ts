/** The paths that a command may name. */
export interface CommandPaths {
  /** The file to look at: staged for a check, published for a reload. */
  readonly src: string;
  /** The file's destination, or the same as `src` when it has none. */
  readonly dest: string;
}

const PLACEHOLDER = /^\{\{\s*\.?(src|dest)\s*\}\}/;

/**
 * Puts paths into an operator's command: `{{src}}`, `{{dest}}`, with or without confd's dot. A path becomes exactly one
 * word whether or not the operator put quotes around the placeholder, as many confd files do.
 */
export function expandCommand(command: string, paths: CommandPaths): string {
  let quote: '"' | "'" | null = null;
  let out = '';
  for (let i = 0; i < command.length; ) {
    const match = PLACEHOLDER.exec(command.slice(i, i + 64));
    if (match !== null) {
      out += quotePath(paths[match[1] as 'src' | 'dest'], quote);
      i += match[0].length;
      continue;
    }
    const char = command[i]!;
    if (char === '\\' && quote !== "'") {
      out += command.slice(i, i + 2);
      i += 2;
      continue;
    }
    if (quote === null && (char === '"' || char === "'")) quote = char;
    else if (char === quote) quote = null;
    out += char;
    i += 1;
  }
  return out;
}

/** POSIX shell, 2.2 Quoting: within '…' only ' ends, within "…" the four characters $ ` " \ are special. */
function quotePath(path: string, quote: '"' | "'" | null): string {
  if (quote === '"') return path.replace(/[$`"\\]/g, '\\$&');
  const inner = path.replaceAll("'", `'\\''`);
  if (quote === "'") return inner;
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${inner}'`;
}
