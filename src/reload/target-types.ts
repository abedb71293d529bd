import type { BirdfeedError } from '../core/errors.ts';
import type { PendingTrial } from '../generation/state.ts';
import type { ReloadOutcome } from './types.ts';
import type { Verdicts } from './verdicts.ts';

/** What one daemon shall run. */
export interface Wanted {
  readonly generation: number;
  /** Real path of the file in its sealed generation, never through `current`. */
  readonly path: string;
  /** The generation's content digest: what verdicts are about. */
  readonly digest: string;
  /** The mark that the file defines; null when it defines none. */
  readonly mark: string | null;
  /** Load it on trial: BIRD goes back after so many seconds unless its sessions come back. Absent: for good. */
  readonly trialSeconds?: number;
}

/** What one daemon runs, as read from it. */
export interface Running {
  /** Null when the configuration has no mark. */
  readonly mark: string | null;
  /** BIRD's own text for when it was loaded. */
  readonly loadedAt: string | null;
  /** False while a reconfiguration is in progress: the mark is then the new one, the sessions are not. */
  readonly settled: boolean;
}

export type Phase =
  /** Not connected, and a timer runs until the next try. */
  | 'waiting'
  | 'connecting'
  /** Asking BIRD what it runs. */
  | 'reading'
  | 'loading'
  /** Connected, BIRD runs what is wanted, or nothing is wanted yet. */
  | 'settled'
  /** Connected; BIRD refused what is wanted and is not asked again. */
  | 'refused'
  /** Connected; something failed that may pass, and a timer runs. */
  | 'retrying'
  /** Connected to a BIRD that does not speak the dialect. It is told nothing. */
  | 'contradicted'
  | 'stopped';

export type TargetEvent =
  | { readonly type: 'start' }
  | { readonly type: 'want'; readonly wanted: Wanted }
  /** Try again whatever has been refused or is waited for. */
  | { readonly type: 'retry' }
  | { readonly type: 'connected'; readonly version: string | null; readonly conflict: BirdfeedError | null }
  | { readonly type: 'unconnectable'; readonly error: BirdfeedError }
  | { readonly type: 'read'; readonly running: Running }
  | { readonly type: 'loaded'; readonly outcome: ReloadOutcome; readonly loadedAt: string | null }
  /** What is being loaded is on trial from now on. */
  | { readonly type: 'trial'; readonly trial: PendingTrial | null }
  /** The work in hand failed, the connection is still there. */
  | { readonly type: 'failed'; readonly error: BirdfeedError }
  | { readonly type: 'lost'; readonly error: BirdfeedError }
  /** BIRD said something by itself: most likely it has undone a change. */
  | { readonly type: 'notice' }
  | { readonly type: 'timer' }
  | { readonly type: 'stop' };

export type TargetFact =
  | { readonly type: 'connected'; readonly birdVersion: string | null }
  /** What BIRD runs: after every connect, and whenever it is found to be something else than before. */
  | { readonly type: 'running'; readonly mark: string | null }
  /** `adopted`: BIRD ran it already and was not told to load anything. */
  | {
      readonly type: 'applied';
      readonly wanted: Wanted;
      readonly ack: 'mark' | 'weak';
      readonly adopted: boolean;
    }
  /** `remembered`: known from an earlier refusal, BIRD was not asked. */
  | {
      readonly type: 'refused';
      readonly wanted: Wanted;
      readonly message: string;
      readonly birdVersion: string | null;
      readonly remembered: boolean;
      /** BIRD took it, and it was taken back. */
      readonly undone?: true;
    }
  /** On trial; these sessions are waited for. */
  | { readonly type: 'trying'; readonly wanted: Wanted; readonly missing: readonly string[] }
  /** Reported when it is another one than the last. */
  | { readonly type: 'condition'; readonly error: BirdfeedError }
  | {
      readonly type: 'disconnected';
      readonly error: BirdfeedError;
      readonly during: 'idle' | 'reading' | 'loading';
    };

export type Effect =
  | { readonly type: 'connect' }
  | { readonly type: 'read' }
  | { readonly type: 'load'; readonly wanted: Wanted }
  /** BIRD runs it on trial since before: see it through. */
  | { readonly type: 'resume'; readonly wanted: Wanted; readonly trial: PendingTrial }
  | { readonly type: 'timer'; readonly reason: 'reconnect' | 'retry' | 'reread'; readonly attempt: number }
  | { readonly type: 'disconnect' }
  | { readonly type: 'report'; readonly fact: TargetFact };

export interface TargetState {
  readonly phase: Phase;
  readonly wanted: Wanted | null;
  /** What `configure` was sent for, while loading. */
  readonly loading: Wanted | null;
  readonly birdVersion: string | null;
  readonly running: Running | null;
  /** What was loaded without a mark, with BIRD's time of it: the only way to see that it is still that. */
  readonly weak: { readonly path: string; readonly loadedAt: string | null } | null;
  /** The wanted generation that was last reported as applied or refused. */
  readonly reported: { readonly type: 'applied' | 'refused'; readonly wanted: Wanted } | null;
  readonly verdicts: Verdicts;
  /** What is, or was at last, on trial without having come to an end. */
  readonly trial: PendingTrial | null;
  /** Content BIRD died of while loading it. Once may be chance, twice is a verdict. */
  readonly diedOf: string | null;
  /** Failures in a row. */
  readonly attempt: number;
  readonly lastCondition: string | null;
}
