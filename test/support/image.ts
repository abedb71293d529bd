import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BirdBinary } from './binaries.ts';
import type { Image } from './pod.ts';

const script = fileURLToPath(new URL('../../scripts/image.mjs', import.meta.url));

/** The content of birdfeed's image, assembled from the built program by the script that Containerfile runs. */
export function birdfeedImage(dir: string): Image {
  const root = join(dir, 'image');
  execFileSync(process.execPath, [script, root]);
  return { root, entrypoint: ['birdfeed'], path: '/usr/bin:/bin' };
}

/** In the place of an image with BIRD: this machine's files, with that BIRD on the path. */
export function birdImage({ bird }: BirdBinary): Image {
  return { root: '/', entrypoint: ['bird'], path: `${dirname(bird)}:/usr/bin:/bin`, ownNetwork: true };
}
