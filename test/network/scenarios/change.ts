import { type Lab, sessionChanges } from '../lab/lab.ts';
import { eventually, type Report } from '../lab/report.ts';
import type { Tor } from '../lab/tor.ts';
import { CLIENTS, REFLECTORS, type Six } from './reflectors.ts';

/** The six, and one that joins. */
export type Seven = Six | 'n7';

export const SIX = [...REFLECTORS, ...CLIENTS] as const;
/** Within which sessions that were reset are back. Two BIRDs of 1.6 that connect to one another at once start over. */
export const RESET_BOUND_MS = { bird1: 75_000, bird2: 20_000 } as const;
/** What an edit may touch, and nothing else: sessions, counted at both ends, and routes as {@link routesNow} names them. */
export interface Expected {
  readonly reset?: number;
  readonly added?: number;
  readonly gone?: number;
  readonly routesAdded?: readonly string[];
  readonly routesGone?: readonly string[];
}

export interface Scene {
  readonly lab: Lab<Seven>;
  readonly tor: Tor;
  readonly report: Report;
}

/** Makes an edit, and looks until what should change has changed, all sessions are up, and nothing else is different. */
export async function change(
  { lab, tor, report }: Scene,
  step: string,
  expected: Expected,
  edit: () => Promise<number | null>,
): Promise<void> {
  const wanted = inWords(expected);
  await report.step(step, wanted, async () => {
    const [sessions, routes] = [await lab.sessions(...SIX), await routesNow(lab, tor)];
    const began = Date.now();
    const revision = await edit();
    await caughtUp(lab, revision, began);
    return eventually(async () => {
      const [now, routesThen] = [await lab.sessions(...SIX), await routesNow(lab, tor)];
      const down = [...now].filter(([, { isEstablished }]) => !isEstablished).map(([name]) => name);
      const { reset, added, gone } = sessionChanges(sessions, now);
      const seen = inWords({
        ...{ reset: reset.length, added: added.length, gone: gone.length },
        routesAdded: [...routesThen].filter((route) => !routes.has(route)),
        routesGone: [...routes].filter((route) => !routesThen.has(route)),
      });
      const odd = seen === wanted ? [] : reset.map((name) => `${name}: ${lastWords(lab, name)}`);
      return {
        seen: [seen, ...down.map((name) => `${name} down`), ...odd].join('; '),
        ok: seen === wanted && down.length === 0,
      };
    }, RESET_BOUND_MS[lab.hosts.n3.flavour.dialect]);
  });
}

/** The routes that are looked at: all of the switch, and those that BIRD has put into the kernel of a client. */
export async function routesNow(lab: Lab<Seven>, tor: Tor): Promise<ReadonlySet<string>> {
  const { n5 } = lab.hosts;
  const kernel = [...(await n5.kernelRoutes(4)).keys(), ...(await n5.kernelRoutes(6)).keys()];
  return new Set([
    ...[...(await tor.networks())].map(onSwitch),
    ...kernel.map((network) => `${network} on n5`),
  ]);
}

export function onSwitch(network: string): string {
  return `${network} on the switch`;
}

export function everywhere(network: string): readonly string[] {
  return [onSwitch(network), `${network} on n5`];
}

/** What BIRD logged last of a session (`HOST SESSION`), apart from routes. */
function lastWords(lab: Lab<Seven>, name: string): string {
  const [host, session] = name.split(' ') as [Seven, string];
  const lines = lab.hosts[host].birdLog.split('\n').filter((line) => line.includes(`${session}: `));
  const telling = lines.filter(
    (line) => !/ (?:added|removed|updated|rejected|filtered|Got|Sending)\b/.test(line),
  );
  return telling.slice(-6).join(' / ');
}

/** Waits until every birdfeed has seen this revision, has looked at it, and its BIRD runs what came of it. */
async function caughtUp(lab: Lab<Seven>, revision: number | null, began: number): Promise<void> {
  for (const name of SIX) {
    const found = await eventually(async () => {
      const { mounts, bird, data, confirmedAt } = await lab.hosts[name].status();
      const newest = Math.max(...mounts.filter(({ kind }) => kind === 'etcd').map((mount) => mount.revision));
      const hasLooked = revision === null || (newest >= revision && Date.parse(confirmedAt ?? '') >= began);
      const ok = hasLooked && bird.state === 'applied' && data.state === 'fresh';
      return { seen: `revision ${newest}, ${bird.state}`, ok };
    }, 30_000);
    if (!found.ok) throw new Error(`${name} has not caught up with revision ${revision}: ${found.seen}`);
  }
}

function inWords({ reset = 0, added = 0, gone = 0, routesAdded = [], routesGone = [] }: Expected): string {
  const sessions = [
    `${reset} sessions reset`,
    ...(added > 0 ? [`${added} new`] : []),
    ...(gone > 0 ? [`${gone} gone`] : []),
  ].join(', ');
  const list = (routes: readonly string[]) => [...routes].sort().join(', ');
  return [
    sessions,
    ...(routesAdded.length > 0 ? [`new: ${list(routesAdded)}`] : []),
    ...(routesGone.length > 0 ? [`away: ${list(routesGone)}`] : []),
    ...(routesAdded.length + routesGone.length === 0 ? ['routes as before'] : []),
  ].join('; ');
}
