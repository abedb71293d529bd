import type { BackoffPolicy } from '../../core/backoff.ts';
import type { Position } from '../types.ts';
import type { ConvertOptions } from './convert.ts';

/** How to reach the API server and as whom. Files are read again while birdfeed runs. */
export interface KubernetesAccess {
  /** Files of kubectl's form, separated by colons and merged as kubectl does; null: the pod's service account. */
  readonly kubeconfig: string | null;
  /** Context of the kubeconfig; null: its current one. */
  readonly context: string | null;
  /** API servers to use instead of the one that the kubeconfig or the pod names. */
  readonly servers: readonly string[];
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly insecure: boolean;
}

/** Milliseconds. */
export interface KubernetesTimings {
  /** For a connection to be open and its first small request answered. */
  readonly dialMs: number;
  /** Until the head of an answer is there. The first page of a large list takes an API server seconds. */
  readonly answerMs: number;
  /** For one page of a list. */
  readonly pageMs: number;
  /** Pause between two pings of a connection (HTTP/2), and how long to wait for the last one's answer. */
  readonly pingMs: number;
  readonly deadMs: number;
  /** A watch without a line for this long is dead: an API server sends a bookmark about every minute. */
  readonly idleMs: number;
  /** What a watch may last: the server ends it somewhere between once and twice this. */
  readonly watchMs: number;
  /** Everything is listed anew about this often, as a safety net; each time somewhere in the last fifth of it. */
  readonly relistMs: number;
  /** Credentials older than this are read again from their files, or asked again of their plugin. */
  readonly credentialsMs: number;
  /** How often a kind is looked for that the API server does not know. */
  readonly absentMs: number;
  /** How long a kind that was there must be unknown until that is believed. */
  readonly vanishedMs: number;
  readonly backoff: BackoffPolicy;
  /** After 401 and 403: what is missing is for people to give. */
  readonly authBackoff: BackoffPolicy;
}

export interface KubernetesOptions {
  readonly access: KubernetesAccess;
  /** `crd.projectcalico.org/v1` or `projectcalico.org/v3`; null: as Calico decides. */
  readonly apiGroup: string | null;
  readonly convert?: ConvertOptions | undefined;
  /** Per mount prefix, where an earlier process stood. */
  readonly lastPositions?: Readonly<Record<string, Position>> | undefined;
  readonly timings?: Partial<KubernetesTimings> | undefined;
  /** Objects on one page. */
  readonly pageSize?: number | undefined;
}

export const TIMINGS: KubernetesTimings = {
  dialMs: 5_000,
  answerMs: 15_000,
  pageMs: 30_000,
  pingMs: 10_000,
  deadMs: 5_000,
  idleMs: 150_000,
  watchMs: 300_000,
  relistMs: 30 * 60_000,
  credentialsMs: 30_000,
  absentMs: 60_000,
  vanishedMs: 30_000,
  backoff: { initialMs: 200, maxMs: 10_000 },
  authBackoff: { initialMs: 1_000, maxMs: 60_000 },
};

export const PAGE_SIZE = 500;
