import { type BackoffPolicy, backoffDelay } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';

/**
 * Decides when the one run of a set happens. Level-triggered: a notice means "look again", never "here is what".
 *
 *   idle ──notify──► waiting ──lead, quiet or max──► running ──done──► cooling ──quiet──► idle
 *                      ▲ ▲                           │                  │notify
 *                      │ └───done while notified─────┘                  │
 *                      └────────────────────────────────────────────────┘
 *
 * The first notice after idle runs after `leadMs`, unless more notices come meanwhile: what one transaction of a
 * datastore changes under several prefixes comes in as many messages right behind one another, and a run after the first
 * of them would publish a mix of before and after. Notices that follow wait until `quietMs` after the last of them, at
 * most `quietMaxMs` after the first. One run at a time; notices during a run cause exactly one more.
 */
export interface Scheduler {
  notify(): void;
  /** Resolves when nothing runs and nothing is waiting to run (a pending retry does not count). */
  settled(): Promise<void>;
  /** No run starts any more; resolves when the current one has ended. */
  stop(): Promise<void>;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** 0: at once. */
  readonly leadMs: number;
  readonly quietMs: number;
  readonly quietMaxMs: number;
  readonly retry: BackoffPolicy;
  /** `retry` asks for another run after a back-off even if nothing changes. Must not reject. */
  readonly run: () => Promise<'done' | 'retry'>;
}

type Phase = 'idle' | 'running' | 'cooling' | 'waiting' | 'stopped';

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock } = options;
  let phase: Phase = 'idle';
  let firstNotice: number | null = null;
  let lastNotice = 0;
  let attempt = 0;
  let cancelTimer = (): void => {};
  let cancelRetry = (): void => {};
  let current: Promise<void> = Promise.resolve();
  const waiters: (() => void)[] = [];

  function notify(): void {
    if (phase === 'stopped') return;
    lastNotice = clock.monotonic();
    firstNotice ??= lastNotice;
    if (phase === 'idle') waitForMore();
    else if (phase !== 'running') waitForQuiet();
  }

  function waitForMore(): void {
    if (options.leadMs === 0) return start();
    phase = 'waiting';
    cancelTimer = clock.after(options.leadMs, start);
  }

  function waitForQuiet(): void {
    phase = 'waiting';
    cancelTimer();
    const due = Math.min(lastNotice + options.quietMs, firstNotice! + options.quietMaxMs);
    cancelTimer = clock.after(Math.max(0, due - clock.monotonic()), start);
  }

  function start(): void {
    phase = 'running';
    firstNotice = null;
    cancelTimer();
    cancelRetry();
    current = options.run().then(finish);
  }

  function finish(result: 'done' | 'retry'): void {
    if (phase === 'stopped') return;
    if (result === 'retry') {
      cancelRetry = clock.after(backoffDelay(options.retry, attempt, options.random()), notify);
      attempt += 1;
    } else {
      attempt = 0;
    }
    if (firstNotice !== null) return waitForQuiet();
    phase = 'cooling';
    cancelTimer = clock.after(options.quietMs, () => {
      phase = 'idle';
    });
    for (const resolve of waiters.splice(0)) resolve();
  }

  return {
    notify,
    settled() {
      if (phase === 'idle' || phase === 'cooling' || phase === 'stopped') return Promise.resolve();
      return new Promise((resolve) => waiters.push(resolve));
    },
    async stop() {
      phase = 'stopped';
      cancelTimer();
      cancelRetry();
      await current;
      for (const resolve of waiters.splice(0)) resolve();
    },
  };
}
