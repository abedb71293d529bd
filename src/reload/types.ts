import type { BirdfeedError } from '../core/errors.ts';

/** One daemon that runs a file of the set. */
export interface Target {
  /** The file within the generation that this daemon loads: `bird.conf`, `bird.cfg`, `bird6.cfg`. */
  readonly file: string;
  /** The control socket's path. */
  readonly socket: string;
}

/** The result of asking a daemon to load a file. */
export type ReloadOutcome =
  /** The daemon runs exactly this content. `weak` when it could not be read back (no content mark). */
  | { readonly type: 'applied'; readonly ack: 'mark' | 'weak' }
  /** The daemon read the file and refused it: a verdict on this content and this BIRD. */
  | { readonly type: 'refused'; readonly message: string; readonly birdVersion: string | null }
  /** BIRD took it, and went back: sessions that were up did not come back (`--commit-confirm`). A verdict, too. */
  | { readonly type: 'undone'; readonly message: string; readonly birdVersion: string | null }
  /** Not possible now: socket absent, time-out, permission. Retried. */
  | { readonly type: 'condition'; readonly error: BirdfeedError };

/** The verdict of the check ladder over a staged set of files. */
export type CheckOutcome =
  | {
      readonly type: 'passed';
      readonly how: 'bird -p' | 'configure check' | 'check_cmd';
      readonly birdVersion: string | null;
    }
  | { readonly type: 'not-checked'; readonly why: string }
  | {
      readonly type: 'failed';
      readonly file: string;
      readonly line: number | null;
      readonly message: string;
      readonly birdVersion: string | null;
    }
  | { readonly type: 'condition'; readonly error: BirdfeedError };
