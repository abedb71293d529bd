import {
  COMPLEMENT_BASE,
  type Match,
  type NumberAttribute,
  type PolicyFunction,
  type Statement,
} from '../../src/model/bgp/policy.ts';
import { contains } from '../../src/model/calico/ip.ts';

/** A route as a policy sees it. */
export interface Route {
  readonly net: string;
  readonly source: 'bgp' | 'device' | 'static' | 'inherit';
  /** Empty for a route without an interface. */
  readonly interface: string;
  readonly localPref: number | null;
  readonly metric: number | null;
  readonly nextHop: string | null;
  readonly asPath: readonly number[];
  /** `65000:1`, `65000:1:2`. */
  readonly communities: readonly string[];
  readonly preference: number;
  readonly tunnel: string | null;
}

export function route(net: string, more: Partial<Route> = {}): Route {
  return {
    net,
    source: 'bgp',
    interface: 'eth0',
    localPref: null,
    metric: null,
    nextHop: null,
    asPath: [],
    communities: [],
    preference: 100,
    tunnel: null,
    ...more,
  };
}

export interface Verdict {
  /** What BIRD does with the route; a policy that ends without a decision rejects it. */
  readonly decision: 'accept' | 'reject';
  readonly route: Route;
}

interface Run {
  readonly functions: ReadonlyMap<string, PolicyFunction>;
  route: { -readonly [K in keyof Route]: Route[K] };
}

/** Runs a policy over a route as BIRD would, in unsigned 32-bit arithmetic. Independent of the templates. */
export function decide(
  body: readonly Statement[],
  functions: readonly PolicyFunction[],
  given: Route,
  internal = false,
): Verdict {
  const run: Run = { functions: new Map(functions.map((f) => [f.name, f])), route: { ...given } };
  const decision = runAll(body, run, internal) ?? 'reject';
  return { decision, route: run.route };
}

function runAll(body: readonly Statement[], run: Run, internal: boolean): Verdict['decision'] | null {
  for (const statement of body) {
    const decision = runOne(statement, run, internal);
    if (decision !== null) return decision;
  }
  return null;
}

function runOne(s: Statement, run: Run, internal: boolean): Verdict['decision'] | null {
  const { route: r } = run;
  switch (s.type) {
    case 'accept':
    case 'reject':
      return s.type;
    case 'if':
      return runAll(s.all.every((m) => holds(m, r, internal)) ? s.do : s.otherwise, run, internal);
    case 'set-number':
      if (s.attribute === 'preference') r.preference = s.value;
      else set(r, s.attribute, s.value);
      return null;
    case 'set-complement':
      set(r, s.attribute, (COMPLEMENT_BASE - (get(r, s.of) ?? 0)) >>> 0);
      return null;
    case 'set-tunnel':
      r.tunnel = s.device;
      return null;
    case 'add-community':
      r.communities = [...new Set([...r.communities, s.community.join(':')])];
      return null;
    case 'prepend-as':
      r.asPath = [s.asNumber, ...r.asPath];
      return null;
    case 'call': {
      const f = run.functions.get(s.name);
      if (f === undefined) throw new Error(`call of ${s.name}, which does not exist`);
      if (f.takesInternal !== (s.internal !== null)) throw new Error(`wrong arguments for ${s.name}`);
      return runAll(f.body, run, s.internal ?? false);
    }
  }
}

function holds(m: Match, r: Route, internal: boolean): boolean {
  switch (m.type) {
    case 'net-equal':
      return r.net === m.prefix;
    case 'net-within':
      return contains(m.prefix, r.net);
    case 'net-within-any':
      return m.prefixes.some((prefix) => contains(prefix, r.net));
    case 'net-range': {
      const length = Number(r.net.slice(r.net.indexOf('/') + 1));
      return contains(m.prefix, r.net) && length >= m.min && length <= m.max;
    }
    case 'not':
      return !holds(m.of, r, internal);
    case 'constant':
      return m.value;
    case 'source':
      return r.source === m.source;
    case 'interface':
      return globToRegExp(m.pattern).test(r.interface);
    case 'community':
      return r.communities.includes(m.community.join(':'));
    case 'as-path-prefix':
      return m.asNumbers.every((asNumber, index) => r.asPath[index] === asNumber);
    case 'defined':
      return get(r, m.attribute) !== null;
    case 'number': {
      const value = get(r, m.attribute);
      if (value === null) return false;
      if (m.operator === '=') return value === m.value;
      return m.operator === '<' ? value < m.value : value > m.value;
    }
    case 'next-hop-in-list':
      return r.nextHop !== null && m.addresses.includes(r.nextHop);
    case 'next-hop-within':
      return r.nextHop !== null && contains(m.prefix, r.nextHop);
    case 'internal':
      return internal;
  }
}

function globToRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*/g, '.*').replace(/\?/g, '.')}$`);
}

function get(r: Route, attribute: NumberAttribute): number | null {
  return attribute === 'metric' ? r.metric : r.localPref;
}

function set(r: Run['route'], attribute: NumberAttribute, value: number): void {
  if (attribute === 'metric') r.metric = value;
  else r.localPref = value;
}
