import { systemClock } from '../../../src/core/clock.ts';
import { silentLogger } from '../../../src/core/log.ts';
import { openStore } from '../../../src/generation/store.ts';

/** Publishes one generation after the other into the cache given, pruning and noting state, until it is killed. */
const store = openStore({
  cacheDir: process.argv[2]!,
  set: 'default',
  version: '0',
  clock: systemClock,
  log: silentLogger,
});
await store.prepare();
const expectation = { set: 'default', nodeName: 'n1', dialect: 'bird2' };
store.bootCurrent(expectation);
process.stdout.write('ready\n');
for (let round = 0; ; round += 1) {
  const stage = await store.stage({
    files: ['bird.cfg', 'bird6.cfg'].map((name) => ({
      name,
      content: [Buffer.alloc(200_000, `${name} ${process.pid} ${round}\n`)],
    })),
    stamp: {
      set: 'default',
      nodeName: 'n1',
      dialect: 'bird2',
      contentDigest: `${process.pid} ${round}`,
      templatesDigest: 't',
      renderTime: null,
      mounts: [],
      sessions: [],
      census: null,
    },
  });
  const { number, stamp } = await stage.seal();
  const ack = { generation: number, contentDigest: stamp.contentDigest, ack: 'mark', at: '' } as const;
  await store.state.update((state) => ({ ...state, acknowledged: { bird: ack } }));
  await store.prune(5);
}
