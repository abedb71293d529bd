/**
 * The first index from `from` on at which two arrays of equal length differ, by identity; their length if there is none.
 * It runs over ten thousand elements at every change, so it stands alone: V8 compiles it once, where the same loop inside
 * larger functions was compiled again whenever something around it changed its shape.
 */
export function nextDifference(a: readonly unknown[], b: readonly unknown[], from: number): number {
  let i = from;
  while (i < a.length && a[i] === b[i]) i += 1;
  return i;
}

/** Whether two arrays hold the very same elements. */
export function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && nextDifference(a, b, 0) === a.length);
}

/**
 * `next.map(make)`, given `made`, which is `before.map(make)`: `make` is called for what is not the same at the same place,
 * and the result is `made` itself where nothing came out differently.
 */
export function mapAgain<A, B>(
  next: readonly A[],
  before: readonly A[],
  made: readonly B[],
  make: (item: A) => B,
): readonly B[] {
  if (next.length !== before.length) return next.map(make);
  let result: B[] | null = null;
  for (let i = nextDifference(next, before, 0); i < next.length; i = nextDifference(next, before, i + 1)) {
    const item = make(next[i]!);
    if (item === made[i]) continue;
    result ??= made.slice();
    result[i] = item;
  }
  return result ?? made;
}

/** Whether two maps have equal texts under equal keys. */
export function sameMap(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
