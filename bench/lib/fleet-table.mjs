// What --fleet measured, for people.

const TITLES = {
  sidecars: 'birdfeeds',
  bare: 'bare watchers, which read, watch and ask what a birdfeed does, on a connection each, and only listen',
};

/** What of a row is shown, and under which name. */
const COLUMNS = {
  clients: ({ count }) => count,
  watchers: ({ watchers }) => watchers,
  'KiB/list': ({ lists }) => Math.round(lists.sentBytesEach / 1_024),
  'CPU/list': ({ lists }) => lists.etcdCpuMsEach,
  'CPU/s': ({ rest }) => rest.etcdCpuMsPerS,
  MiB: ({ rest }) => Math.round(rest.etcdMiB),
  'B/change': ({ change }) => Math.round(change.sentBytes),
  'CPU/change': ({ change }) => change.etcdCpuMs,
  'last has it': ({ change: { lastMs } }) => `${Math.round(lastMs.p50)} / ${Math.round(lastMs.p95)}`,
};
const PROXY_COLUMNS = {
  'proxy: CPU/list': ({ lists }) => lists.proxyCpuMsEach,
  'CPU/s': ({ rest }) => rest.proxyCpuMsPerS,
  'CPU/change': ({ change }) => change.proxyCpuMs,
  MiB: ({ rest }) => Math.round(rest.proxyMiB),
};

export function fleetLines({ plan, sidecars, bare }) {
  return [
    ...Object.entries({ sidecars, bare }).flatMap(([kind, runs]) =>
      runs.flatMap((run) => runLines(kind, run)),
    ),
    '',
    `  KiB/list, CPU/list: of one list; CPU in ms, of etcd if nothing else is said; CPU/s: at rest for ${plan.restMs / 1_000} s;`,
    '  last has it: put → the last birdfeed has published, or the last watcher has heard, ms p50 / p95',
  ];
}

function runLines(kind, run) {
  const direct = run.shape === 'direct';
  const columns = [...Object.entries(COLUMNS), ...(direct ? [] : Object.entries(PROXY_COLUMNS))];
  const line = (cellOf) =>
    columns.map(([name, value]) => String(cellOf(name, value)).padStart(Math.max(name.length, 7))).join('  ');
  const where = direct ? 'straight at etcd' : 'through grpc-proxy';
  return [
    '',
    `fleet of ${TITLES[kind]}, ${where}, with ${run.nodes} nodes; etcd alone: ${run.idleCpuMsPerS} ms of CPU per s`,
    line((name) => name),
    ...run.rows.map((row) => line((_, value) => value(row))),
    ...(run.failed === undefined ? [] : [`  FAILED: ${run.failed}`]),
    ...Object.entries(run.reconnect === null ? {} : after(kind, run.reconnect)).map(
      ([what, text]) => `  ${what}: ${text}`,
    ),
  ];
}

function after(kind, reconnect) {
  if (kind === 'sidecars') {
    const { n, downMs, afterFirstMs, etcdCpuMs } = reconnect;
    return {
      [`server killed, back after ${downMs} ms`]: `the last of ${n} fresh ${afterFirstMs.max} ms after the first (${histogram(afterFirstMs.each)}); etcd used ${etcdCpuMs} ms of CPU meanwhile`,
    };
  }
  const { n, ...ways } = reconnect;
  const names = {
    watchAtOnce: 'all watch anew at once',
    listAtOnce: 'all list and watch at once',
    listSpread: 'all list and watch, spread',
  };
  return Object.fromEntries(
    Object.entries(ways).map(([way, { spreadMs, openedMs, failures, etcdCpuMsEach, etcdPeakMiB }]) => [
      names[way],
      `${n}${spreadMs === 0 ? '' : ` within ${spreadMs} ms`}: the last watches after ${Math.round(openedMs.max)} ms (p50 ${Math.round(openedMs.p50)}); CPU ${etcdCpuMsEach} each, etcd's peak so far ${Math.round(etcdPeakMiB)} MiB, ${failures} attempts failed`,
    ]),
  );
}

/** How many per tenth of the time that all took: `3-4-5-…`. */
function histogram(sorted) {
  const last = Math.max(1, sorted.at(-1));
  const tenths = new Array(10).fill(0);
  for (const at of sorted) tenths[Math.min(9, Math.floor((at / last) * 10))] += 1;
  return `per tenth of that time ${tenths.join('-')}`;
}
