/** A refusal that would be repeated: this content, by this BIRD. */
export interface Verdict {
  /** Digest of the content that was refused: the generation's content digest. */
  readonly digest: string;
  readonly birdVersion: string | null;
  readonly message: string;
  /** Set when BIRD took the content, and it was taken back: see `trial.ts`. */
  readonly undone?: true;
}

/** Refusals, newest last. Plain data, so that it can be kept in the cache's state file. */
export type Verdicts = readonly Verdict[];

/** Content that was refused long ago is not wanted again; this bounds the state file. */
const KEEP = 32;

/** The verdict on this content by this BIRD. Another version of BIRD may think differently and is asked again. */
export function findVerdict(verdicts: Verdicts, digest: string, birdVersion: string | null): Verdict | null {
  return verdicts.find((v) => v.digest === digest && v.birdVersion === birdVersion) ?? null;
}

export function addVerdict(verdicts: Verdicts, verdict: Verdict): Verdicts {
  const others = verdicts.filter((v) => v.digest !== verdict.digest || v.birdVersion !== verdict.birdVersion);
  return [...others, verdict].slice(-KEEP);
}

/** Forgets what was said about this content by any BIRD, so that it is tried again. */
export function dropVerdicts(verdicts: Verdicts, digest: string): Verdicts {
  return verdicts.filter((v) => v.digest !== digest);
}
