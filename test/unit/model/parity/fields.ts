import { calicoKey, endpointStatusKey, kubernetesKey } from '../../../../src/datastore/keys.ts';
import { schemas } from '../../../../src/model/calico/schemas/all.ts';
import type { ResourceKind } from '../../../../src/model/calico/types.ts';
import { HOSTILE } from './mixtures.ts';
import { blockOf, calico, kubernetes, nodeAt, type Stored, secretWith, statusOf } from './support.ts';

/** A JSON schema, as far as the schemas of stored values use it. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** A place in a stored value. */
export interface Field {
  readonly kind: ResourceKind;
  /** `['spec', 'filters', 0]` */
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
}

/** Every field that a kind's schema describes, objects and lists included. */
export function fieldsOf(kind: ResourceKind): readonly Field[] {
  const root = schemas[kind].json as Schema;
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : root.$defs![schema.$ref.replace('#/$defs/', '')]!;
  const below = (schema: Schema, path: Field['path']): readonly Field[] => [
    ...(path.length === 0 ? [] : [{ kind, path, schema }]),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
      below(resolve(part), [...path, name]),
    ),
    ...(schema.items === undefined ? [] : below(resolve(schema.items), [...path, 0])),
    ...(schema.additionalProperties === undefined
      ? []
      : below(resolve(schema.additionalProperties), [...path, 'added'])),
  ];
  return below(root, []);
}

/** Values of other types, out of range, of another syntax, and hostile texts. Some are right by accident. */
export function wrongValues({ minimum, maximum }: Schema): readonly unknown[] {
  const outside = [
    minimum === undefined ? [] : [minimum - 1],
    maximum === undefined ? [] : [maximum + 1],
  ].flat();
  return [...HOSTILE, ...outside, 1.5, -7, 2 ** 40, 'nonsense', true, [], {}, [[]], [{}], ['nonsense']];
}

/** A copy with one place changed; what is missing on the way is made. */
export function withValue(
  value: unknown,
  [head, ...rest]: readonly (string | number)[],
  wrong: unknown,
): unknown {
  if (head === undefined) return wrong;
  if (typeof head === 'number') {
    const list = Array.isArray(value) ? [...value] : [];
    list[head] = withValue(list[head], rest, wrong);
    return list;
  }
  const object = (value ?? {}) as Readonly<Record<string, unknown>>;
  // defineProperty, since a field may be called __proto__.
  return Object.fromEntries([
    ...Object.entries(object).filter(([name]) => name !== head),
    [head, withValue(object[head], rest, wrong)],
  ]);
}

const rules = (cidr: string) => [
  {
    action: 'Accept',
    matchOperator: 'In',
    cidr,
    prefixLength: { min: 20, max: 28 },
    source: 'RemotePeers',
    interface: 'eth*',
    peerType: 'eBGP',
    communities: { values: ['65000:1'] },
    asPathPrefix: [65001],
    priority: 100,
    operations: [
      { addCommunity: { value: '65000:2' } },
      { prependASPath: { prefix: [65001] } },
      { setPriority: { value: 7 } },
    ],
  },
];

/** A rich, valid object of each kind under a key of its own, and the key it has when it is bad. */
export const SAMPLES: Readonly<Record<ResourceKind, { readonly key: string; readonly value: unknown }>> = {
  Node: {
    key: calicoKey('Node', 'x'),
    value: {
      metadata: { name: 'x', labels: { rack: 'x' } },
      spec: {
        bgp: {
          asNumber: 64512,
          ipv4Address: '10.0.9.9/24',
          ipv6Address: 'fd00::99/64',
          routeReflectorClusterID: '1.1.1.1',
        },
        wireguard: { interfaceIPv4Address: '10.9.9.9', interfaceIPv6Address: 'fd09::9' },
      },
      status: { podCIDRs: ['10.8.0.0/24'] },
    },
  },
  BGPPeer: {
    key: calicoKey('BGPPeer', 'x'),
    value: {
      spec: {
        nodeSelector: 'all()',
        peerIP: '192.0.2.77:1790',
        asNumber: 65077,
        localASNumber: 65078,
        nextHopMode: 'Self',
        sourceAddress: 'None',
        maxRestartTime: '10s',
        keepaliveTime: '10s',
        numAllowedLocalASNumbers: 2,
        ttlSecurity: 3,
        reachableBy: '10.0.0.200',
        filters: ['f'],
        reversePeering: 'Auto',
      },
    },
  },
  BGPConfiguration: {
    key: calicoKey('BGPConfiguration', 'node.n1'),
    value: {
      spec: {
        logSeverityScreen: 'Debug',
        listenPort: 180,
        prefixAdvertisements: [{ cidr: '192.168.0.0/16', communities: ['blue', '65000:1'] }],
        communities: [{ name: 'blue', value: '1:2:3' }],
      },
    },
  },
  BGPFilter: {
    key: calicoKey('BGPFilter', 'x'),
    value: {
      spec: {
        importV4: rules('10.0.0.0/16'),
        exportV4: rules('10.0.0.0/16'),
        importV6: rules('fd00::/16'),
        exportV6: rules('fd00::/16'),
      },
    },
  },
  IPPool: {
    key: calicoKey('IPPool', 'x'),
    value: {
      spec: { cidr: '10.66.0.0/16', ipipMode: 'CrossSubnet', vxlanMode: 'Never', disableBGPExport: true },
    },
  },
  BlockAffinity: {
    key: Object.keys(blockOf('n1', '192.168.66.0/26'))[0]!,
    value: { state: 'confirmed', deleted: false },
  },
  Service: {
    key: kubernetesKey('Service', 'default', 'x'),
    value: {
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.66',
        clusterIPs: ['10.96.0.66'],
        externalIPs: ['10.97.0.66'],
        loadBalancerIP: '10.98.0.66',
        externalTrafficPolicy: 'Local',
        ipFamilies: ['IPv4'],
      },
      status: { loadBalancer: { ingress: [{ ip: '10.98.0.66' }] } },
    },
  },
  EndpointSlice: {
    key: kubernetesKey('EndpointSlice', 'default', 'x'),
    value: {
      metadata: { labels: { 'kubernetes.io/service-name': 'late' } },
      addressType: 'IPv4',
      endpoints: [{ nodeName: 'n1', conditions: { ready: true } }],
    },
  },
  Secret: {
    key: kubernetesKey('Secret', 'kube-system', 'x'),
    value: { data: { k: 'aHVzaA==' }, stringData: { l: 'hush' } },
  },
  EndpointStatus: {
    key: endpointStatusKey('x'),
    value: { bgpPeerName: 'workload', ipv4Nets: ['10.1.1.66/32'], ipv6Nets: ['fd00::66/128'] },
  },
};

/** A stored value of a kind, bad or not, as a datastore that holds nothing else. */
export function only(kind: ResourceKind, value: unknown): Stored {
  return { [SAMPLES[kind].key]: value };
}

const password = (key: string) => ({ secretKeyRef: { name: 's', key } });

function service(name: string, clusterIP: string): Stored {
  const spec = { type: 'ClusterIP', clusterIP, externalTrafficPolicy: 'Local', ipFamilies: ['IPv4'] };
  return kubernetes('Service', name, { spec });
}

function sliceOf(name: string): Stored {
  return kubernetes('EndpointSlice', `${name}-1`, {
    metadata: { labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ nodeName: 'n1' }],
  });
}

/** A datastore in which every kind matters: what is called `x`, and slices of the service `late`, are missing. */
export const GOOD: Stored = {
  ...nodeAt('n1', '10.0.0.1/24', { v6: 'fd00::1/64' }),
  ...nodeAt('n2', '10.0.0.2/24', { v6: 'fd00::2/64', labels: { rack: 'a' } }),
  ...calico('BGPConfiguration', 'default', {
    serviceClusterIPs: [{ cidr: '10.96.0.0/16' }],
    serviceExternalIPs: [{ cidr: '10.97.0.0/16' }],
    serviceLoadBalancerIPs: [{ cidr: '10.98.0.0/16' }],
  }),
  ...calico('BGPPeer', 'tor', {
    peerIP: '192.0.2.1',
    asNumber: 65001,
    filters: ['f'],
    password: password('k'),
  }),
  ...calico('BGPPeer', 'x-secret', {
    peerIP: '192.0.2.2',
    asNumber: 65001,
    password: { secretKeyRef: { name: 'x', key: 'l' } },
  }),
  ...calico('BGPPeer', 'to-x', { peerSelector: "rack == 'x'" }),
  ...calico('BGPPeer', 'uses-x', { peerIP: '192.0.2.3', asNumber: 65001, filters: ['x'] }),
  ...calico('BGPPeer', 'workload', { localWorkloadSelector: 'all()', asNumber: 65009 }),
  ...calico('BGPFilter', 'f', {
    importV4: [{ action: 'Reject', matchOperator: 'In', cidr: '10.66.0.0/16' }],
  }),
  ...calico('IPPool', 'pods', { cidr: '192.168.0.0/16' }),
  ...blockOf('n1', '192.168.1.0/26'),
  ...secretWith('s', { k: 'secret' }),
  ...statusOf('pod', { bgpPeerName: 'workload', ipv4Nets: ['10.1.1.1/32'] }),
  ...service('web', '10.96.0.10'),
  ...service('late', '10.96.0.11'),
  ...sliceOf('web'),
  ...sliceOf('x'),
};
