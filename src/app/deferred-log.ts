import type { Logger } from '../core/log.ts';

type Level = keyof Logger;

/**
 * A logger for the time before there is one: what is said meanwhile is kept and said again when `attach` names the real
 * logger. Loading that takes as long as putting a cached configuration in place, which comes first.
 */
export function createDeferredLogger(): Logger & { attach(log: Logger): void } {
  let target: Logger | null = null;
  const kept: (readonly [Level, object, string])[] = [];
  const say =
    (level: Level) =>
    (fields: object, message: string): void => {
      if (target === null) kept.push([level, fields, message]);
      else target[level](fields, message);
    };
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    attach(log) {
      target = log;
      for (const [level, fields, message] of kept.splice(0)) log[level](fields, message);
    },
  };
}
