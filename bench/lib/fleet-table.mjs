// What --fleet measured, for people.

const TITLES = {
  sidecars: 'birdfeeds',
  bare: 'bare watchers, each with a connection and the ranges of a birdfeed, which only listen',
};

export function fleetLines({ plan, sidecars, bare }) {
  return [
    ...Object.entries({ sidecars, bare }).flatMap(([kind, runs]) =>
      runs.flatMap((run) => [
        '',
        `fleet, ${run.nodes} nodes, ${run.shape === 'direct' ? 'straight at etcd' : 'through grpc-proxy'}; ${TITLES[kind]}; etcd alone ${run.idleCpuMsPerS} ms/s`,
        line([
          'clients',
          'watchers',
          'KiB/list',
          'CPU/list',
          'ms/s',
          'MiB',
          'B/change',
          'CPU/change',
          'last p50/p95',
          'proxy: list',
          'ms/s',
          'change',
          'MiB',
        ]),
        ...run.rows.map((row) => line(cells(row))),
        ...(run.failed === undefined ? [] : [`  FAILED: ${run.failed}`]),
        ...Object.entries(run.reconnect === null ? {} : after(kind, run.reconnect)).map(
          ([what, text]) => `  ${what.padEnd(14)} ${text}`,
        ),
      ]),
    ),
    '',
    `  list, change: one of them; CPU and last in ms; ms/s, MiB: etcd at rest for ${plan.restMs / 1_000} s`,
  ];
}

function cells({ count, watchers, lists, rest, change }) {
  return [
    count,
    watchers,
    Math.round(lists.sentBytesEach / 1_024),
    lists.etcdCpuMsEach,
    rest.etcdCpuMsPerS,
    Math.round(rest.etcdMiB),
    change.sentBytes,
    change.etcdCpuMs,
    `${Math.round(change.lastMs.p50)} / ${Math.round(change.lastMs.p95)}`,
    lists.proxyCpuMsEach,
    rest.proxyCpuMsPerS,
    change.proxyCpuMs,
    rest.proxyMiB,
  ];
}

function after(kind, reconnect) {
  if (kind === 'sidecars') {
    const { n, downMs, backMs, etcdCpuMsEach } = reconnect;
    return {
      'killed, again': `${n} fresh again ${backMs.min} to ${backMs.max} ms after a pause of ${downMs} (${histogram(backMs.each)}), etcd CPU ${etcdCpuMsEach} ms each`,
    };
  }
  const { n, ...ways } = reconnect;
  const names = { watchAtOnce: 'watch, at once', listAtOnce: 'list, at once', listSpread: 'list, spread' };
  return Object.fromEntries(
    Object.entries(ways).map(([way, { spreadMs, openedMs, failures, etcdCpuMsEach, etcdPeakMiB }]) => [
      names[way],
      `${n} within ${spreadMs} ms: open after ${Math.round(openedMs.p50)} / ${Math.round(openedMs.p95)}, the last ${Math.round(openedMs.max)}; etcd CPU ${etcdCpuMsEach} ms each, peak so far ${Math.round(etcdPeakMiB)} MiB, ${failures} attempts failed`,
    ]),
  );
}

/** How many per tenth of the time that all took: `3-4-5-…`. */
function histogram(sorted) {
  const [first, last] = [sorted[0], sorted.at(-1)];
  const tenths = new Array(10).fill(0);
  for (const at of sorted)
    tenths[Math.min(9, Math.floor(((at - first) / Math.max(1, last - first)) * 10))] += 1;
  return `per tenth of that time ${tenths.join('-')}`;
}

function line(parts) {
  return parts.map((part) => (isMissing(part) ? '-' : String(part)).padStart(11)).join(' ');
}

/** What has no proxy has no figures of it. */
function isMissing(part) {
  return part === null || Number.isNaN(part);
}
