import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Birdfeed, runBirdfeed } from '../../../support/birdfeed.ts';
import { testDir } from '../../../support/tmp.ts';
import { until } from '../../../support/wait.ts';
import type { Stored } from '../../../unit/model/parity/support.ts';
import { currentFiles, type Flavour, type Host, hostArgs, makeHost } from '../../app/support.ts';
import { PEERS } from './peers.ts';
import { ROUTES } from './routes.ts';
import type { Scenario, Step } from './scenario.ts';

export const SCENARIOS = [...PEERS, ...ROUTES];

/** A datastore that scenarios are played in. */
export interface Stage {
  /** Tells birdfeed where it is. */
  readonly args: readonly string[];
  clear(): Promise<void>;
  /** Puts these values; `undefined` deletes. */
  write(values: Stored): Promise<void>;
  writeSecrets(secrets: NonNullable<Step['secrets']>): Promise<void>;
}

/** Plays a scenario under a running birdfeed: each step must end in its lines, and the last in the bytes of `--onetime`. */
export async function play(
  { start, steps, asCalico }: Scenario,
  flavour: Flavour,
  { args: source, ...stage }: Stage,
): Promise<void> {
  const host = await makeHost(flavour);
  const statuses = join(host.directory, 'endpoint-status');
  await mkdir(statuses);
  await stage.clear();
  await stage.write(start);
  const args = [
    ...hostArgs(host),
    ...source,
    ...['--reload', 'none', '--syntax-check', 'off', '--guard-share', '100%'],
    ...['--endpoint-status-dir', statuses],
    ...(asCalico ? ['--calico-compat'] : []),
  ];
  const birdfeed = await Birdfeed.start(args, { cache: host.cache });
  await birdfeed.reaches('generation 1', ({ generation }) => generation !== null);
  for (const step of steps) {
    await stage.write(step.put ?? {});
    await stage.writeSecrets(step.secrets ?? {});
    await writeStatuses(statuses, step.statuses);
    await until(
      () => {
        const fault = fits(rendered(host), step);
        if (fault !== null) throw new Error(fault);
        return true;
      },
      { timeout: 20_000, what: step.what },
    );
  }
  // What is quarantined would end in its last good version here, and in nothing there: the last steps are good ones.
  const fresh = { ...host, cache: join(await testDir('bfa'), 'cache') };
  expect(await runBirdfeed(['--onetime', ...args, '--cache', fresh.cache])).toMatchObject({ code: 0 });
  const wanted = rendered(fresh);
  await until(() => rendered(host) === wanted, { timeout: 10_000, what: 'equal bytes' });
}

/** As a mounted Secret is replaced: the new one is complete before it takes the place of the old one. */
export async function writeSecretFiles(
  directory: string,
  secrets: NonNullable<Step['secrets']>,
): Promise<void> {
  for (const [name, data] of Object.entries(secrets)) {
    const [at, next] = [join(directory, name), join(directory, '..', `next-${name}`)];
    if (data !== null) {
      await mkdir(next);
      for (const [key, value] of Object.entries(data)) await writeFile(join(next, key), value);
    }
    await rm(at, { recursive: true, force: true });
    if (data !== null) await rename(next, at);
  }
}

/** As Felix does: a file is complete before it has its name. */
async function writeStatuses(directory: string, statuses: Step['statuses'] = {}): Promise<void> {
  for (const [name, value] of Object.entries(statuses)) {
    const [at, next] = [join(directory, name), join(directory, '..', `next-${name}`)];
    if (value === null) await rm(at);
    else {
      await writeFile(next, JSON.stringify(value));
      await rename(next, at);
    }
  }
}

const rendered = (host: Host): string =>
  currentFiles(host)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

function fits(text: string, { has, not = [] }: Step): string | null {
  for (const pattern of has) if (!pattern.test(text)) return `lacks ${pattern}`;
  for (const pattern of not) if (pattern.test(text)) return `has ${pattern}`;
  return null;
}
