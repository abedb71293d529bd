import { describe, expect, it } from 'vitest';
import { blockPrefix, calicoKey } from '../../../../src/datastore/keys.ts';
import { parseStored } from '../../../../src/model/calico/parse.ts';
import type { Resource, ResourceKind } from '../../../../src/model/calico/types.ts';
import { KEYS, parse, quarantined, resource } from './stored.ts';

describe('a value and its key', () => {
  it.each<[ResourceKind, unknown, string, string]>([
    ['BGPPeer', { metadata: { name: 'other' } }, 'metadata.name', 'is "other", but the key names "x"'],
    ['Node', { metadata: { name: 'x\n' } }, 'metadata.name', 'is "x\\n", but the key names "x"'],
    [
      'Service',
      { metadata: { name: 'x', namespace: 'other' } },
      'metadata.namespace',
      'is "other", but the key names "ns"',
    ],
    ['Node', { kind: 'BGPPeer' }, 'kind', 'is "BGPPeer", but the key is that of a Node'],
  ])('must agree: %s %j', (kind, value, field, why) => {
    const found = quarantined(kind, value);
    expect(found.field).toBe(field);
    expect(found.message).toContain(why);
    expect(found.message).toContain(KEYS[kind]);
  });

  it.each<[ResourceKind, string, string]>([
    ['Node', `${calicoKey('Node', 'a')}/b`, 'is not the key of a Node'],
    ['Node', calicoKey('BGPPeer', 'a'), 'is not the key of a Node'],
    ['Node', calicoKey('Node', 'a\u0000b'), 'control characters'],
    ['Node', calicoKey('Node', 'a\nb'), 'control characters'],
    ['Node', calicoKey('Node', 'a\u2028b'), 'control characters'],
    ['Node', calicoKey('Node', 'a\ud800b'), 'control characters'],
    ['Node', calicoKey('Node', 'x'.repeat(254)), 'longer than 253 bytes'],
    ['Node', calicoKey('Node', '\u00e9'.repeat(127)), 'longer than 253 bytes'],
    ['BGPConfiguration', calicoKey('BGPConfiguration', 'other'), 'must be "default" or "node.NODENAME"'],
    ['BGPConfiguration', calicoKey('BGPConfiguration', 'node.'), 'must be "default" or "node.NODENAME"'],
    ['BlockAffinity', `${blockPrefix('n')}/ipv4/block/nonsense`, 'is not the key of a BlockAffinity'],
    ['BlockAffinity', `${blockPrefix('n')}/ipv4/block/10.0.0.0-33`, '0 to 32'],
    ['BlockAffinity', `${blockPrefix('n')}/ipv4/block/fd00::-122`, 'under ipv4'],
  ])('%s under %j: %s', (kind, key, why) => {
    const found = quarantined(kind, '{}', key);
    expect(found.message).toContain(why);
    expect(found.message).not.toMatch(/[\u0000-\u001f\u2028\ud800]/);
    expect(found.key).toBe(key);
  });

  it('may be of any name that is only unusual', () => {
    for (const name of ['UPPER', 'a"b', "a'b", 'x; }', 'n\u00f6de', '__proto__', '.'])
      expect(resource('Node', {}, calicoKey('Node', name)).name).toBe(name);
  });
});

describe('what is not JSON', () => {
  it.each<[ResourceKind, string, string]>([
    ['Node', '', 'the value is empty'],
    ['Node', 'hunter2', 'the value is not JSON'],
    ['Secret', '{"data": {"password": "hunter2}', 'the value is not JSON'],
    ['BGPPeer', '{"spec": 1,}', 'the value is not JSON (character 12 of 12)'],
    ['IPPool', '\ufeff{}', 'the value is not JSON'],
    ['IPPool', '"text"', 'must be an object, not a string'],
    ['IPPool', 'null', 'must be an object, not null'],
  ])('%s %j: %s', (kind, text, why) => {
    const found = quarantined(kind, text);
    expect(found.field).toBeNull();
    expect(found.message).toContain(why);
    expect(found.message).not.toContain('hunter');
  });
});

it('never shows a value that may be a password', () => {
  for (const [kind, value] of [
    ['Secret', { data: { password: 'hunter2!' } }],
    ['Secret', { data: 'hunter2' }],
    ['Secret', { data: { password: ['hunter2'] } }],
    ['BGPPeer', { spec: { password: 'hunter2' } }],
    ['BGPPeer', { spec: { password: { secretKeyRef: 'hunter2' } } }],
    ['BGPPeer', { spec: { password: { secretKeyRef: { name: 'hunter2 ' } } } }],
    ['BGPConfiguration', { spec: { nodeMeshPassword: 'hunter2' } }],
  ] as const)
    expect(JSON.stringify(quarantined(kind, value))).not.toContain('hunter');
});

describe('resources', () => {
  const origin = (kind: ResourceKind, name: string): Resource['origin'] => ({
    kind,
    name,
    key: KEYS[kind],
    lastGood: false,
  });

  it('Node: canonical addresses, plain AS number, dotted cluster id', () => {
    const node = resource('Node', {
      kind: 'Node',
      metadata: { name: 'x', labels: { rack: 'a' } },
      spec: {
        bgp: {
          asNumber: '1.10',
          ipv4Address: '10.0.3.7/16',
          ipv6Address: 'FD00:0::7',
          routeReflectorClusterID: 1,
        },
        wireguard: { interfaceIPv4Address: '10.9.0.1', interfaceIPv6Address: 'FD01::1' },
      },
      status: { podCIDRs: ['10.1.0.5/24', 'FD02::/64'] },
    });
    expect(node).toEqual({
      origin: origin('Node', 'x'),
      name: 'x',
      labels: { rack: 'a' },
      hasBgp: true,
      asNumber: 65_546,
      ipv4: { address: '10.0.3.7', length: 16 },
      ipv6: { address: 'fd00::7', length: 128 },
      clusterId: '0.0.0.1',
      wireguardIpv4: '10.9.0.1',
      wireguardIpv6: 'fd01::1',
      podCidrs: ['10.1.0.0/24', 'fd02::/64'],
    });
  });

  it.each([{}, { spec: {} }, { spec: { bgp: null } }, { spec: null, metadata: null, status: null }])(
    'Node %j takes no part in BGP',
    (value) => {
      expect(resource('Node', value)).toMatchObject({
        hasBgp: false,
        ipv4: null,
        ipv6: null,
        clusterId: null,
        labels: {},
      });
    },
  );

  it('Node: empty texts are not set', () => {
    const value = {
      spec: { bgp: { asNumber: '', ipv4Address: '', ipv6Address: '', routeReflectorClusterID: '' } },
    };
    expect(resource('Node', value)).toMatchObject({
      hasBgp: true,
      asNumber: null,
      ipv4: null,
      ipv6: null,
      clusterId: null,
    });
  });

  it('BGPPeer: everything set', () => {
    const spec = {
      nodeSelector: "rack == 'a'",
      peerIP: '[FD00:0::1]:1179',
      asNumber: '64512',
      localASNumber: 64_513,
      keepOriginalNextHop: true,
      password: { secretKeyRef: { name: 'bgp-secrets', key: 'tor' } },
      sourceAddress: 'None',
      maxRestartTime: '1m30s',
      keepaliveTime: '10s',
      numAllowedLocalASNumbers: 2,
      ttlSecurity: 1,
      reachableBy: 'fd00::FE',
      filters: ['b', 'a'],
      reversePeering: 'Manual',
    };
    expect(resource('BGPPeer', { spec })).toEqual({
      origin: origin('BGPPeer', 'x'),
      name: 'x',
      node: null,
      nodeSelector: "rack == 'a'",
      peerAddress: 'fd00::1',
      peerPort: 1_179,
      peerSelector: null,
      localWorkloadSelector: null,
      asNumber: 64_512,
      localAsNumber: 64_513,
      keepOriginalNextHop: true,
      nextHopMode: null,
      password: { name: 'bgp-secrets', key: 'tor' },
      sourceAddress: 'None',
      maxRestartTime: 90,
      keepaliveTime: 10,
      numAllowedLocalAs: 2,
      ttlSecurityHops: 1,
      reachableBy: 'fd00::fe',
      filters: ['b', 'a'],
      reversePeering: 'Manual',
    });
  });

  it('BGPPeer: an address alone is enough, and what is empty or 0 is not set', () => {
    const spec = {
      peerIP: '10.0.0.1',
      node: '',
      nodeSelector: '',
      peerSelector: '',
      localWorkloadSelector: '',
      nextHopMode: '',
      sourceAddress: '',
      reversePeering: '',
      ttlSecurity: 0,
      numAllowedLocalASNumbers: 0,
      password: null,
      filters: null,
      maxRestartTime: '0s',
    };
    expect(resource('BGPPeer', { spec })).toMatchObject({
      node: null,
      nodeSelector: null,
      peerAddress: '10.0.0.1',
      peerPort: null,
      peerSelector: null,
      localWorkloadSelector: null,
      asNumber: null,
      nextHopMode: null,
      sourceAddress: 'UseNodeIP',
      reversePeering: 'Auto',
      ttlSecurityHops: null,
      numAllowedLocalAs: null,
      password: null,
      filters: [],
      maxRestartTime: 0,
    });
  });

  it('BGPConfiguration: everything set', () => {
    const spec = {
      logSeverityScreen: 'Info',
      nodeToNodeMeshEnabled: false,
      asNumber: 64_512,
      listenPort: 179,
      bindMode: 'NodeIP',
      nodeMeshPassword: { secretKeyRef: { name: 's', key: 'k' } },
      nodeMeshMaxRestartTime: '10s',
      ignoredInterfaces: ['eth*', 'docker0'],
      prefixAdvertisements: [{ cidr: '10.0.0.1/8', communities: ['named', '1:2'] }, {}, { cidr: '10.9.0.1' }],
      communities: [{ name: 'named', value: '1:2:3' }],
      serviceClusterIPs: [{}, { cidr: '10.96.0.0/12' }, { cidr: '' }],
      serviceExternalIPs: [{ cidr: '192.0.2.1' }],
      serviceLoadBalancerIPs: [],
      serviceLoadBalancerAggregation: 'Disabled',
      programClusterRoutes: 'Enabled',
      ipv4NormalRoutePriority: 1,
      ipv6NormalRoutePriority: 2_147_483_646,
    };
    expect(resource('BGPConfiguration', { spec })).toEqual({
      origin: origin('BGPConfiguration', 'default'),
      name: 'default',
      node: null,
      logSeverity: 'Info',
      meshEnabled: false,
      asNumber: 64_512,
      listenPort: 179,
      bindMode: 'NodeIP',
      meshPassword: { name: 's', key: 'k' },
      meshMaxRestartTime: 10,
      ignoredInterfaces: ['eth*', 'docker0'],
      prefixAdvertisements: [
        { cidr: '10.0.0.0/8', communities: ['named', '1:2'] },
        { cidr: '10.9.0.1/32', communities: [] },
      ],
      communities: [{ name: 'named', value: '1:2:3' }],
      serviceClusterIPs: ['10.96.0.0/12'],
      serviceExternalIPs: ['192.0.2.1/32'],
      serviceLoadBalancerIPs: [],
      serviceLoadBalancerAggregation: 'Disabled',
      programClusterRoutes: 'Enabled',
      ipv4NormalRoutePriority: 1,
      ipv6NormalRoutePriority: 2_147_483_646,
    });
  });

  it('BGPConfiguration: of one node, and with a value of a later Calico for cluster routes', () => {
    const key = calicoKey('BGPConfiguration', 'node.worker.1');
    const config = resource('BGPConfiguration', { spec: { programClusterRoutes: 'EnabledVXLANOnly' } }, key);
    expect(config).toMatchObject({
      name: 'node.worker.1',
      node: 'worker.1',
      programClusterRoutes: null,
      meshEnabled: null,
    });
  });

  it('BGPFilter: all parts of a rule', () => {
    const spec = {
      importV6: [
        {
          cidr: '5000::0/64',
          matchOperator: 'NotIn',
          prefixLength: { max: 100 },
          source: 'RemotePeers',
          interface: '*.calico',
          peerType: 'iBGP',
          communities: { values: ['1:2:3'] },
          asPathPrefix: [64_512, '1.1'],
          priority: 7,
          action: 'Accept',
          operations: [
            { addCommunity: { value: '1:2' } },
            { prependASPath: { prefix: [1, '2'] } },
            { setPriority: { value: 9 } },
          ],
        },
        { action: 'Reject', cidr: '', matchOperator: '', asPathPrefix: [], operations: null },
      ],
    };
    const filter = resource('BGPFilter', { spec });
    expect(filter).toMatchObject({ importV4: [], exportV4: [], exportV6: [] });
    expect(filter.importV6).toEqual([
      {
        cidr: '5000::/64',
        matchOperator: 'NotIn',
        prefixLength: { min: null, max: 100 },
        source: 'RemotePeers',
        interface: '*.calico',
        peerType: 'iBGP',
        community: [1, 2, 3],
        asPathPrefix: [64_512, 65_537],
        priority: 7,
        action: 'Accept',
        operations: [
          { type: 'addCommunity', community: [1, 2] },
          { type: 'prependAsPath', asNumbers: [1, 2] },
          { type: 'setPriority', priority: 9 },
        ],
      },
      {
        cidr: null,
        matchOperator: null,
        prefixLength: null,
        source: null,
        interface: null,
        peerType: null,
        community: null,
        asPathPrefix: null,
        priority: null,
        action: 'Reject',
        operations: [],
      },
    ]);
  });

  it('IPPool: modes default to Never', () => {
    expect(resource('IPPool', { spec: { cidr: 'FD10::1/48', ipipMode: '', natOutgoing: true } })).toEqual({
      origin: origin('IPPool', 'x'),
      name: 'x',
      family: 6,
      cidr: 'fd10::/48',
      ipipMode: 'Never',
      vxlanMode: 'Never',
      disableBgpExport: false,
    });
  });

  it.each([
    ['', 'confirmed', true],
    ['{}', 'confirmed', true],
    ['{"state":"","deleted":false}', 'confirmed', true],
    ['{"state":"confirmed","deleted":"false"}', 'confirmed', false],
    ['{"state":"pending"}', 'pending', false],
    ['{"state":"pendingDeletion"}', 'pendingDeletion', false],
  ])('BlockAffinity: %j is %s', (text, state, implicit) => {
    expect(resource('BlockAffinity', text)).toEqual({
      origin: origin('BlockAffinity', '10.1.0.0/26'),
      node: 'n1',
      family: 4,
      cidr: '10.1.0.0/26',
      state,
      implicit,
    });
  });

  it.each(['{"deleted":true}', '{"deleted":"true"}'])('BlockAffinity: %s does not count', (text) => {
    expect(parse('BlockAffinity', text)).toEqual({ outcome: 'ignored' });
  });

  it('BlockAffinity: an IPv6 block', () => {
    const key = `${blockPrefix('n1')}/ipv6/block/fd00:10::40-122`;
    expect(resource('BlockAffinity', '', key)).toMatchObject({ family: 6, cidr: 'fd00:10::40/122' });
  });

  it('Service: addresses of every sort', () => {
    const value = {
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.1',
        clusterIPs: ['10.96.0.1', 'FD96::1'],
        externalIPs: ['192.0.2.1'],
        loadBalancerIP: '198.51.100.1',
        externalTrafficPolicy: 'Local',
        ipFamilies: ['IPv4', 'IPv6'],
      },
      status: { loadBalancer: { ingress: [{ hostname: 'a.example' }, { ip: '198.51.100.2' }] } },
    };
    expect(resource('Service', value)).toEqual({
      origin: origin('Service', 'ns/x'),
      namespace: 'ns',
      name: 'x',
      type: 'LoadBalancer',
      clusterIPs: ['10.96.0.1', 'fd96::1'],
      externalIPs: ['192.0.2.1'],
      loadBalancerIP: '198.51.100.1',
      ingressIPs: ['198.51.100.2'],
      externalTrafficPolicy: 'Local',
      families: [4, 6],
    });
  });

  it.each([
    [{}, { type: 'ClusterIP', clusterIPs: [], families: [], externalTrafficPolicy: 'Cluster' }],
    [
      { clusterIP: 'None', clusterIPs: ['None'] },
      { clusterIPs: [], families: [] },
    ],
    [{ clusterIP: 'None' }, { clusterIPs: [] }],
    [{ clusterIP: 'None', clusterIPs: ['10.96.0.1'] }, { clusterIPs: [] }],
    [{ clusterIP: 'fd96::1' }, { clusterIPs: ['fd96::1'], families: [6] }],
    [
      { externalTrafficPolicy: '', loadBalancerIP: '' },
      { externalTrafficPolicy: 'Cluster', loadBalancerIP: null },
    ],
  ])('Service: %j', (spec, expected) => {
    expect(resource('Service', { spec })).toMatchObject(expected);
  });

  it('EndpointSlice: readiness that is not stated is ready', () => {
    const value = {
      metadata: { name: 'x', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv6',
      endpoints: [
        { nodeName: 'n1', conditions: { ready: false } },
        { nodeName: 'n2', conditions: {} },
        null,
        {},
      ],
    };
    expect(resource('EndpointSlice', value)).toEqual({
      origin: origin('EndpointSlice', 'ns/x'),
      namespace: 'ns',
      name: 'x',
      service: 'web',
      family: 6,
      endpoints: [
        { nodeName: 'n1', ready: false },
        { nodeName: 'n2', ready: true },
        { nodeName: null, ready: true },
      ],
    });
    expect(resource('EndpointSlice', { addressType: 'FQDN', endpoints: null })).toMatchObject({
      service: null,
      family: null,
      endpoints: [],
    });
  });

  it('Secret: text is decoded, the rest is left out', () => {
    const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64');
    const secret = resource('Secret', {
      data: {
        password: base64('p\u00e4ss'),
        empty: '',
        line: base64('a\n'),
        binary: base64(Uint8Array.of(0xff, 0xfe)),
      },
      stringData: { plain: 'text', line: 'b' },
    });
    expect(secret).toMatchObject({ namespace: 'ns', name: 'x' });
    expect(secret.data).toEqual({ password: 'p\u00e4ss', empty: '', line: 'b', plain: 'text' });
  });

  it('EndpointStatus: the first network of each family; without a peer it does not count', () => {
    const value = {
      ifaceName: 'cali1',
      ipv4Nets: ['10.1.0.5/32', '10.1.0.6/32'],
      ipv6Nets: ['FD00::5/128'],
      bgpPeerName: 'kubevirt',
    };
    expect(resource('EndpointStatus', value)).toEqual({
      origin: origin('EndpointStatus', 'x'),
      bgpPeerName: 'kubevirt',
      ipv4: '10.1.0.5',
      ipv6: 'fd00::5',
    });
    expect(resource('EndpointStatus', { bgpPeerName: 'p', ipv4Nets: [] })).toMatchObject({
      ipv4: null,
      ipv6: null,
    });
    expect(parse('EndpointStatus', { ipv4Nets: ['10.1.0.5/32'] })).toEqual({ outcome: 'ignored' });
  });

  it('say when they are last good versions', () => {
    const parsed = parseStored('IPPool', KEYS.IPPool, '{"spec":{"cidr":"10.0.0.0/8"}}', true);
    expect(parsed).toMatchObject({ outcome: 'resource', resource: { origin: { lastGood: true } } });
  });
});
