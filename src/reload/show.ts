import type { Reply } from './reply.ts';

/** What `show status` says. Times are BIRD's own texts: their format follows `timeformat base`. */
export interface BirdStatus {
  readonly state: 'running' | 'reconfiguring' | 'shutting-down';
  readonly version: string | null;
  readonly routerId: string | null;
  readonly lastReboot: string | null;
  /** When the running configuration was loaded; `configure undo` brings the older time back. */
  readonly lastReconfiguration: string | null;
  readonly gracefulRestart: GracefulRestart | null;
}

/** Recovery after a start with `-R`: until it ends, 1.6 gives no peer any route. */
export interface GracefulRestart {
  /** Protocols (1.6) or channels (2.x, 3.x) still waited for. */
  readonly waitingFor: number | null;
  readonly remainingSeconds: number | null;
  readonly waitSeconds: number | null;
}

/** One row of `show protocols`. */
export interface ProtocolRow {
  readonly name: string;
  /** `BGP`, `Kernel`, `Device`, ... */
  readonly proto: string;
  readonly table: string;
  /** `up`, `start`, `stop`, `down`. */
  readonly state: string;
  /** In the format of `timeformat protocol`. */
  readonly since: string;
  /** For BGP: `Established`, or the state and what holds it up: `Active  Socket: Connection refused`. */
  readonly info: string;
}

const STATES: Readonly<Record<string, BirdStatus['state']>> = {
  'Reconfiguration in progress': 'reconfiguring',
  'Shutdown in progress': 'shutting-down',
};

/** Parses the reply to `show status` of 1.6, 2.x and 3.x. The order of lines and what else is there do not matter. */
export function parseStatus(reply: Reply): BirdStatus {
  const find = (pattern: RegExp): RegExpExecArray | null => {
    for (const line of reply.lines) {
      const match = pattern.exec(line.text);
      if (match !== null) return match;
    }
    return null;
  };
  const recovering = reply.lines.some((line) => line.code === '0024');
  const timer = find(/Wait timer is ([\d.]+)\/([\d.]+)/);
  return {
    state: STATES[reply.text] ?? 'running',
    version: find(/^BIRD (\S+)/)?.[1] ?? null,
    routerId: find(/^Router ID is (\S+)/)?.[1] ?? null,
    lastReboot: find(/^Last reboot on (.+)/)?.[1] ?? null,
    lastReconfiguration: find(/^Last reconfiguration on (.+)/)?.[1] ?? null,
    gracefulRestart: recovering
      ? {
          waitingFor: numberOrNull(find(/Waiting for (\d+)/)?.[1]),
          remainingSeconds: numberOrNull(timer?.[1]),
          waitSeconds: numberOrNull(timer?.[2]),
        }
      : null,
  };
}

/**
 * Parses the reply to `show protocols`. Columns are found by the header's names, whatever their case (`name` in 1.6,
 * `Name` in 2.x), and split at white space: long names push the following columns to the right. The time may hold one
 * space (`timeformat protocol iso long`); what follows two spaces is the info.
 */
export function parseProtocols(reply: Reply): ProtocolRow[] {
  const header = reply.lines.find((line) => line.code === '2002');
  if (header === undefined) return [];
  const columns = header.text.trim().toLowerCase().split(/\s+/);
  const leading = columns.slice(0, columns.indexOf('since'));
  const pattern = new RegExp(
    `^\\s*${'(\\S+)\\s+'.repeat(leading.length)}(\\S+(?: \\S+)*)(?:\\s{2,}(.*?))?\\s*$`,
  );
  const rows: ProtocolRow[] = [];
  for (const line of reply.lines) {
    const match = line.code === '1002' ? pattern.exec(line.text) : null;
    if (match === null) continue;
    const cell = (name: string): string => match[leading.indexOf(name) + 1] ?? '';
    rows.push({
      name: cell('name'),
      proto: cell('proto'),
      table: cell('table'),
      state: cell('state'),
      since: match[leading.length + 1] ?? '',
      info: match[leading.length + 2] ?? '',
    });
  }
  return rows;
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
