import { parseAddress } from '../calico/ip.ts';
import type { BgpPeerResource, Cluster, Family, NodeResource } from '../calico/types.ts';
import { familyInputs } from './compute.ts';
import { reasonsAgainst, withoutAddress } from './explain-peer.ts';
import { configurationNotes, quarantinedSubjects, quarantineFindings } from './explain-quarantine.ts';
import { type Explanation, type FamilyWorld, type Finding, unaddressed } from './explain-types.ts';
import { type FamilyInputs, meshInputs, peeringInputs } from './family.ts';
import { recall } from './memory.ts';
import { whyNoMesh, whyNotMeshed } from './mesh.ts';
import type { ModelOptions } from './options.ts';
import { addressOf, claims } from './peerings.ts';
import { planProblems } from './plans.ts';
import type { Candidate } from './sessions.ts';
import type { NodeModel, Session, SessionRule } from './types.ts';

export interface ExplainInputs {
  readonly cluster: Cluster;
  readonly nodeName: string;
  readonly options: ModelOptions;
  /** What was computed from these. */
  readonly model: NodeModel;
}

interface World extends ExplainInputs {
  readonly node: NodeResource | undefined;
  readonly families: readonly FamilyWorld[];
}

/**
 * Why the node has sessions with a BGPPeer's name, a node's name, an address or a protocol name, or why it has none;
 * several explanations when the text names several things, none when it names nothing. `BGPPeer/x` and `Node/x` say which.
 */
export function explain(subject: string, inputs: ExplainInputs): readonly Explanation[] {
  const world = worldOf(inputs);
  const { nodeName } = inputs;
  return [
    ...peerSubjects(subject, inputs).map((name) => [`BGPPeer/${name}`, aboutPeer(name, world)] as const),
    ...nodeSubjects(subject, inputs).map((name) => [`Node/${name}`, aboutNode(name, world)] as const),
    ...addressSubjects(subject, inputs).map((address) => [address, aboutAddress(address, world)] as const),
    ...quarantinedSubjects(subject, inputs.cluster).map(
      ({ kind, name }) => [`${kind}/${name}`, quarantineFindings(kind, name, inputs.cluster)] as const,
    ),
  ]
    .filter(([, findings]) => findings.length > 0)
    .map(([about, findings]) => ({ subject: about, nodeName, findings: distinct(findings) }));
}

/** One reason may be found by several ways. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}

/** Names that `explain` can say something about, for suggestions. */
export function* explainable({ cluster, model }: ExplainInputs): Generator<string> {
  for (const { name } of cluster.peers) yield name;
  for (const { name } of cluster.nodes) yield name;
  for (const { name } of cluster.quarantined) yield name;
  for (const { name, address } of [...model.ipv4.sessions, ...model.ipv6.sessions]) {
    yield address;
    yield name;
  }
  yield* cluster.nodesByAddress.keys();
}

function worldOf(inputs: ExplainInputs): World {
  const { cluster, nodeName, options, model } = inputs;
  const node = cluster.nodeByName.get(nodeName);
  const memory = recall(undefined);
  const { shared, services } = familyInputs(cluster, node, model.settings, options, memory);
  const one = (family: Family): FamilyWorld => {
    const of: FamilyInputs = { ...shared, family, services: family === 4 ? services.ipv4 : services.ipv6 };
    const peering = peeringInputs(of, memory);
    const all = peering === null ? [] : claims(peering, memory);
    const holders = new Map<string, Candidate>();
    for (const candidate of all.flatMap(({ candidates }) => candidates))
      if (!holders.has(candidate.key)) holders.set(candidate.key, candidate);
    const mesh = meshInputs(of, peering?.context ?? null, memory);
    return { family, peering, mesh, claims: all, holders };
  };
  return { ...inputs, node, families: [one(4), one(6)] };
}

function peerSubjects(text: string, { cluster }: ExplainInputs): readonly string[] {
  const name = withoutKind(text, 'BGPPeer');
  return name !== null &&
    (cluster.peers.some((peer) => peer.name === name) || isBad(cluster, 'BGPPeer', name))
    ? [name]
    : [];
}

function nodeSubjects(text: string, { cluster, nodeName }: ExplainInputs): readonly string[] {
  const name = withoutKind(text, 'Node');
  const known =
    name !== null && (cluster.nodeByName.has(name) || name === nodeName || isBad(cluster, 'Node', name));
  return known ? [name] : [];
}

function addressSubjects(text: string, { model }: ExplainInputs): readonly string[] {
  const parsed = parseAddress(text);
  if (parsed.ok) return [parsed.value.text];
  const session = [...model.ipv4.sessions, ...model.ipv6.sessions].find(({ name }) => name === text);
  return session === undefined ? [] : [session.address];
}

/** The name in `KIND/name` or in a text without a slash; null for another kind's. */
function withoutKind(text: string, kind: 'BGPPeer' | 'Node'): string | null {
  const slash = text.indexOf('/');
  if (slash < 0) return text;
  return text.slice(0, slash).toLowerCase() === kind.toLowerCase() ? text.slice(slash + 1) : null;
}

function isBad(cluster: Cluster, kind: 'BGPPeer' | 'Node', name: string): boolean {
  return cluster.quarantined.some((bad) => bad.kind === kind && bad.name === name);
}

function aboutPeer(name: string, world: World): readonly Finding[] {
  const quarantined = quarantineFindings('BGPPeer', name, world.cluster);
  const peer = world.cluster.peers.find((candidate) => candidate.name === name);
  return peer === undefined ? quarantined : [...quarantined, ...peerFindings(peer, world)];
}

function peerFindings(peer: BgpPeerResource, world: World): readonly Finding[] {
  const found = world.families.flatMap((family) =>
    candidateFindings(family, world, (candidate) => candidate.peerName === peer.name),
  );
  const missing = world.families.flatMap((family) => withoutAddress(peer, family, world.cluster));
  const some = [...found, ...missing];
  return some.length > 0 ? some : reasonsAgainst(peer, world.node, world);
}

function aboutNode(name: string, world: World): readonly Finding[] {
  const quarantined = quarantineFindings('Node', name, world.cluster);
  const node = world.cluster.nodeByName.get(name);
  if (name === world.nodeName) return [...quarantined, ...aboutSelf(world)];
  if (node === undefined) return quarantined;
  const found = world.families.flatMap((family) => [
    ...meshFindings(node, family, world),
    ...candidateFindings(family, world, (candidate) => candidate.nodeName === name),
  ]);
  const met = found.some(({ outcome }) => outcome === 'session');
  return [...quarantined, ...found, ...(met ? [] : selectorsAgainst(node, world))];
}

/** Beyond this many BGPPeers that do not select a node nobody reads on. */
const SHOWN_PEERS = 20;

/** BGPPeers whose selectors leave out a node with which there is no session. */
function selectorsAgainst(node: NodeResource, world: World): readonly Finding[] {
  const findings: Finding[] = [];
  for (const peer of world.cluster.peers) {
    if (findings.length === SHOWN_PEERS) break;
    findings.push(...reasonsAgainst(peer, world.node, world, node));
  }
  return findings;
}

function aboutAddress(address: string, world: World): readonly Finding[] {
  const isAt = (candidate: Candidate): boolean => candidate.address === address;
  const nodes = world.cluster.nodesByAddress.get(address) ?? [];
  const own = nodes.find(({ name }) => name === world.nodeName);
  if (own !== undefined) return [self(own, world)];
  const wanted = world.families.flatMap((family) => candidateFindings(family, world, isAt));
  const asking = new Set(wanted.map(({ resource }) => resource));
  return [
    ...nodes.flatMap((node) =>
      world.families
        .filter(({ family }) => addressOf(node, family) === address)
        .flatMap((family) => meshFindings(node, family, world)),
    ),
    ...wanted,
    ...world.cluster.peers
      .filter((peer) => peer.peerAddress === address && !asking.has(`BGPPeer/${peer.name}`))
      .flatMap((peer) => reasonsAgainst(peer, world.node, world)),
  ];
}

function candidateFindings(
  { claims: all, holders, family }: FamilyWorld,
  world: World,
  pick: (candidate: Candidate) => boolean,
): readonly Finding[] {
  return all.flatMap(({ peer, candidates }) =>
    candidates.filter(pick).flatMap((candidate): Finding | [] => {
      const base = { family, resource: `BGPPeer/${peer.name}`, rule: candidate.rule } as const;
      const holder = holders.get(candidate.key)!;
      if (candidate.withheld !== 'self' && holder !== candidate) {
        // A BGPPeer between equals asks for each session twice.
        if (holder.peerName === peer.name) return [];
        const message = `BGPPeer ${holder.peerName} (${holder.rule}) asks for the same address and port, and comes first`;
        return { ...base, outcome: 'suppressed', session: null, ends: null, message };
      }
      if (candidate.session === null) {
        const { withheld, detail } = candidate;
        const where = candidate.nodeName === null ? '' : ` (node ${candidate.nodeName})`;
        const message = `${candidate.address}${where}: ${detail}`;
        return { ...base, outcome: withheld!, session: null, ends: null, message };
      }
      const notes = planProblems(world.cluster, peer, world.options).map(({ message }) => message);
      return sessionFinding(candidate.session, peerReason(peer, candidate.rule), notes, world);
    }),
  );
}

/** Why a BGPPeer asks for a session. */
function peerReason(peer: BgpPeerResource, rule: SessionRule): string {
  const reversed = rule === 'reverse of peerSelector' || rule === 'reverse of peerIP';
  if (reversed) return `it is the other end: BGPPeer ${peer.name} points at this node`;
  if (peer.node !== null) return `the BGPPeer is for node ${peer.node}`;
  if (peer.nodeSelector !== null) return `the BGPPeer's nodeSelector ${peer.nodeSelector} selects this node`;
  return 'the BGPPeer is for all nodes';
}

function sessionFinding(
  session: Session,
  reason: string,
  notes: readonly string[],
  { nodeName, model, cluster }: World,
): Finding {
  const { kind, name, rule, node } = session.provenance;
  const { address: own } = session.family === 4 ? model.ipv4 : model.ipv6;
  const remembered = cluster.peers.some((peer) => peer.name === name && peer.origin.lastGood);
  const all = [reason, ...notes, ...(remembered ? ['by the last good version of the BGPPeer'] : [])];
  return {
    family: session.family,
    resource: `${kind}/${name}`,
    rule,
    outcome: 'session',
    session: session.name,
    ends: {
      local: {
        node: nodeName,
        address: own!,
        port: model.settings.listenPort,
        asNumber: session.localAs ?? model.settings.asNumber,
      },
      remote: { node, address: session.address, port: session.port, asNumber: session.asNumber },
    },
    message: all.join('; '),
  };
}

/** What each reason against a mesh session means, in words. */
const AGAINST_MESH: Readonly<Record<string, string>> = {
  'mesh-disabled': 'the node-to-node mesh is off (spec.nodeToNodeMeshEnabled)',
  'node-is-reflector': 'this node is a route reflector, which takes no part in the mesh',
  'peer-is-reflector': 'that node is a route reflector, which takes no part in the mesh',
  'address-shared': 'another node, whose name comes first, has the same address',
  self: 'that node has the address of this one',
};

function meshFindings(node: NodeResource, world: FamilyWorld, whole: World): readonly Finding[] {
  const { family, mesh } = world;
  if (mesh === null) return [unaddressed(whole.node, whole.nodeName, family)];
  const { cluster, settings, context, password, shadowed, compat } = mesh;
  const base = { family, resource: 'BGPConfiguration/default', rule: 'node-to-node mesh' } as const;
  const nothing = { ...base, session: null, ends: null };
  const none = whyNoMesh(cluster, settings, password, compat);
  if (none === 'password-missing' || none === 'password-invalid')
    return [{ ...nothing, outcome: none, message: `${password.detail}; the mesh is withheld` }];
  const why = none ?? whyNotMeshed(node, context, shadowed);
  if (why === 'no-address') return [unaddressed(node, node.name, family)];
  if (why !== null) return [{ ...nothing, outcome: why, message: AGAINST_MESH[why]! }];
  const { sessions } = family === 4 ? whole.model.ipv4 : whole.model.ipv6;
  const made = sessions.find(({ type, provenance }) => type === 'mesh' && provenance.node === node.name);
  if (made !== undefined) {
    const reason = 'both are nodes of the mesh, and neither is a route reflector';
    return [sessionFinding(made, reason, configurationNotes(cluster), whole)];
  }
  const instead = sessions.find(({ address }) => address === addressOf(node, family));
  const by = instead === undefined ? 'another session' : `BGPPeer ${instead.provenance.name}`;
  const message = `${by} asks for a session with the same address, and comes before the mesh`;
  return [{ ...nothing, outcome: 'suppressed', message }];
}

function aboutSelf(world: World): readonly Finding[] {
  if (world.node === undefined) return [unaddressed(undefined, world.nodeName, 4)];
  const own = self(world.node, world);
  const missing = world.families.filter(({ peering }) => peering === null);
  return [own, ...missing.map(({ family }) => unaddressed(world.node, world.nodeName, family))];
}

function self({ name }: NodeResource, { model }: World): Finding {
  const count = ({ sessions }: NodeModel['ipv4']): string => `${sessions.length} IPv`;
  const message = `this is the node itself; it has ${count(model.ipv4)}4 and ${count(model.ipv6)}6 sessions with others`;
  return {
    family: null,
    resource: `Node/${name}`,
    rule: null,
    outcome: 'self',
    session: null,
    ends: null,
    message,
  };
}
