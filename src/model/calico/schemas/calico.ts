import {
  flag,
  flagOrText,
  integer,
  interfacePattern,
  kind,
  list,
  metadata,
  nameReference,
  numberOrText,
  object,
  oneOf,
  parsedText,
  reference,
  resource,
  secretReference,
  text,
  textMap,
} from './build.ts';

/** Selectors with long sets of names are in use; beyond this somebody stored a file. */
const SELECTOR_LENGTH = 65_536;
/** Route priorities become Linux metrics and, as 2^31 - 1 - priority, local preferences. */
const MAX_PRIORITY = 2_147_483_646;

export const nodeSchema = resource({
  kind,
  metadata: object({ name: parsedText(1_000), labels: textMap() }),
  spec: object({
    bgp: object({
      asNumber: numberOrText(),
      ipv4Address: parsedText(),
      ipv6Address: parsedText(),
      routeReflectorClusterID: numberOrText(),
    }),
    wireguard: object({ interfaceIPv4Address: parsedText(), interfaceIPv6Address: parsedText() }),
  }),
  status: object({ podCIDRs: list(parsedText()) }),
});

const secretKeyRef = object({ secretKeyRef: object({ name: secretReference(), key: secretReference() }) });

export const bgpPeerSchema = resource({
  kind,
  metadata,
  spec: object({
    node: nameReference(),
    nodeSelector: parsedText(SELECTOR_LENGTH),
    peerIP: parsedText(),
    peerSelector: parsedText(SELECTOR_LENGTH),
    localWorkloadSelector: parsedText(SELECTOR_LENGTH),
    asNumber: numberOrText(),
    localASNumber: numberOrText(),
    keepOriginalNextHop: flag(),
    nextHopMode: oneOf('Auto', 'Self', 'Keep'),
    password: secretKeyRef,
    sourceAddress: oneOf('UseNodeIP', 'None'),
    maxRestartTime: parsedText(),
    keepaliveTime: parsedText(),
    numAllowedLocalASNumbers: integer(0, 2_147_483_647),
    ttlSecurity: integer(0, 255),
    reachableBy: parsedText(),
    filters: list(nameReference()),
    reversePeering: oneOf('Auto', 'Manual'),
  }),
});

const networks = list(object({ cidr: parsedText() }));

export const bgpConfigurationSchema = resource({
  kind,
  metadata,
  spec: object({
    logSeverityScreen: parsedText(),
    nodeToNodeMeshEnabled: flag(),
    asNumber: numberOrText(),
    listenPort: integer(1, 65_535),
    bindMode: oneOf('None', 'NodeIP'),
    nodeMeshPassword: secretKeyRef,
    nodeMeshMaxRestartTime: parsedText(),
    ignoredInterfaces: list(interfacePattern()),
    prefixAdvertisements: list(object({ cidr: parsedText(), communities: list(nameReference()) })),
    communities: list(object({ name: nameReference(), value: parsedText() })),
    serviceClusterIPs: networks,
    serviceExternalIPs: networks,
    serviceLoadBalancerIPs: networks,
    serviceLoadBalancerAggregation: oneOf('Enabled', 'Disabled'),
    // Not an enum: a value of a later Calico must mean the default, in BIRD's half as in Felix's.
    programClusterRoutes: parsedText(),
    ipv4NormalRoutePriority: integer(1, MAX_PRIORITY),
    ipv6NormalRoutePriority: integer(1, MAX_PRIORITY),
  }),
});

const operation = object({
  addCommunity: object({ value: parsedText() }),
  prependASPath: object({ prefix: list(numberOrText(), { minItems: 1, maxItems: 50 }) }),
  setPriority: object({ value: integer(1, MAX_PRIORITY) }),
});

function filterRule(bits: number) {
  return object({
    cidr: parsedText(),
    matchOperator: oneOf('Equal', 'NotEqual', 'In', 'NotIn'),
    prefixLength: object({ min: integer(0, bits), max: integer(0, bits) }),
    source: oneOf('RemotePeers'),
    interface: interfacePattern(),
    peerType: oneOf('eBGP', 'iBGP'),
    communities: object({ values: list(parsedText(), { minItems: 1, maxItems: 1 }) }),
    asPathPrefix: list(numberOrText(), { maxItems: 50 }),
    priority: integer(1, MAX_PRIORITY),
    action: oneOf('Accept', 'Reject'),
    operations: list(operation, { maxItems: 50 }),
  });
}

const rule4 = filterRule(32);
const rule6 = filterRule(128);
const rules4 = list(reference('rule4', rule4));
const rules6 = list(reference('rule6', rule6));

export const bgpFilterSchema = resource(
  {
    kind,
    metadata,
    spec: object({ importV4: rules4, exportV4: rules4, importV6: rules6, exportV6: rules6 }),
  },
  { rule4, rule6 },
);

export const ipPoolSchema = resource({
  kind,
  metadata,
  spec: object({
    cidr: parsedText(),
    ipipMode: oneOf('Never', 'Always', 'CrossSubnet'),
    vxlanMode: oneOf('Never', 'Always', 'CrossSubnet'),
    disableBGPExport: flag(),
  }),
});

export const blockAffinitySchema = resource({
  state: oneOf('confirmed', 'pending', 'pendingDeletion'),
  deleted: flagOrText(),
});

/** Felix's file about one local workload (libcalico-go `lib/epstatusfile`). */
export const endpointStatusSchema = resource({
  bgpPeerName: text({ maxLength: 253 }),
  ipv4Nets: list(parsedText()),
  ipv6Nets: list(parsedText()),
});
