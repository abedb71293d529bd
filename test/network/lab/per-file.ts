import { execFile } from 'node:child_process';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The files of one daemon as Calico's confd has them: name → text. The first one includes the others. */
export type Files = ReadonlyMap<string, string>;

const MAIN = 'bird.cfg';
const PARTS = [
  { name: 'bird_aggr.cfg', holds: /^(?:#.*\n)?(?:function export_blocks|protocol static )/ },
  { name: 'bird_ipam.cfg', holds: /^(?:#.*\n)?(?:function export_to_peers|filter kernel_routes)/ },
] as const;

/** Cuts a configuration for one family into three files as Calico's confd has them: blocks, pools, and everything else. */
export function cut(text: string): Files {
  const blocks = text.split(/\n\n+/);
  const partOf = (block: string) => PARTS.find(({ holds }) => holds.test(block));
  const parts = PARTS.map(({ name, holds }) => {
    return [name, `${blocks.filter((block) => holds.test(block)).join('\n\n')}\n`] as const;
  });
  const first = blocks.findIndex((block) => partOf(block) !== undefined);
  const includes = PARTS.map(({ name }) => `include "${name}";`).join('\n');
  const main = blocks.flatMap((block, index) => [
    ...(index === first ? [includes] : []),
    ...(partOf(block) === undefined ? [block] : []),
  ]);
  return new Map([[MAIN, main.join('\n\n')], ...parts]);
}

export interface PerFileOptions {
  readonly directory: string;
  readonly bird: string;
  readonly birdc: string;
  readonly socket: string;
}

/**
 * Publishes files as confd does: one after the other, each checked by itself if it has a check, renamed into place, and
 * followed by a reload of its own. Only files that differ. Counts what BIRD was told, and what it refused.
 */
export async function publishPerFile(files: Files, before: Files | null, options: PerFileOptions) {
  const { directory, bird, birdc, socket } = options;
  await mkdir(directory, { recursive: true });
  const count = { reloads: 0, refused: 0 };
  const changed = [...files].filter(([name, text]) => before?.get(name) !== text);
  for (const [name, text] of changed) {
    const staged = join(directory, `.${name}.staged`);
    await writeFile(staged, text);
    if (name === MAIN && before !== null) await run(bird, ['-p', '-c', staged]);
    await rename(staged, join(directory, name));
    if (before === null) continue;
    const { stdout } = await run(birdc, ['-s', socket, 'configure', `"${join(directory, MAIN)}"`]).catch(
      () => ({
        stdout: '',
      }),
    );
    count.reloads += 1;
    if (!/Reconfig/.test(stdout)) count.refused += 1;
  }
  return count;
}
