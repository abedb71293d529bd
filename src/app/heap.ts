import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Both halves of the young generation, together. V8 lets it grow to 32 MiB as soon as a cluster is read, and never gives
 * that back; a change of one node among 10,000 allocates 2 MiB.
 */
const YOUNG_BYTES = 8 * 1024 * 1024;

/**
 * By how much the rest may grow until it is collected. V8 would let it double and more, and the first time, whatever is
 * alive, grow to more than 100 MiB.
 */
const GROWTH_PERCENT = 40;

/**
 * Keeps the heap of a process that watches close to what is alive in it, by V8's flags, both of which it looks at whenever it
 * collects. V8 accepts a code cache only with the flags that it was made with: to be called when the code is loaded.
 */
export function holdHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  let mayGrow = true;
  const look = (): void => {
    // While little changes V8 makes it smaller by itself.
    if (mayGrow === youngBytes() < YOUNG_BYTES) return;
    mayGrow = !mayGrow;
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  };
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] });
  look();
}

/**
 * Keeps the young generation as small as it is when a process starts. To be called like {@link holdHeap}, by a process that
 * ends when its work is done: memory that it has used before is faster than new pages, and less.
 */
export function keepYoungSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
}
