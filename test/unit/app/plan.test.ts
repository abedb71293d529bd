import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { loadPlans } from '../../../src/app/plan.ts';
import type { SetPlan } from '../../../src/app/set-plan.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import type { OptionName } from '../../../src/config/options.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { createTree } from '../../../src/tree/tree.ts';
import type { Entry } from '../../../src/tree/types.ts';
import { calicoNode } from '../../support/calico.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { testDir } from '../../support/tmp.ts';
import { until } from '../../support/wait.ts';

/** The plans of the shipped resources and of these files, for BIRD 2. */
async function plansWith(files: Readonly<Record<string, string>>) {
  const confdir = await testDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(confdir, name)), { recursive: true });
    writeFileSync(join(confdir, name), text);
  }
  const flags = new Map<OptionName, string>([
    ['confdir', confdir],
    ['bird', 'bird2'],
  ]);
  return loadPlans({
    options: resolveOptions(flags, {}, null).options,
    env: {},
    nodeName: 'n1',
    dialect: 'bird2',
    cacheDir: join(confdir, 'cache'),
    clock: new FakeClock(),
    log: silentLogger,
    lookupsOf: () => null,
    renderTimeOf: async () => null,
  });
}

function nodeEntry(name: string): Entry {
  const [key, value] = calicoNode(name, { v4: '10.0.0.1/24' });
  return { key, value, revision: 1 };
}

/** What was prepared, held by nothing here. */
function preparedNodes(plan: SetPlan, names: readonly string[]): readonly WeakRef<Entry>[] {
  const entries = names.map(nodeEntry);
  plan.prepare(entries);
  return entries.map((entry) => new WeakRef(entry));
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

describe('the plans', () => {
  it('have no daemon load a file that another one includes', async () => {
    const plans = await plansWith({
      'conf.d/extra.toml':
        '[template]\nsrc = "extra.njk"\ndest = "extra.conf"\nmodel = "calico"\ncheck_main = "bird.conf"\n',
      'templates/extra.njk': '# more\n',
    });
    expect(plans.map(({ name, daemonFiles }) => [name, daemonFiles])).toEqual([['default', ['bird.conf']]]);
  });

  it('keep nothing of what was parsed ahead and never read', async () => {
    const [plan] = await plansWith({});
    const tree = createTree();
    const mount = { prefix: '/' };
    tree.declare(['/']);
    tree.applySnapshot(mount, [nodeEntry('n1'), nodeEntry('n2')]);
    const kept = preparedNodes(plan!, ['n2', 'n3']);
    plan!.compute(tree);
    await until(() => {
      collectGarbage();
      return kept.every((ref) => ref.deref() === undefined);
    });
  });

  it.each([
    ['owner = "nobody-here"', 'owner is "nobody-here", which is unknown here: give a user'],
    ['group = "nogroup-here"', 'group is "nogroup-here", which is unknown here: give a group'],
  ])('name the resource file with %s', async (line, message) => {
    const files = {
      'conf.d/web.toml': `[template]\nsrc = "web.njk"\ndest = "/tmp/web.conf"\nkeys = ["/web"]\n${line}\n`,
      'templates/web.njk': 'x\n',
    };
    await expect(plansWith(files)).rejects.toMatchObject({
      code: 'BF_RESOURCE_FILE',
      message: expect.stringContaining(`web.toml: ${message}`),
    });
  });
});
