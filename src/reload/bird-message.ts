/** A message of BIRD about a configuration: where and what. */
export interface BirdMessage {
  /** As BIRD printed it; null when the message names no place in a file. */
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

/**
 * Parses one message about a configuration, from a reply (`8002 …`) or from stderr of `bird -p`:
 * `bird: PATH:LINE:COL TEXT` (1.6, 2.x), `bird: DATE TIME [THREAD] <FATAL> PATH:LINE:COL TEXT` (3.x), `PATH, line N: TEXT`
 * (older 1.x). Columns are dropped: 1.6 counts them from the statement, 2.x from the token.
 */
export function parseBirdMessage(text: string): BirdMessage {
  const bare = text.replace(/^bird6?: /, '').replace(/^(?:\S+ \S+ )?(?:\[\w+\] )?<[A-Z]+> /, '');
  const match = /^(.+?):(\d+):\d+:? (.*)$/.exec(bare) ?? /^(.+?), line (\d+):? (.*)$/.exec(bare);
  if (match === null) return { file: null, line: null, message: bare };
  return { file: match[1]!, line: Number(match[2]), message: match[3]! };
}

/** The message that explains a failed `bird -p`: the first that names a place and is not a warning, else the last line. */
export function findBirdMessage(output: string): BirdMessage {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !line.includes('<WARN>'));
  const messages = lines.map(parseBirdMessage);
  return messages.find((m) => m.file !== null) ?? messages.at(-1) ?? { file: null, line: null, message: '' };
}

/**
 * The reason (`No such file or directory`, `Permission denied`) when BIRD could not open the very file it was told to
 * read: nothing is said about its content. Replies say `PATH: REASON`, `bird -p` says `Unable to open … PATH: REASON`.
 */
export function unreadableReason(message: BirdMessage, path: string): string | null {
  if (message.file !== null) return null;
  const text = message.message.replace(/^Unable to open configuration file /, '');
  return text.startsWith(`${path}: `) ? text.slice(path.length + 2) : null;
}

/**
 * True when the configuration was refused because of another file that could not be opened (an include, the log). That
 * may be different a minute later without any change of the configuration, so it is no verdict on the content.
 */
export function blamesOtherFile(message: BirdMessage): boolean {
  return /^Unable to open (?:included|log) file /.test(message.message);
}
