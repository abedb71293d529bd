import { join } from 'node:path';
import { bootOrder } from './boot-order.ts';
import { generationName, type Layout } from './layout.ts';
import { acknowledgedGenerations, type CacheState } from './state.ts';
import { type Inventory, takeInventory } from './switch.ts';
import type { Generation, Refusal } from './types.ts';
import { type Expectation, isRefusal, type Verifier } from './verify.ts';

export interface BootResult {
  /** The first fit generation; null when there is none. */
  readonly generation: Generation | null;
  /**
   * `current` already names it, as it nearly always does. If not, `putInPlace` switches, once this process holds the
   * lock. Where nothing is fit, `current` stays as it is: a BIRD that runs or restarts from a refused generation is
   * worth a loud report, but taking a node's configuration away because of, say, a misspelt node name is worse.
   */
  readonly inPlace: boolean;
  /** What was looked at and not taken, in that order. */
  readonly refusals: readonly Refusal[];
}

/** Looks for the generation to start with; `boot-order.ts` says in which order. Synchronous, reads only. */
export function findBootable(
  layout: Layout,
  state: CacheState,
  expectation: Expectation,
  verifier: Verifier,
): BootResult {
  const inventory = takeInventory(layout);
  const { linked } = inventory;
  const pinned = state.pin?.generation ?? null;
  const refusals: Refusal[] = [];
  const directoryOf = (number: number): string => join(layout.generations, generationName(number));

  if (linked !== null && !inventory.numbers.includes(linked)) {
    refusals.push({
      directory: directoryOf(linked),
      reason: 'torn',
      message: `${layout.current} names generation ${linked}, which does not exist`,
    });
  }
  const readStamp = (number: number): Generation | Refusal => verifier.readStamp(directoryOf(number));
  for (const number of inCheapOrder(inventory, state, pinned, readStamp)) {
    const found = verifier.verify(directoryOf(number), expectation);
    if (!isRefusal(found)) return { generation: found, inPlace: number === linked, refusals };
    refusals.push(found);
  }
  return { generation: null, inPlace: false, refusals };
}

/** Pin and `current` first; every other stamp is read only when those were refused. */
function* inCheapOrder(
  { numbers, linked }: Inventory,
  state: CacheState,
  pinned: number | null,
  readStamp: (number: number) => Generation | Refusal,
): Generator<number> {
  const first = [...new Set([pinned, linked])].filter(
    (number) => number !== null && numbers.includes(number),
  );
  for (const number of first) if (number !== null) yield number;
  const used = new Set(acknowledgedGenerations(state));
  for (const number of numbers) {
    const found = readStamp(number);
    if (!isRefusal(found) && found.stamp.parent !== null) used.add(found.stamp.parent);
  }
  const candidates = numbers.map((number) => ({ number, wasCurrent: used.has(number) }));
  for (const number of bootOrder(candidates, linked, pinned)) if (!first.includes(number)) yield number;
}
