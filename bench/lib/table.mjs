// The document for people.

import { fleetLines } from './fleet-table.mjs';
import { scaleLines } from './scale.mjs';

export function table(document) {
  const { machine, versions, sizes, budgets } = document;
  const lines = [
    `${machine.model}, ${machine.cpus} CPUs, ${machine.fileSystem}, Node ${machine.node}, load ${machine.loadBefore[0]} before and ${machine.loadAfter[0]} after`,
    [versions.birdfeed, versions.etcd, versions.bird, versions.confd ?? 'no confd'].join('; '),
    ...sizes.flatMap(sizeLines),
    ...scaleLines(document.scale ?? {}),
    ...(document.fleet === undefined ? [] : fleetLines(document.fleet)),
    ...(sizes.length === 0 ? [] : budgetLines(budgets)),
  ];
  return lines.join('\n');
}

function sizeLines(size) {
  const { floors, change, irrelevant, onetime, boot, loop, memory, storm } = size;
  const lines = [
    '',
    `${size.nodes} nodes of ${size.valueBytes} bytes, ${size.peers ?? 0} BGPPeers, ${size.filters ?? 0} BGPFilters, ${size.outputBytes} bytes of configuration; ms are p50 / p95`,
  ];
  const add = (what, ...parts) => lines.push(`  ${what.padEnd(34)} ${parts.filter(Boolean).join(', ')}`);
  if (floors !== undefined) {
    add('floor: put → event', pair(floors.putToEventMs));
    add('floor: write, fsync, rename', pair(floors.publishMs));
    if (floors.birdParse !== null)
      add('floor: bird -p', pair(floors.birdParse.wallMs), `CPU ${floors.birdParse.cpuMs}`);
    add('floor: node -e 0', pair(floors.nodeStartMs));
  }
  for (const [name, cell] of Object.entries(change ?? {})) {
    if (typeof cell === 'string') add(`change, ${name}`, cell);
    else
      add(
        `change, ${name}`,
        `current ${pair(cell.switchedMs)}`,
        cell.birdParseMs === undefined ? null : `bird -p by itself ${pair(cell.birdParseMs)}`,
        cell.acknowledgedMs &&
          `BIRD ${pair(cell.acknowledgedMs)} (n ${cell.acknowledgedMs.n}; configure by itself ${pair(cell.configureMs)})`,
        `CPU ${cell.cpuMsPerChange}`,
        ratios(cell),
      );
  }
  for (const [name, cell] of Object.entries(irrelevant ?? {})) {
    add(
      `irrelevant, ${name}`,
      `${cell.n} puts`,
      `${cell.runs} runs`,
      `${cell.switches} switches`,
      `${cell.bytesWritten} bytes`,
      `CPU ${cell.cpuMsPerChange} each`,
    );
  }
  if (onetime !== undefined) {
    add('onetime', startLine(onetime), ratios(onetime));
    add('onetime, confd', typeof onetime.confd === 'string' ? onetime.confd : startLine(onetime.confd));
  }
  if (boot !== undefined) {
    add(
      'boot from cache',
      `in place ${pair(boot.switchedMs)} (× ${boot.toNodeStart})`,
      `reported ${pair(boot.reportedMs)} (× ${boot.reportedToNodeStart})`,
      `node -e 0 ${pair(boot.nodeStartMs)}`,
    );
  }
  if (loop !== undefined)
    add(
      'event loop, longest block',
      `start ${pair(loop.startMs)}`,
      `load ${pair(loop.loadMs)}`,
      `change ${pair(loop.changeMs)}, worst ${loop.changeMs.max}`,
      `storm ${pair(loop.stormMs)}`,
    );
  for (const [name, cell] of Object.entries(memory ?? {})) {
    add(
      `memory, ${name}`,
      `settled ${cell.settledMiB} MiB`,
      `after ${cell.events} events ${cell.afterEventsMiB}`,
      `peak ${cell.peakMiB}`,
    );
  }
  for (const [name, cell] of Object.entries(storm ?? {})) {
    if (typeof cell === 'string') add(`storm, ${name}`, cell);
    else
      add(
        `storm, ${name}`,
        `${cell.puts} puts in ${cell.putsTookMs}`,
        `published ${cell.publishedAfterLastPutMs} after the last`,
        cell.acknowledgedAfterLastPutMs !== undefined && `BIRD ${cell.acknowledgedAfterLastPutMs}`,
        `${cell.generations} generations`,
        `CPU ${cell.cpuMs}`,
      );
  }
  for (const [name, reason] of Object.entries(size.failed ?? {}))
    add(name, `FAILED: ${reason.split('\n')[0]}`);
  return lines;
}

function startLine({ wallMs, cpuMs, peakMiB }) {
  return `${pair(wallMs)}, CPU ${pair(cpuMs)}, ${peakMiB.p50} MiB`;
}

function pair({ p50, p95 }) {
  return `${p50} / ${p95}`;
}

function ratios({ toConfd, cpuToConfd, toFloor }) {
  const parts = [
    toConfd == null ? null : `× ${toConfd} of confd`,
    cpuToConfd == null ? null : `CPU × ${cpuToConfd}`,
    toFloor == null ? null : `× ${toFloor} of the floor`,
  ];
  return parts.filter(Boolean).join(', ');
}

function budgetLines({ apply, rows }) {
  return ['', apply ? 'budgets' : 'budgets (not for clusters of this size)', ...rows.map(budgetLine)];
}

function budgetLine({ what, figure, budget, unit, met }) {
  const verdict = met === null ? '-' : met ? 'met' : 'MISSED';
  return `  ${verdict.padEnd(13)} ${what.padEnd(52)} ${figure ?? '-'} (at most ${budget} ${unit})`;
}
