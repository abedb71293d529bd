import type { BirdfeedError } from '../core/errors.ts';
import type { Generation } from '../generation/types.ts';
import type { Computation, Rendering } from './set-plan.ts';

/** What one run came to. */
export type RunOutcome =
  /** The datastore has not been read whole yet, or this node is not in it and there is nothing to serve. */
  | { readonly type: 'waiting'; readonly error: BirdfeedError }
  /** `change` is what is held; null where there is nothing to render, since this node is gone. */
  | {
      readonly type: 'held';
      readonly reasons: readonly string[];
      readonly digest: string;
      readonly change: Change | null;
    }
  /** A verdict: nothing to be tried again until the input changes. */
  | { readonly type: 'failed'; readonly error: BirdfeedError }
  /** A condition: tried again by itself. */
  | { readonly type: 'condition'; readonly error: BirdfeedError }
  /** `change` is what would be published without the pin; null when that is what is pinned. */
  | { readonly type: 'pinned'; readonly generation: number; readonly change: Change | null }
  | { readonly type: 'unchanged'; readonly generation: Generation }
  /** Only with `noop`. */
  | { readonly type: 'would-change'; readonly change: Change }
  | {
      readonly type: 'published';
      readonly generation: Generation;
      readonly previous: Generation | null;
    };

/** What differs from `current`. */
export interface Change {
  readonly computation: Computation;
  readonly rendering: Rendering;
}
