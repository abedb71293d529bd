import type { BirdfeedError } from '../core/errors.ts';
import type { Mount } from '../datastore/types.ts';
import type { KeyCounts } from '../generation/guard.ts';
import type { Destination } from '../generation/types.ts';
import type { KeptSessions } from '../model/bgp/keep-sessions.ts';
import type { Explained } from '../model/bgp/producer.ts';
import type { NodeModel } from '../model/bgp/types.ts';
import type { Census, Problem, SessionSummary } from '../model/types.ts';
import type { LookupRequest } from '../render/lookup-table.ts';
import type { Lookups } from '../render/resolve.ts';
import type { Dialect, RenderedFile } from '../render/types.ts';
import type { Entry, TreeView } from '../tree/types.ts';

/** What the producers of a set made of the tree: everything there is to decide upon before anything is rendered. */
export interface Computation {
  readonly problems: readonly Problem[];
  readonly sessions: readonly SessionSummary[];
  readonly census: Census | null;
  /** Number of keys and `min_keys` of each plain resource. */
  readonly keys: readonly (Omit<KeyCounts, 'previous'> & { readonly resource: string })[];
  readonly lastGood: ReadonlyMap<string, string>;
  /** All that must be read for this to be whole: the plan's mounts, and what the model asks for because of the data. */
  readonly mounts: readonly Mount[];
}

export interface Rendering {
  readonly files: readonly RenderedFile[];
  readonly contentDigest: string;
  /** Why files are missing; with any, nothing of the set is published. */
  readonly faults: readonly BirdfeedError[];
  /** What was looked up: time, names, files. */
  readonly asked: readonly LookupRequest[];
}

export interface SetCommand {
  /** The resource it belongs to. */
  readonly resource: string;
  /** The rendered file. */
  readonly file: string;
  readonly command: string;
  /** Path of the copy; null when the file stays in the generation. */
  readonly dest: string | null;
}

/** A set as its resource files describe it: what is read, rendered, checked, copied and told. Replaced as a whole. */
export interface SetPlan {
  readonly name: string;
  readonly dialect: Dialect | null;
  readonly mounts: readonly Mount[];
  readonly templatesDigest: string;
  /** Files that BIRD loads, in the order of the control sockets. */
  readonly daemonFiles: readonly string[];
  readonly destinations: readonly Destination[];
  readonly checks: readonly SetCommand[];
  readonly reloads: readonly SetCommand[];
  /** Parses entries of a snapshot that is still being read, to spread the work. */
  prepare(entries: readonly Entry[]): void;
  /**
   * Spreads the work of the first `compute` and `render` over turns of the event loop, by doing it for growing parts of the
   * tree. Never rejects: what fails, fails again with the whole tree.
   */
  warmUp(view: TreeView): Promise<void>;
  compute(view: TreeView): Computation;
  /** The model of what is rendered next; null for a set without BGP. */
  model(): NodeModel | null;
  /** Which half of the route reflectors this node is in, by what was last computed; null: it is none. */
  reflectorHalf(): 0 | 1 | null;
  /** Has some sessions rendered as `served` has them; returns all that are rendered then. */
  keep(served: NodeModel, kept: KeptSessions): readonly SessionSummary[];
  /** What each resource's template sees, by resource. */
  contexts(): ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Why sessions are there or not, by what was last computed; null for a set without BGP. */
  explain(subject: string): Explained | null;
  /** Renders what was last computed. The time, names and files are as they were looked up, so equal input gives equal bytes. */
  render(): Promise<Rendering>;
  /** What was looked up; asked again now and then. */
  readonly lookups: Lookups;
}
