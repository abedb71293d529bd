/** What is known about a generation on disk before its files are read. */
export interface BootCandidate {
  readonly number: number;
  /** It was `current` once: some later generation names it as parent, or a daemon acknowledged it. */
  readonly wasCurrent: boolean;
}

/**
 * In which order to try the generations at start, by number.
 *
 * First the pinned one (a rollback that a crash interrupted is completed), then what `current` names. If neither is fit,
 * older ones, newest first, and among them those that were once in use before any that was sealed but never switched
 * to: the process died in between, so nobody has ever run it. Newer ones come last, since something (a rollback, or
 * the death before the switch) kept them from being current. Without a `current` all of them count as older.
 */
export function bootOrder(
  candidates: readonly BootCandidate[],
  current: number | null,
  pinned: number | null,
): readonly number[] {
  const anchor = pinned ?? current ?? Number.POSITIVE_INFINITY;
  const rank = ({ number, wasCurrent }: BootCandidate): number => {
    if (number === pinned) return 0;
    if (number === current) return 1;
    return (number < anchor ? 2 : 4) + (wasCurrent ? 0 : 1);
  };
  return [...candidates]
    .sort((a, b) => rank(a) - rank(b) || b.number - a.number)
    .map((candidate) => candidate.number);
}
