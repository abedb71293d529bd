import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { skipSuite } from '../../support/binaries.ts';
import { type KubeCluster, requireCluster } from '../../support/kube-cluster.ts';

/**
 * Cases that another program's test-suite has, for whoever has them as a folder: `run.mjs` in it runs a command for each,
 * with `{input}`, `{node}` and `{out}` filled in, and compares what the rendered configuration means.
 */
const CASES = process.env['BIRDFEED_CALICO_CASES'];
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const required = requireCluster();
if (CASES === undefined) skipSuite('no folder of Calico cases is given in BIRDFEED_CALICO_CASES', false);
let cluster: KubeCluster;
beforeAll(async () => {
  cluster = await required.start();
});
afterAll(() => cluster?.close());

function command(kubeconfig: string, dialect: string): string {
  const birdfeed = [
    `node ${ROOT}dist/birdfeed.js --onetime --wait 20s --require-fresh --datastore kubernetes`,
    `--kubeconfig ${kubeconfig} --node-name {node} --bird ${dialect} --calico-compat`,
    '--reload none --syntax-check off --cache {out}',
  ].join(' ');
  return `node ${ROOT}test/support/kube/load.mjs --kubeconfig ${kubeconfig} {input} && ${birdfeed}`;
}

it('every case passes from this datastore', async () => {
  // The cases want what Calico's fork of BIRD 1.6 can do; other dialects differ from it on purpose.
  const kubeconfig = cluster.api.adminKubeconfig;
  const args = [join(CASES ?? '', 'run.mjs'), '--command', command(kubeconfig, 'bird1-calico')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  const last = output.trim().split('\n').at(-1);
  console.log(last);
  expect(last, output).toMatch(/^\d+ passed, 0 failed$/);
}, 600_000);
