import type { Logger } from '../core/log.ts';

/** Signals of the process: TERM and INT end it in order, a second one at once; HUP re-reads the configuration. */
export interface Lifecycle {
  /** Aborted when the process shall end. */
  readonly signal: AbortSignal;
  /** Resolves when the process shall end, with the signal's name. */
  readonly ended: Promise<string>;
  /** Called on every SIGHUP from now on. */
  onHangup(handler: () => void): void;
  close(): void;
}

/** How long an orderly end may take before it becomes a hard one. Kubernetes kills after 30 s by default. */
const GRACE_MS = 20_000;

export function createLifecycle(log: Logger): Lifecycle {
  const controller = new AbortController();
  const hangups: (() => void)[] = [];
  let resolveEnd: (signal: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    resolveEnd = resolve;
  });
  const end = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      log.warn({ signal: name }, 'second signal: ending at once');
      process.exit(1);
    }
    controller.abort();
    resolveEnd(name);
    setTimeout(() => {
      log.error({ afterMs: GRACE_MS }, 'orderly end took too long: ending at once');
      process.exit(1);
    }, GRACE_MS).unref();
  };
  const hangUp = (): void => {
    for (const handler of hangups) handler();
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', hangUp);
  return {
    signal: controller.signal,
    ended,
    onHangup: (handler) => void hangups.push(handler),
    close() {
      process.off('SIGTERM', end);
      process.off('SIGINT', end);
      process.off('SIGHUP', hangUp);
    },
  };
}
