import type { Clock } from '../../core/clock.ts';
import { protocolError, StatusError, unreachable } from './failures.ts';
import type { Line } from './line.ts';
import { lineSplitter } from './lines.ts';
import type { KubernetesTimings } from './options.ts';
import { isObject, type JsonObject, textAt } from './shape.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: JsonObject;
}

export interface WatchPlan {
  readonly line: Line;
  readonly clock: Clock;
  readonly timings: KubernetesTimings;
  readonly path: string;
  readonly accept: string;
  /** The watch ends quietly with the first that aborts. */
  readonly signals: readonly AbortSignal[];
  readonly onOpen: () => void;
  /** All events of one arrival. */
  readonly onEvents: (events: readonly WatchEvent[]) => void;
}

/**
 * Reads one watch to its end: the server's, which comes after some minutes, or that of a signal. Rejects when the connection
 * breaks, when nothing comes for too long, when the server sends an ERROR event (a StatusError), and when a line is no event:
 * what was lost in it nobody knows.
 */
export async function followWatch(plan: WatchPlan): Promise<void> {
  const { line, clock, timings } = plan;
  const ended = AbortSignal.any([...plan.signals]);
  const body = await line.open(plan.path, plan.accept, ended);
  const silence = unreachable(line.server, `a watch has been silent for ${timings.idleMs / 1000} s`);
  let cancel = (): void => {};
  const heard = (): void => {
    cancel();
    cancel = clock.after(timings.idleMs, () => body.destroy(silence));
  };
  try {
    heard();
    plan.onOpen();
    const splitter = lineSplitter();
    for await (const chunk of body) {
      heard();
      const events = splitter.push(chunk as Buffer).map((text) => eventOf(text, line.server));
      const failed = events.findIndex((event) => event instanceof StatusError);
      const good = failed < 0 ? events : events.slice(0, failed);
      if (good.length > 0) plan.onEvents(good as WatchEvent[]);
      if (failed >= 0) throw events[failed];
    }
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    cancel();
    body.destroy();
  }
}

const TYPES: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

function eventOf(text: string, server: string): WatchEvent | StatusError {
  const event = parsed(text);
  const type = isObject(event) ? textAt(event, 'type') : '';
  const object = isObject(event) ? event['object'] : undefined;
  if (type === 'ERROR' && isObject(object))
    return new StatusError(Number(object['code'] ?? 0), object, undefined);
  if (TYPES.has(type) && isObject(object)) return { type: type as WatchEvent['type'], object };
  throw protocolError(server, 'sent a watch something that is no event');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
