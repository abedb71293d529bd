import { StringDecoder } from 'node:string_decoder';

/** One line of a reply. `code` is the four digits BIRD sent, or those it would have: continuation lines inherit them. */
export interface ReplyLine {
  readonly code: string;
  readonly text: string;
}

/** A complete reply: `code` and `text` are those of its last line, which is also in `lines`. */
export interface Reply {
  readonly code: string;
  readonly text: string;
  readonly lines: readonly ReplyLine[];
  /** True when lines in the middle were dropped to keep memory bounded. */
  readonly truncated: boolean;
}

export type ReplyEvent =
  | { readonly type: 'reply'; readonly reply: Reply }
  /** A notice BIRD sends by itself, between any two lines; never part of an answer. */
  | { readonly type: 'notice'; readonly text: string }
  /** Not BIRD's protocol; the connection is of no more use. */
  | { readonly type: 'garbage'; readonly line: string };

export interface ReplyLimits {
  /** Characters of one reply that are kept. 10,000 rows of `show protocols` take about 1 MB. */
  readonly maxReply: number;
  /** Characters of one line. BIRD formats lines into buffers of a few kB. */
  readonly maxLine: number;
}

const DEFAULT_LIMITS: ReplyLimits = { maxReply: 16 * 1024 * 1024, maxLine: 64 * 1024 };

export interface ReplyParser {
  /** Takes bytes as they come, split anywhere, and gives what is complete by now. */
  push(chunk: Uint8Array): ReplyEvent[];
}

/**
 * Parser of BIRD's control-socket protocol: `CODE-text` (more follows), ` text` (same code, more follows), `CODE text`
 * (last line), `+text` (asynchronous notice). The same in 1.6, 2.x and 3.x. Nothing but these forms is accepted: a
 * reader that skips what it does not know reports the wrong answer for the wrong command from then on.
 */
export function createReplyParser(limits: ReplyLimits = DEFAULT_LIMITS): ReplyParser {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let lines: ReplyLine[] = [];
  let code: string | null = null;
  let kept = 0;
  let truncated = false;

  const keep = (line: ReplyLine): void => {
    if (kept + line.text.length > limits.maxReply) {
      truncated = true;
      return;
    }
    kept += line.text.length;
    lines.push(line);
  };

  const finish = (last: ReplyLine): ReplyEvent => {
    const reply: Reply = { ...last, lines: [...lines, last], truncated };
    lines = [];
    code = null;
    kept = 0;
    truncated = false;
    return { type: 'reply', reply };
  };

  const take = (line: string): ReplyEvent | null => {
    if (line.startsWith('+')) return { type: 'notice', text: line.slice(1) };
    if (line.startsWith(' ')) {
      if (code === null) return { type: 'garbage', line };
      keep({ code, text: line.slice(1) });
      return null;
    }
    const match = /^(\d{4})([ -])(.*)$/s.exec(line);
    if (match === null) return { type: 'garbage', line };
    const parsed: ReplyLine = { code: match[1]!, text: match[3]! };
    if (match[2] === ' ') return finish(parsed);
    code = parsed.code;
    keep(parsed);
    return null;
  };

  return {
    push(chunk) {
      const parts = (
        rest + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      ).split('\n');
      rest = parts.pop() ?? '';
      const events = parts.map(take).filter((event) => event !== null);
      if (rest.length > limits.maxLine) {
        events.push({ type: 'garbage', line: rest.slice(0, 200) });
        rest = '';
      }
      return events;
    },
  };
}
