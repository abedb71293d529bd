import { networkOf } from '../calico/ip.ts';
import type { BgpPeerResource, Cluster, Family, NodeAddress, NodeResource } from '../calico/types.ts';
import type { Problem } from '../types.ts';
import { communityStatements } from './communities.ts';
import { policyNames, sharedFunctions } from './export-policy.ts';
import { filterFunction } from './filters.ts';
import { type KernelInputs, kernelProblems, kernelStatements, routeOwnership } from './kernel-policy.ts';
import type { Recall } from './memory.ts';
import { type MeshInputs, meshSessions, whyNoMesh } from './mesh.ts';
import type { ModelOptions } from './options.ts';
import { resolvePassword } from './passwords.ts';
import { type PeerSessions, peerSessions } from './peer-sessions.ts';
import { addressOf, type Claim, claims, type PeeringInputs } from './peerings.ts';
import { defaultPolicies, openPassword } from './plans.ts';
import type { PolicyFunction } from './policy.ts';
import type { ServiceRoutes } from './services.ts';
import type { SessionContext } from './sessions.ts';
import { shadowedNodes, sharedAddresses } from './shared-addresses.ts';
import { ownBlocks, staticRoutes } from './static-routes.ts';
import type { FamilyModel, NodeSettings, Session } from './types.ts';

export interface FamilyInputs {
  readonly cluster: Cluster;
  readonly node: NodeResource | undefined;
  readonly settings: NodeSettings;
  readonly family: Family;
  readonly services: ServiceRoutes;
  readonly options: ModelOptions;
}

export interface FamilyResult {
  readonly model: FamilyModel;
  readonly problems: readonly Problem[];
  /** `NAMESPACE/NAME` of the Secrets that sessions need. */
  readonly secrets: readonly string[];
}

/** One address family of one node. */
export function familyModel(inputs: FamilyInputs, recall: Recall): FamilyResult {
  const { cluster, options } = inputs;
  const peering = peeringInputs(inputs, recall);
  const asked = peering === null ? NO_CLAIMS : claims(peering, recall);
  const sharing = sharedAddresses(cluster, recall).length > 0;
  const used = [asked, sharing, cluster.filters, cluster.secrets, options];
  const given = recall.part(`given${inputs.family}`, used, (own) =>
    peerSessions(asked, sharing, inputs, own),
  );
  const meshed = meshInputs(inputs, peering?.context ?? null, recall);
  const mesh = meshed === null ? [] : meshSessions(meshed, recall);
  const sessions = together(mesh, given, inputs, recall);
  const policy = policyOf(inputs, given.peers, recall);
  return {
    model: recall.fields(`family${inputs.family}`, {
      family: inputs.family,
      address: peering?.context.address ?? null,
      listenAddress: inputs.settings.bindToNodeAddress ? (peering?.context.address ?? null) : null,
      ...policy.parts,
      staticRoutes: recall.same(`static${inputs.family}`, staticRoutes(inputs, given.throughGateway)),
      sessions,
    }),
    problems: [...policy.problems, ...meshProblems(inputs, meshed), ...given.problems],
    secrets: neededSecrets(given, meshed, inputs),
  };
}

const NO_CLAIMS: readonly Claim[] = [];

/** Null when the node has no usable address of the family: then it has no sessions. */
export function peeringInputs(inputs: FamilyInputs, recall: Recall): PeeringInputs | null {
  const { cluster, node, settings, family, options } = inputs;
  const address = node === undefined ? null : addressOf(node, family);
  if (node === undefined || address === null) return null;
  const { nodeName, asNumber, clusterId } = settings;
  const { passiveOrder, compat } = options;
  const context = recall.value<SessionContext>(`context${family}`, [address, settings, options], () => ({
    family,
    nodeName,
    address,
    asNumber,
    clusterId,
    passiveOrder,
    compat,
  }));
  return { cluster, node, settings, context, options };
}

export function meshInputs(
  { cluster, settings, family, options }: FamilyInputs,
  context: SessionContext | null,
  recall: Recall,
): MeshInputs | null {
  if (context === null) return null;
  const config = cluster.defaultConfig;
  const ref = config?.meshPassword ?? null;
  const shared = sharedAddresses(cluster, recall);
  return {
    cluster,
    settings,
    context,
    password: recall.value(`meshPassword`, [cluster.secrets, ref, options], () =>
      resolvePassword(cluster, ref, options.secretsNamespace),
    ),
    gracefulRestartTime: config?.meshMaxRestartTime ?? null,
    ...recall.value(`meshPolicies${family}`, [], () => defaultPolicies(family)),
    shadowed: recall.value(`shadowed${family}`, [shared], () => shadowedNodes(shared, family)),
    compat: options.compat,
  };
}

/** Two protocols for one neighbour would fight over its connection; what was asked for by name wins over the mesh. */
function together(
  mesh: readonly Session[],
  { sessions: explicit, addresses }: PeerSessions,
  { cluster, family, options }: FamilyInputs,
  recall: Recall,
): readonly Session[] {
  if (mesh.length === 0) return explicit;
  if (explicit.length === 0) return mesh;
  const both = recall.perNamed(`both${family}`, cluster.nodes, [addresses], (node) => {
    const address = addressOf(node, family);
    return address !== null && addresses.has(address) ? address : null;
  });
  return recall.list(`sessions${family}`, [mesh, explicit, both], () => {
    if (both.length === 0 || options.compat.meshBesideExplicitPeer) return mesh.concat(explicit);
    const twice = new Set(both);
    return mesh.filter((session) => !twice.has(session.address)).concat(explicit);
  });
}

interface FamilyPolicy {
  readonly parts: Pick<FamilyModel, 'functions' | 'filters' | 'kernelFilter'>;
  readonly problems: readonly Problem[];
}

function policyOf(inputs: FamilyInputs, peers: readonly BgpPeerResource[], recall: Recall): FamilyPolicy {
  const { cluster, node, settings, family, services, options } = inputs;
  const { defaultConfig, nodeConfigs, pools, blocks, filters } = cluster;
  const wireguard = wireguardPeers(inputs, recall);
  const resources = [defaultConfig, nodeConfigs, pools, blocks, node];
  const named = recall.list(`filters${family}`, [peers], () => [
    ...new Set(peers.flatMap((peer) => peer.filters)),
  ]);
  const functions = recall.part(`filters${family}`, [filters, named, options], (own) =>
    filterFunctions(inputs, named, own),
  );
  const used = [...resources, settings, services, options, functions, wireguard];
  return recall.value(`policy${family}`, used, () => familyPolicy(inputs, functions, wireguard));
}

function familyPolicy(
  inputs: FamilyInputs,
  functions: readonly PolicyFunction[],
  wireguard: readonly string[],
): FamilyPolicy {
  const { cluster, settings, family, services, options } = inputs;
  const config = cluster.defaultConfig;
  const names = policyNames(family);
  const communities = communityStatements(cluster, settings.nodeName, family);
  const normalPriority =
    (family === 4 ? config?.ipv4NormalRoutePriority : config?.ipv6NormalRoutePriority) ?? DEFAULT_PRIORITY;
  const pools = cluster.pools.filter((pool) => pool.family === family);
  const ownership = routeOwnership(config?.programClusterRoutes ?? null);
  const kernel: KernelInputs = {
    family,
    pools,
    ownership,
    normalPriority,
    keptFromKernel: services.keptFromKernel,
    subnet: subnetOf(family === 4 ? inputs.node?.ipv4 : inputs.node?.ipv6),
    wireguardPeers: wireguard,
    options,
  };
  const shared = sharedFunctions({
    family,
    pools,
    blocks: ownBlocks(inputs),
    services,
    communities: communities.statements,
    normalPriority,
    isReflector: settings.clusterId !== null,
    programsTunnels: ownership.ipip,
    compat: options.compat,
  });
  const { internal, external } = defaultPolicies(family);
  return {
    parts: {
      functions: [...functions, ...shared],
      filters: [internal.import, internal.export, external.export].map(({ name, body }) => ({
        name: name!,
        body,
      })),
      kernelFilter: { name: names.kernelFilter, body: kernelStatements(kernel) },
    },
    problems: [...communities.problems, ...kernelProblems(kernel)],
  };
}

function subnetOf(own: NodeAddress | null | undefined): string | null {
  return own ? networkOf(own.address, own.length) : null;
}

/** Calico's normal route priority (a kernel metric). */
const DEFAULT_PRIORITY = 1_024;

/** The functions of the BGPFilters of these names. */
function filterFunctions(
  { cluster, family, options }: FamilyInputs,
  names: readonly string[],
  recall: Recall,
): readonly PolicyFunction[] {
  const functions: PolicyFunction[] = [];
  for (const name of names) {
    const filter = cluster.filters.get(name);
    if (filter === undefined) continue;
    for (const direction of ['import', 'export'] as const) {
      const made = recall.value(`${direction}:${name}`, [filter, options], () =>
        filterFunction(filter, direction, family, options.compat),
      );
      if (made !== null) functions.push(made);
    }
  }
  return functions.sort((a, b) => (a.comment < b.comment ? -1 : 1));
}

const NO_PEERS: readonly string[] = [];

function wireguardPeers({ cluster, node, family }: FamilyInputs, recall: Recall): readonly string[] {
  const own = family === 4 ? node?.wireguardIpv4 : node?.wireguardIpv6;
  if (own === undefined || own === null) return NO_PEERS;
  return recall.perNamed(`wireguard${family}`, cluster.nodes, [node], (peer) => {
    const tunnel = family === 4 ? peer.wireguardIpv4 : peer.wireguardIpv6;
    return peer === node || tunnel === null ? null : addressOf(peer, family);
  });
}

function meshProblems(
  { cluster, settings, family, options }: FamilyInputs,
  mesh: MeshInputs | null,
): readonly Problem[] {
  if (mesh === null) return [];
  const why = whyNoMesh(cluster, settings, mesh.password, options.compat);
  if (why === null)
    return openPassword('BGPConfiguration/default', 'spec.nodeMeshPassword', mesh.password, options);
  if (why !== 'password-missing' && why !== 'password-invalid') return [];
  return [
    {
      severity: 'error',
      id: why,
      subject: 'BGPConfiguration/default',
      field: 'spec.nodeMeshPassword',
      message: `${mesh.password.detail}; the mesh sessions of IPv${family} are withheld`,
    },
  ];
}

function neededSecrets(
  given: PeerSessions,
  mesh: MeshInputs | null,
  { cluster, settings, options }: FamilyInputs,
): readonly string[] {
  const refs = [...given.secrets];
  const why = mesh === null ? 'no-address' : whyNoMesh(cluster, settings, mesh.password, options.compat);
  const meshRef = cluster.defaultConfig?.meshPassword ?? null;
  if (meshRef !== null && (why === null || why === 'password-missing' || why === 'password-invalid'))
    refs.push(meshRef);
  return refs.map((ref) => `${options.secretsNamespace}/${ref.name}`);
}
