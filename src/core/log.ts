/**
 * The part of pino's interface that the project uses. warn and error take fields and a fixed message, so that
 * they can be counted and searched; only `app/` holds a real logger and passes it down.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
