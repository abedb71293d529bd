import { describe, expect, it } from 'vitest';
import type { ResourceKind } from '../../../../src/model/calico/types.ts';
import { KEYS, quarantined } from './stored.ts';

/** A copy of `extra` with one value deep inside: `put({}, 'spec.filters[1]', 'a')` is `{spec: {filters: [null, 'a']}}`. */
function put(extra: unknown, path: string, value: unknown): unknown {
  const [name, ...rest] = path.match(/[^.[\]]+/g) ?? [];
  if (name === undefined) return value;
  const tail = rest.reduce((text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : `${text}.${part}`), '');
  if (!/^\d+$/.test(name)) {
    const inner = (extra ?? {}) as Readonly<Record<string, unknown>>;
    return { ...inner, [name]: put(inner[name], tail, value) };
  }
  const list = [...((extra ?? []) as readonly unknown[])];
  while (list.length <= Number(name)) list.push(null);
  list[Number(name)] = put(list[Number(name)], tail, value);
  return list;
}

const HOSTILE = 'x"; } protocol static evil { route 10.0.0.0/8 blackhole; }\n';

/** Wrong values for whole classes of fields: [value, part of the message]. */
const NOT_TEXT: [unknown, string][] = [
  [1, 'must be a string, not a number'],
  [[], 'must be a string, not a list'],
  [{}, 'must be a string, not an object'],
];
const NOT_ADDRESS: [unknown, string][] = [
  ...NOT_TEXT,
  ['10.0.0.300', 'is not'],
  [HOSTILE, 'is not'],
  ['fe80::1%eth0', 'zone id'],
  ['::ffff:10.0.0.1', 'IPv4-mapped'],
  ['x'.repeat(200), 'at most 100 characters'],
];
const NOT_NETWORK: [unknown, string][] = [
  ...NOT_ADDRESS,
  ['10.0.0.0/33', '0 to 32'],
  ['fd00::/129', '0 to 128'],
];
const NOT_AS: [unknown, string][] = [
  [0, 'is not an AS number'],
  [4_294_967_296, 'is not an AS number'],
  [1.5, 'must be a whole number or a string, not a number'],
  ['1.65536', 'is not an AS number'],
  ['64512; }', 'is not an AS number'],
  [true, 'must be a whole number or a string, not a boolean'],
];
const NOT_CLUSTER_ID: [unknown, string][] = [
  ['1.2.3.256', 'is not a cluster id'],
  ['0.0.0.0', 'router id instead'],
  [-1, 'is not a cluster id'],
  [[], 'must be a whole number or a string, not a list'],
];
const NOT_FLAG: [unknown, string][] = [
  ['true', 'must be true or false, not a string'],
  [1, 'must be true or false, not a number'],
];
const NOT_SELECTOR: [unknown, string][] = [
  ...NOT_TEXT,
  ["rack = 'a'", 'character 6'],
  ['has(', 'character 5'],
  ['x'.repeat(70_000), 'at most 65536 characters'],
];
const NOT_DURATION: [unknown, string][] = [
  ...NOT_TEXT,
  ['10', 'is not a duration'],
  ['-5s', 'negative'],
  ['2h', 'out of range'],
];
const NOT_NAME: [unknown, string][] = [
  ...NOT_TEXT,
  ['a\u0000b', 'without control characters'],
  ['a\nb', 'without control characters'],
  ['x'.repeat(254), 'at most 253 characters'],
];
const NOT_INTERFACE: [unknown, string][] = [
  ...NOT_TEXT,
  ['eth0"', 'without spaces, slashes, quotes or backslashes'],
  ["eth0'", 'quotes'],
  ['eth\\0', 'backslashes'],
  ['eth 0', 'spaces'],
  ['eth/0', 'slashes'],
  ['eth0\n', 'printable'],
  ['\u00e9th0', 'printable ASCII'],
  [HOSTILE, 'printable'],
  ['e'.repeat(256), 'at most 255 characters'],
];
const NOT_SECRET_REFERENCE: [unknown, string][] = [
  ...NOT_TEXT,
  ['../other', 'letters, digits'],
  ['a/b', 'letters'],
  [HOSTILE, 'letters'],
];
const NOT_COMMUNITY: [unknown, string][] = [
  ...NOT_TEXT,
  ['65536:1', 'up to 65535'],
  ['1:2:3:4', 'is not a community'],
  ['no-export', 'is not a community'],
  ['1:1) ; }', 'is not a community'],
];
const NOT_LIST: [unknown, string][] = [
  ['a', 'must be a list, not a string'],
  [{ 0: 'a' }, 'must be a list, not an object'],
];
const NOT_OBJECT: [unknown, string][] = [
  ['a', 'must be an object, not a string'],
  [[], 'must be an object, not a list'],
];

function notOneOf(...values: string[]): [unknown, string][] {
  return [
    ['Sometimes', `must be one of ${values.join(', ')}`],
    [values[0]!.toUpperCase(), 'must be one of'],
    [1, 'must be one of'],
    [HOSTILE, 'must be one of'],
  ];
}

function notWithin(min: number, max: number): [unknown, string][] {
  return [
    [min - 1, `must be ${min} to ${max}`],
    [max + 1, `must be ${min} to ${max}`],
    [min + 0.5, 'must be a whole number, not a number'],
    [String(min), 'must be a whole number, not a string'],
  ];
}

/** kind, what must be there besides, [field, wrong values][] */
type FieldTable = readonly [ResourceKind, unknown, readonly (readonly [string, [unknown, string][]])[]];

const rule = (direction: string) => ({ spec: { [direction]: [{ action: 'Accept' }] } });
const filterFields = (direction: string, bits: number): FieldTable => [
  'BGPFilter',
  rule(direction),
  [
    [`spec.${direction}`, NOT_LIST],
    [`spec.${direction}[0]`, NOT_OBJECT],
    [
      `spec.${direction}[0].cidr`,
      [...NOT_NETWORK, [bits === 32 ? 'fd00::/8' : '10.0.0.0/8', `is not an IPv${bits === 32 ? 4 : 6}`]],
    ],
    [`spec.${direction}[0].matchOperator`, notOneOf('Equal', 'NotEqual', 'In', 'NotIn')],
    [`spec.${direction}[0].prefixLength.min`, notWithin(0, bits)],
    [`spec.${direction}[0].prefixLength.max`, notWithin(0, bits)],
    [`spec.${direction}[0].source`, notOneOf('RemotePeers')],
    [`spec.${direction}[0].interface`, NOT_INTERFACE],
    [`spec.${direction}[0].peerType`, [['EBGP', 'must be one of eBGP, iBGP']]],
    [
      `spec.${direction}[0].communities.values`,
      [...NOT_LIST, [[], 'a list of 1'], [['1:1', '2:2'], 'a list of 1']],
    ],
    [`spec.${direction}[0].communities.values[0]`, NOT_COMMUNITY],
    [`spec.${direction}[0].asPathPrefix`, NOT_LIST],
    [`spec.${direction}[0].asPathPrefix[0]`, NOT_AS],
    [`spec.${direction}[0].priority`, notWithin(1, 2_147_483_646)],
    [`spec.${direction}[0].action`, notOneOf('Accept', 'Reject')],
    [`spec.${direction}[0].operations`, NOT_LIST],
    [`spec.${direction}[0].operations[0].addCommunity.value`, NOT_COMMUNITY],
    [`spec.${direction}[0].operations[0].prependASPath.prefix`, [...NOT_LIST, [[], 'a list of 1 to 50']]],
    [`spec.${direction}[0].operations[0].prependASPath.prefix[0]`, NOT_AS],
    [`spec.${direction}[0].operations[0].setPriority.value`, notWithin(1, 2_147_483_646)],
  ],
];

const FIELDS: readonly FieldTable[] = [
  [
    'Node',
    {},
    [
      ['metadata', NOT_OBJECT],
      ['metadata.labels', NOT_OBJECT],
      [
        'metadata.labels.rack',
        [
          [true, 'must be a string, not a boolean'],
          [null, 'must be a string, not null'],
        ],
      ],
      ['spec', NOT_OBJECT],
      ['spec.bgp', NOT_OBJECT],
      ['spec.bgp.asNumber', NOT_AS],
      [
        'spec.bgp.ipv4Address',
        [
          ...NOT_ADDRESS,
          ['fd00::1/64', 'is not an IPv4 address'],
          ['10.0.0.1/33', '0 to 32'],
          ['0.0.0.0', 'unspecified'],
          ['10.0.0.1/16/3', '0 to 32'],
        ],
      ],
      [
        'spec.bgp.ipv6Address',
        [
          ...NOT_ADDRESS,
          ['10.0.0.1/24', 'is not an IPv6 address'],
          ['fe80::1/64', 'link-local'],
          ['::', 'unspecified'],
        ],
      ],
      ['spec.bgp.routeReflectorClusterID', NOT_CLUSTER_ID],
      ['spec.wireguard.interfaceIPv4Address', [...NOT_ADDRESS, ['fd00::1', 'is not an IPv4 address']]],
      ['spec.wireguard.interfaceIPv6Address', [...NOT_ADDRESS, ['10.0.0.1', 'is not an IPv6 address']]],
      ['status.podCIDRs', NOT_LIST],
      ['status.podCIDRs[1]', NOT_NETWORK],
    ],
  ],
  [
    'BGPConfiguration',
    {},
    [
      ['spec', NOT_OBJECT],
      ['spec.logSeverityScreen', NOT_TEXT],
      ['spec.nodeToNodeMeshEnabled', NOT_FLAG],
      ['spec.asNumber', NOT_AS],
      ['spec.listenPort', notWithin(1, 65_535)],
      ['spec.bindMode', notOneOf('None', 'NodeIP')],
      ['spec.nodeMeshPassword', NOT_OBJECT],
      ['spec.nodeMeshPassword.secretKeyRef.name', NOT_SECRET_REFERENCE],
      ['spec.nodeMeshMaxRestartTime', [...NOT_DURATION, ['4096s', 'out of range: 0s to 4095s']]],
      ['spec.ignoredInterfaces', NOT_LIST],
      ['spec.ignoredInterfaces[1]', [...NOT_INTERFACE, ['', 'must not be empty'], ['*', 'every interface']]],
      ['spec.prefixAdvertisements', NOT_LIST],
      ['spec.prefixAdvertisements[2]', NOT_OBJECT],
      ['spec.prefixAdvertisements[2].cidr', NOT_NETWORK],
      ['spec.prefixAdvertisements[2].communities', NOT_LIST],
      ['spec.prefixAdvertisements[2].communities[1]', [...NOT_NAME, ['65536:1', 'up to 65535']]],
      ['spec.communities', NOT_LIST],
      ['spec.communities[0].name', [...NOT_NAME, ['', 'is missing']]],
      ['spec.serviceClusterIPs[1].cidr', NOT_NETWORK],
      ['spec.serviceExternalIPs[1].cidr', NOT_NETWORK],
      ['spec.serviceLoadBalancerIPs[1].cidr', NOT_NETWORK],
      ['spec.serviceLoadBalancerAggregation', notOneOf('Enabled', 'Disabled')],
      ['spec.programClusterRoutes', NOT_TEXT],
      ['spec.ipv4NormalRoutePriority', notWithin(1, 2_147_483_646)],
      ['spec.ipv6NormalRoutePriority', notWithin(1, 2_147_483_646)],
    ],
  ],
  [
    'BGPConfiguration',
    { spec: { communities: [{ name: 'c' }] } },
    [['spec.communities[0].value', [...NOT_COMMUNITY, ['', 'is missing']]]],
  ],
  [
    'BGPPeer',
    {},
    [
      ['spec', NOT_OBJECT],
      [
        'spec.peerIP',
        [
          ...NOT_ADDRESS,
          ['10.0.0.1:0', 'bad port "0"'],
          ['10.0.0.1:99999', 'bad port "99999"'],
          ['0.0.0.0', 'unspecified'],
          ['fe80::1', 'link-local'],
          ['10.0.0.0/24', 'is not'],
        ],
      ],
      ['spec.peerSelector', NOT_SELECTOR],
      ['spec.localWorkloadSelector', [...NOT_TEXT, ['x'.repeat(70_000), 'at most 65536 characters']]],
    ],
  ],
  [
    'BGPPeer',
    { spec: { peerIP: '10.0.0.1' } },
    [
      ['spec.node', NOT_NAME],
      ['spec.nodeSelector', NOT_SELECTOR],
      ['spec.asNumber', NOT_AS],
      ['spec.localASNumber', NOT_AS],
      ['spec.keepOriginalNextHop', NOT_FLAG],
      ['spec.nextHopMode', notOneOf('Auto', 'Self', 'Keep')],
      ['spec.password', NOT_OBJECT],
      ['spec.password.secretKeyRef', NOT_OBJECT],
      ['spec.password.secretKeyRef.name', [...NOT_SECRET_REFERENCE, ['', 'is missing']]],
      ['spec.sourceAddress', notOneOf('UseNodeIP', 'None')],
      ['spec.maxRestartTime', [...NOT_DURATION, ['4096s', 'out of range: 0s to 4095s']]],
      [
        'spec.keepaliveTime',
        [
          ...NOT_DURATION,
          ['0s', 'out of range: 1s to 240s'],
          ['400ms', 'out of range'],
          ['241s', 'out of range'],
        ],
      ],
      ['spec.numAllowedLocalASNumbers', notWithin(0, 2_147_483_647)],
      ['spec.ttlSecurity', notWithin(0, 255)],
      ['spec.reachableBy', [...NOT_ADDRESS, ['fd00::1', 'must be an IPv4 address, as spec.peerIP is']]],
      ['spec.filters', NOT_LIST],
      ['spec.filters[1]', NOT_NAME],
      ['spec.reversePeering', notOneOf('Auto', 'Manual')],
    ],
  ],
  [
    'BGPPeer',
    { spec: { peerIP: '10.0.0.1', password: { secretKeyRef: { name: 's' } } } },
    [['spec.password.secretKeyRef.key', [...NOT_SECRET_REFERENCE, [null, 'is missing']]]],
  ],
  filterFields('importV4', 32),
  filterFields('exportV4', 32),
  filterFields('importV6', 128),
  filterFields('exportV6', 128),
  [
    'IPPool',
    { spec: { cidr: '10.0.0.0/16' } },
    [
      ['spec.ipipMode', notOneOf('Never', 'Always', 'CrossSubnet')],
      ['spec.vxlanMode', notOneOf('Never', 'Always', 'CrossSubnet')],
      ['spec.disableBGPExport', NOT_FLAG],
    ],
  ],
  [
    'IPPool',
    {},
    [
      [
        'spec.cidr',
        [
          ...NOT_TEXT,
          ['10.0.0.0', 'prefix length'],
          ['10.0.0.0/33', '0 to 32'],
          ['fd00::/129', '0 to 128'],
          ['fe80::%eth0/64', 'zone id'],
          ['::ffff:10.0.0.0/104', 'IPv4-mapped'],
          [HOSTILE, 'is not a CIDR'],
          ['', 'is missing'],
          [null, 'is missing'],
        ],
      ],
    ],
  ],
  [
    'BlockAffinity',
    {},
    [
      ['state', notOneOf('confirmed', 'pending', 'pendingDeletion')],
      ['deleted', [[1, 'must be true or false or a string, not a number']]],
    ],
  ],
  [
    'Service',
    {},
    [
      ['spec', NOT_OBJECT],
      ['spec.type', NOT_TEXT],
      ['spec.clusterIPs', NOT_LIST],
      ['spec.clusterIPs[1]', NOT_ADDRESS],
      ['spec.externalIPs[1]', NOT_ADDRESS],
      ['spec.loadBalancerIP', NOT_ADDRESS],
      ['spec.externalTrafficPolicy', notOneOf('Cluster', 'Local')],
      ['spec.ipFamilies[0]', [['IPv5', 'must be one of IPv4, IPv6']]],
      ['status.loadBalancer.ingress[1].ip', NOT_ADDRESS],
    ],
  ],
  [
    'EndpointSlice',
    {},
    [
      ['addressType', NOT_TEXT],
      ['endpoints', NOT_LIST],
      ['endpoints[1]', NOT_OBJECT],
      ['endpoints[1].nodeName', NOT_TEXT],
      ['endpoints[1].conditions.ready', NOT_FLAG],
    ],
  ],
  [
    'Secret',
    {},
    [
      ['data', NOT_OBJECT],
      [
        'data.password',
        [
          [1, 'must be a string, not a number'],
          ['not base64!', 'must be base64'],
          ['abc', 'must be base64'],
        ],
      ],
    ],
  ],
  [
    'EndpointStatus',
    { bgpPeerName: 'p' },
    [
      ['ipv4Nets', NOT_LIST],
      ['ipv4Nets[0]', [...NOT_ADDRESS, ['fd00::1/128', 'is not an IPv4 address']]],
      ['ipv6Nets[0]', [...NOT_ADDRESS, ['10.0.0.1/32', 'is not an IPv6 address']]],
    ],
  ],
  ['EndpointStatus', {}, [['bgpPeerName', NOT_TEXT]]],
];

const CASES = FIELDS.flatMap(([kind, extra, fields]) =>
  fields.flatMap(([field, wrong]) =>
    wrong.map(([value, why]) => ({
      kind,
      field,
      extra,
      value,
      why,
      shown: JSON.stringify(value).slice(0, 40),
    })),
  ),
);

describe('a wrong value is quarantined, naming key, field and what is allowed', () => {
  it.each(CASES)('$kind $field = $shown', ({ kind, field, extra, value, why }) => {
    const found = quarantined(kind, put(extra, field, value));
    expect(found.field).toBe(field);
    expect(found.message).toContain(why);
    expect(found.message.startsWith(`${KEYS[kind]}: ${field}: `)).toBe(true);
    expect(found.message).not.toMatch(/[\u0000-\u001f\u007f]/);
    expect(found.message.length).toBeLessThan(500);
    expect(found).toMatchObject({ kind, key: KEYS[kind], reason: 'invalid', lastGoodUsed: false });
  });
});

describe('fields that contradict each other', () => {
  const peer = (spec: object) => ({ spec });
  const accept = (extra: object) => ({ spec: { importV4: [{}, { action: 'Accept', ...extra }] } });
  it.each<[ResourceKind, unknown, string, string]>([
    [
      'BGPPeer',
      peer({ node: 'a', nodeSelector: 'all()', peerIP: '10.0.0.1' }),
      'spec.nodeSelector',
      'together with spec.node',
    ],
    [
      'BGPPeer',
      peer({ peerIP: '10.0.0.1', peerSelector: 'all()' }),
      'spec.peerSelector',
      'together with spec.peerIP',
    ],
    [
      'BGPPeer',
      peer({ peerSelector: 'all()', asNumber: 1 }),
      'spec.asNumber',
      'together with spec.peerSelector',
    ],
    [
      'BGPPeer',
      peer({ localWorkloadSelector: 'all()', asNumber: 1, peerIP: '10.0.0.1' }),
      'spec.peerIP',
      'together with',
    ],
    [
      'BGPPeer',
      peer({ localWorkloadSelector: 'all()', peerSelector: 'all()' }),
      'spec.peerSelector',
      'together with',
    ],
    ['BGPPeer', peer({ localWorkloadSelector: 'all()' }), 'spec.asNumber', 'is missing'],
    [
      'BGPPeer',
      peer({ reachableBy: '10.0.0.1', peerSelector: 'all()' }),
      'spec.reachableBy',
      'only together with spec.peerIP',
    ],
    [
      'BGPPeer',
      peer({ peerIP: '10.0.0.1', keepOriginalNextHop: true, nextHopMode: 'Keep' }),
      'spec.keepOriginalNextHop',
      'spec.nextHopMode',
    ],
    [
      'BGPPeer',
      peer({ asNumber: 1 }),
      'spec.peerIP',
      'one of peerIP, peerSelector and localWorkloadSelector',
    ],
    ['BGPPeer', peer({ peerIP: '10.0.0.1', password: {} }), 'spec.password.secretKeyRef.name', 'is missing'],
    ['BGPFilter', accept({ cidr: '10.0.0.0/8' }), 'spec.importV4[1].matchOperator', 'is missing'],
    ['BGPFilter', accept({ matchOperator: 'In' }), 'spec.importV4[1].cidr', 'matchOperator needs it'],
    ['BGPFilter', accept({ prefixLength: { min: 8 } }), 'spec.importV4[1].cidr', 'prefixLength needs it'],
    [
      'BGPFilter',
      accept({ cidr: '10.0.0.0/24', matchOperator: 'In', prefixLength: { max: 20 } }),
      'spec.importV4[1].prefixLength.max',
      'at least 24',
    ],
    [
      'BGPFilter',
      accept({ cidr: '10.0.0.0/8', matchOperator: 'In', prefixLength: { min: 24, max: 16 } }),
      'spec.importV4[1].prefixLength.max',
      'at least 24',
    ],
    ['BGPFilter', accept({ operations: [{}] }), 'spec.importV4[1].operations[0]', 'exactly one of'],
    [
      'BGPFilter',
      accept({ operations: [{ setPriority: { value: 1 }, addCommunity: { value: '1:1' } }] }),
      'spec.importV4[1].operations[0]',
      'exactly one of',
    ],
    [
      'BGPFilter',
      accept({ operations: [{ setPriority: {} }] }),
      'spec.importV4[1].operations[0].setPriority.value',
      'is missing',
    ],
    [
      'BGPFilter',
      accept({ operations: [{ addCommunity: {} }] }),
      'spec.importV4[1].operations[0].addCommunity.value',
      'is missing',
    ],
    [
      'BGPFilter',
      accept({ operations: [{ prependASPath: {} }] }),
      'spec.importV4[1].operations[0].prependASPath.prefix',
      'is missing',
    ],
    [
      'BGPFilter',
      { spec: { exportV6: [{ action: 'Reject', operations: [{ setPriority: { value: 1 } }] }] } },
      'spec.exportV6[0].operations',
      'only with action Accept',
    ],
    ['BGPFilter', { spec: { exportV6: [{}] } }, 'spec.exportV6[0].action', 'is missing'],
  ])('%s %j: %s', (kind, value, field, why) => {
    // The first rule of these filters is there to make the index count.
    const stored = JSON.parse(JSON.stringify(value).replace('[{},', '[{"action":"Reject"},'));
    const found = quarantined(kind, stored);
    expect(found.field).toBe(field);
    expect(found.message).toContain(why);
  });
});
