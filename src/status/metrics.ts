import { BIRD_TABLE, CONFIG_TABLE, DATA_TABLE } from './axes.ts';
import { COUNTERS, lastConfirmedAt, readiness, type Status } from './status.ts';

/**
 * A function that prints the Prometheus page for a status. prom-client is loaded on the first scrape, since it costs
 * start-up time; its process metrics hold handles, so they are collected once for the life of the function.
 */
export function createMetrics(): (status: Status, nowMs: number) => Promise<string> {
  let processMetrics: import('prom-client').Registry | undefined;
  return async (status, nowMs) => {
    const { default: prom } = await import('prom-client');
    const { collectDefaultMetrics, Registry } = prom;
    if (processMetrics === undefined) {
      processMetrics = new Registry();
      collectDefaultMetrics({ register: processMetrics });
    }
    return `${await statusMetrics(status, nowMs)}\n${await processMetrics.metrics()}`;
  };
}

async function statusMetrics(status: Status, nowMs: number): Promise<string> {
  const { default: prom } = await import('prom-client');
  const { Gauge, Counter, Registry } = prom;
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void => {
    new Gauge({ name, help, registers: [registry] }).set(value);
  };
  const oneHot = (axis: string, states: readonly string[], current: string): void => {
    const metric = new Gauge({
      name: `birdfeed_${axis}_state`,
      help: `1 for the state of the ${axis} axis`,
      labelNames: ['state'],
      registers: [registry],
    });
    for (const state of states) metric.set({ state }, state === current ? 1 : 0);
  };
  new Gauge({
    name: 'birdfeed_build_info',
    help: 'Version and node',
    labelNames: ['version', 'node', 'dialect'],
    registers: [registry],
  }).set({ version: status.version, node: status.node, dialect: status.dialect ?? '' }, 1);
  oneHot('data', Object.keys(DATA_TABLE), status.data.state);
  oneHot('config', Object.keys(CONFIG_TABLE), status.config.state);
  oneHot('bird', Object.keys(BIRD_TABLE), status.bird.state);
  gauge('birdfeed_ready', '1 when /readyz answers 200', readiness(status, nowMs, null).ready ? 1 : 0);
  gauge('birdfeed_generation', 'Number of the current generation', status.generation?.number ?? 0);
  if (status.generation !== null) {
    gauge(
      'birdfeed_generation_created_timestamp_seconds',
      'When the current generation was published',
      Date.parse(status.generation.createdAt) / 1000,
    );
    gauge('birdfeed_sessions', 'BGP sessions in the current generation', status.generation.sessions);
  }
  const confirmedAt = lastConfirmedAt(status);
  if (confirmedAt !== null) {
    gauge(
      'birdfeed_confirmed_timestamp_seconds',
      'When the current generation was last known to be what the datastore says',
      Date.parse(confirmedAt) / 1000,
    );
  }
  const { resets = 0, removals = 0 } = status.deferred ?? {};
  gauge('birdfeed_deferred_sessions', 'Sessions whose reset or removal waits', resets + removals);
  for (const severity of ['error', 'warning'] as const) {
    gauge(
      `birdfeed_problem_${severity}s`,
      `Problems of severity ${severity}`,
      status.problems.filter((problem) => problem.severity === severity).length,
    );
  }
  for (const name of COUNTERS) {
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    new Counter({
      name: `birdfeed_${snake}_total`,
      help: `Number of ${snake.replaceAll('_', ' ')}`,
      registers: [registry],
    }).inc(status.counters[name]);
  }
  return registry.metrics();
}
