import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tryLock } from '../../../src/generation/lock.ts';

/** Takes the lock of the cache given, says so and lives until killed. It throws the lock object away and collects garbage. */
const { type } = await tryLock({ cacheDir: process.argv[2]! });
if (type !== 'locked') process.exit(3);
process.stdout.write('locked\n');
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
setInterval(() => {
  collect();
  process.stdout.write('.\n');
}, 20);
