import type { Pieces } from '../core/joined-text.ts';

/** One file of a generation. */
export interface RenderedFile {
  /** File name within the generation: no slash. */
  readonly name: string;
  readonly content: Pieces;
}

/** The dialects of BIRD configuration. `bird2` serves BIRD 2 and 3; `bird1-calico` is Calico's fork of 1.6. */
export const DIALECTS = ['bird1', 'bird1-calico', 'bird2'] as const;
export type Dialect = (typeof DIALECTS)[number];
