import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A command that a document shows, with the output that it claims. */
export interface ShownCommand {
  /** As it is typed, several lines when it is continued with a backslash. */
  readonly command: string;
  readonly output: string;
  /** Index of the first and one after the last line of the output in the document. */
  readonly from: number;
  readonly to: number;
}

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** The commands of the ```console blocks of a Markdown document: lines that begin with `$ `, each with what follows it. */
export function shownCommands(markdown: string): readonly ShownCommand[] {
  const lines = markdown.split('\n');
  const shown: ShownCommand[] = [];
  for (let at = lines.indexOf('```console'); at >= 0; at = lines.indexOf('```console', at)) {
    const end = lines.indexOf('```', at);
    at += 1;
    while (at < end) {
      const command = [lines[at++]!.replace(/^\$ /, '')];
      while (command.at(-1)!.endsWith('\\')) command.push(lines[at++]!);
      const from = at;
      while (at < end && !lines[at]!.startsWith('$ ')) at += 1;
      const output = lines.slice(from, at).join('\n');
      shown.push({ command: command.join('\n'), output, from, to: at });
    }
  }
  return shown;
}

/** The document with these outputs in the place of its own. */
export function withOutputs(markdown: string, shown: readonly ShownCommand[], outputs: readonly string[]) {
  const lines = markdown.split('\n');
  for (const [index, { from, to }] of [...shown.entries()].reverse()) {
    const output = outputs[index]!;
    lines.splice(from, to - from, ...(output === '' ? [] : output.split('\n')));
  }
  return lines.join('\n');
}

/**
 * Runs commands one after the other in one shell, as somebody would who has just installed birdfeed: from a checkout of
 * which only `examples/` is needed, with an empty home, logs in the form of a terminal, no BIRD and nothing in the
 * environment. Paths of the sandbox are given back as `/home/you`. `program` is the birdfeed to run.
 */
export async function runShown(
  commands: readonly string[],
  sandbox: string,
  program: string,
): Promise<readonly string[]> {
  const home = await realpath(sandbox);
  const checkout = join(home, 'birdfeed');
  await mkdir(join(home, 'bin'), { recursive: true });
  await cp(join(repository, 'examples'), join(checkout, 'examples'), { recursive: true });
  const wrapper = join(home, 'bin', 'birdfeed');
  await writeFile(wrapper, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(wrapper, 0o755);
  const env = {
    PATH: `${home}/bin:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    BIRDFEED_LOG_FORMAT: 'text',
  };
  const end = String.raw`s=$?; printf '\036'; (exit $s)`;
  const script = ['exec 2>&1', `cd "${checkout}"`, ...commands.flatMap((command) => [command, end])].join(
    '\n',
  );
  const printed = await output(spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'] }));
  const outputs = printed.split('\x1e').map((text) => text.replaceAll(home, '/home/you').replace(/\n$/, ''));
  return outputs.slice(0, commands.length);
}

async function output({ stdout }: { stdout: AsyncIterable<Buffer> }): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdout) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'ISO-TIME'],
  [/\b\d\d:\d\d:\d\d\b/g, 'TIME'],
  [/\b(fixtures-[0-9a-f]{8}|[0-9a-f]{12,64})\b/g, 'DIGEST'],
  [/\b(revision[= ]|synced at )\d+/g, '$1N'],
  [/"ageSeconds":\d+/g, '"ageSeconds":N'],
];

/** An output without what differs from run to run: times, digests, positions of fixtures. */
export function masked(text: string): string {
  return MASKS.reduce((masking, [pattern, name]) => masking.replaceAll(pattern, name), text.trimEnd());
}
