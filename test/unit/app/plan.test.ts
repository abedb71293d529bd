import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlans } from '../../../src/app/plan.ts';
import { resolveOptions } from '../../../src/config/load.ts';
import type { OptionName } from '../../../src/config/options.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { testDir } from '../../support/tmp.ts';

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

describe('the plans', () => {
  it('have no daemon load a file that another one includes', async () => {
    const plans = await plansWith({
      'conf.d/extra.toml':
        '[template]\nsrc = "extra.njk"\ndest = "extra.conf"\nmodel = "calico"\ncheck_main = "bird.conf"\n',
      'templates/extra.njk': '# more\n',
    });
    expect(plans.map(({ name, daemonFiles }) => [name, daemonFiles])).toEqual([['default', ['bird.conf']]]);
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
