import { BirdfeedError } from '../core/errors.ts';

/**
 * Strings as long as this are refused. BIRD 2 and 3 die on strings of 4,096 bytes and more, in `bird -p` and in a running
 * daemon that is asked to check the file; what shipped templates print stays far below either number.
 */
export const SCAN_STRING_LIMIT = 1_000;

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const HASH = 0x23;
const STAR = 0x2a;
const SLASH = 0x2f;

/**
 * Looks through a BIRD configuration for bytes that harm BIRD before any BIRD sees it: NUL (accepted, and cuts strings), CR
 * and a byte order mark (refused), strings that crash it or never end. Comments are skipped, as BIRD skips them. Throws
 * BF_CHECK_FAILED with file and line.
 */
export function scanBirdFile(file: { readonly name: string; readonly content: Uint8Array }): void {
  const finding = firstFinding(file.content);
  if (finding === null) return;
  const { line, what } = finding;
  throw new BirdfeedError('BF_CHECK_FAILED', `${file.name}:${line}: ${what}`, {
    details: { file: file.name, line },
  });
}

interface Finding {
  readonly line: number;
  readonly what: string;
}

function firstFinding(bytes: Uint8Array): Finding | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { line: 1, what: 'starts with a byte order mark, which BIRD refuses' };
  }
  const control = firstControl(bytes);
  const string = firstBadString(bytes);
  if (control === null || string === null) return control ?? string;
  return control.line <= string.line ? control : string;
}

function firstControl(bytes: Uint8Array): Finding | null {
  const nul = bytes.indexOf(NUL);
  const cr = bytes.indexOf(CR);
  if (nul === -1 && cr === -1) return null;
  const isNul = nul !== -1 && (cr === -1 || nul < cr);
  const what = isNul ? 'has a NUL byte' : 'has a carriage return, which BIRD refuses';
  return { line: lineOf(bytes, isNul ? nul : cr), what };
}

function firstBadString(bytes: Uint8Array): Finding | null {
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === HASH) {
      at = indexOrEnd(bytes, LF, at);
    } else if (byte === SLASH && bytes[at + 1] === STAR) {
      at = endOfComment(bytes, at + 2);
    } else if (byte === QUOTE) {
      const end = endOfString(bytes, at + 1);
      if (bytes[end] !== QUOTE)
        return { line: lineOf(bytes, at), what: 'a string is not closed on its line' };
      const length = end - at - 1;
      if (length >= SCAN_STRING_LIMIT) {
        return {
          line: lineOf(bytes, at),
          what: `a string has ${length} bytes; at most ${SCAN_STRING_LIMIT - 1} are let through`,
        };
      }
      at = end + 1;
    } else {
      at += 1;
    }
  }
  return null;
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== LF) at += 1;
  return at;
}

function endOfComment(bytes: Uint8Array, from: number): number {
  for (let at = indexOrEnd(bytes, STAR, from); at < bytes.length; at = indexOrEnd(bytes, STAR, at + 1)) {
    if (bytes[at + 1] === SLASH) return at + 2;
  }
  return bytes.length;
}

function indexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from);
  return found === -1 ? bytes.length : found;
}

function lineOf(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LF); at !== -1 && at < offset; at = bytes.indexOf(LF, at + 1)) line += 1;
  return line;
}
