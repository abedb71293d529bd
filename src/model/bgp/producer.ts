import { sha256 } from '../../core/digest.ts';
import type { Entry, TreeView } from '../../tree/types.ts';
import { type ClusterReading, calicoMounts, readCluster } from '../calico/cluster.ts';
import { type LastGoodTexts, type ParseCache, prepare } from '../calico/slot.ts';
import type { Cluster, Quarantined } from '../calico/types.ts';
import type { Census, Interests, Problem, Producer, ProducerResult, SessionSummary } from '../types.ts';
import { type Computation, computeNode } from './compute.ts';
import type { ModelOptions } from './options.ts';
import type { NodeModel, Session } from './types.ts';

export interface CalicoProducerOptions {
  readonly nodeName: string;
  readonly model: ModelOptions;
  /** Stored texts of last good versions from before a restart. */
  readonly lastGood: LastGoodTexts;
}

/** The BIRD view of a Calico cluster for one node. */
export interface CalicoProducer extends Producer {
  /** Parses entries of a snapshot that is still being read. */
  prepare(entries: readonly Entry[]): void;
}

interface Memory {
  readonly reading: ClusterReading;
  readonly computation: Computation;
}

const NO_INTERESTS: Interests = { secrets: [], services: false, endpointStatus: false };

export function createCalicoProducer(options: CalicoProducerOptions): CalicoProducer {
  const { nodeName, model, lastGood } = options;
  const { usePodCidr } = model;
  const parsed: ParseCache = new WeakMap();
  const memories = new WeakMap<ProducerResult, Memory>();

  function compute(view: TreeView, previous: ProducerResult | undefined): ProducerResult {
    const memory = previous === undefined ? undefined : memories.get(previous);
    const interests = previous?.interests ?? NO_INTERESTS;
    const reading = readCluster(
      view,
      { nodeName, usePodCidr, interests },
      { lastGood, previous: memory?.reading, parsed },
    );
    const computation = computeNode(reading.cluster, nodeName, model, memory?.computation);
    const result = resultOf(reading, computation, previous);
    memories.set(result, { reading, computation });
    return result;
  }

  function resultOf(
    reading: ClusterReading,
    computation: Computation,
    previous: ProducerResult | undefined,
  ): ProducerResult {
    const { cluster } = reading;
    const { settings, ipv4, ipv6 } = computation.model;
    return {
      context: { node: settings, ipv4, ipv6 },
      problems: [...cluster.quarantined.map(quarantineProblem), ...computation.model.problems],
      interests: computation.interests,
      mounts: calicoMounts({ nodeName, usePodCidr, interests: computation.interests }),
      sessions: [...ipv4.sessions, ...ipv6.sessions].map(summaryOf),
      census: censusOf(cluster, computation.model, previous?.census ?? null),
      lastGood: reading.lastGood,
    };
  }

  return {
    name: 'calico',
    mounts: calicoMounts({ nodeName, usePodCidr, interests: NO_INTERESTS }),
    prepare: (entries) => prepare(entries, parsed),
    compute,
  };
}

function quarantineProblem({ kind, name, field, message, lastGoodUsed }: Quarantined): Problem {
  const instead = lastGoodUsed ? 'its last good version is used' : 'it is left out';
  return {
    severity: 'error',
    id: 'resource-invalid',
    subject: `${kind}/${name}`,
    field,
    message: `${message}; ${instead}`,
  };
}

// Sessions keep their identity while nothing in them changes, so each is summed up once.
const summaries = new WeakMap<Session, SessionSummary>();

function summaryOf(session: Session): SessionSummary {
  const known = summaries.get(session);
  if (known !== undefined) return known;
  const { name, address, family, asNumber, type } = session;
  const summary = { name, address, family, asNumber, type, hardDigest: hardDigest(session) };
  summaries.set(session, summary);
  return summary;
}

/** What resets a session when it changes; filters, policies and descriptions do not. */
function hardDigest(session: Session): string {
  const { port, localAs, sourceAddress, ttlSecurityHops, passive, clusterId, password, allowLocalAs } =
    session;
  const { gracefulRestartTime, keepaliveTime, address, asNumber, nextHop } = session;
  const hard = [
    address,
    port,
    asNumber,
    localAs,
    sourceAddress,
    ttlSecurityHops,
    passive,
    clusterId,
    password,
  ];
  const timers = [gracefulRestartTime, keepaliveTime, allowLocalAs, nextHop];
  return sha256(JSON.stringify([...hard, ...timers])).slice(0, 16);
}

const names = new WeakMap<readonly { readonly name: string }[], readonly string[]>();

function namesOf(resources: readonly { readonly name: string }[]): readonly string[] {
  const known = names.get(resources);
  if (known !== undefined) return known;
  const list = resources.map(({ name }) => name);
  names.set(resources, list);
  return list;
}

function censusOf(cluster: Cluster, model: NodeModel, previous: Census | null): Census {
  const kinds = {
    Node: namesOf(cluster.nodes),
    BGPPeer: namesOf(cluster.peers),
    IPPool: namesOf(cluster.pools),
  };
  const same = (kind: keyof typeof kinds): readonly string[] => {
    const before = previous?.kinds[kind];
    const now = kinds[kind];
    return before !== undefined && before.length === now.length && before.every((name, i) => name === now[i])
      ? before
      : now;
  };
  return {
    nodeName: model.settings.nodeName,
    nodePresent: model.nodePresent,
    address4: model.ipv4.address,
    address6: model.ipv6.address,
    kinds: { Node: same('Node'), BGPPeer: same('BGPPeer'), IPPool: same('IPPool') },
  };
}
