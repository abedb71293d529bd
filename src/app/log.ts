import { styleText } from 'node:util';
import type { Logger } from '../core/log.ts';

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly format: 'auto' | 'json' | 'text';
}

/**
 * The process's logger: pino's JSON lines on standard error, or one readable line each on a terminal. pino is loaded
 * here and nowhere else. Writes are synchronous, so that the last lines before an exit are not lost.
 */
export async function createLogger(options: LogOptions): Promise<Logger> {
  const { default: pino } = await import('pino');
  const asText = options.format === 'text' || (options.format === 'auto' && process.stderr.isTTY === true);
  const base = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Nothing hands secrets to the log; this is the second lock on that door.
    redact: { paths: ['password', '*.password', 'etcdPassword', '*.etcdPassword'], censor: '[redacted]' },
  };
  const colour = process.stderr.isTTY === true && (process.env['NO_COLOR'] ?? '') === '';
  const stream = asText
    ? { write: (line: string) => void process.stderr.write(textLine(line, colour)) }
    : pino.destination({ fd: 2, sync: true });
  const logger: Logger = pino(base, stream);
  return logger;
}

const LEVEL_STYLE = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;

/** `14:03:11 info  message  key=value` */
export function textLine(json: string, colour: boolean): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as {
    level: keyof typeof LEVEL_STYLE;
    time: string;
    msg: string;
  };
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(
      ([key, value]) =>
        ` ${paint('dim', `${key}=`)}${typeof value === 'string' && !/[\s"]/.test(value) ? value : JSON.stringify(value)}`,
    )
    .join('');
  return `${paint('dim', time.slice(11, 19))} ${paint(LEVEL_STYLE[level], level.padEnd(5))} ${msg}${rest}\n`;
}
