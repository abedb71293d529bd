import type { BirdBinary } from '../../support/binaries.ts';

/** Which BIRD a host has: the dialect it reads, and its daemons, one for both families or one for each. */
export interface Flavour {
  readonly dialect: 'bird1' | 'bird2';
  readonly binary: BirdBinary;
  readonly daemons: readonly { readonly file: string; readonly families: readonly Family[] }[];
}

export type Family = 4 | 6;

export function flavourOf(binary: BirdBinary): Flavour {
  if (binary.bird6 === undefined)
    return { dialect: 'bird2', binary, daemons: [{ file: 'bird.conf', families: [4, 6] }] };
  const daemons = [
    { file: 'bird.cfg', families: [4] },
    { file: 'bird6.cfg', families: [6] },
  ] as const;
  return { dialect: 'bird1', binary, daemons };
}

export function familyOf(text: string): Family {
  return text.includes(':') ? 6 : 4;
}
