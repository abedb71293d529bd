// birdfeed's own encoding of etcd's messages, for clients here that speak to etcd without a birdfeed.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { outputFiles } = await build({
  stdin: {
    contents: "export * from './framing.ts'; export * from './messages.ts';",
    resolveDir: fileURLToPath(new URL('../../src/datastore/etcd/', import.meta.url)),
  },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const bundled = Buffer.from(outputFiles[0].contents).toString('base64');

/** What `framing.ts` and `messages.ts` export. */
export const messages = await import(`data:text/javascript;base64,${bundled}`);
