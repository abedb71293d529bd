import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelDialect } from '../../../src/model/bgp/options.ts';
import { binaries, requireBinary } from '../../support/binaries.ts';

const bird16 = requireBinary(binaries.bird16, 'bird16');
const bird20 = requireBinary(binaries.bird20, 'bird20');
const bird217 = requireBinary(binaries.bird217, 'bird217');
const bird31 = requireBinary(binaries.bird31, 'bird31');

/** Which programs must accept which file. */
const READERS: Readonly<Record<ModelDialect, Readonly<Record<string, readonly string[]>>>> = {
  bird1: { 'bird.cfg': [bird16.bird], 'bird6.cfg': [bird16.bird6!] },
  'bird1-calico': { 'bird.cfg': [bird16.bird], 'bird6.cfg': [bird16.bird6!] },
  bird2: { 'bird.conf': [bird20.bird, bird217.bird, bird31.bird] },
};

export interface Refused {
  readonly program: string;
  readonly message: string;
  readonly text: string;
}

/**
 * Collects rendered files and has the real BIRDs read each distinct one once. Stock BIRD has no `krt_tunnel`, which
 * only Calico's fork adds: those statements are taken out before.
 */
export class ParseBatch {
  readonly #jobs = new Map<string, { readonly program: string; readonly text: string }>();

  add(dialect: ModelDialect, files: Readonly<Record<string, string>>): void {
    for (const [name, rendered] of Object.entries(files)) {
      // The mark differs between files that are otherwise equal.
      const text = rendered.replace(/^define birdfeed_mark = .*$/m, '').replace(/^.*krt_tunnel = .*;$/gm, '');
      for (const program of READERS[dialect][name]!) this.#jobs.set(`${program}\n${text}`, { program, text });
    }
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** What was refused, of everything added so far. */
  async run(): Promise<readonly Refused[]> {
    const directory = await mkdtemp('/tmp/bfparse-');
    const jobs = [...this.#jobs.values()];
    const refused: Refused[] = [];
    let next = 0;
    const worker = async (id: number): Promise<void> => {
      const file = join(directory, `${id}.conf`);
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
        await writeFile(file, job.text);
        const message = await parse(job.program, file);
        if (message !== null) refused.push({ ...job, message });
      }
    };
    try {
      await Promise.all([0, 1, 2].map(worker));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
    return refused;
  }
}

function parse(program: string, file: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, ['-p', '-c', file], { timeout: 20_000 }, (error, stdout, stderr) => {
      resolve(error === null ? null : `${stdout}${stderr}${error.signal ?? ''}`.trim() || error.message);
    });
  });
}
