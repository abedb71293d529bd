import type { Dialect } from '../render/types.ts';

/**
 * The version text in a banner (`BIRD 2.0.12 ready.`) or in the output of `bird --version` (`BIRD version 2.0.12`), or
 * null. Calico's fork says `BIRD v0.3.3+birdv1.6.8 ready.`; the text is kept whole, since a fork is not the release it
 * was made from: both parse different files.
 */
export function parseVersion(text: string): string | null {
  return /\bBIRD (?:version )?(v?\d[^\s]*)/.exec(text)?.[1] ?? null;
}

/** The major version of the BIRD behind a version text: 1, 2, 3, or null when it cannot be told. */
export function majorVersion(version: string): number | null {
  const match = /birdv(\d+)\./.exec(version) ?? /^(\d+)\./.exec(version);
  return match === null ? null : Number(match[1]);
}

/** Whether the version text is of Calico's fork, the only BIRD that knows `krt_tunnel`. */
export function isCalicoFork(version: string): boolean {
  return version.includes('+birdv');
}

/**
 * Why a BIRD of this version cannot run files of this dialect, as one line that names both, or null when it can. A
 * version that cannot be read contradicts nothing: BIRD itself will refuse what it does not understand.
 */
export function dialectConflict(dialect: Dialect, version: string | null): string | null {
  const major = version === null ? null : majorVersion(version);
  if (major === null) return null;
  if ((dialect === 'bird2') === major >= 2) return null;
  const wants = dialect === 'bird2' ? 'BIRD 2 or 3' : 'BIRD 1.6';
  const remedy = major >= 2 ? 'bird2' : 'bird1';
  return `dialect ${dialect} is for ${wants}, but this is BIRD ${version}: use --bird ${remedy}, or --bird auto`;
}
