/**
 * Routing policy as data. Everything that decides about routes (a session's import and export, kernel programming,
 * aggregation, pool export, BGPFilters, communities) is built from these few nodes; templates print them in the dialect
 * of a BIRD, and `test/support/policy-interpreter.ts` runs them. A policy belongs to one address family.
 */

/** Number attributes of a route that a policy reads. `metric` is the kernel's (krt_metric). */
export type NumberAttribute = 'local-pref' | 'metric';

/** Where BIRD got a route from: a BGP session, an interface's own network, a static protocol, the kernel. */
export type RouteSource = 'bgp' | 'device' | 'static' | 'inherit';

export type Match =
  /** The route is exactly this prefix. */
  | { readonly type: 'net-equal'; readonly prefix: string }
  /** The route is this prefix or lies within it. */
  | { readonly type: 'net-within'; readonly prefix: string }
  /** As `net-within`, for any of a non-empty list. */
  | { readonly type: 'net-within-any'; readonly prefixes: readonly string[] }
  /** The route lies within the prefix and its length is in min..max. */
  | { readonly type: 'net-range'; readonly prefix: string; readonly min: number; readonly max: number }
  | { readonly type: 'not'; readonly of: Match }
  /** True or false whatever the route is. */
  | { readonly type: 'constant'; readonly value: boolean }
  | { readonly type: 'source'; readonly source: RouteSource }
  /** The name of the route's interface matches a pattern with `*` and `?`. A route without an interface never matches. */
  | { readonly type: 'interface'; readonly pattern: string }
  /** Two numbers: a standard community; three: a large one. */
  | { readonly type: 'community'; readonly community: readonly number[] }
  | { readonly type: 'as-path-prefix'; readonly asNumbers: readonly number[] }
  | { readonly type: 'defined'; readonly attribute: NumberAttribute }
  /** False when the attribute is not set. BIRD itself says that an unset metric is below every number. */
  | {
      readonly type: 'number';
      readonly attribute: NumberAttribute;
      readonly operator: '=' | '<' | '>';
      readonly value: number;
    }
  | { readonly type: 'next-hop-in-list'; readonly addresses: readonly string[] }
  | { readonly type: 'next-hop-within'; readonly prefix: string }
  /** The function's parameter: the session is with the same AS. */
  | { readonly type: 'internal' };

export type Statement =
  | { readonly type: 'accept'; readonly comment: string | null }
  | { readonly type: 'reject'; readonly comment: string | null }
  | {
      readonly type: 'if';
      /** All must hold. */
      readonly all: readonly Match[];
      readonly do: readonly Statement[];
      readonly otherwise: readonly Statement[];
      readonly comment: string | null;
    }
  | {
      readonly type: 'set-number';
      readonly attribute: NumberAttribute | 'preference';
      readonly value: number;
    }
  /** attribute := 2147483647 - of: Calico's mapping between route priority (a metric) and local preference. */
  | { readonly type: 'set-complement'; readonly attribute: NumberAttribute; readonly of: NumberAttribute }
  /** Sends the route through a tunnel device; null says that it needs none. Only Calico's fork of BIRD 1.6 can. */
  | { readonly type: 'set-tunnel'; readonly device: string | null }
  | { readonly type: 'add-community'; readonly community: readonly number[] }
  | { readonly type: 'prepend-as'; readonly asNumber: number }
  /** `internal` is null for a function without a parameter. */
  | { readonly type: 'call'; readonly name: string; readonly internal: boolean | null };

export interface PolicyFunction {
  readonly name: string;
  /** Whether it takes the boolean parameter that `internal` matches ask for. */
  readonly takesInternal: boolean;
  /** What it is for, one line. */
  readonly comment: string;
  readonly body: readonly Statement[];
}

/** What a session uses in one direction: a filter defined once and shared by name, or (name null) its own body. */
export interface PolicyFilter {
  readonly name: string | null;
  readonly body: readonly Statement[];
}

/** Route priorities and local preferences are complements to this number, the largest signed 32-bit one. */
export const COMPLEMENT_BASE = 2_147_483_647;

export const accept: Statement = { type: 'accept', comment: null };
export const reject: Statement = { type: 'reject', comment: null };

export function when(
  all: readonly Match[],
  statements: readonly Statement[],
  more: { readonly otherwise?: readonly Statement[]; readonly comment?: string } = {},
): Statement {
  return { type: 'if', all, do: statements, otherwise: more.otherwise ?? [], comment: more.comment ?? null };
}

export function call(name: string, internal: boolean | null = null): Statement {
  return { type: 'call', name, internal };
}

export function not(of: Match): Match {
  return { type: 'not', of };
}
