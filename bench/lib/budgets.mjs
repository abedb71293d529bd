// The budgets, for 10,000 nodes of about 600 bytes, and where this run stands.

/** What the budgets are for, and a cluster with policies of its own, for which those without confd in them hold as well. */
const PLAIN = '10000';
const POLICIES = '5000:2600:500';

/** `met` is null where the figure was not measured, or was on another cluster than the budget is for. */
export function judge(sizes, options) {
  const plain = sizes.find(({ name }) => name === PLAIN);
  const policies = sizes.find(({ name }) => name === POLICIES);
  const shown = plain ?? sizes.at(-1);
  const rows = [
    ...againstConfd(shown ?? {}),
    ...byItself(shown ?? {}, options),
    ...(policies === undefined || policies === shown
      ? []
      : byItself(policies, options).map((of) => ({ ...of, what: `${POLICIES}: ${of.what}` }))),
  ];
  const apply = shown === plain || shown === policies;
  return {
    clusters: [shown?.name, policies?.name].filter(Boolean),
    apply,
    rows: apply ? rows : rows.map((of) => ({ ...of, met: null })),
  };
}

function againstConfd({ change, onetime, boot }) {
  const withCheck = minus(change?.check?.switchedMs.p50, change?.check?.birdParseMs.p50 ?? null);
  return [
    row('put → current switched, no check, p50, to confd', change?.noCheck.toConfd, 1 / 15, 'ratio'),
    row('the same with bird -p, p50, above bird -p', withCheck, 20, 'ms'),
    row('CPU per change, no check, to confd', change?.noCheck.cpuToConfd, 1 / 12, 'ratio'),
    row('CPU per change, with bird -p, to confd', change?.check?.cpuToConfd, 1 / 8, 'ratio'),
    row('onetime from etcd, to confd', onetime?.toConfd, 1.3, 'ratio'),
    row('boot from cache, to node -e 0', boot?.toNodeStart, 2, 'ratio'),
  ];
}

function byItself({ memory, loop, storm, irrelevant }, { events }) {
  const { alone, withBird } = storm ?? {};
  return [
    row('memory, settled', memory?.default.settledMiB, 140, 'MiB'),
    row(`memory, peak over ${events} events`, memory?.default.peakMiB, 200, 'MiB'),
    row('memory, settled, small heap', memory?.smallHeap.settledMiB, 110, 'MiB'),
    row('event loop, longest block at load', loop?.loadMs.p50, 60, 'ms'),
    row('event loop, longest block per change, p95', loop?.changeMs.p95, 25, 'ms'),
    row('event loop, longest block in a storm', loop?.stormMs.p50, 100, 'ms'),
    row('storm: final state after the last put', alone?.publishedAfterLastPutMs, 250, 'ms'),
    row('storm with BIRD: final state after the last put', withBird?.publishedAfterLastPutMs, 250, 'ms'),
    row('runs for changes of a key that nothing reads', irrelevant?.unreadKey.runs, 0, 'runs'),
    row('switches for changes that show nowhere', irrelevant?.invisible.switches, 0, 'switches'),
  ];
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
