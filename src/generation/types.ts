import type { SessionSummary } from '../model/types.ts';
import type { RenderedFile } from '../render/types.ts';

export interface StampedFile {
  readonly name: string;
  readonly size: number;
  /** Octal text, `0640`. */
  readonly mode: string;
  readonly sha256: string;
}

export interface StampedMount {
  readonly prefix: string;
  readonly kind: string;
  readonly datastoreId: string;
  readonly revision: number;
}

/**
 * `stamp.json`: what a generation is, written last and covering every file of it. Canonical JSON (sorted keys), carrying
 * its own digest. Contains no secret. The digest detects damage, not an attacker who can write to the cache.
 */
export interface Stamp {
  readonly format: 1;
  readonly product: string;
  readonly version: string;
  /** Monotonic number of the generation within its cache and set. */
  readonly generation: number;
  readonly parent: number | null;
  readonly set: string;
  readonly nodeName: string;
  readonly dialect: string | null;
  /** SHA-256 over the rendered files, by the pieces they are printed in: what "equal" means, and what the mark in BIRD holds. */
  readonly contentDigest: string;
  readonly templatesDigest: string;
  /** Milliseconds since the epoch that `datetime` stood for in templates; null when none asked. */
  readonly renderTime: number | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly mounts: readonly StampedMount[];
  readonly files: readonly StampedFile[];
  readonly sessions: readonly SessionSummary[];
  /** Number of input resources by kind, and this node's addresses: what the guard compares after a restart. */
  readonly census: {
    readonly counts: Readonly<Record<string, number>>;
    readonly address4: string | null;
    readonly address6: string | null;
  } | null;
  /** SHA-256 of the canonical stamp without this field. */
  readonly stampDigest: string;
}

/** A sealed generation on disk that has been verified. */
export interface Generation {
  readonly number: number;
  /** Real path, `CACHE/generations/00000042`; never through `current`. */
  readonly directory: string;
  readonly stamp: Stamp;
}

export type StampInput = Omit<
  Stamp,
  'format' | 'product' | 'version' | 'generation' | 'parent' | 'createdAt' | 'files' | 'stampDigest'
>;

/** Where a copy of a rendered file goes besides the generation. */
export interface Destination {
  /** The file's name within the generation. */
  readonly file: string;
  /** Absolute path of the copy. */
  readonly path: string;
  /** Permission bits; null keeps an existing file's mode, else 0640. */
  readonly mode: number | null;
  readonly uid: number | null;
  readonly gid: number | null;
}

export interface PublishRequest {
  readonly files: readonly RenderedFile[];
  readonly stamp: StampInput;
}

/** Why a generation was not used, for messages and `generations list`. */
export interface Refusal {
  readonly directory: string;
  readonly reason: 'torn' | 'edited' | 'foreign-node' | 'foreign-dialect' | 'foreign-set' | 'unreadable';
  /** One line naming file and finding. */
  readonly message: string;
}
