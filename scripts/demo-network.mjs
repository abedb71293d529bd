// `npm run demo:network`: clusters in network namespaces, with real BIRDs and a real etcd. What it does is in
// test/network/demo.ts; this makes sure of the program and the binaries, and lets Node read TypeScript.

import { spawnSync } from 'node:child_process';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// ip and other programs are in the sbin folders, which not every shell has on its path.
process.env.PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
for (const script of ['binaries', 'build']) {
  const { status } = spawnSync(process.execPath, [`scripts/${script}.mjs`], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
register('./typescript-loader.mjs', import.meta.url);
const { demo } = await import('../test/network/demo.ts');
process.exitCode = await demo(process.argv.slice(2));
