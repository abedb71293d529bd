// Command line of the benchmark.

import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run bench -- [OPTIONS]

Drives the bundle against a real etcd and a real BIRD 2 and prints one JSON document; a table goes to standard error.

  --nodes N[:P[:F]],…  clusters by numbers of Calico nodes, and of BGPPeers and BGPFilters where given
                     [1000,5000:2600:500,10000]
  --value-bytes N    size of each Node resource [608]
  --changes N        single changes per cell [40]
  --interval MS      from one change to the next [350]
  --runs N           starts per start-up figure [9]
  --storm N          puts of the storm [10000]
  --events N         events of the memory run [20000]
  --only CASE,...    only these cases (floors, change, irrelevant, onetime, boot, loop, memory, storm;
                     of --fleet: sidecars, bare)
  --quick            small numbers, for CI: seconds instead of minutes
  --scale            one thing at a time: nodes to 20,000, BGPPeers to 5,000, BGPFilters to 1,000
  --fleet            many birdfeeds on one etcd, straight and through etcd grpc-proxy
                     (with --scale or --fleet, --nodes are measured only where given)
  --svg FILE         where --scale draws its curves [docs/performance-scale.svg]
  --full             100,000 events in the memory run, more changes
  --json FILE        write the document to FILE too
  --compare FILE     print ratios against a document of an earlier run; exit with 1 when a figure that does not depend on
                     the machine (a ratio to confd, to a floor, memory) is worse by half
  --bird FILE        a BIRD 2 to measure with [the one that the tests use]
  --birdfeed FILE    the bundle to measure [dist/birdfeed.js]
  --no-build         measure the bundle as it is
  --help`;

const QUICK = { nodes: '200', changes: '4', interval: '120', runs: '2', storm: '300', events: '300' };
const FULL = { changes: '100', runs: '15', events: '100000' };
const DEFAULTS = {
  nodes: '1000,5000:2600:500,10000',
  'value-bytes': '608',
  changes: '40',
  interval: '350',
  runs: '9',
  storm: '10000',
  events: '20000',
};

const CASES = [
  'floors',
  'change',
  'irrelevant',
  'onetime',
  'boot',
  'loop',
  'memory',
  'storm',
  'sidecars',
  'bare',
];

/** @param {readonly string[]} argv */
export function readOptions(argv) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, text])),
      ...{ only: text, json: text, compare: text, bird: text, birdfeed: text, svg: text },
      ...{ scale: flag, fleet: flag, quick: flag, full: flag, help: flag, 'no-build': flag },
    },
  });
  const given = { ...DEFAULTS, ...(values.quick ? QUICK : {}), ...(values.full ? FULL : {}), ...values };
  const only = values.only?.split(',') ?? CASES;
  const unknown = only.find((name) => !CASES.includes(name));
  if (unknown !== undefined)
    throw new Error(`--only: unknown case "${unknown}"; there are ${CASES.join(', ')}`);
  const others = values.scale === true || values.fleet === true;
  return {
    sizes: (others ? (values.nodes ?? '') : given.nodes).split(',').filter(Boolean).map(sizeOf),
    valueBytes: wholeNumber('value-bytes', given['value-bytes']),
    changes: wholeNumber('changes', given.changes),
    intervalMs: wholeNumber('interval', given.interval),
    runs: wholeNumber('runs', given.runs),
    storm: wholeNumber('storm', given.storm),
    events: wholeNumber('events', given.events),
    only: new Set(only),
    // What is slept through for things to settle.
    settleMs: values.quick === true ? 300 : 2_000,
    quick: values.quick === true,
    scale: values.scale === true,
    fleet: values.fleet === true,
    svg: values.scale === true ? (values.svg ?? 'docs/performance-scale.svg') : null,
    json: values.json ?? null,
    compare: values.compare ?? null,
    bird: values.bird ?? null,
    birdfeed: values.birdfeed ?? null,
    build: values['no-build'] !== true && values.birdfeed === undefined,
    help: values.help === true,
  };
}

function sizeOf(text) {
  const [nodes, peers, filters] = text.split(':');
  return {
    nodes: wholeNumber('nodes', nodes),
    ...(peers === undefined ? {} : { peers: wholeNumber('nodes', peers) }),
    ...(filters === undefined ? {} : { filters: wholeNumber('nodes', filters) }),
  };
}

function wholeNumber(name, value) {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name}: "${value}" is not a number above 0`);
  return number;
}
