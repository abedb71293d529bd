import { describe, expect, it } from 'vitest';
import {
  blockKey,
  blockPrefix,
  calicoKey,
  calicoPrefix,
  canonicalNetwork,
  endpointStatusKey,
  isCalicoKind,
  isKeySegment,
  isKubernetesKind,
  kubernetesKey,
  kubernetesPrefix,
  type ParsedKey,
  parseKey,
} from '../../../src/datastore/keys.ts';

describe('the key space', () => {
  it('puts Calico resources where Calico puts them in etcd', () => {
    expect(calicoPrefix('BGPConfiguration')).toBe('/calico/resources/v3/projectcalico.org/bgpconfigurations');
    expect(calicoKey('BGPFilter', 'f.1')).toBe('/calico/resources/v3/projectcalico.org/bgpfilters/f.1');
  });

  it('writes a block key as Calico does: masked, compressed, a dash for the slash', () => {
    expect(blockKey('n1', '10.0.0.9/26')).toBe('/calico/ipam/v2/host/n1/ipv4/block/10.0.0.0-26');
    expect(blockKey('n1', 'FD00:0010:0:0::7f/122')).toBe(
      '/calico/ipam/v2/host/n1/ipv6/block/fd00:10::40-122',
    );
    expect(blockPrefix()).toBe('/calico/ipam/v2/host');
    expect(blockPrefix('n1')).toBe('/calico/ipam/v2/host/n1');
    expect(blockKey('n1', '10.0.0.0/26')?.startsWith(`${blockPrefix('n1', 4)}/`)).toBe(true);
  });

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0/8', '010.0.0.0/8', 'fe80::1%eth0/64', 'fd00::/129', '', 'x/8'])(
    'has no block key for %j',
    (cidr) => {
      expect(canonicalNetwork(cidr)).toBeNull();
      expect(blockKey('n1', cidr)).toBeNull();
    },
  );

  it('puts Kubernetes objects below their namespace', () => {
    expect(kubernetesKey('Secret', 'kube-system', 'bgp')).toBe(
      '/calico/resources/v3/kubernetes/secrets/kube-system/bgp',
    );
    expect(kubernetesPrefix('Service')).toBe('/calico/resources/v3/kubernetes/services');
    expect(kubernetesPrefix('EndpointSlice', 'a')).toBe('/calico/resources/v3/kubernetes/endpointslices/a');
  });

  it('knows its kinds, and no members of Object', () => {
    expect(isCalicoKind('IPPool')).toBe(true);
    expect(isCalicoKind('Secret')).toBe(false);
    expect(isCalicoKind('constructor')).toBe(false);
    expect(isKubernetesKind('EndpointSlice')).toBe(true);
    expect(isKubernetesKind('toString')).toBe(false);
  });

  it('takes a name without a slash as a segment', () => {
    expect(isKeySegment('node.a')).toBe(true);
    expect(isKeySegment('')).toBe(false);
    expect(isKeySegment('a/b')).toBe(false);
  });
});

describe('parseKey', () => {
  const cases: [string, ParsedKey][] = [
    [calicoKey('Node', 'n1'), { kind: 'Node', name: 'n1' }],
    [calicoKey('IPPool', 'p'), { kind: 'IPPool', name: 'p' }],
    [kubernetesKey('Secret', 'ns', 's'), { kind: 'Secret', namespace: 'ns', name: 's' }],
    [endpointStatusKey('pod1'), { kind: 'EndpointStatus', name: 'pod1' }],
    [
      blockKey('n-1', '10.0.0.0/26') as string,
      { kind: 'BlockAffinity', node: 'n-1', family: 4, cidr: '10.0.0.0/26' },
    ],
    [
      blockKey('n-1', 'fd00:10::40/122') as string,
      { kind: 'BlockAffinity', node: 'n-1', family: 6, cidr: 'fd00:10::40/122' },
    ],
  ];

  it.each(cases)('reads %s', (key, parsed) => {
    expect(parseKey(key)).toEqual(parsed);
  });

  it.each([
    '/calico/resources/v3/projectcalico.org/nodes',
    '/calico/resources/v3/projectcalico.org/nodes/',
    '/calico/resources/v3/projectcalico.org/nodes/a/b',
    '/calico/resources/v3/projectcalico.org/felixconfigurations/default',
    '/calico/resources/v3/kubernetes/secrets/s',
    '/calico/resources/v3/kubernetes/pods/ns/p',
    '/calico/ipam/v2/host/n1/ipv4/block/10.0.0.0',
    '/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26',
    '/calico/endpoint-status',
    '/calico/endpoint-status/a/b',
    '/services/web/1',
  ])('does not take %s for one of its keys', (key) => {
    expect(parseKey(key)).toBeNull();
  });
});
