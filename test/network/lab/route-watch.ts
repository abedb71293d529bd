import { DaemonProcess } from '../../support/daemon-process.ts';
import type { NetworkNode } from '../../support/netns.ts';
import { until } from '../../support/wait.ts';

/** A time in which a kernel had no route to a network, or (a blackhole) had that one. */
export interface Outage {
  readonly prefix: string;
  /** Epoch, ms. */
  readonly from: number;
  readonly ms: number;
  /** Still going on. */
  readonly isOpen: boolean;
}

interface Change {
  readonly at: number;
  readonly prefix: string;
  /** The kernel has one route for each metric. */
  readonly metric: string;
  readonly isBlackhole: boolean;
  readonly isGone: boolean;
}

/** A table that nobody uses: a route in it shows that the watch has begun. */
const MARKER = ['blackhole', '198.51.100.255', 'table', '99'] as const;

/** Follows a kernel's routes as it announces them (rtnetlink), so that no change is too short to be seen. */
export class RouteWatch {
  readonly #monitor: DaemonProcess;
  /** What was there at the start. */
  #seed: readonly Change[] = [];

  private constructor(netns: string) {
    this.#monitor = new DaemonProcess('ip', ['-ts', 'monitor', 'route'], { netns });
  }

  static async start(
    { netns }: NetworkNode,
    exec: (...command: string[]) => Promise<string>,
  ): Promise<RouteWatch> {
    const watch = new RouteWatch(netns);
    try {
      await until(
        async () => {
          await exec('ip', 'route', 'replace', ...MARKER);
          await exec('ip', 'route', 'del', ...MARKER);
          return watch.#monitor.output.includes(`Deleted ${MARKER[0]} ${MARKER[1]}`);
        },
        { what: 'ip monitor to begin' },
      );
      const present = (await exec('ip', 'route')) + (await exec('ip', '-6', 'route'));
      watch.#seed = present.split('\n').flatMap((line) => parseRoute(line, 0, false) ?? []);
      return watch;
    } catch (error) {
      await watch.close();
      throw error;
    }
  }

  /** When the kernel was without a route to these networks, from `since` (epoch, ms) until now. */
  outages(prefixes: readonly string[], since: number): readonly Outage[] {
    const all = prefixes.flatMap((prefix) => spansOf(prefix, this.#changesOf(prefix), false, Date.now()));
    return all.filter(({ from, ms }) => from + ms > since);
  }

  /** When the kernel had a blackhole for this network, from `since` (epoch, ms) until now. */
  blackholes(prefix: string, since: number): readonly Outage[] {
    const changes = this.#changesOf(prefix).filter(({ isBlackhole }) => isBlackhole);
    const all = spansOf(prefix, changes, true, Date.now());
    return all.filter(({ from, ms }) => from + ms > since);
  }

  #changesOf(prefix: string): readonly Change[] {
    const changes = [...this.#seed, ...parseMonitor(this.#monitor.output)];
    return changes.filter((change) => change.prefix === prefix);
  }

  close(): Promise<void> {
    return this.#monitor.end('SIGKILL');
  }
}

/** The longest of these, in ms; 0 when there are none. */
export function longest(outages: readonly Outage[]): number {
  return Math.max(0, ...outages.map(({ ms }) => ms));
}

/** The times in which there was a route, or in which there was none after there had been one. */
export function spansOf(
  prefix: string,
  changes: readonly Change[],
  isThere: boolean,
  now: number,
): readonly Outage[] {
  const present = new Set<string>();
  const spans: Outage[] = [];
  let from: number | null = null;
  for (const { at, metric, isGone } of changes) {
    const had = present.size > 0;
    if (isGone) present.delete(metric);
    else present.add(metric);
    const has = present.size > 0;
    if (has === had) continue;
    if (has === isThere) from = at;
    else if (from !== null) {
      spans.push({ prefix, from, ms: at - from, isOpen: false });
      from = null;
    }
  }
  if (from !== null) spans.push({ prefix, from, ms: now - from, isOpen: true });
  return spans;
}

function parseMonitor(text: string): readonly Change[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\[(\S+)\] (Deleted )?(.*)$/.exec(line);
    if (found === null) return [];
    return parseRoute(found[3] as string, Date.parse(found[1] as string), found[2] !== undefined) ?? [];
  });
}

/** `10.244.1.0/26 via 10.99.0.1 dev eth0 proto bird metric 32` of the main table; null for anything else. */
function parseRoute(line: string, at: number, isGone: boolean): Change | null {
  const found = /^(?:(?:unicast|blackhole) )?([\da-f.:]+(?:\/\d+)?)\s/.exec(line);
  if (found === null || / table (?!main)/.test(line)) return null;
  const metric = / metric (\d+)/.exec(line)?.[1] ?? '0';
  return { at, prefix: found[1] as string, metric, isBlackhole: line.startsWith('blackhole'), isGone };
}
