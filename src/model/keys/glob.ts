/** A key pattern as confd has it, which is Go's path.Match: `*` and `?` never match a slash. */
export interface Glob {
  /** What every match begins with, up to a slash; nothing to look at lies elsewhere. Normal form. */
  readonly folder: string;
  matches(name: string): boolean;
}

/** Throws an Error when the pattern is malformed (an open class, a trailing backslash). */
export function compileGlob(pattern: string): Glob {
  const expression = new RegExp(`^${translate(pattern)}$`, 'su');
  const literal = /^(?:[^*?[\\]*)/.exec(pattern)![0];
  const isLiteral = literal.length === pattern.length;
  return {
    folder: isLiteral ? pattern : literal.slice(0, Math.max(0, literal.lastIndexOf('/'))),
    matches: isLiteral ? (name) => name === pattern : (name) => expression.test(name),
  };
}

function translate(pattern: string): string {
  let out = '';
  let at = 0;
  while (at < pattern.length) {
    const char = String.fromCodePoint(pattern.codePointAt(at)!);
    if (char === '[') {
      const end = endOfClass(pattern, at);
      out += translateClass(pattern.slice(at + 1, end));
      at = end + 1;
      continue;
    }
    if (char === '\\') {
      const escaped = pattern.codePointAt(at + 1);
      if (escaped === undefined) throw malformed(pattern);
      out += literally(String.fromCodePoint(escaped));
      at += 1 + String.fromCodePoint(escaped).length;
      continue;
    }
    out += char === '*' ? '[^/]*' : char === '?' ? '[^/]' : literally(char);
    at += char.length;
  }
  return out;
}

/** The index of the `]` that ends the class beginning at `start`. A class cannot be empty. */
function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '^') at += 1;
  const first = at;
  while (at < pattern.length && (pattern[at] !== ']' || at === first)) at += pattern[at] === '\\' ? 2 : 1;
  if (at >= pattern.length) throw malformed(pattern);
  return at;
}

function translateClass(body: string): string {
  const negated = body.startsWith('^');
  const items = Array.from((negated ? body.slice(1) : body).matchAll(/\\?([\s\S])(?:(-)\\?([\s\S]))?/gu));
  const inClass = (char: string): string => (/[\^\\[\]-]/.test(char) ? `\\${char}` : char);
  const set = items
    .map(([, from = '', dash, to = '']) =>
      dash === undefined ? inClass(from) : `${inClass(from)}-${inClass(to)}`,
    )
    .join('');
  // Go matches a class against any character but the slash.
  return `(?!/)[${negated ? '^' : ''}${set}]`;
}

function literally(char: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

function malformed(pattern: string): Error {
  return new Error(`${JSON.stringify(pattern)} is not a valid pattern`);
}
