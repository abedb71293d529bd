import fc from 'fast-check';
import { calicoKey, endpointStatusKey, kubernetesKey, parseKey } from '../../../../src/datastore/keys.ts';
import { type Parsed, parseStored } from '../../../../src/model/calico/parse.ts';
import { blockOf, calico, type Stored } from './support.ts';

/** Random datastores: stored values of every kind, most fields right, some at the edge, some wrong. */

export const HOSTILE = [
  'x"; } protocol static evil { route 10.99.0.0/16 blackhole; }',
  "a'b",
  'a\nb',
  'a\u0000b',
  'a\rb',
  '/* a',
  '# a',
  '{{ 7 }}',
  '{% raw %}',
  '$(x)',
  '../../etc',
  'é\u2028ü',
  '\ud800',
  'x'.repeat(5_000),
  '__proto__',
  '4.2e+09',
  '-1',
  ' ',
];
const NUMBERS = [0, -1, 1, 1.5, 255, 256, 65_535, 65_536, 2_147_483_647, 4_294_967_295, 4_294_967_296, 1e300];
const anything = fc.oneof(
  fc.constantFrom<unknown>(...HOSTILE, ...NUMBERS, null, true, false, [], {}, [null], { a: 1 }, ''),
  fc.string(),
);

/** Usually one of the good values, sometimes one at the edge of what is allowed or beyond, now and then anything. */
function often(good: readonly unknown[], edge: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 250, arbitrary: fc.constantFrom(...good) },
    { weight: 12, arbitrary: fc.constantFrom(...edge) },
    { weight: 1, arbitrary: anything },
  );
}

/** Usually one of the values, now and then anything. */
function mostly(...values: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 400, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: anything });
}

/** Some of the fields. */
function some(
  fields: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(fields, { requiredKeys: [] });
}

function listOf(element: fc.Arbitrary<unknown>, maxLength = 3): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 90, arbitrary: fc.array(element, { minLength: 1, maxLength }) },
    { weight: 10, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: anything },
  );
}

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'];
// The computed node's own address stands last: generators favour what comes first.
const V4 = ['10.0.0.2', '10.0.0.10', '10.0.1.3', '10.0.0.3', '10.0.0.1'];
const ODD4 = ['127.0.0.1', '224.0.0.5', '255.255.255.255', '240.0.0.9', '0.0.0.0', '10.0.0.1'];
const V6 = ['FD00:0::2', 'fd00::a', '2001:db8::1', 'fd00::1'];
const ODD6 = ['::1', 'ff02::1', '::', 'fe80::1', '::ffff:10.0.0.1'];
const address4 = often(V4, ODD4);
const address6 = often(V6, ODD6);
const NETS4 = [
  '10.0.0.0/8',
  '10.0.0.7/16',
  '192.168.0.0/16',
  '192.168.1.0/26',
  '0.0.0.0/0',
  '10.0.0.1/32',
  '10.0.0.1',
];
const NETS6 = ['fd00::/8', 'FD00:10::/64', '::/0', 'fd00::1/128', '2001:db8:0:0::5/64', '::ffff:0:0/96'];
const AS = [64512, '64512', '1.10', 65001, 4_294_967_295, 23456, 1];
const SELECTORS = ['', 'all()', "rack == 'a'", 'has(rr)', '!has(rr)', "rack in {'a','b'}", "rack == 'z'"];
const FILTERS = ['f1', 'f2', 'team-a.filter', 'x'.repeat(46), 'gone', 'n'.repeat(253), "odd'name {}"];
const SECRET = { secretKeyRef: { name: 's', key: 'good' } };
const duration = often(['1s', '500ms', '1m30s', '240s'], ['0s', '4095s', '68m15s', '300s', '2h']);

function nodeOf(index: number): fc.Arbitrary<unknown> {
  const bgp = fc
    .tuple(
      some({
        asNumber: mostly(...AS),
        routeReflectorClusterID: often(
          [null],
          ['244.0.0.1', '1', 5, '10.0.0.2', '255.255.255.255', '0.0.0.0'],
        ),
      }),
      often([`10.0.0.${index}/24`, `10.0.0.${index}`], [...V4, ...ODD4, undefined]),
      often([`fd00::${index}/64`, undefined], [...V6, ...ODD6]),
    )
    .map(([rest, ipv4Address, ipv6Address]) => ({ ...rest, ipv4Address, ipv6Address }));
  const wireguard = some({ interfaceIPv4Address: address4, interfaceIPv6Address: address6 });
  return fc.record({ bgp, wireguard }, { requiredKeys: ['bgp'] });
}
const labels = some({ rack: mostly('a', 'b'), rr: mostly('true') });

const peer = some({
  node: mostly(...NODES),
  nodeSelector: mostly(...SELECTORS),
  peerSelector: mostly(...SELECTORS),
  localWorkloadSelector: mostly('', 'all()'),
  peerIP: mostly(
    ...V4,
    ...V6,
    '10.0.0.2:179',
    '10.0.0.2:1790',
    '[fd00::2]:65535',
    '192.0.2.1',
    '192.0.2.2:0',
  ),
  asNumber: mostly(...AS),
  localASNumber: mostly(...AS),
  keepOriginalNextHop: mostly(true, false),
  nextHopMode: mostly('Auto', 'Self', 'Keep'),
  password: often(
    [null, SECRET],
    [{ secretKeyRef: { name: 's', key: 'quote' } }, { secretKeyRef: { name: 'no', key: 'k' } }],
  ),
  sourceAddress: mostly('UseNodeIP', 'None'),
  maxRestartTime: duration,
  keepaliveTime: duration,
  numAllowedLocalASNumbers: mostly(0, 1, 255, 2_147_483_647),
  ttlSecurity: mostly(0, 1, 2, 254, 255),
  reachableBy: fc.oneof(address4, address6),
  filters: listOf(
    often(
      FILTERS.filter((name) => name !== 'gone'),
      ['gone'],
    ),
  ),
  reversePeering: mostly('Auto', 'Manual'),
});
/** A BGPPeer whose fields fit together more often than by chance. */
const shapedPeer = fc.oneof(
  peer,
  peer.map((spec) =>
    without(spec, 'nodeSelector', 'peerSelector', 'localWorkloadSelector', 'reachableBy', 'nextHopMode'),
  ),
  fc
    .tuple(peer, fc.constantFrom('192.0.2.1', '10.0.0.2', 'fd00::2', '192.0.2.1:180', ...ODD4, ...ODD6))
    .map(([spec, peerIP]) => ({
      ...without(spec, 'node', 'peerSelector', 'localWorkloadSelector', 'reachableBy', 'keepOriginalNextHop'),
      asNumber: 64512,
      peerIP,
    })),
  peer.map((spec) => ({
    ...without(spec, 'node', 'peerIP', 'asNumber', 'localWorkloadSelector', 'reachableBy', 'nextHopMode'),
    peerSelector: 'all()',
  })),
  peer.map((spec) => ({
    ...without(spec, 'node', 'peerIP', 'peerSelector', 'reachableBy', 'nextHopMode'),
    asNumber: 65009,
    localWorkloadSelector: 'all()',
  })),
);

function without(spec: Record<string, unknown>, ...fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !fields.includes(field)));
}

const operation = fc.oneof(
  often(
    [{ addCommunity: { value: '65000:1' } }, { addCommunity: { value: '1:2:4294967295' } }],
    [{ addCommunity: { value: '70000:1' } }, { addCommunity: {} }, {}],
  ),
  often([{ prependASPath: { prefix: [64512, '1.1'] } }], [{ prependASPath: { prefix: [] } }]),
  often(
    [{ setPriority: { value: 100 } }, { setPriority: { value: 2_147_483_646 } }],
    [{ setPriority: { value: 0 } }],
  ),
);

function rule(nets: readonly string[], bits: number): fc.Arbitrary<Record<string, unknown>> {
  const match = some({
    source: mostly('RemotePeers'),
    interface: often(['eth0', '*.cali', 'cali?', 'e?h*'], ['a"b', '*']),
    peerType: mostly('eBGP', 'iBGP'),
    communities: often([{ values: ['65000:1'] }, { values: ['1:2:3'] }], [{ values: [] }]),
    asPathPrefix: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom([65001], [65001, 65002], []) },
      { weight: 1, arbitrary: listOf(mostly(...AS)) },
    ),
    priority: mostly(1, 1024, 2_147_483_646),
  });
  // Few conditions at a time, or hardly any route meets them.
  const few = match.map((all) => Object.fromEntries(Object.entries(all).slice(0, 2)));
  const netted = fc
    .tuple(
      fc.option(fc.record({ min: mostly(0, 16), max: often([bits], [28, 8]) }), { nil: null }),
      mostly('Equal', 'NotEqual', 'In', 'NotIn'),
      mostly(...nets),
    )
    .map(([prefixLength, matchOperator, cidr]) => ({ prefixLength, matchOperator, cidr }));
  const decision = fc.oneof(
    fc.record({ action: fc.constant('Accept'), operations: listOf(operation) }),
    fc.record({ action: mostly('Accept', 'Reject') }),
  );
  const conditions = fc.oneof(
    few,
    netted,
    fc.tuple(few, netted).map(([one, two]) => ({ ...one, ...two })),
  );
  return fc.tuple(conditions, decision).map((parts) => Object.assign({}, ...parts));
}

const rules4 = listOf(rule(NETS4, 32), 4);
const rules6 = listOf(rule(NETS6, 128), 4);
const filter = fc.oneof(
  some({ importV4: rules4, exportV4: rules4, importV6: rules6, exportV6: rules6 }),
  fc.record({ importV4: rules4, exportV4: rules4, importV6: rules6, exportV6: rules6 }),
);

const cidrs = listOf(fc.oneof(fc.record({ cidr: mostly(...NETS4, ...NETS6) }), fc.constant({})));
const configuration = some({
  logSeverityScreen: mostly('Info', 'Debug', 'None', 'Fatal'),
  nodeToNodeMeshEnabled: often([true], [false]),
  asNumber: mostly(...AS),
  listenPort: mostly(1, 179, 1790, 65_535),
  bindMode: mostly('None', 'NodeIP'),
  nodeMeshPassword: often([null], [SECRET, { secretKeyRef: { name: 'no', key: 'k' } }]),
  nodeMeshMaxRestartTime: duration,
  ignoredInterfaces: listOf(often(['docker0', 'br-*', 'eth0.100', 'veth?'], ['e"th', '*'])),
  prefixAdvertisements: listOf(
    fc.record({
      cidr: mostly(...NETS4, ...NETS6),
      communities: listOf(mostly('65000:1', '1:2:3', 'blue', 'unknown')),
    }),
  ),
  communities: fc.constantFrom(
    [{ name: 'blue', value: '65000:7' }],
    [{ name: 'blue', value: '1:2' }],
    undefined,
  ),
  serviceClusterIPs: cidrs,
  serviceExternalIPs: cidrs,
  serviceLoadBalancerIPs: cidrs,
  serviceLoadBalancerAggregation: mostly('Enabled', 'Disabled'),
  programClusterRoutes: mostly('Disabled', 'EnabledNoEncapOnly', 'EnabledIPIPOnly', 'Enabled', 'Later'),
  ipv4NormalRoutePriority: mostly(1, 1024, 2_147_483_646),
  ipv6NormalRoutePriority: mostly(1, 1024, 2_147_483_646),
});

const pool = fc
  .tuple(
    mostly(...NETS4, ...NETS6, '172.16.0.0/12'),
    some({
      ipipMode: mostly('Never', 'Always', 'CrossSubnet'),
      vxlanMode: mostly('Never', 'Always', 'CrossSubnet'),
      disableBGPExport: mostly(true, false),
      disabled: mostly(true, false),
    }),
  )
  .map(([cidr, rest]) => ({ cidr, ...rest }));

const service = fc
  .tuple(
    mostly('10.96.0.1', '10.0.0.77', 'fd00::77', 'None'),
    some({
      clusterIPs: listOf(mostly('10.96.0.1', '10.0.0.77', 'fd00::77')),
      externalIPs: listOf(mostly('10.0.0.1', '192.168.1.1', 'fd00::1')),
      loadBalancerIP: mostly('10.0.0.1'),
      externalTrafficPolicy: mostly('Local', 'Cluster'),
      ipFamilies: listOf(mostly('IPv4', 'IPv6')),
      type: mostly('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'),
    }),
    listOf(fc.record({ ip: mostly('10.0.0.1', 'fd00::1') })),
  )
  .map(([clusterIP, spec, ingress]) => ({
    spec: { clusterIP, ...spec },
    status: { loadBalancer: { ingress } },
  }));

const slice = fc.record({
  metadata: fc.constant({ labels: { 'kubernetes.io/service-name': 'web' } }),
  addressType: mostly('IPv4', 'IPv6', 'FQDN'),
  endpoints: listOf(
    fc.record({ nodeName: mostly(...NODES), conditions: some({ ready: mostly(true, false) }) }),
  ),
});

const status = fc
  .tuple(
    mostly('p1', 'p2', 'p3'),
    some({
      ipv4Nets: listOf(mostly('10.1.2.3/32', '10.0.0.2/32')),
      ipv6Nets: listOf(mostly('fd00::99/128')),
    }),
  )
  .map(([bgpPeerName, nets]) => ({ bgpPeerName, ...nets }));

const block = fc
  .tuple(
    fc.constantFrom('192.168.1.0/26', '192.168.2.64/26', '10.0.0.9/32', 'fd00:10::/122'),
    mostly('confirmed', 'pending', 'pendingDeletion', ''),
  )
  .map(([cidr, state]): Stored => {
    const [key] = Object.keys(blockOf('n1', cidr));
    return { [key!]: { state, deleted: false } };
  });

const secret = fc
  .record({ good: mostly('hush', 'pass word', 'x'.repeat(80), 'é#{}'), quote: fc.constant('a"b') })
  .map((stringData): Stored => ({ [kubernetesKey('Secret', 'kube-system', 's')]: { stringData } }));

function several(parts: fc.Arbitrary<readonly Stored[]>): fc.Arbitrary<Stored> {
  return parts.map((stored) => Object.assign({}, ...stored));
}

function named(
  kind: Parameters<typeof calico>[0],
  names: readonly string[],
  spec: fc.Arbitrary<unknown>,
  maxLength: number,
  minLength = 0,
): fc.Arbitrary<Stored> {
  const one = fc.tuple(fc.constantFrom(...names), spec).map(([name, value]) => calico(kind, name, value));
  return several(fc.array(one, { minLength, maxLength }));
}

const nodes = several(
  fc
    .subarray(NODES, { minLength: 2 })
    .chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc
            .tuple(nodeOf(NODES.indexOf(name) + 1), labels)
            .map(([spec, of]): Stored => ({ [calicoKey('Node', name)]: { metadata: { labels: of }, spec } })),
        ),
      ),
    ),
);

function kubernetesOne(
  kind: 'Service' | 'EndpointSlice',
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<Stored> {
  return fc.oneof(
    fc.constant({}),
    value.map((v) => ({ [kubernetesKey(kind, 'default', 'web')]: v })),
  );
}

const OWN = { bgp: { ipv4Address: '10.0.0.1/24', ipv6Address: 'fd00::1/64' } };
const REFLECTOR = { bgp: { ...OWN.bgp, routeReflectorClusterID: '244.0.0.1' } };

/** Any datastore. */
export const mixtures: fc.Arbitrary<Stored> = several(
  fc
    .tuple(
      nodes,
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(calico('Node', 'n1', OWN)) },
        { weight: 1, arbitrary: fc.constant(calico('Node', 'n1', REFLECTOR)) },
        { weight: 1, arbitrary: fc.constant({}) },
      ),
      named('BGPPeer', ['p1', 'p2', 'p3', 'p4', "odd'name {}"], shapedPeer, 6, 2),
      named(
        'BGPConfiguration',
        ['default', 'default', 'default', 'node.n1', 'node.n1', 'node.n2', 'other'],
        configuration,
        3,
      ),
      named(
        'BGPFilter',
        FILTERS.filter((name) => name !== 'gone'),
        filter,
        4,
      ),
      named('IPPool', ['pool1', 'pool2', 'pool3'], pool, 3, 1),
      several(fc.array(block, { maxLength: 3 })),
      kubernetesOne('Service', service),
      kubernetesOne('EndpointSlice', slice),
      fc.oneof({ weight: 1, arbitrary: fc.constant({}) }, { weight: 6, arbitrary: secret }),
      fc.oneof(
        fc.constant({}),
        status.map((value) => ({ [endpointStatusKey('pod')]: value })),
      ),
    )
    .map((parts): readonly Stored[] => parts),
);

/** What the parser makes of a stored value. */
export function parsed(key: string, value: unknown): Parsed {
  return parseStored(parseKey(key)!.kind, key, typeof value === 'string' ? value : JSON.stringify(value));
}

/** The values that are quarantined, by key. */
export function badOf(values: Stored): Stored {
  return Object.fromEntries(
    Object.entries(values).filter(([key, value]) => parsed(key, value).outcome === 'quarantined'),
  );
}

export function goodOf(values: Stored): Stored {
  const bad = badOf(values);
  return Object.fromEntries(Object.entries(values).filter(([key]) => !(key in bad)));
}
