import { appendFileSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';

/** Numbers in [0, 1). */
export type Random = () => number;

/** One row of the table that `npm run test:faults` prints. */
export interface FaultRow {
  /** The file that the fault is in. */
  readonly group: string;
  readonly fault: string;
  readonly runs: number;
  readonly converged: number;
  /** Milliseconds; null where nothing has to happen within a time. */
  readonly bound: number | null;
  readonly worst: number;
  /** Largest resident memory of the process under test, MiB; null where there was none. */
  readonly peakMiB: number | null;
}

export interface FaultRuns {
  /** How many runs `npm run test:faults` makes, and how many `npm test` does. */
  readonly runs: number;
  readonly short?: number;
  /** Milliseconds within which each run has to be over the fault; null for what is not a matter of time. */
  readonly bound: number | null;
  /** Milliseconds for one run with all that is around it: what the fault itself lasts, and the comparisons. */
  readonly patience?: number;
}

/** What runs have in common, such as a process that lives through all of them. */
export interface Subject {
  /** Process whose memory is of interest. */
  readonly pid?: number | undefined;
  /** For what is tried in every place there is: how many there are. `npm test` takes every eleventh. */
  readonly places?: number | undefined;
}

const isFull = process.env['BIRDFEED_FAULTS'] === 'full';
const scale = Number(process.env['BIRDFEED_FAULT_SCALE'] ?? 1);
const seed = Number(process.env['BIRDFEED_FAULT_SEED'] ?? 1);

/**
 * A fault, tried again and again on one subject: `round` brings it about, asserts what has to hold, and returns how many
 * milliseconds after its end everything was as it should be. A failed run ends the test; its number and the seed are in the
 * message, since the same seed gives the same runs.
 */
export function fault<T extends object & Subject>(
  name: string,
  { runs, short = 1, bound, patience = 20_000 }: FaultRuns,
  arrange: () => Promise<T>,
  round: (subject: T, random: Random, index: number) => Promise<number>,
): void {
  const planned = isFull ? Math.max(1, Math.round(runs * scale)) : short;
  if (planned === 0) return;
  const timeout = 60_000 + planned * ((bound ?? 0) + patience);
  it(name, { timeout }, async () => {
    const random = randomFrom(`${seed} ${name}`);
    const group = basename(expect.getState().testPath ?? '', '.test.ts');
    let [count, converged, worst, peak] = [planned, 0, 0, 0];
    try {
      const subject = await arrange();
      const step = subject.places === undefined || isFull ? 1 : 11;
      const end = subject.places ?? planned;
      count = Math.ceil(end / step);
      for (let index = 0; index < end; index += step) {
        const ms = await round(subject, random, index).catch((cause: Error) => {
          throw new Error(`run ${index} of ${end}, seed ${seed}: ${cause.message}`, { cause });
        });
        worst = Math.max(worst, ms);
        peak = Math.max(peak, subject.pid === undefined ? 0 : residentMiB(subject.pid));
        converged += 1;
      }
    } finally {
      recordRow({ group, fault: name, runs: count, converged, bound, worst, peakMiB: peak || null });
    }
    if (bound !== null) expect(worst, 'the slowest run, in ms').toBeLessThanOrEqual(bound);
  });
}

/** Resident memory of a process now, MiB. */
export function residentMiB(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

function recordRow(row: FaultRow): void {
  const file = process.env['BIRDFEED_FAULT_TABLE'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/** mulberry32, seeded with FNV-1a of a text: the same text gives the same numbers. */
export function randomFrom(text: string): Random {
  let state = 0x811c9dc5;
  for (const character of text) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number in [from, to]. */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}
