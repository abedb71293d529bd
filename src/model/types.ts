import type { Mount } from '../datastore/types.ts';
import type { TreeView } from '../tree/types.ts';

/** What a problem can be; docs/messages.md says what each means. An id, once released, keeps its meaning. */
export const PROBLEM_IDS = [
  'as-trans',
  'cluster-id-is-address',
  'community-unknown',
  'configuration-invalid',
  'duplicate-address',
  'duplicate-router-id',
  'filter-missing',
  'mesh-large',
  'min-keys',
  'node-absent',
  'node-subnet-unknown',
  'password-invalid',
  'password-missing',
  'peer-as-unknown',
  'peer-shadowed',
  'peer-unanswered',
  'reflector-missed',
  'resource-conflict',
  'resource-invalid',
  'router-id-literal',
  'router-id-unusable',
  'secret-absent',
  'source-invalid',
  'tunnel-unsupported',
  'value-invalid',
] as const;

export type ProblemId = (typeof PROBLEM_IDS)[number];

/** Something a user should know about the data. `error`: something is left out; `warning`: it works, but looks wrong. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly id: ProblemId;
  /** What it is about: `BGPPeer/tor`, `Node/n1`, a key. */
  readonly subject: string;
  readonly field: string | null;
  /** One line, with the remedy where there is one. Never a secret. */
  readonly message: string;
}

/** What the model wants read on demand; `app/` turns changes of it into mounts. */
export interface Interests {
  /** `NAMESPACE/NAME`, sorted. */
  readonly secrets: readonly string[];
  readonly services: boolean;
  readonly endpointStatus: boolean;
}

/** A session in short, for stamps, status, diff and reload: enough to name it and to tell what changed. */
export interface SessionSummary {
  /** The protocol name in the rendered configuration, unique within a generation. */
  readonly name: string;
  readonly address: string;
  readonly family: 4 | 6;
  readonly asNumber: number;
  /** `mesh`, `global`, `node`, `workload`, ... */
  readonly type: string;
  /** Digest of what resets the session when it changes (password, timers, cluster id ...). Never reveals the password. */
  readonly hardDigest: string;
}

/**
 * What the guard compares between the last good generation and the next one: the names of the input resources by kind,
 * and what this node is known by. Each array is the same object while it did not change.
 */
export interface Census {
  readonly nodeName: string;
  readonly nodePresent: boolean;
  readonly address4: string | null;
  readonly address6: string | null;
  readonly kinds: Readonly<Record<string, readonly string[]>>;
}

/** What a producer makes of the tree for templates. */
export interface ProducerResult {
  /** Top-level names that templates see. Readonly data, sorted, complete. */
  readonly context: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  readonly interests: Interests;
  /** The producer's mounts, and those that its interests need. */
  readonly mounts: readonly Mount[];
  readonly sessions: readonly SessionSummary[];
  /** Null for a producer that has nothing to guard. */
  readonly census: Census | null;
  /** Values that must be kept as last-good input for what is quarantined now: key → stored text. */
  readonly lastGood: ReadonlyMap<string, string>;
}

/**
 * Turns the tree into what templates print. Pure: no clock, no file system, no logger. `previous` is the result of the
 * last run of this producer; unchanged inputs give the very same objects again, and the result always equals what
 * `previous = undefined` would give.
 */
export interface Producer {
  readonly name: string;
  readonly mounts: readonly Mount[];
  compute(view: TreeView, previous: ProducerResult | undefined): ProducerResult;
}
