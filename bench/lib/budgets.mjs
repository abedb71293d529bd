// The budgets, for 10,000 nodes of about 600 bytes, and where this run stands.

/** `met` is null where the figure, or what it is compared with, was not measured. */
export function judge(result, options) {
  const { change, onetime, boot, memory, loop, storm, irrelevant, floors } = result;
  const birdParse = floors?.birdParse?.wallMs.p50 ?? null;
  const rows = [
    row('put → current switched, no check, p50, to confd', change?.noCheck.toConfd, 1 / 15, 'ratio'),
    row(
      'the same with bird -p, p50, above bird -p',
      minus(change?.check?.switchedMs.p50, birdParse),
      20,
      'ms',
    ),
    row('CPU per change, no check, to confd', change?.noCheck.cpuToConfd, 1 / 12, 'ratio'),
    row('CPU per change, with bird -p, to confd', change?.check?.cpuToConfd, 1 / 8, 'ratio'),
    row('onetime from etcd, to confd', onetime?.toConfd, 1.3, 'ratio'),
    row('boot from cache, to node -e 0', boot?.toNodeStart, 2, 'ratio'),
    row('memory, settled', memory?.default.settledMiB, 140, 'MiB'),
    row(`memory, peak over ${options.events} events`, memory?.default.peakMiB, 200, 'MiB'),
    row('memory, settled, small heap', memory?.smallHeap.settledMiB, 110, 'MiB'),
    row('event loop, longest block at load', loop?.loadMs.p50, 60, 'ms'),
    row('event loop, longest block per change, p95', loop?.changeMs.p95, 25, 'ms'),
    row('storm: final state after the last put', storm?.alone.publishedAfterLastPutMs, 250, 'ms'),
    row(
      'storm with BIRD: final state after the last put',
      storm?.withBird.publishedAfterLastPutMs,
      250,
      'ms',
    ),
    row('runs for changes of a key that nothing reads', irrelevant?.unreadKey.runs, 0, 'runs'),
    row('switches for changes that show nowhere', irrelevant?.invisible.switches, 0, 'switches'),
  ];
  return { nodes: result.nodes, apply: result.nodes === 10_000, rows };
}

function row(what, figure, budget, unit) {
  const measured = typeof figure === 'number';
  return {
    what,
    figure: measured ? figure : null,
    budget: Math.round(budget * 1000) / 1000,
    unit,
    met: measured ? figure <= budget : null,
  };
}

function minus(a, b) {
  return typeof a === 'number' && typeof b === 'number' ? Math.round((a - b) * 100) / 100 : null;
}
