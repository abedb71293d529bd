import { BirdfeedError } from '../../core/errors.ts';
import { mapAgain, sameElements } from '../../core/same.ts';
import { closest } from '../../core/suggest.ts';
import type { Mount } from '../../datastore/types.ts';
import type { Entry, TreeView } from '../../tree/types.ts';
import { type CalicoScope, type ClusterReading, calicoMounts, readCluster } from '../calico/cluster.ts';
import { type LastGoodTexts, type ParseCache, prepare } from '../calico/slot.ts';
import type { Cluster, Quarantined } from '../calico/types.ts';
import type { Census, Interests, Problem, Producer, ProducerResult } from '../types.ts';
import { type Computation, computeNode } from './compute.ts';
import { explain, explainable } from './explain.ts';
import type { Explanation } from './explain-types.ts';
import { type KeptSessions, keepSessions } from './keep-sessions.ts';
import { type KeptSecrets, keepSecrets, NO_SECRETS, secretProblems } from './kept-secrets.ts';
import type { ModelOptions } from './options.ts';
import { reflectorHalf } from './reflectors.ts';
import { createSummarise } from './summary.ts';
import type { NodeModel } from './types.ts';

export interface CalicoProducerOptions {
  readonly nodeName: string;
  readonly model: ModelOptions;
  /** What an earlier process left. */
  readonly lastGood: LastGoodTexts;
}

export interface CalicoProducer extends Producer {
  /** Parses entries of a snapshot that is still being read, so that the work is spread. */
  prepare(entries: readonly Entry[]): void;
  /** Forgets what was parsed ahead and not read: nobody will read what the whole tree does not hold. */
  forgetPrepared(): void;
  /** What was computed into `result`. */
  modelOf(result: ProducerResult): NodeModel;
  /** `result` with some sessions as `served` has them. */
  keep(result: ProducerResult, served: NodeModel, kept: KeptSessions): ProducerResult;
  /** See {@link reflectorHalf}. */
  halfOf(result: ProducerResult): 0 | 1 | null;
  /** Why there is a session or not, by what was computed into `result`. */
  explain(result: ProducerResult, subject: string): Explained;
}

export interface Explained {
  /** Empty when the subject names nothing. */
  readonly explanations: readonly Explanation[];
  /** What the subject is close to, if it names nothing. */
  readonly suggestion: string | null;
}

const NOTHING: Interests = { secrets: [], services: false, endpointStatus: false };

interface State {
  readonly reading: ClusterReading;
  readonly interests: Interests;
  readonly secrets: KeptSecrets;
  readonly computation: Computation;
}

/**
 * The BIRD view of a Calico cluster for one node. Templates see `node` (settings), `ipv4` and `ipv6` (see types.ts). What
 * is read on demand is read when its mounts are open; `interests` says what should be.
 */
export function createCalicoProducer({
  nodeName,
  model: options,
  lastGood,
}: CalicoProducerOptions): CalicoProducer {
  const parsed: ParseCache = new Map();
  const states = new WeakMap<ProducerResult, State>();
  const summarise = createSummarise(options.dialect);
  const scopeOf = (interests: Interests): CalicoScope => ({
    nodeName,
    usePodCidr: options.usePodCidr,
    interests,
  });

  function read(view: TreeView, interests: Interests, before: State | undefined): State {
    const reading = readCluster(view, scopeOf(interests), {
      lastGood,
      previous: before?.reading,
      parsed,
    });
    const { cluster } = reading;
    const secrets = options.compat.missingPasswordOpensSession
      ? { cluster, texts: NO_SECRETS.texts, absent: [], read: cluster }
      : keepSecrets(view, cluster, interests, before?.secrets ?? NO_SECRETS, lastGood);
    const computation = computeNode(secrets.cluster, nodeName, options, before?.computation);
    return { reading, interests, secrets, computation };
  }

  return {
    name: 'calico',
    mounts: calicoMounts(scopeOf(NOTHING)),
    prepare: (entries) => prepare(entries, parsed),
    forgetPrepared: () => parsed.clear(),
    modelOf: (result) => states.get(result)!.computation.model,
    halfOf: (result) => reflectorHalf(states.get(result)!.reading.cluster, nodeName),
    keep(result, served, kept) {
      const state = states.get(result)!;
      const model = keepSessions(state.computation.model, served, kept);
      const context = { node: model.settings, ipv4: model.ipv4, ipv6: model.ipv6 };
      const keeping: ProducerResult = { ...result, context, sessions: summarise(model) };
      states.set(keeping, { ...state, computation: { ...state.computation, model } });
      return keeping;
    },
    explain(result, subject) {
      const { secrets, computation } = states.get(result)!;
      const inputs = { cluster: secrets.cluster, nodeName, options, model: computation.model };
      const explanations = explain(subject, inputs);
      const suggestion = explanations.length > 0 ? null : (closest(subject, explainable(inputs)) ?? null);
      return { explanations, suggestion };
    },
    compute(view, previous) {
      const before = previous === undefined ? undefined : states.get(previous);
      let state = read(view, readable(view, before?.interests ?? NOTHING, scopeOf), before);
      // What is of interest depends on nothing that is read on demand, so a second reading settles it.
      const wanted = readable(view, state.computation.interests, scopeOf);
      if (!sameInterests(wanted, state.interests)) state = read(view, wanted, state);
      const { model, interests } = state.computation;
      const result: ProducerResult = {
        context: { node: model.settings, ipv4: model.ipv4, ipv6: model.ipv6 },
        problems: problemsOf(state),
        interests,
        mounts: calicoMounts(scopeOf(interests)),
        sessions: summarise(model),
        census: censusOf(state.reading.cluster, model, before?.reading.cluster, previous?.census),
        lastGood: keepSameMap(previous?.lastGood, [...state.reading.lastGood, ...state.secrets.texts]),
      };
      states.set(result, state);
      return result;
    },
  };
}

/** The part of the interests whose mounts are open. */
function readable(
  view: TreeView,
  interests: Interests,
  scopeOf: (interests: Interests) => CalicoScope,
): Interests {
  const open = (part: Partial<Interests>): boolean =>
    calicoMounts(scopeOf({ ...NOTHING, ...part }))
      .filter((mount) => !mount.required)
      .every((mount) => isOpen(view, mount));
  return {
    secrets: interests.secrets.filter((secret) => open({ secrets: [secret] })),
    services: interests.services && open({ services: true }),
    endpointStatus: interests.endpointStatus && open({ endpointStatus: true }),
  };
}

/** A view refuses to be read where nothing is mounted. */
function isOpen(view: TreeView, mount: Mount): boolean {
  try {
    view.version(mount.prefix);
    return true;
  } catch (error) {
    if (error instanceof BirdfeedError && error.code === 'BF_INTERNAL') return false;
    throw error;
  }
}

function sameInterests(a: Interests, b: Interests): boolean {
  return (
    a.services === b.services && a.endpointStatus === b.endpointStatus && sameElements(a.secrets, b.secrets)
  );
}

function problemsOf({ reading, secrets, computation }: State): readonly Problem[] {
  return [
    ...reading.cluster.quarantined.map(quarantineProblem),
    ...secretProblems(secrets),
    ...computation.model.problems,
  ];
}

/** A map of these entries, or `previous` if it holds just them. */
function keepSameMap(
  previous: LastGoodTexts | undefined,
  entries: readonly (readonly [string, string])[],
): LastGoodTexts {
  const next = new Map(entries);
  if (previous === undefined || previous.size !== next.size) return next;
  return [...next].every(([key, text]) => previous.get(key) === text) ? previous : next;
}

function quarantineProblem({ kind, name, field, message, reason, lastGoodUsed }: Quarantined): Problem {
  return {
    severity: 'error',
    id: reason === 'conflict' ? 'resource-conflict' : 'resource-invalid',
    subject: `${kind}/${name}`,
    field,
    message: lastGoodUsed ? `${message}; its last good version is used` : `${message}; it is left out`,
  };
}

function censusOf(
  cluster: Cluster,
  model: NodeModel,
  before: Cluster | undefined,
  known: Census | null | undefined,
): Census {
  const names = (
    kind: string,
    itemsOf: (cluster: Cluster) => readonly { readonly name: string }[],
  ): readonly string[] =>
    mapAgain(
      itemsOf(cluster),
      before === undefined ? [] : itemsOf(before),
      known?.kinds[kind] ?? [],
      ({ name }) => name,
    );
  return {
    nodeName: model.settings.nodeName,
    nodePresent: model.nodePresent,
    address4: model.ipv4.address,
    address6: model.ipv6.address,
    kinds: {
      Node: names('Node', ({ nodes }) => nodes),
      BGPPeer: names('BGPPeer', ({ peers }) => peers),
      IPPool: names('IPPool', ({ pools }) => pools),
    },
  };
}
