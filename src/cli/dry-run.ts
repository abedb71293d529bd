import { createLifecycle } from '../app/lifecycle.ts';
import { createLogger } from '../app/log.ts';
import { type OnetimeResult, withOnetime } from '../app/onetime.ts';
import type { Options } from '../config/options.ts';

/** One rendering that writes nothing and tells nobody; only warnings are logged unless more was asked for. */
export async function dryRun<T>(
  options: Options,
  env: NodeJS.ProcessEnv,
  use: (result: OnetimeResult) => Promise<T>,
): Promise<T> {
  const level = options.logLevel === 'info' ? 'warn' : options.logLevel;
  const log = await createLogger({ level, format: options.logFormat });
  const lifecycle = createLifecycle(log);
  try {
    return await withOnetime({ ...options, noop: true, reload: 'none' }, env, log, lifecycle, use);
  } finally {
    lifecycle.close();
  }
}
